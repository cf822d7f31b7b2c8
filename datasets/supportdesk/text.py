"""Dates, money and lists as people write them, and the forms in which an answer may give them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache

from memtrial.datasets.supportdesk.rng import Rng

EPOCH = datetime(2024, 3, 4, tzinfo=UTC)
DAY = 24 * 60

_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December",
)  # fmt: skip
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_ZH_WEEKDAYS = "一二三四五六日"
_EN_COUNT = {2: "two", 3: "three", 4: "four", 5: "five", 6: "six"}
_ZH_COUNT = {3: "三", 4: "四", 5: "五", 6: "六"}


def moment(minute: int) -> datetime:
    """Return the UTC time that lies ``minute`` minutes after the start of the world."""
    return EPOCH + timedelta(minutes=minute)


@lru_cache(maxsize=4096)
def day_date(day: int) -> date:
    """Return the calendar date of a day number of the world."""
    return (EPOCH + timedelta(days=day)).date()


def day_number(iso: str) -> int:
    """Return the day number of the world that an ISO date stands for."""
    return (date.fromisoformat(iso) - EPOCH.date()).days


def say_date(language: str, day: int, rng: Rng, *, near: int | None = None) -> str:
    """Write a date without its year; as "the 14th" where ``near`` is a day of the same month and chance wants it."""
    when = day_date(day)
    short = (
        near is not None and (day_date(near).year, day_date(near).month) == (when.year, when.month) and rng.chance(60)
    )
    if language == "zh":
        if short:
            return f"{when.day}号"
        return f"{when.month}月{when.day}{rng.pick(('日', '号', '日'))}"
    if short:
        return f"the {when.day}{_ordinal(when.day)}"
    month = _MONTHS[when.month - 1]
    style = rng.below(4)
    if style == 0:
        return f"{when.day} {month}"
    if style == 1:
        return f"{month} {when.day}"
    if style == 2:
        return f"{_WEEKDAYS[when.weekday()][:3]} {when.day} {month[:3]}"
    return f"the {when.day}{_ordinal(when.day)} of {month}"


def _ordinal(n: int) -> str:
    return "th" if 10 < n < 14 else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")


@lru_cache(maxsize=4096)
def date_forms(language: str, day: int) -> tuple[str, ...]:
    """Return accepted forms of a date, the ISO form first."""
    when = day_date(day)
    if language == "zh":
        return (when.isoformat(), f"{when.year}年{when.month}月{when.day}日", f"{when.month}月{when.day}日")
    month = _MONTHS[when.month - 1]
    return (when.isoformat(), f"{when.day} {month} {when.year}", f"{when.day} {month}")


def full_date(language: str, day: int) -> str:
    """Write a date with its year."""
    return date_forms(language, day)[1]


def say_relative(language: str, day: int, today: int, rng: Rng) -> str:
    """Name ``day`` relative to ``today``, zero to six days before it, so that only one reading is possible."""
    gap = today - day
    when = day_date(day)
    if gap == 0:
        return "今天早上" if language == "zh" else "this morning"
    if gap == 1:
        return "昨天" if language == "zh" else "yesterday"
    if gap > 2 and day_date(today).isocalendar()[1] != when.isocalendar()[1] and rng.chance(60):
        return f"上周{_ZH_WEEKDAYS[when.weekday()]}" if language == "zh" else f"last {_WEEKDAYS[when.weekday()]}"
    if language == "zh":
        return "前天" if gap == 2 else f"{_ZH_COUNT[gap]}天前"
    return f"{_EN_COUNT[gap]} days ago"


def say_money(language: str, cents: int) -> str:
    """Write an amount with its currency (yuan in Chinese, euros in English)."""
    whole, rest = divmod(cents, 100)
    amount = str(whole) if not rest else f"{whole}.{rest:02d}"
    return f"{amount}元" if language == "zh" else f"€{amount}"


def money_forms(language: str, cents: int) -> tuple[str, ...]:
    """Return accepted forms of an amount."""
    text = say_money(language, cents)
    return (text, text.strip("€元"))


def say_list(language: str, items: Sequence[str]) -> str:
    """Write a list of things; English gets an article before each."""
    if language == "zh":
        return "和".join(items) if len(items) < 3 else "、".join(items[:-1]) + "和" + items[-1]
    named = [f"the {item}" for item in items]
    return " and ".join(named) if len(named) < 3 else ", ".join(named[:-1]) + " and " + named[-1]


def yes_no(language: str, value: bool, *, feature: bool = False) -> tuple[str, ...]:
    """Return accepted forms of a yes or a no; ``feature``: to a question whether something is supported."""
    if language == "zh":
        if feature:
            return ("支持", "是", "有", "可以") if value else ("不支持", "否", "没有", "不可以")
        return ("是", "是的") if value else ("否", "不是", "没有")
    if feature:
        return ("yes", "supported") if value else ("no", "not supported")
    return ("yes",) if value else ("no",)


def day_count_forms(language: str, days: int) -> tuple[str, ...]:
    """Return accepted forms of a number of days."""
    if language == "zh":
        return (f"{days}天", str(days))
    return (f"{days} days" if days != 1 else "1 day", str(days))
