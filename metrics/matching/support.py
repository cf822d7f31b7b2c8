"""Whether a typed value in an answer is supported by what the reader saw, or computed from it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from itertools import pairwise

from memtrial.datasets.schema import Message, Question
from memtrial.metrics.matching.forms import Key
from memtrial.metrics.matching.quantities import DATE, ID, Value
from memtrial.metrics.matching.text import normalise
from memtrial.metrics.matching.units import COUNT, DURATION
from memtrial.metrics.matching.values import extract
from memtrial.metrics.matching.when import When, compatible, covers, resolve, with_year
from memtrial.metrics.records import Result

_DAY = 86400.0
_SUM_LIMIT = 300
"""Values beyond this many are not added in threes: a context that large supports nearly any sum."""


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
        self.numbers = sorted({n for v in seen if v.family not in (DATE, ID) for n in (v.amount, v.raw)})
        self.rounded = {_round(n) for n in self.numbers}

    def follows(self, value: Value) -> bool:
        """Say whether the value is a date, a count of days or a number that follows from what was seen."""
        if value.when is not None:
            return self._date_follows(value.when)
        if value.family == ID:
            return False
        if value.family == DURATION and self._days_between(value.amount / _DAY):
            return True
        if (
            value.family in ("", COUNT)
            and value.raw == int(value.raw)
            and (1 <= value.raw <= max(self.items, 1) or self._days_between(value.raw))
        ):
            return True
        return self._computed(value.amount) or self._computed(value.raw)

    def _days_between(self, days: float) -> bool:
        ordinals = {d.toordinal() for d in self.days}
        wanted = {int(days) + k for k in (-1, 0, 1)} if days == int(days) else set()
        return any(o + w in ordinals for o in ordinals for w in wanted if w > 0)

    def _date_follows(self, when: When) -> bool:
        target = _date(when)
        if target is None:
            part = when.fields() & {"wd", "part", "y", "m", "d"}
            return (
                bool(part)
                and when.t is None
                and any(compatible(when, _point(datetime(d.year, d.month, d.day))) for d in self.days)
            )
        offsets = {round(g / _DAY) for g in self.gaps} | {1, -1, 2, -2, 7, -7} | {-round(g / _DAY) for g in self.gaps}
        return any(
            d + timedelta(days=o + k) == target
            for d in self.days
            for o in offsets
            for k in (-1, 0, 1)
            if abs(o) < 40_000
        )

    def _computed(self, target: float) -> bool:
        numbers = self.numbers if len(self.numbers) <= 2 * _SUM_LIMIT else self.numbers[: 2 * _SUM_LIMIT]
        for n in numbers:
            if (
                _round(target - n) in self.rounded
                or _round(target + n) in self.rounded
                or _round(n - target) in self.rounded
            ):
                return True
            if n and (
                _round(target / n) in self.rounded
                or _round(target * n) in self.rounded
                or _round(target * 100 / n) in self.rounded
            ):
                return True
        if len(numbers) <= _SUM_LIMIT:
            return any(_round(target - a - b) in self.rounded for a, b in pairwise(numbers))
        return False


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
