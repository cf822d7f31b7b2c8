"""Names and pronouns of a question, matched with those who take part in the log."""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memtrial.systems.base import Query
from memtrial.systems.raw_log.plan.instructions import Person
from memtrial.systems.raw_log.plan.speech import says, together
from memtrial.systems.raw_log.plan.view import Participant

_I = re.compile(r"\b(?:I|me|my|mine|myself|I['’](?:m|ve|d|ll))\b|(?<![你他她它大])我(?!们)")
_HE = re.compile(r"\b(?:he|him|his|she|her|hers)\b|[他她](?!们|人)", re.IGNORECASE)
_TITLE = r"(?:Mr|Mrs|Ms|Dr|Prof)\.?\s+"
_ZH_AFTER_SURNAME = "总|老师|经理|哥|姐|先生|女士|小姐|医生|工|师傅|律师|主任|教授|阿姨|叔叔"
_HAN = re.compile(r"[一-鿿]")
# First names that are words too: they are names only where they are written as one.
_WORDS_TOO = frozenset(
    [
        "april",
        "august",
        "autumn",
        "dawn",
        "faith",
        "grace",
        "hope",
        "hunter",
        "iris",
        "ivy",
        "jack",
        "joy",
        "june",
        "lily",
        "mark",
        "may",
        "mason",
        "miles",
        "nick",
        "olive",
        "page",
        "pat",
        "penny",
        "ray",
        "reed",
        "rich",
        "rob",
        "rose",
        "ruby",
        "sandy",
        "sky",
        "summer",
        "sunny",
        "violet",
        "will",
        "bill",
        "chance",
        "frank",
        "art",
        "gene",
        "drew",
        "chase",
        "dean",
        "grant",
        "guy",
        "jay",
        "jean",
        "josh",
        "lance",
        "lee",
        "max",
        "pierce",
        "ward",
        "wade",
    ]
)


@dataclass(frozen=True, slots=True)
class _Mention:
    start: int
    end: int
    ids: tuple[str, ...]
    names: tuple[str, ...]
    sure: bool


def find_people(
    query: Query, participants: Sequence[Participant], taken: Sequence[tuple[int, int]] = ()
) -> list[Person]:
    """Find who a question names.

    Whole names come before first names and surnames; a part of a name that fits several people gives all of them and is
    not certain. A name is certain as the sender only where it is the subject of a verb of saying. "I" is the asker; "he"
    and "she" are the last one named in the history, never certain.

    Args:
        query: the question.
        participants: those who take part in the log.
        taken: spans that mean something else (times): a name that lies in one is none.
    """
    text = query.text
    mentions = [m for m in _mentions(text, participants) if not any(m.start < b and a < m.end for a, b in taken)]
    asker = next((p for p in participants if p.id == query.asker), None)
    mine = [_Mention(m.start(), m.end(), (asker.id,), (asker.name,), True) for m in _I.finditer(text)] if asker else []
    found: list[Person] = []
    pair = _pair(text, sorted([*mentions, *mine], key=lambda m: m.start))
    if pair is not None:
        one, other = pair
        ids = tuple(dict.fromkeys((*one.ids, *other.ids)))
        sure = one.sure and other.sure
        found.append(Person(text[one.start : other.end], ids, (*one.names, *other.names), "party", sure, 1.0))
    for mention in mentions:
        if pair is None or mention not in pair:
            found.append(_person(text, mention))
    if mine and not (pair and set(mine) & set(pair)):
        speaks = [m for m in mine if text[m.start : m.end] in ("I", "我") and says(text, m.start, m.end)]
        told = _person(text, speaks[0]) if speaks else None
        found.append(told or Person(text[mine[0].start : mine[0].end], mine[0].ids, mine[0].names, weight=0.3))
    if not mentions and (he := _HE.search(text)):
        found += _spoken_of(query, participants, he.group())
    return _distinct(found)


def _person(text: str, mention: _Mention) -> Person:
    words = text[mention.start : mention.end]
    if says(text, mention.start, mention.end):
        return Person(words, mention.ids, mention.names, "sender", mention.sure, 1.0 if mention.sure else 0.7)
    return Person(words, mention.ids, mention.names, "mentioned", False, 0.5)


def _pair(text: str, mentions: Sequence[_Mention]) -> tuple[_Mention, _Mention] | None:
    for one, other in itertools.pairwise(mentions):
        joint = re.fullmatch(r"\s*(?:and|with|&|和|跟|与|同)\s*", text[one.end : other.start])
        if joint and one.ids != other.ids and together(text, one.start, other.end):
            return one, other
    return None


def _spoken_of(query: Query, participants: Sequence[Participant], word: str) -> list[Person]:
    """Resolve "he" or 她 by the latest turn of the dialogue that names somebody."""
    for turn in reversed(query.history):
        named = [m for m in _mentions(turn.text, participants) if query.asker not in m.ids]
        if named:
            return [Person(word, named[-1].ids, named[-1].names, "mentioned", False, 0.5)]
    return []


def _distinct(found: Sequence[Person]) -> list[Person]:
    """Keep one instruction per set of ids: the most certain, then the heaviest."""
    best: dict[tuple[str, ...], Person] = {}
    for person in found:
        known = best.get(person.ids)
        if known is None or (person.certain, person.weight) > (known.certain, known.weight):
            best[person.ids] = person
    return list(best.values())


def _mentions(text: str, participants: Sequence[Participant]) -> list[_Mention]:
    taken: list[_Mention] = []
    by_form: dict[str, list[Participant]] = {}
    whole: set[str] = set()
    for person in participants:
        for name in (person.name, *person.aliases, person.id):
            for form, complete in _forms(name):
                known = by_form.setdefault(form, [])
                if person not in known:
                    known.append(person)
                if complete:
                    whole.add(form)
    folded = _fold(text)
    if len(folded) != len(text):  # spans would not fit
        folded = text.lower() if len(text.lower()) == len(text) else text
    for form in sorted(by_form, key=lambda f: (-len(f), f)):
        if form[0] not in folded and form not in folded:
            continue
        for start, end in _places(form, folded):
            people = by_form[form]
            if form in ("will", "may") and not start and not says(text, start, end):
                continue  # "Will Kim come?"
            if any(start < m.end and m.start < end for m in taken) or not _written_as_name(
                text, folded, start, end, form
            ):
                continue
            exact = form in whole and len(people) == 1
            sure = len(people) == 1 and (exact or len(form) > 1) and not _sentence_head(text, start, form)
            taken.append(_Mention(start, end, tuple(p.id for p in people), tuple(p.name for p in people), sure))
    return sorted(taken + _by_surname(text, participants, taken), key=lambda m: m.start)


def _by_surname(text: str, participants: Sequence[Participant], taken: Sequence[_Mention]) -> list[_Mention]:
    """Find 小王, 老李 and 王经理 among people whose names begin so."""
    found = []
    surname = rf"(?:(?:小|老|阿)(?P<a>[一-鿿])(?![一-鿿]*们)|(?P<b>[一-鿿])(?:{_ZH_AFTER_SURNAME}))"
    for m in re.finditer(surname, text):
        if any(m.start() < t.end and t.start < m.end() for t in taken):
            continue
        sign = m["a"] or m["b"]
        people = [
            p for p in participants if p.name.startswith(sign) or (m["a"] and p.name.endswith(sign) and len(p.name) > 1)
        ]
        if people:
            ids, names = tuple(p.id for p in people), tuple(p.name for p in people)
            found.append(_Mention(m.start(), m.end(), ids, names, len(people) == 1))
    return found


def _fold(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def _forms(name: str) -> Iterator[tuple[str, bool]]:
    """Yield how a name may be written, folded, and whether that is all of it."""
    folded = _fold(name).strip()
    if not folded:
        return
    yield folded, True
    if _HAN.match(folded):
        if len(folded) == 3:
            yield folded[1:], False
        elif len(folded) == 4:
            yield folded[2:], False
        return
    parts = [
        p
        for p in re.split(r"[\s._]+", folded)
        if len(p) > 1 and not p.isdigit() and p not in ("mr", "mrs", "ms", "dr", "prof", "the", "de", "van", "von")
    ]
    if len(parts) > 1:
        for part in parts:
            yield part, False


def _places(form: str, folded: str) -> Iterator[tuple[int, int]]:
    start = folded.find(form)
    while start >= 0:
        end = start + len(form)
        latin = form[0].isascii()
        inside = latin and (
            (start and folded[start - 1].isascii() and folded[start - 1].isalnum())
            or (end < len(folded) and folded[end].isascii() and folded[end].isalnum())
        )
        if not inside:
            yield start, end
        start = folded.find(form, end)


def _written_as_name(text: str, folded: str, start: int, end: int, form: str) -> bool:
    """Whether an English name that is a word too is written with a capital; short ids must be written as they are."""
    if not form[0].isascii() or " " in form:
        return True
    if form in _WORDS_TOO:
        return text[start].isupper()
    return len(form) > 2 or text[start].isupper() or any(c.isdigit() for c in form)


def _sentence_head(text: str, start: int, form: str) -> bool:
    return start == 0 and form in _WORDS_TOO


def named(text: str, query: Query, participants: Sequence[Participant]) -> Person | None:
    """Return who a name, or a list of names, means: "Kim", "我, 小王"; None where nobody of that name takes part."""
    mentions = _mentions(text, participants)
    ids = [id for m in mentions for id in m.ids]
    names = [name for m in mentions for name in m.names]
    if query.asker and (text.strip() == query.asker or _I.search(text)):
        asker = next((p for p in participants if p.id == query.asker), None)
        if asker is not None:
            ids, names = [asker.id, *ids], [asker.name, *names]
    if not ids:
        return None
    return Person(text[:60], tuple(dict.fromkeys(ids)), tuple(dict.fromkeys(names)))
