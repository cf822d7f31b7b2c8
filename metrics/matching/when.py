"""Points in time as answers write them: partly stated, and compared field by field."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from functools import lru_cache


@dataclass(frozen=True, slots=True)
class When:
    """A partly stated point in time; None where nothing is said.

    Attributes:
        wd: weekday, Monday is 0.
        t: minutes after midnight.
        half: True where ``t`` may be twelve hours later as well ("4:45").
        part: hours of the day between which it lies (from, to).
        tz: minutes east of UTC.
        rel: days after the day on which it is said.
        span: days of the month between which it lies ("end of April").
        within: first and last day (proleptic ordinals) between which it lies ("the week before 9 June 2023").
        week: weeks after the week in which it is said (with ``wd``).
        alts: other readings of an ambiguous spelling (3/11).
        plural: "Tuesdays", 每周二: a habit rather than a day.
    """

    y: int | None = None
    m: int | None = None
    d: int | None = None
    wd: int | None = None
    t: int | None = None
    half: bool = False
    part: tuple[int, int] | None = None
    tz: int | None = None
    rel: int | None = None
    week: int | None = None
    span: tuple[int, int] | None = None
    within: tuple[int, int] | None = None
    alts: tuple[When, ...] = ()
    computed_wd: bool = False

    def fields(self) -> frozenset[str]:
        """Names of what is stated."""
        return frozenset(
            n for n in ("y", "m", "d", "wd", "t", "part", "tz", "rel", "span", "within") if getattr(self, n) is not None
        )

    def is_day(self) -> bool:
        """Say whether a day or a weekday is stated (and not the time of day alone)."""
        return self.d is not None or self.wd is not None or self.m is not None or self.rel is not None


def is_day_of_a_month(y: int | None, m: int | None, d: int | None) -> bool:
    """Say whether the parts stated can be a date (29 February can)."""
    if m is not None and not 1 <= m <= 12:
        return False
    if d is None:
        return True
    try:
        date(y if y is not None else 2024, m or 1, d)
    except ValueError:
        return False
    return True


@lru_cache(maxsize=8192)
def resolve(when: When, base: datetime) -> When:
    """Make what is relative to the time of speaking absolute, and add the weekday that a full date implies."""
    day: date | None = None
    if when.rel is not None and when.d is None:
        day = base.date() + timedelta(days=when.rel)
    elif when.week is not None and when.wd is not None and when.d is None:
        day = base.date() - timedelta(days=base.weekday()) + timedelta(weeks=when.week, days=when.wd)
    if day is not None:
        when = replace(when, y=day.year, m=day.month, d=day.day, rel=None)
    if when.y and when.m and when.d and when.wd is None:
        try:
            when = replace(when, wd=date(when.y, when.m, when.d).weekday(), computed_wd=True)
        except ValueError:
            return when
    return when


def compatible(a: When, b: When) -> bool:
    """Say whether nothing that both state differs."""
    for x in (a, *a.alts):
        for y in (b, *b.alts):
            if _compatible(x, y):
                return True
    return False


def _compatible(a: When, b: When) -> bool:
    for name in ("y", "m", "d"):
        x, y = getattr(a, name), getattr(b, name)
        if x is not None and y is not None and x != y:
            return False
    if a.within and b.within:
        return a.within == b.within
    for x, y in ((a, b), (b, a)):
        if x.within and not _lies_within(y, x.within):
            return False
        if x.span is not None and y.d is not None and not x.span[0] <= y.d <= x.span[1]:
            return False
    if a.span and b.span and (a.span[1] < b.span[0] or b.span[1] < a.span[0]):
        return False
    both_days = a.d is not None and b.d is not None and a.m is not None and b.m is not None
    if a.wd is not None and b.wd is not None and a.wd != b.wd and not (both_days and (a.computed_wd or b.computed_wd)):
        return False
    if a.t is not None and b.t is not None and not _same_time(a, b):
        return False
    for x, y in ((a, b), (b, a)):
        if x.part and y.t is not None and not any(x.part[0] * 60 <= t <= x.part[1] * 60 for t in _times(y)):
            return False
    if a.part and b.part and (a.part[1] <= b.part[0] or b.part[1] <= a.part[0]):
        return False
    return not (a.rel is not None and b.rel is not None and a.rel != b.rel)


def _lies_within(when: When, days: tuple[int, int]) -> bool:
    """Say whether a day with a month (its year taken from the period where it has none) lies in a period."""
    if when.m is None or when.d is None:
        return when.within is not None
    try:
        day = date(when.y or date.fromordinal(days[0]).year, when.m, when.d)
    except ValueError:
        return False
    return days[0] <= day.toordinal() <= days[1]


def _times(w: When) -> tuple[int, ...]:
    if w.t is None:
        return ()
    return (w.t % 720, w.t % 720 + 720) if w.half else (w.t,)


def _same_time(a: When, b: When) -> bool:
    shift = (a.tz or 0) - (b.tz or 0) if a.tz is not None and b.tz is not None else 0
    return any((x - shift) % 1440 == y % 1440 for x in _times(a) for y in _times(b))


def covers(mention: When, form: When, base: datetime) -> bool:
    """Say whether a mention is as precise as an accepted form (a date covers a weekday, a time a part of the day)."""
    if form.within is not None:
        return mention.within is not None or (mention.m is not None and mention.d is not None)
    if form.d is not None:
        if mention.d is None or (form.m is not None and mention.m is None and form.m != base.month):
            return False
    elif form.m is not None:
        if mention.m is None or (form.span is not None and mention.span is None and mention.d is None):
            return False
    elif form.wd is not None:
        if mention.wd is None and (mention.d is None or mention.m is None):
            return False
    elif form.y is not None and mention.y is None:
        return False
    if form.t is not None:
        return mention.t is not None
    if form.part is not None:
        return mention.part is not None or mention.t is not None
    return True


def with_year(when: When, base: datetime) -> When:
    """Give a dated mention without a year the year that brings it nearest to ``base``, so that its weekday can be checked."""
    if when.y is not None or when.m is None or when.d is None:
        return when
    best: When | None = None
    distance = timedelta.max
    for year in (base.year - 1, base.year, base.year + 1):
        if not is_day_of_a_month(year, when.m, when.d):
            continue
        gap = abs(date(year, when.m, when.d) - base.date())
        if gap < distance:
            best, distance = replace(when, y=year), gap
    return best or when
