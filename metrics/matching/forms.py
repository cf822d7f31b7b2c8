"""Accepted forms and lure values, compiled once per question, and where an answer names them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from itertools import pairwise

from memtrial.datasets.schema import Question
from memtrial.metrics.matching import dates
from memtrial.metrics.matching.dates import When
from memtrial.metrics.matching.numerals import EN_WORDS, ZH_CHARS, ZH_DIGITS, listed, zh_number
from memtrial.metrics.matching.polarity import polarity
from memtrial.metrics.matching.text import CJK, content_words, f1, is_cjk, normalise, stem
from memtrial.metrics.matching.units import UNITS
from memtrial.metrics.matching.values import DATE, ID, Value, extract, same_quantity

_FLUFF = re.compile(
    r"(?:\b(?:about|around|approximately|approx|roughly|circa|exactly|at|on|by|in|the|within|after|from|per\s\w+|every|for|a|an|and|to|minus|plus|less|more|ago|earlier|later|before|old|long|local|time|central|eastern|pacific|mountain|standard|sharp|o'clock)\b|"
    r"每|约|大约|左右|内|以内|之内|以后|之后|后|开始|起|的|减少了?|减|增加了?|增|加|涨了?|降了?|共|一共|总共|多|整|到|至|元整|/\s?[a-z年月日天次人个位]+|[\s.,()~+=:;!\"-])*"
)
_POLAR = frozenset(
    listed(
        "yes no yep nope true false correct 是 否 对 不对 不 没 没有 有 能 不能 可以 不可以 会 不会 要 不要 是的 不是 行 不行 未 还没 还没有 已 不用 需要 不需要"
    )
)
_TOKEN = re.compile(rf"[a-z0-9]+(?:[.'][a-z0-9]+)*|[{CJK}]")
_SKIP_WORDS = frozenset(listed("the a an and of his her its their my our your"))
_GLUE_WORDS = "|".join(sorted(_SKIP_WORDS))
_ZH_FILLER = frozenset("的了呢吧啊")
OPEN_F1 = 0.8
"""An open answer whose content words overlap with an accepted form to this F1 is that form in other words."""


@dataclass(frozen=True, slots=True)
class Form:
    """One accepted form or lure value.

    Attributes:
        low: normalised, lowered text.
        values: the typed values it consists of, where it is nothing else (one, or several in order).
        pattern: the form as a phrase, whole words.
        tokens: its content words.
        polar: +1 or -1 for a bare yes or no in either language.
        bare: a number without a unit beside a form that is the same number with one.
    """

    low: str
    values: tuple[Value, ...]
    pattern: re.Pattern[str] | None
    tokens: tuple[str, ...]
    polar: int = 0
    bare: bool = False

    @property
    def typed(self) -> bool:
        """Say whether the form is compared by value."""
        return bool(self.values)


@dataclass(frozen=True, slots=True)
class LureForms:
    """The compiled values of one lure."""

    kind: str
    forms: tuple[Form, ...]
    families: frozenset[str]


@dataclass(frozen=True, slots=True)
class Mention:
    """A place where an answer names a form."""

    start: int
    end: int
    form: Form
    exact: bool = True
    dated: bool = False
    partial: bool = False


@dataclass(frozen=True, slots=True)
class Key:
    """Everything of a question that matching needs, compiled."""

    gold: tuple[Form, ...]
    families: frozenset[str]
    lures: tuple[LureForms, ...]
    asked: frozenset[str]
    base: datetime
    question: str
    polar: int
    past: bool
    typed: bool
    names: frozenset[str]
    negative: bool
    words: frozenset[str]


_ASKED_PAST = re.compile(
    r"\b(?:before|originally|initially|at\sfirst|first|used\sto|back\sthen|at\sthe\stime|last\s\w+|previous(?:ly)?|former(?:ly)?|earlier|old|ago|until|up\sto|then)\b"
    r"|之前|以前|原来|原先|最初|最早|当时|那时|那会|那天|那次|起初|一开始|上周|上个?月|上次|去年|前天|昨天|旧|老|早先|起先|原定|原本|原价|当初|先前|此前|前一"
)


# What is asked for is itself a refusal or an exclusion, so that the answer's own "can't" takes nothing back.
_NEGATIVE = re.compile(
    r"\b(?:not|no|never|without|avoid|except|exclude[ds]?|allergic|allergy|forbidden|banned|leave\sout|cannot|wrong|refused?|rejected)\b|n't\b"
    r"|不(?!知|过)|没(?!有[吗么])|别|忌|禁|除了|过敏|拒|未|避免|取消"
)


def compile_form(text: str, base: datetime) -> Form | None:
    """Compile an accepted form or lure value; None where it holds no word."""
    low = normalise(text).low.strip(" .。!?,;")
    if not low:
        return None
    values = extract(low)
    if values:
        rest = low
        for v in reversed(values):
            rest = rest[: v.start] + " " + rest[v.end :]
        if not _FLUFF.fullmatch(rest.strip()):
            values = ()
        elif len(values) == 1 and values[0].ranged:
            values = (replace(values[0], ranged=False),)
    values = tuple(replace(v, when=dates.resolve(v.when, base)) if v.when else v for v in values)
    polar = polarity(low, form=True) if low in _POLAR else 0
    identifier = len(values) == 1 and values[0].family == ID and values[0].text
    return Form(low, values, _identifier(low) if identifier else _phrase(low), tuple(content_words(low)), polar)


def _identifier(low: str) -> re.Pattern[str]:
    """An identifier with any separators between its letters and digits."""
    return re.compile(r"(?<![a-z0-9])" + r"[\s\-_/#.]{0,2}".join(re.findall(r"[a-z]+|\d+", low)) + r"(?![a-z0-9])")


def _phrase(low: str) -> re.Pattern[str] | None:
    tokens = _TOKEN.findall(low)
    kept = [t for t in tokens if t not in _SKIP_WORDS] or tokens
    if not kept:
        return None
    parts: list[str] = []
    i = 0
    while i < len(kept):
        token = kept[i]
        if token in ZH_CHARS:
            run = token
            while i + 1 < len(kept) and kept[i + 1] in ZH_CHARS:
                i += 1
                run += kept[i]
            number = zh_number(run)
            digits = f"|{int(number)}" if number is not None and number == int(number) else ""
            alt = "两|二" if run in ("两", "二") else re.escape(run)
            parts.append(f"(?:{alt}{digits})")
        elif token.isdigit() and len(token) == 1:
            zh = "".join(c for c, n in ZH_DIGITS.items() if n == int(token))
            parts.append(rf"(?<![\d.])(?:{token}|[{zh}])(?!\d)" if is_cjk(low) else rf"(?<![\d.]){token}(?![\d])")
        elif token[0].isascii():
            base = token[:-1] if len(token) > 3 and token.endswith("s") and not token.endswith("ss") else token
            plural = r"(?:'s|s'|s|es|')?" if token[-1].isalpha() and len(token) > 1 else ""
            head = r"(?<![a-z0-9])"
            parts.append(head + re.escape(base) + plural + r"(?![a-z0-9])")
        else:
            parts.append(re.escape(token))
        i += 1
    glue = r"[\s()、,·'\"/&.-]*"
    out = parts[0]
    for previous, part in pairwise(parts):
        latin = previous.endswith("])") and part.startswith("(?<![a-z")
        out += (rf"[\W_]+(?:(?:{_GLUE_WORDS})\W+)*" if latin else glue) + part
    return re.compile(out)


@lru_cache(maxsize=4096)
def compile_key(question: Question, names: frozenset[str]) -> Key:
    """Compile a question's labels. Cached, since every system is asked the same questions.

    Args:
        question: the labelled question.
        names: people whose messages the lures rest on.
    """
    base = question.asked_at
    low = normalise(question.text).low
    gold = tuple(f for a in _alternatives(question) if (f := compile_form(a, base)) is not None)
    gold = _mark_bare(gold)
    gold_texts = {f.low for f in gold}
    lures = []
    for lure in question.lures:
        forms = tuple(f for v in lure.values if (f := compile_form(v, base)) is not None and f.low not in gold_texts)
        lures.append(LureForms(lure.kind, _mark_bare(forms), _families(forms)))
    polar = 0
    if question.answer_type == "boolean" or (gold and all(f.polar for f in gold)):
        polar = next((p for f in gold if (p := f.polar or polarity(f.low, form=True))), 0)
    asked = frozenset(family for unit, (family, _) in UNITS.items() if family and len(unit) > 1 and unit in low)
    everyone = low + " " + " ".join(f.low for f in gold)
    foreign = frozenset(n for n in (normalise(n).low for n in names) if len(n) > 1 and n not in everyone)
    return Key(
        gold=gold,
        families=_families(gold),
        lures=tuple(lures),
        asked=asked
        | (
            {"seconds"}
            if re.search(r"几天|多少天|几小时|几个小时|几分钟|几周|多少小时|多少秒|几秒", low)
            else frozenset()
        )
        | ({"months"} if re.search(r"几个月|多少个月|几年|多少年", low) else frozenset()),
        base=base,
        question=low,
        polar=polar,
        past=bool(_ASKED_PAST.search(low)),
        typed=question.answer_type in ("number", "money", "date", "duration") or any(f.typed for f in gold),
        names=foreign,
        words=frozenset(content_words(low)).union(*(f.tokens for f in gold)),
        negative=bool(_NEGATIVE.search(low)) or any(_NEGATIVE.search(f.low) for f in gold),
    )


_YES_NO = re.compile(r"\s*(?:likely\s|probably\s)?(?:yes|no)\b", re.IGNORECASE)


def _alternatives(question: Question) -> Sequence[str]:
    """A list given as one text is cut into its parts; other answers stand as they are."""
    if question.answer_type == "list" and len(question.answers) == 1 and not _YES_NO.match(question.answers[0]):
        parts = [p for p in re.split(r"\s*(?:[,;、，；]|\band\b|和|以及)\s*", question.answers[0]) if p.strip()]
        return parts or question.answers
    return question.answers


def _mark_bare(forms: tuple[Form, ...]) -> tuple[Form, ...]:
    united = {v.raw for f in forms for v in f.values if v.family not in ("", DATE, ID)}
    return tuple(
        replace(f, bare=True) if len(f.values) == 1 and not f.values[0].family and f.values[0].raw in united else f
        for f in forms
    )


def _families(forms: Sequence[Form]) -> frozenset[str]:
    return frozenset(v.family for f in forms for v in f.values if v.family not in ("", DATE, ID))


def merged_when(form: When, others: Sequence[When]) -> When:
    """Add what the accepted forms beside it state and it does not: "Thursday 16:45" beside "16 May 16:45" is that Thursday."""
    for other in others:
        if other is form or not dates.compatible(form, other) or not form.fields() & other.fields():
            continue
        filled = {n: getattr(other, n) for n in ("y", "m", "d", "wd", "t", "part", "tz") if getattr(form, n) is None}
        if "wd" in filled:
            filled["computed_wd"] = other.computed_wd
        if filled.get("t") is not None:
            filled["half"] = other.half
        elif form.half and other.t is not None and not other.half:
            filled |= {"t": other.t, "half": False}
        form = replace(form, **filled)
    return form


def find_mentions(
    forms: Sequence[Form], families: frozenset[str], low: str, values: Sequence[Value], key: Key, *, gold: bool
) -> list[Mention]:
    """Find where an answer names any of the forms.

    Args:
        forms: accepted forms, or the values of one lure.
        families: unit families among them.
        low: the normalised, lowered answer.
        values: its typed values, points in time resolved.
        key: the compiled question.
        gold: the forms are accepted ones: also look for forms whose words are there with others between, and let a day
            stand for the month that was asked for.
    """
    found: list[Mention] = []
    whens = [f.values[0].when for f in forms if len(f.values) == 1 and f.values[0].when]
    whole = low.strip(" .。!?,;")
    for form in forms:
        if form.typed:
            found += _typed(form, families, low, values, key, [w for w in whens if w])
            if any(v.family == ID for v in form.values) and form.pattern is not None:
                found += [
                    Mention(m.start(), m.end(), form)
                    for m in form.pattern.finditer(low)
                    if not any(x.start <= m.start() < x.end for x in found)
                ]
            if form.low == whole and not any(m.form is form for m in found):
                found.append(Mention(0, len(low), form))
        elif form.polar:
            if whole == form.low:
                found.append(Mention(0, len(low), form))
        elif form.pattern is not None:
            found += [Mention(m.start(), m.end(), form) for m in form.pattern.finditer(low) if m.end() > m.start()]
    if not gold:
        found = [m for m in found if not _narrower(m, values)]
    elif not found:
        for form in forms:
            if not form.typed and not form.polar:
                span = scattered(form, low)
                if span:
                    found.append(Mention(*span, form, exact=False))
                    break
    return found


def _narrower(mention: Mention, values: Sequence[Value]) -> bool:
    """Say whether a named day merely lies in the month (or its end) that a lure names."""
    wanted = mention.form.values[0].when if len(mention.form.values) == 1 else None
    if wanted is None or wanted.d is not None or wanted.m is None:
        return False
    said = next((v.when for v in values if v.start == mention.start and v.when), None)
    return said is not None and said.d is not None


def _typed(
    form: Form, families: frozenset[str], low: str, values: Sequence[Value], key: Key, whens: Sequence[When]
) -> list[Mention]:
    found: list[Mention] = []
    size = len(form.values)
    if size > 1:
        for i in range(len(values) - size + 1):
            run = values[i : i + size]
            if all(_same(v, f, families, key, whens, bare=False) for v, f in zip(run, form.values, strict=True)):
                found.append(Mention(run[0].start, run[-1].end, form))
        return found
    wanted = form.values[0]
    for value in values:
        if value.ranged and not (
            value.family == DATE and re.search(r"(?:from|between|从|自|于)\s?$", low[: value.start])
        ):
            continue
        if _same(value, wanted, families, key, whens, bare=form.bare):
            found.append(Mention(value.start, value.end, form, dated=value.family == DATE))
    return found


def _same(value: Value, form: Value, families: frozenset[str], key: Key, whens: Sequence[When], *, bare: bool) -> bool:
    if form.when is not None:
        when = value.when or _dotted(value)
        if when is None:
            return False
        full = merged_when(form.when, whens)
        return dates.covers(when, form.when, key.base) and dates.compatible(_aligned(when, full, key.base), full)
    if value.when is not None:
        return bool(value.raw) and same_quantity(
            replace(value, family="", when=None), form, families, key.asked, bare=bare
        )
    return same_quantity(value, form, families, key.asked, bare=bare)


def _aligned(when: When, full: When, base: datetime) -> When:
    """Give a dated mention the year in question, so that it can be held against a weekday."""
    if full.d is None and full.wd is not None and when.wd is None:
        return dates.resolve(dates.with_year(when, base), base)
    return when


def _dotted(value: Value) -> When | None:
    """ "11.40" is a time of day where the accepted form is one."""
    hour, minute = int(value.raw), round((value.raw % 1) * 100, 6)
    if value.family or not 0 <= hour < 24 or minute != int(minute) or minute > 59 or value.end - value.start < 4:
        return None
    return When(t=hour * 60 + int(minute), half=1 <= hour <= 12)


def partial_when(forms: Sequence[Form], others: Sequence[Form], values: Sequence[Value], key: Key) -> list[Mention]:
    """Find points in time that agree with a form in all they state, state less, and disagree with every one of ``others``."""
    found: list[Mention] = []
    rest = [f.values[0].when for f in others if len(f.values) == 1 and f.values[0].when]
    for form in forms:
        if len(form.values) != 1 or form.values[0].when is None:
            continue
        wanted = form.values[0].when
        for value in values:
            when = value.when
            if when is None or value.ranged or not when.fields() & wanted.fields() & {"d", "wd", "t"}:
                continue
            if dates.compatible(when, wanted) and not any(dates.compatible(when, o) for o in rest if o):
                found.append(Mention(value.start, value.end, form, dated=True, partial=True))
    return found


def numbers_in(low: str) -> frozenset[str]:
    """The runs of digits in a text: whatever else is put in other words, they must all be there."""
    return frozenset(re.findall(r"\d+", low))


def counted(low: str) -> frozenset[tuple[str, str]]:
    """Pairs of a number and the word after it: "two cats and a dog" is not "a cat and two dogs"."""
    tokens = [str(EN_WORDS.get(w, w)) for w in _TOKEN.findall(low)]
    return frozenset((n, stem(w)) for n, w in pairwise(tokens) if n.isdigit() and w.isascii() and w.isalpha())


def in_other_words(form: Form, low: str) -> bool:
    """Say whether a whole answer is an accepted form in other words.

    The content words of both overlap with an F1 of at least ``OPEN_F1`` (CJK by characters), digits and counted things are
    the same, and neither alone denies.
    """
    if numbers_in(form.low) != numbers_in(low) or counted(form.low) != counted(low):
        return False
    if bool(_NEGATIVE.search(form.low)) != bool(_NEGATIVE.search(low)):
        return False
    return form.low == low.strip(" .。!?,;") or f1(form.tokens, content_words(low)) >= OPEN_F1


def scattered(form: Form, low: str) -> tuple[int, int] | None:
    """Span of a form whose content words all stand in one sentence.

    Latin: every content word (four fifths of them from six words on) in any order. CJK: all characters in order, where
    the inserted ones are at most half as many as its own, and no gap is longer than three; only from four characters on.
    """
    if not numbers_in(form.low) <= numbers_in(low) or not counted(form.low) <= counted(low):
        return None
    if is_cjk(form.low):
        return _subsequence([t for t in form.tokens if t not in _ZH_FILLER], low)
    wanted = set(form.tokens)
    if len(wanted) < 2:
        return None
    need = len(wanted) if len(wanted) < 6 else -(-len(wanted) * 4 // 5)
    start = 0
    for sentence in re.split(r"[.!?;\n](?=\s|$)", low):
        if len(wanted & set(content_words(sentence))) >= need and (
            not _NEGATIVE.search(sentence) or _NEGATIVE.search(form.low)
        ):
            return start, start + len(sentence)
        start += len(sentence) + 1
    return None


def _without(text: str, tokens: Sequence[str]) -> str:
    """What was inserted between the tokens."""
    for token in tokens:
        text = text.replace(token, "", 1)
    return text


def _subsequence(tokens: list[str], low: str) -> tuple[int, int] | None:
    if len(tokens) < 4:
        return None
    limit = len(tokens) // 2
    first = low.find(tokens[0])
    while first >= 0:
        place, inserted, ok = first + len(tokens[0]), 0, True
        for token in tokens[1:]:
            at = low.find(token, place, place + 4 + len(token))
            if at < 0:
                ok = False
                break
            inserted += at - place
            place = at + len(token)
        if ok and inserted <= limit and not re.search(r"[。!?;不没未别]", _without(low[first:place], tokens)):
            return first, place
        first = low.find(tokens[0], first + 1)
    return None


def option_letters(low: str, count: int) -> frozenset[str]:
    """Read which options a multiple-choice answer names by letter: "B", "(B)", "Answer: B, C", 选B."""
    allowed = "abcdefgh"[: max(count, 1)]
    stated = re.findall(
        rf"(?:answers?|options?|choices?|correct|答案|选项?|选择|verdict|final)\s?(?:is|are|:|为|是|应为|应该是)*\s?\(?([{allowed}](?:\s?(?:[,、/&]|and|和)\s?[{allowed}])*)\)?(?![a-z0-9'])",
        low,
    )
    if stated:
        return frozenset(c for c in re.findall(rf"(?<![a-z])[{allowed}](?![a-z])", stated[-1]))
    letters = low.strip(" .()")
    if len(letters) > 1 and set(letters) <= set(allowed) and list(letters) == sorted(set(letters)):
        return frozenset(letters)
    lead = re.match(
        rf"^\W*([{allowed}](?:\s?(?:[,、/&]|and|和)\s?[{allowed}])*)\)?(?:[.):,、;]|\s?$|\s-|\s(?=[^a-z]))", low
    )
    if lead:
        return frozenset(re.findall(rf"[{allowed}]", lead[1].replace("and", "")))
    return frozenset()
