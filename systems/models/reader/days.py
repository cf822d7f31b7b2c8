"""Days, months and years that a text means, and how an answer writes them."""

from __future__ import annotations

import calendar as _calendar
from dataclasses import dataclass
from datetime import date, timedelta

MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December")  # fmt: skip
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
ZH_WEEKDAYS = "一二三四五六日"


@dataclass(frozen=True, slots=True)
class Day:
    """A stretch of the calendar: ``grain`` is day, week, weekend, month or year; ``first`` is its first day."""

    first: date
    grain: str = "day"

    @property
    def norm(self) -> str:
        """ISO form at the grain: 2024-03-05, 2024-W10, 2024-W10-end, 2024-03, 2024."""
        if self.grain == "year":
            return f"{self.first.year:04d}"
        if self.grain == "month":
            return f"{self.first:%Y-%m}"
        if self.grain in ("week", "weekend"):
            year, week, _ = self.first.isocalendar()
            return f"{year:04d}-W{week:02d}" + ("-end" if self.grain == "weekend" else "")
        return self.first.isoformat()

    def say(self, language: str) -> str:
        """Write it in English or Chinese."""
        d = self.first
        if language == "zh":
            if self.grain == "year":
                return f"{d.year}年"
            if self.grain == "month":
                return f"{d.year}年{d.month}月"
            day = f"{d.year}年{d.month}月{d.day}日"
            return {"week": f"{day}那一周", "weekend": f"{day}那个周末"}.get(self.grain, day)
        if self.grain == "year":
            return str(d.year)
        if self.grain == "month":
            return f"{MONTHS[d.month - 1]} {d.year}"
        day = f"{d.day} {MONTHS[d.month - 1]} {d.year}"
        return {"week": f"the week of {day}", "weekend": f"the weekend of {day}"}.get(self.grain, day)


def make_day(year: int, month: int, day: int) -> Day | None:
    """Return the day, or None where the calendar has none such."""
    try:
        return Day(date(year, month, day))
    except ValueError:
        return None


def near_year(month: int, day: int, anchor: date) -> Day | None:
    """Return month and day in the year that puts it nearest to the anchor."""
    options = [d for y in (anchor.year - 1, anchor.year, anchor.year + 1) if (d := make_day(y, month, day))]
    return min(options, key=lambda d: abs((d.first - anchor).days), default=None)


def shift(anchor: date, amount: int, unit: str) -> Day | None:
    """Move by days, weeks, months or years; months keep the day where the month has it. None outside the calendar."""
    try:
        if unit == "day":
            return Day(anchor + timedelta(days=amount))
        if unit == "week":
            return Day(anchor + timedelta(weeks=amount))
        months = anchor.year * 12 + anchor.month - 1 + amount * (12 if unit == "year" else 1)
        year, month = divmod(months, 12)
        last = _calendar.monthrange(year, month + 1)[1]
        return Day(date(year, month + 1, min(anchor.day, last)))
    except (ValueError, OverflowError):
        return None


def stretch(anchor: date, amount: int, grain: str) -> Day | None:
    """Return the whole week, weekend, month or year that lies ``amount`` of them from the anchor's."""
    moved = shift(anchor, amount, "week" if grain == "weekend" else grain)
    if moved is None:
        return None
    d = moved.first
    if grain == "year":
        return Day(date(d.year, 1, 1), "year")
    if grain == "month":
        return Day(date(d.year, d.month, 1), "month")
    try:
        return Day(d + timedelta(days=(5 if grain == "weekend" else 0) - d.weekday()), grain)
    except OverflowError:
        return None


def weekday_from(anchor: date, weekday: int, which: str) -> Day | None:
    """Resolve a weekday: ``last`` (before the anchor), ``next`` (in the week after), ``this`` (same ISO week), ``coming``.

    ``last`` and ``coming`` never give the anchor's own day; ``prev_week`` is the day in the ISO week before.
    """
    step = {"this": 0, "next": 7, "prev_week": -7}
    try:
        if which in step:
            return Day(anchor + timedelta(days=weekday - anchor.weekday() + step[which]))
        if which == "last":
            return Day(anchor - timedelta(days=(anchor.weekday() - weekday - 1) % 7 + 1))
        return Day(anchor + timedelta(days=(weekday - anchor.weekday() - 1) % 7 + 1))
    except OverflowError:
        return None
