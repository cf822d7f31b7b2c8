"""Atoms that English and Chinese share: dates in figures, times of day, quarters, and counting back."""

from __future__ import annotations

import re
from datetime import date, timedelta

from memtrial.systems.models.times.atoms import Atom, Made, Moment, Rules, fixed, placed
from memtrial.systems.models.times.spans import Granularity, Stretch, between, days, months, move, whole

COMMON = Rules()

# What "a few" and its like mean, in units, both ends included.
FEW = {"day": (2, 7), "week": (2, 6), "month": (2, 6), "year": (2, 6), "hour": (2, 8), "minute": (2, 30), "quarter": (2, 4), "weekend": (2, 4)}  # fmt: skip
_LENGTH = {"hour": timedelta(hours=1), "minute": timedelta(minutes=1)}


@COMMON(r"(?<![\d.-])(?P<y>(?:19|20)\d\d)(?P<s>[-/.])(?P<m>\d{1,2})(?P=s)(?P<d>\d{1,2})(?![\d-]|\.\d)T?")
def _iso(m: re.Match[str], moment: Moment) -> Made:
    return fixed(m, days(date(int(m["y"]), int(m["m"]), int(m["d"]))), kind="absolute")


@COMMON(r"(?<![\w.-])(?P<y>20\d\d)(?P<m>0[1-9]|1[0-2])(?P<d>0[1-9]|[12]\d|3[01])(?![\w-]|\.\d)")
def _compact(m: re.Match[str], moment: Moment) -> Made:
    return fixed(m, days(date(int(m["y"]), int(m["m"]), int(m["d"]))), kind="absolute", certain=False)


@COMMON(r"(?<![\w./-])(?P<y>(?:19|20)\d\d)[-/](?P<m>0[1-9]|1[0-2])(?![\w/-]|\.\d)")
def _year_month(m: re.Match[str], moment: Moment) -> Made:
    return fixed(m, whole(date(int(m["y"]), int(m["m"]), 1), "month"), kind="absolute")


@COMMON(r"(?<![\w.])Q(?P<q>[1-4])(?:\s?(?:of\s|/)?(?P<y>(?:19|20)\d\d))?(?!\w)")
@COMMON(r"(?<!\w)(?P<y>(?:19|20)\d\d)\s?Q(?P<q>[1-4])(?!\w)")
def _quarter(m: re.Match[str], moment: Moment) -> Made:
    q = int(m["q"])
    if m["y"]:
        return fixed(m, quarter_of(whole(date(int(m["y"]), 1, 1), "year"), q), kind="absolute")
    return placed(m, "year", lambda year: quarter_of(year, q))


def quarter_of(year: Stretch, number: int) -> Stretch:
    """Return the first to fourth quarter of a calendar year."""
    return months(year.lo.date().replace(month=3 * number - 2), 3, "quarter")


def clock(m: re.Match[str], hour: int, minute: int | None) -> Atom:
    """Make a time of day that waits for its day: an hour where no minute is said."""
    if not (0 <= hour <= 24 and 0 <= (minute or 0) < 60):
        raise ValueError("no time of day")
    length = _LENGTH["hour" if minute is None else "minute"]
    grain: Granularity = "hour" if minute is None else "minute"

    def place(day: Stretch) -> Stretch:
        lo = day.lo + timedelta(hours=hour, minutes=minute or 0)
        return Stretch(lo, lo + length, grain)

    return placed(m, "day", place)


def part_of_day(m: re.Match[str], first: float, last: float) -> Atom:
    """Make a part of a day, from one hour to another (above 24: of the next morning)."""

    def place(day: Stretch) -> Stretch:
        return Stretch(day.lo + timedelta(hours=first), day.lo + timedelta(hours=last), "daypart")

    return placed(m, "day", place)


def ago(m: re.Match[str], moment: Moment, amount: int, unit: str) -> Atom:
    """Make "N units ago" (or ahead, for a negative amount): that day; that calendar week, month, quarter or year.

    One says "two weeks ago" of a day and of a week alike, and both lie in the calendar week: not certain. An hour is
    taken with half a unit on either side, a minute with five.
    """
    if unit in _LENGTH:
        at = moment.now - amount * _LENGTH[unit]
        slack = timedelta(minutes=30 if unit == "hour" else 5)
        grain: Granularity = "hour" if unit == "hour" else "minute"
        return fixed(m, Stretch(at - slack, at + slack, grain), certain=False)
    day = move(moment.today, -amount, unit)
    return fixed(m, whole(day, unit), certain=unit == "day")


def ago_between(m: re.Match[str], moment: Moment, low: int, high: int, unit: str) -> Atom:
    """Make "a few units ago": from ``high`` units back up to ``low`` units back, whole units."""
    if unit in _LENGTH:
        length = _LENGTH[unit]
        return fixed(m, Stretch(moment.now - high * length, moment.now - low * length + length / 2, "span"), kind="vague", certain=False)  # fmt: skip
    first = whole(move(moment.today, -high, unit), unit)
    last = whole(move(moment.today, -low, unit), unit)
    return fixed(m, Stretch(first.lo, last.hi, "span"), kind="vague", certain=False)


def rolling(m: re.Match[str], moment: Moment, amount: int, unit: str, *, vague: bool = False) -> Atom:
    """Make "the last N units": from so many units before today up to and with today (hours: up to now)."""
    certain = not vague
    if unit in _LENGTH:
        lo, hi = moment.now - amount * _LENGTH[unit], moment.now + timedelta(seconds=1)
        return fixed(m, Stretch(lo, hi, "span"), kind="vague" if vague else "relative", certain=certain)
    stretch = between(move(moment.today, -amount, unit), moment.today)
    return fixed(m, stretch, kind="vague" if vague else "relative", certain=certain)


def coming(m: re.Match[str], moment: Moment, amount: int, unit: str) -> Atom:
    """Make "the next N units": from today to so many units ahead."""
    if unit in _LENGTH:
        return fixed(m, Stretch(moment.now, moment.now + amount * _LENGTH[unit], "span"))
    return fixed(m, between(moment.today, move(moment.today, amount, unit)))


def some_days(m: re.Match[str], moment: Moment, first: int, last: int) -> Atom:
    """Make a vague stretch from ``first`` days back to ``last`` days back, whole days."""
    stretch = between(moment.today - timedelta(days=first), moment.today - timedelta(days=last))
    return fixed(m, stretch, kind="vague", certain=False)
