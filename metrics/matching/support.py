"""Whether a typed value in an answer is supported by what the reader saw, or computed from it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime
from itertools import combinations

from memtrial.datasets.schema import Message, Question
from memtrial.metrics.matching.forms import Key
from memtrial.metrics.matching.quantities import DATE, ID, Value
from memtrial.metrics.matching.text import normalise
from memtrial.metrics.matching.units import COUNT, DURATION, PERCENT
from memtrial.metrics.matching.values import extract
from memtrial.metrics.matching.when import When, compatible, covers, resolve, with_year
from memtrial.metrics.records import Result

_DAY = 86400.0
_LIMIT = 60
"""Values beyond this many are not multiplied, nor added in threes: so large a context would support nearly any number."""


def unsupported(
    question: Question, key: Key, result: Result, log: Mapping[str, Message], values: Sequence[Value]
) -> list[str]:
    """List the typed values of an answer that nothing shown supports.

    Support is the context shown, the question, its history and the accepted forms, and what follows from their values: sums,
    differences, products, shares, day counts, dates a duration away, relative dates by the time of their message. Names,
    booleans and bare identifiers of one character are not judged.

    Args:
        question: the question.
        key: its compiled labels.
        result: the answer with its context.
        log: messages by id, for items that keep no text of their own.
        values: typed values of the answer, resolved.

    Returns:
        The unsupported values as they can be shown in a report.
    """
    if not values:
        return []
    seen = list(_seen(question, key, result, log))
    missing = [v for v in values if not any(_equal(v, s) for s in seen)]
    if not missing:
        return []
    pool = _Pool(seen, len(result.context))
    return [_show(v) for v in missing if not pool.follows(v)]


def _seen(question: Question, key: Key, result: Result, log: Mapping[str, Message]) -> Iterator[Value]:
    for form in key.gold:
        yield from form.values
    asked = question.asked_at
    yield Value(0, 0, DATE, when=_point(asked))
    yield from _values(question.text, asked)
    for turn in question.history:
        yield from _values(turn.text, asked)
    for item in result.context:
        messages = [log[i] for i in item.ids if i in log]
        for message in messages:
            yield Value(0, 0, DATE, when=_point(message.timestamp))
        if item.text is not None:
            yield from _values(item.text, messages[0].timestamp if messages else asked)
        else:
            for message in messages:
                yield from _values(message.content, message.timestamp)


def _values(text: str, base: datetime) -> Iterator[Value]:
    for value in extract(normalise(text).low):
        yield replace(value, when=resolve(with_year(value.when, base), base)) if value.when else value


def _point(at: datetime) -> When:
    return When(y=at.year, m=at.month, d=at.day, wd=at.weekday(), t=at.hour * 60 + at.minute)


def _equal(a: Value, b: Value) -> bool:
    if a.when is not None or b.when is not None:
        if a.when is None or b.when is None or not compatible(a.when, b.when):
            return False
        return covers(b.when, a.when, datetime(2000, 1, 1))
    if ID in (a.family, b.family):
        return (a.family == b.family and (a.text == b.text or a.text in b.text)) or (
            bool(a.amount) and _near(a.amount, b.amount)
        )
    if a.family and b.family and a.family != b.family:
        return False
    return _near(a.amount, b.amount) or _near(a.raw, b.raw)


def _near(a: float, b: float) -> bool:
    return abs(a - b) <= 1e-6 * max(1.0, abs(a), abs(b))


class _Pool:
    """What can be computed from the values seen."""

    def __init__(self, seen: Sequence[Value], items: int) -> None:
        self.items = items
        self.days = sorted({d for v in seen if v.when is not None and (d := _date(v.when)) is not None})
        self.gaps = sorted({v.amount for v in seen if v.family == DURATION})
        self.amounts = [v for v in seen if v.family not in (DATE, ID)]

    def follows(self, value: Value) -> bool:
        """Say whether the value is a date, a count of days or a number that follows from what was seen."""
        if value.when is not None:
            return self._date_follows(value.when)
        if value.family == ID:
            return False
        if value.family == DURATION and self._days_between(value.amount / _DAY):
            return True
        counted = value.family in ("", COUNT) and value.raw == int(value.raw)
        if counted and (1 <= value.raw <= self.items or self._days_between(value.raw)):
            return True
        return self._computed(value)

    def _days_between(self, days: float) -> bool:
        if days != int(days) or days < 1:
            return False
        ordinals = {d.toordinal() for d in self.days}
        return any(o + int(days) + k in ordinals for o in ordinals for k in (-1, 0, 1))

    def _date_follows(self, when: When) -> bool:
        target = _date(when)
        if target is None:
            vague = when.t is None and when.fields() & {"wd", "part", "y", "m", "d", "within"}
            return bool(vague) and any(compatible(when, _point(datetime(d.year, d.month, d.day))) for d in self.days)
        gaps = {round(g / _DAY) for g in self.gaps}
        offsets = {0, 1, 2, 7} | {g for g in gaps if g < 40_000}
        days = {d.toordinal() for d in self.days}
        return any(target.toordinal() + sign * o + k in days for o in offsets for sign in (1, -1) for k in (-1, 0, 1))

    def _computed(self, value: Value) -> bool:
        """Sum or difference of two alike, product, quotient or share of any two, sum of three, or product and a term."""
        target = value.amount
        alike = sorted({_round(v.amount) for v in self.amounts if value.family in ("", v.family) or not v.family})
        known = set(alike)
        if any(_round(target - n) in known or _round(target + n) in known for n in alike):
            return True
        every = sorted({_round(n) for v in self.amounts for n in (v.amount, v.raw)})[:_LIMIT]
        digits = len(f"{target:.9f}".rstrip("0").partition(".")[2])
        if any(
            b and (_near(a * b, target) or round(a / b, digits) == round(target, digits)) for a in every for b in every
        ):
            return True
        if value.family == PERCENT:
            return any(b and round(a / b * 100, digits) == round(target, digits) for a in every for b in every)
        few = alike[:_LIMIT]
        if any(_round(target - a - b) in known for a, b in combinations(few, 2)):
            return True
        counts = {v.raw for v in self.amounts if v.family in ("", COUNT) and 1 < v.raw <= 100}
        return any(
            _round(target - count * n) in known or _round(count * n - target) in known for count in counts for n in few
        )


def _round(n: float) -> float:
    return round(n, 4)


def _date(when: When) -> date | None:
    if when.y is None or when.m is None or when.d is None:
        return None
    try:
        return date(when.y, when.m, when.d)
    except ValueError:
        return None


def _show(value: Value) -> str:
    if value.when is not None:
        w = value.when
        day = "-".join(f"{n:02d}" for n in (w.y, w.m, w.d) if n is not None)
        clock = f"{w.t // 60:02d}:{w.t % 60:02d}" if w.t is not None else ""
        return f"date {day} {clock}".strip()
    if value.family == ID:
        return f"id {value.text}"
    return f"{value.raw:g} {value.family}".strip()
