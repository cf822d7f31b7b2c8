"""Answers that are no span: yes or no, and a choice among options."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memtrial.systems.models.reader import cues, polarity
from memtrial.systems.models.reader.candidates import Candidate
from memtrial.systems.models.reader.need import Need
from memtrial.systems.models.reader.text import terms
from memtrial.systems.models.reader.values import extract_values

YES = {"en": "Yes", "zh": "是"}
NO = {"en": "No", "zh": "否"}
_LETTERED = re.compile(
    r"(?:^|\n|\s)[（(]?(?P<l>[A-Ha-h])[)）.、:：]\s*(?P<t>.+?)(?=(?:[\n\s;；,，][（(]?[A-Ha-h][)）.、:：])|$)",
    re.DOTALL,
)
_JUST_DENIED = re.compile(r"(?:\b(?:not|no|never)|n['’]t|不是|并非|没有?)\s*(?:the |a |an |in |that )?$", re.IGNORECASE)
_EN_OR = re.compile(
    r"(?P<a>[\w'’-]+(?: [\w'’-]+){0,5}?),? or (?P<b>[\w'’ -]+?)(?: (?:one|version|option))?\s*[?.]?\s*$", re.IGNORECASE
)
_ZH_OR = re.compile(r"(?P<a>[^，。？?：:]{1,20}?)(?:，|,)?还是(?P<b>[^，。？?]{1,20}?)(?:呢|啊|的)?\s*[？?]?\s*$")


def answer_boolean(need: Need, candidate: Candidate) -> str:
    """Answer yes or no by what the statement says, or with the statement where it says "only under a condition"."""
    text = candidate.passage.text
    if polarity.is_restricted(text) and not polarity.is_restricted(need.question):
        return candidate.say
    return (YES if _holds(need, candidate) else NO)[need.language]


def _holds(need: Need, candidate: Candidate) -> bool:
    text = candidate.passage.text
    if (verdict := _against_stated(need, candidate)) is not None:
        return verdict
    denied = cues.negations(need.question) % 2 == 1 and not _asks_politely(need.question)
    asked, said = polarity.states(need.question, text)
    if asked and said:
        return asked == said
    if polarity.is_undecided(text):
        return False
    if asked:
        return asked > 0
    return (cues.negations(text) % 2 == 1) == denied


def _against_stated(need: Need, candidate: Candidate) -> bool | None:
    """Compare a value that the question states with the statement's own of that kind; None where there is no pair."""
    found = extract_values(candidate.passage.text, candidate.passage.shown.item.timestamp, need.language)
    for value in need.values:
        if value.kind not in ("number", "money", "date", "time", "duration", "percent"):
            continue
        rivals = [v for v in found if v.kind == value.kind and (v.unit == value.unit or not value.unit)]
        if rivals:
            return any(v.norm == value.norm for v in rivals)
    return None


def _asks_politely(question: str) -> bool:
    """Recognise negations that ask and do not deny: isn't it…?, 是不是, 有没有, 能不能."""
    return bool(
        re.search(
            r"(.)[不没]\1|有没有|没有[？?]?$|[了过]没|^\W*(?:\w+ )?\w+n['’]t\b|是否|能否|可否|or not",
            question,
            re.IGNORECASE,
        )
    )


def find_options(question: str, options: Sequence[str]) -> list[tuple[str, str]]:
    """Return (letter, text) of each option: those given apart, a lettered block, or "A or B" / A还是B in the question."""
    if options:
        return [_letter(option, i) for i, option in enumerate(options)]
    lettered = [(m["l"].upper(), m["t"].strip()) for m in _LETTERED.finditer(question)]
    if len(lettered) > 1:
        return lettered
    match = _ZH_OR.search(question) or _EN_OR.search(question)
    if match is None:
        return []
    first, second = match["a"].strip(), match["b"].strip()
    size = len(second.split())
    words = first.split()
    if len(words) > size:
        first = " ".join(words[-max(size, 1) :])
    return [("", re.sub(r"^.*?是(?=.)", "", first)), ("", second)]


def _letter(option: str, index: int) -> tuple[str, str]:
    match = re.match(r"\s*[（(]?([A-Ha-h])[)）.、:：]\s*(.+)", option, re.DOTALL)
    return (match[1].upper(), match[2].strip()) if match else (chr(ord("A") + index % 26), option.strip())


def rate_options(
    options: Sequence[tuple[str, str]], candidates: Sequence[Candidate]
) -> list[tuple[float, Candidate | None]]:
    """Rate each option by the passages that speak of it: covered share of its own terms, weighed by the passage's score."""
    option_terms = [terms(text) for _, text in options]
    shared = frozenset.intersection(*option_terms) if option_terms else frozenset()
    rated: list[tuple[float, Candidate | None]] = []
    for (_, text), found in zip(options, option_terms, strict=True):
        own = (found - shared) or found
        best: tuple[float, Candidate | None] = (0.0, None)
        for candidate in candidates:
            passage = candidate.passage.text
            hit = len(own & terms(passage)) / len(own) if own else 0.0
            hit = max(hit, float(text.lower() in passage.lower()))
            value = hit * max(candidate.score, 0.05)
            if hit and _denied(passage, text):
                value *= 0.2
            if value > best[0]:
                best = (value, candidate)
        rated.append(best)
    return rated


def _denied(passage: str, option: str) -> bool:
    place = passage.lower().find(option.lower())
    return place >= 0 and bool(_JUST_DENIED.search(passage[max(0, place - 14) : place]))
