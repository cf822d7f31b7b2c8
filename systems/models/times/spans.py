"""Stretches of the calendar: whole days, weeks, months, their parts, and moving about between them.

Everything here is wall-clock time without a zone; :func:`~memtrial.systems.models.times.find_times` adds the zone of
the time of asking at the end. Functions raise ``ValueError`` or ``OverflowError`` outside of the calendar.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Literal

from memtrial.systems.models.reader.days import shift

Granularity = Literal[
    "minute", "hour", "daypart", "day", "weekend", "week", "month", "quarter", "season", "year", "decade", "span"
]

EARLIEST = datetime(1000, 1, 1)
LATEST = datetime(3000, 1, 1)


@dataclass(frozen=True, slots=True)
class Stretch:
    """A half-open interval, and what unit of the calendar it is (``span`` for none)."""

    lo: datetime
    hi: datetime
    grain: Granularity


def midnight(day: date) -> datetime:
    """Return the first moment of a day."""
    return datetime.combine(day, time())


def days(first: date, count: int = 1, grain: Granularity = "day") -> Stretch:
    """Return ``count`` whole days from ``first`` on."""
    return Stretch(midnight(first), midnight(first + timedelta(days=count)), grain)


def between(first: date, last: date, grain: Granularity = "span") -> Stretch:
    """Return the days from the first to the last, both whole."""
    return days(first, (last - first).days + 1, grain)


def months(first: date, count: int, grain: Granularity) -> Stretch:
    """Return ``count`` whole months from the one that holds ``first``."""
    start = first.replace(day=1)
    return Stretch(midnight(start), midnight(move(start, count, "month")), grain)


def move(day: date, amount: int, unit: str) -> date:
    """Move by days, weeks, months, quarters or years; a month that lacks the day gives its last.

    Raises:
        OverflowError: that is outside of the calendar.
    """
    if unit == "quarter":
        amount, unit = amount * 3, "month"
    if unit == "weekend":
        unit = "week"
    moved = shift(day, amount, unit)
    if moved is None:
        raise OverflowError(f"{amount} {unit}s from {day}")
    return moved.first


def whole(day: date, grain: str) -> Stretch:
    """Return the day, ISO week, weekend of the ISO week, month, quarter, year or decade that holds a day."""
    if grain == "week":
        return days(day - timedelta(days=day.weekday()), 7, "week")
    if grain == "weekend":
        return days(day + timedelta(days=5 - day.weekday()), 2, "weekend")
    if grain == "month":
        return months(day, 1, "month")
    if grain == "quarter":
        return months(day.replace(month=(day.month - 1) // 3 * 3 + 1), 3, "quarter")
    if grain == "year":
        return months(day.replace(month=1, day=1), 12, "year")
    if grain == "decade":
        return months(date(day.year // 10 * 10, 1, 1), 120, "decade")
    return days(day)


def beside(stretch: Stretch, amount: int) -> Stretch:
    """Return the stretch of the same grain ``amount`` of them away; a span, a season or a day moves by its length."""
    if stretch.grain in ("week", "weekend", "month", "quarter", "year"):
        return whole(move(stretch.lo.date(), amount, stretch.grain), stretch.grain)
    if stretch.grain == "season":
        return months(move(stretch.lo.date(), amount * 3, "month"), 3, "season")
    length = stretch.hi - stretch.lo
    return Stretch(stretch.lo + amount * length, stretch.hi + amount * length, stretch.grain)


# Which months, or which days, the words for a part of something mean; 1 is the first, and both ends belong to it.
_OF_YEAR = {"early": (1, 3), "mid": (5, 8), "late": (10, 12), "first_half": (1, 6), "second_half": (7, 12)}
_OF_MONTH = {"early": (1, 10), "mid": (11, 20), "late": (21, 31), "first_half": (1, 15), "second_half": (16, 31)}
_OF_WEEK = {"early": (1, 2), "mid": (2, 4), "late": (4, 7), "first_half": (1, 3), "second_half": (4, 7)}
_SHARE = {"early": (0, 1 / 3), "mid": (1 / 3, 2 / 3), "late": (2 / 3, 1), "first_half": (0, 0.5), "second_half": (0.5, 1)}  # fmt: skip


def portion(of: Stretch, which: str) -> Stretch:
    """Return the early, mid or late part or a half of a stretch of at least a weekend."""
    first, length = of.lo.date(), (of.hi - of.lo).days
    if of.grain == "year":
        a, b = _OF_YEAR[which]
        return months(first.replace(month=a), b - a + 1, "span")
    if of.grain in ("month", "week"):
        a, b = (_OF_MONTH if of.grain == "month" else _OF_WEEK)[which]
        return between(first + timedelta(days=a - 1), first + timedelta(days=min(b, length) - 1))
    low, high = (round(share * length) for share in _SHARE[which])
    return days(first + timedelta(days=low), max(high - low, 1), "span")


def nth(of: Stretch, number: int, unit: str) -> Stretch:
    """Return the ``number``-th day, week, weekend or weekday (``0`` to ``6``) of a stretch; -1 is the last.

    The first week of a month is its first seven days, the last week its last seven. A weekend belongs to the month of
    its Saturday.

    Raises:
        ValueError: there are not so many.
    """
    first, end = of.lo.date(), of.hi.date()
    if unit in ("day", "week"):
        step = 7 if unit == "week" else 1
        start = first + timedelta(days=(number - 1) * step) if number > 0 else end - timedelta(days=step)
        last = min(start + timedelta(days=step), end)
        if start >= end:
            raise ValueError("there are not so many")
        return days(start, (last - start).days, "span" if unit == "week" else "day")
    weekday = 5 if unit == "weekend" else int(unit)
    if number > 0:
        start = first + timedelta(days=(weekday - first.weekday()) % 7 + 7 * (number - 1))
    else:
        last = end - timedelta(days=1)
        start = last - timedelta(days=(last.weekday() - weekday) % 7)
    if not first <= start < end:
        raise ValueError("there are not so many")
    return days(start, 2 if unit == "weekend" else 1, "weekend" if unit == "weekend" else "day")


def season(year: int, number: int) -> Stretch:
    """Return spring (0), summer, autumn or winter (3) of the northern half, by whole months; winter ends a year later."""
    return months(date(year, 3 + 3 * number, 1), 3, "season")
