"""Spans that may be the answer, and what speaks for and against each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date

from memtrial.systems.models.reader.days import Day
from memtrial.systems.models.reader.features import passage_features, value_features
from memtrial.systems.models.reader.need import Need
from memtrial.systems.models.reader.params import ReaderParams
from memtrial.systems.models.reader.passages import KEY_LENGTH, RECORD_SOURCES, Passage
from memtrial.systems.models.reader.polarity import speaks_of_state
from memtrial.systems.models.reader.spans import trim_statement
from memtrial.systems.models.reader.text import terms
from memtrial.systems.models.reader.value import Value
from memtrial.systems.models.reader.values import extract_names, extract_values
from memtrial.systems.models.reader.values_dates import in_month_of

# kinds of values that may answer a kind of question, with how well they fit
FITS: dict[str, dict[str, float]] = {
    "number": {"number": 1.0, "percent": 0.5, "money": 0.4, "duration": 0.4},
    "money": {"money": 1.0, "percent": 0.3, "number": 0.3},
    "percent": {"percent": 1.0, "number": 0.5},
    "date": {"date": 1.0, "time": 0.4},
    "time": {"time": 1.0, "date": 0.3},
    "duration": {"duration": 1.0, "date": 0.3},
    "person": {"person": 1.0},
    "place": {"place": 1.0, "quoted": 0.3},
    "id": {"id": 1.0, "quoted": 0.4, "number": 0.6},
    "email": {"email": 1.0},
    "phone": {"phone": 1.0, "id": 0.4},
    "url": {"url": 1.0},
}
READ_PASSAGES = 30
_COMPARABLE = 0.8
# a whole sentence in place of a typed value: better than nothing
WHOLE_FIT = 0.2
# the day on which something was written, where it names no day
WRITTEN_FIT = 0.3


@dataclass(slots=True)
class Candidate:
    """A possible answer: ``say`` is its wording, ``norm`` decides which candidates agree."""

    passage: Passage
    say: str
    norm: str
    kind: str
    features: dict[str, float] = field(default_factory=dict)
    score: float = 0.0


def find_candidates(need: Need, passages: Sequence[Passage], params: ReaderParams) -> list[Candidate]:
    """List the spans of the best passages that fit the kind of answer asked for, unscored but with their features."""
    relevant = [p for p in passages if p.relevance > 0 and terms(p.text)]
    ranked = sorted(relevant, key=lambda p: -p.relevance)[:READ_PASSAGES]
    candidates = []
    for passage in ranked:
        if _is_of_another(need, passage):
            continue
        common = passage_features(need, passage, params)
        for value, fit in _fitting(need, passage):
            features = common | value_features(need, passage, value) | {"fit": fit}
            candidates.append(Candidate(passage, value.say, f"{value.kind}:{value.norm}", value.kind, features))
    _compare(need, candidates, params)
    return candidates


def _is_of_another(need: Need, passage: Passage) -> bool:
    """Tell whether a passage is about another order than the one asked for by its number."""
    asked = {code for code in need.codes if len(code) >= KEY_LENGTH}
    told = {code for code in passage.shown.codes if len(code) >= KEY_LENGTH}
    return bool(asked and told) and not any(asked & s.codes for s in passage.shown.around)


def _compare(need: Need, candidates: Sequence[Candidate], params: ReaderParams) -> None:
    """Mark candidates that another passage outranks by its source, outdates by its time, or corrects in the same breath.

    Only passages that bear on the question as much count, or that are about the same order or ticket.
    """
    best: dict[int, Passage] = {}
    for candidate in candidates:
        if candidate.features["fit"] > WRITTEN_FIT:
            known = best.get(id(candidate.passage.shown))
            if known is None or candidate.passage.relevance > known.relevance:
                best[id(candidate.passage.shown)] = candidate.passage
    rivals = list(best.values())
    original = need.asked.when == "original"
    for candidate in candidates:
        own, shown = candidate.passage.relevance * _COMPARABLE, candidate.passage.shown
        linked = {id(s) for s in shown.linked}
        others = [p.shown for p in rivals if p.shown is not shown and (p.relevance >= own or id(p.shown) in linked)]
        higher = any(o.authority >= shown.authority + 0.3 for o in others)
        later = any(
            o.authority >= shown.authority - 0.05 and (o.age > shown.age if original else o.age < shown.age)
            for o in others
        )
        candidate.features["outranked"] = float(params.authority and higher)
        candidate.features["outdated"] = float(params.recency and later)
        candidate.features["corrected"] = float(any(_corrects(other, candidate) for other in candidates)) * (
            -1.0 if original else 1.0
        )


def _corrects(other: Candidate, candidate: Candidate) -> bool:
    """Tell whether the same speaker gave another value of that kind a moment later, without naming the matter again."""
    before, after = candidate.passage.shown, other.passage.shown
    return (
        other.kind == candidate.kind != "free"
        and other.norm != candidate.norm
        and any(before is s for s in after.near)
        and (before.item.sender_id or before.item.sender) == (after.item.sender_id or after.item.sender)
        and other.passage.item_cover < candidate.passage.item_cover
    )


def _fitting(need: Need, passage: Passage) -> list[tuple[Value, float]]:
    kind = need.asked.kind
    if kind == "list" and need.asked.people:
        kind = "person"
    whole = _whole(need, passage)
    if kind == "boolean":
        return [(whole, 1.0 if speaks_of_state(need.question, passage.text) else 0.5)]
    if kind not in FITS:
        return [(whole, 1.0)]
    fits, item = FITS[kind], passage.shown.item
    values = [*_values(need, passage), *extract_names(passage.text)]
    found = [(v, fits[v.kind]) for v in values if v.kind in fits]
    if kind == "date" and not any(v.kind == "date" for v, _ in found) and item.timestamp is not None:
        day = Day(item.timestamp.date())
        found.append((Value("date", 0, len(passage.text), "", day.norm, day.say(need.language)), WRITTEN_FIT))
    if kind == "person":
        found = [(v, fit) for v, fit in found if v.norm not in need.question.lower()]
    if kind == "person" and item.sender and item.source.lower() not in RECORD_SOURCES:
        found.append((Value("person", 0, len(passage.text), "", item.sender.lower(), item.sender), 0.4))
    found.append((whole, WHOLE_FIT))
    return found


def _values(need: Need, passage: Passage) -> list[Value]:
    """Extract values; a day without a month belongs to the month spoken of just before."""
    values = extract_values(passage.text, passage.shown.item.timestamp, need.language)
    before = [
        date.fromisoformat(v.norm)
        for s in passage.shown.near
        for v in extract_values(s.item.text, s.item.timestamp, need.language)
        if v.kind == "date" and len(v.norm) == 10
    ]
    return [in_month_of(v, before[-1], need.language) if v.kind == "date" and before else v for v in values]


def _whole(need: Need, passage: Passage) -> Value:
    say = trim_statement(passage.text, need)
    return Value("free", 0, len(passage.text), passage.text, say.lower(), say)
