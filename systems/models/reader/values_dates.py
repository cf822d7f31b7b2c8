"""Dates in English and Chinese text, absolute and relative, resolved against the day the text was written."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import date

from memtrial.systems.models.reader.days import (
    MONTHS,
    WEEKDAYS,
    ZH_WEEKDAYS,
    Day,
    make_day,
    near_year,
    shift,
    stretch,
    weekday_from,
)
from memtrial.systems.models.reader.value import Value
from memtrial.systems.models.reader.values_numbers import EN_NUMBER_WORDS, ZH_NUMBER, parse_number

_MONTH_NAME = r"Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?"
_DAY_NAME = r"Mon(?:day)?|Tue(?:s(?:day)?)?|Wed(?:nesday)?|Thu(?:rs(?:day)?)?|Fri(?:day)?|Sat(?:urday)?|Sun(?:day)?"
_MONTH_OF = {m[:3].lower(): i + 1 for i, m in enumerate(MONTHS)}
_DAY_OF = {d[:3].lower(): i for i, d in enumerate(WEEKDAYS)}
_COUNT = rf"(?P<n>\d+|an?|{EN_NUMBER_WORDS}|a couple of|a few|several)"
_ZH_COUNT = rf"(?P<n>\d+|{ZH_NUMBER}|半)"
_ZH_UNIT = {
    "天": "day",
    "日": "day",
    "周": "week",
    "星期": "week",
    "礼拜": "week",
    "月": "month",
    "个月": "month",
    "年": "year",
}
_PAST = re.compile(
    r"\b(?:was|were|did|had|went|got|came|saw|met|took|made|bought|sent|(?!(?:re)?(?:moved|scheduled|changed|pushed|postponed|delayed|expected|booked|planned)\b)\w{3,}ed)\b|了|过",
    re.IGNORECASE,
)

Resolver = Callable[[re.Match[str], date, str], Day | None]
_RULES: list[tuple[re.Pattern[str], Resolver]] = []


def _rule(pattern: str, flags: int = 0) -> Callable[[Resolver], Resolver]:
    def register(resolver: Resolver) -> Resolver:
        _RULES.append((re.compile(pattern, flags | re.ASCII), resolver))
        return resolver

    return register


def _number(text: str) -> int | None:
    text = text.lower().strip()
    if text in ("a", "an"):
        return 1
    if text == "a couple of":
        return 2
    value = parse_number(text)
    return None if value is None or value != value.to_integral_value() or abs(value) > 100_000 else int(value)


@_rule(r"(?<!\d)(?P<y>(?:19|20)\d\d)[-/.](?P<m>\d{1,2})[-/.](?P<d>\d{1,2})(?!\d)")
@_rule(r"(?P<y>\d{4})\s?年\s?(?P<m>\d{1,2})\s?月\s?(?P<d>\d{1,2})\s?[日号]?")
def _ymd(m: re.Match[str], anchor: date, text: str) -> Day | None:
    return make_day(int(m["y"]), int(m["m"]), int(m["d"]))


@_rule(r"(?<!\d)(?P<a>\d{1,2})/(?P<b>\d{1,2})/(?P<y>(?:19|20)\d\d)(?!\d)")
def _slashes(m: re.Match[str], anchor: date, text: str) -> Day | None:
    a, b = int(m["a"]), int(m["b"])
    return make_day(int(m["y"]), b, a) if a > 12 else make_day(int(m["y"]), a, b)


@_rule(
    rf"\b(?:(?:{_DAY_NAME}),?\s)?(?:the\s)?(?P<d>\d{{1,2}})(?:st|nd|rd|th)?\s(?:of\s)?(?P<m>{_MONTH_NAME})\b\.?(?:,?\s(?P<y>(?:19|20)\d\d))?",
    re.IGNORECASE,
)
@_rule(
    rf"\b(?:(?:{_DAY_NAME}),?\s)?(?P<m>{_MONTH_NAME})\b\.?\s(?:the\s)?(?P<d>\d{{1,2}})(?:st|nd|rd|th)?\b(?!:)(?:,?\s(?P<y>(?:19|20)\d\d))?",
    re.IGNORECASE,
)
def _day_month(m: re.Match[str], anchor: date, text: str) -> Day | None:
    month = _MONTH_OF[m["m"][:3].lower()]
    return make_day(int(m["y"]), month, int(m["d"])) if m["y"] else near_year(month, int(m["d"]), anchor)


@_rule(rf"(?P<m>\d{{1,2}}|{ZH_NUMBER})\s?月\s?(?P<d>\d{{1,2}}|{ZH_NUMBER})\s?[日号]")
def _zh_day_month(m: re.Match[str], anchor: date, text: str) -> Day | None:
    month, day = _number(m["m"]), _number(m["d"])
    return near_year(month, day, anchor) if month and day else None


@_rule(rf"(?P<w>下|上|这|本)(?:个)?月(?P<d>\d{{1,2}}|{ZH_NUMBER})[日号]?")
def _zh_relative_month_day(m: re.Match[str], anchor: date, text: str) -> Day | None:
    month = stretch(anchor, {"下": 1, "上": -1}.get(m["w"], 0), "month")
    day = _number(m["d"])
    return make_day(month.first.year, month.first.month, day) if month and day else None


@_rule(r"(?P<y>\d{4})\s?年\s?(?P<m>\d{1,2})\s?月(?:份)?")
@_rule(rf"\b(?P<m>{_MONTH_NAME})\b\.?,?\s(?:of\s)?(?P<y>(?:19|20)\d\d)\b", re.IGNORECASE)
def _month_year(m: re.Match[str], anchor: date, text: str) -> Day | None:
    month = int(m["m"]) if m["m"].isdigit() else _MONTH_OF[m["m"][:3].lower()]
    day = make_day(int(m["y"]), month, 1)
    return Day(day.first, "month") if day else None


@_rule(r"\bthe day (?P<w>before yesterday|after tomorrow)\b", re.IGNORECASE)
def _two_days(m: re.Match[str], anchor: date, text: str) -> Day | None:
    return shift(anchor, -2 if m["w"].lower().startswith("before") else 2, "day")


_EN_DAYS = {"yesterday": -1, "last night": -1, "today": 0, "tonight": 0, "this morning": 0, "this afternoon": 0,
            "this evening": 0, "earlier today": 0, "just now": 0, "tomorrow": 1}  # fmt: skip
_ZH_DAYS = {"大前天": -3, "前天": -2, "前晚": -2, "昨天": -1, "昨晚": -1, "昨日": -1, "昨儿": -1, "今天": 0, "今早": 0, "今晚": 0, "今日": 0,
            "今儿": 0, "刚刚": 0, "明天": 1, "明早": 1, "明晚": 1, "明日": 1, "明儿": 1, "后天": 2, "大后天": 3}  # fmt: skip


@_rule(rf"\b(?:{'|'.join(_EN_DAYS)})\b", re.IGNORECASE)
def _en_day_word(m: re.Match[str], anchor: date, text: str) -> Day | None:
    return shift(anchor, _EN_DAYS[m.group().lower()], "day")


@_rule("|".join(sorted(_ZH_DAYS, key=len, reverse=True)))
def _zh_day_word(m: re.Match[str], anchor: date, text: str) -> Day | None:
    return shift(anchor, _ZH_DAYS[m.group()], "day")


@_rule(rf"\b{_COUNT}\s(?P<u>day|week|month|year)s?\s(?P<w>ago|back|earlier|from now|from today|later)\b", re.IGNORECASE)
@_rule(rf"\b(?P<w>in)\s{_COUNT}\s(?P<u>day|week|month|year)s?(?:'|’)?(?:\stime)?\b", re.IGNORECASE)
def _en_offset(m: re.Match[str], anchor: date, text: str) -> Day | None:
    count = _number(m["n"])
    if count is None:
        return None
    sign = -1 if m["w"].lower() in ("ago", "back", "earlier") else 1
    moved = shift(anchor, sign * count, m["u"].lower())
    coarse = {"month": "month", "year": "year"}.get(m["u"].lower())
    return stretch(moved.first, 0, coarse) if moved and coarse else moved


@_rule(rf"{_ZH_COUNT}(?P<u>个月|个星期|个礼拜|星期|礼拜|天|日|周|年)(?:多)?(?P<w>前|之前|以前|后|之后|以后)")
def _zh_offset(m: re.Match[str], anchor: date, text: str) -> Day | None:
    sign = -1 if "前" in m["w"] else 1
    unit = _ZH_UNIT[m["u"].removeprefix("个") if m["u"] != "个月" else "个月"]
    if m["n"] == "半":
        return shift(anchor, sign * 6, "month") if unit == "year" else None
    count = _number(m["n"])
    moved = shift(anchor, sign * count, unit) if count is not None else None
    return stretch(moved.first, 0, unit) if moved and unit in ("month", "year") else moved


@_rule(rf"\b(?P<w>last|next|this|this past|this coming|coming|past)\s(?P<d>{_DAY_NAME})\b", re.IGNORECASE)
def _en_weekday(m: re.Match[str], anchor: date, text: str) -> Day | None:
    word = m["w"].lower()
    which = {"last": "last", "past": "last", "this past": "last", "next": "next"}.get(word, "coming")
    return weekday_from(anchor, _DAY_OF[m["d"][:3].lower()], which)


@_rule(r"(?P<w>上上|下下|上|下|这|本)?(?:个)?(?:周|星期|礼拜)(?P<d>[一二三四五六日天])")
def _zh_weekday(m: re.Match[str], anchor: date, text: str) -> Day | None:
    weekday = ZH_WEEKDAYS.index("日" if m["d"] == "天" else m["d"])
    if m["w"] in ("上上", "下下"):
        week = shift(anchor, -1 if m["w"] == "上上" else 1, "week")
        return weekday_from(week.first, weekday, "prev_week" if m["w"] == "上上" else "next") if week else None
    which = {"上": "prev_week", "下": "next", "这": "this", "本": "this"}.get(m["w"] or "")
    return weekday_from(anchor, weekday, which or ("last" if _PAST.search(text) else "coming"))


@_rule(r"\b(?P<w>last|next|this|past|previous)\s(?:calendar\s)?(?P<g>week|weekend|month|year)\b", re.IGNORECASE)
@_rule(r"(?P<w>上|下|这|本)(?:一)?(?:个)?(?P<g>周末|周|星期|礼拜|月)")
@_rule(r"(?P<w>去|今|明|前|后)(?P<g>年)")
def _stretch(m: re.Match[str], anchor: date, text: str) -> Day | None:
    grain = {"周末": "weekend", "周": "week", "星期": "week", "礼拜": "week", "月": "month", "年": "year"}.get(
        m["g"], m["g"].lower()
    )
    offset = {
        "last": -1,
        "past": -1,
        "previous": -1,
        "next": 1,
        "上": -1,
        "下": 1,
        "去": -1,
        "明": 1,
        "前": -2,
        "后": 2,
    }.get(m["w"].lower(), 0)
    return stretch(anchor, offset, grain)


@_rule(rf"\b(?P<d>{_DAY_NAME})\b")
def _bare_weekday(m: re.Match[str], anchor: date, text: str) -> Day | None:
    if m.group() in ("Sun", "Sat", "Mon", "Wed"):
        return None
    return weekday_from(anchor, _DAY_OF[m["d"][:3].lower()], "last" if _PAST.search(text) else "coming")


@_rule(r"\bthe (?P<d>\d{1,2})(?:st|nd|rd|th)\b")
@_rule(r"(?<![\d月])(?P<d>\d{1,2})[号日](?!线|楼|院|门|店|仓|柜|码|机|车|位|房|库|常|期|本|元|用)")
def _day_of_month(m: re.Match[str], anchor: date, text: str) -> Day | None:
    return make_day(anchor.year, anchor.month, int(m["d"]))


@_rule(r"(?<!\d)(?P<y>(?:19|20)\d\d)\s?年")
@_rule(r"\b(?:in|since|during|by|of)\s(?P<y>(?:19|20)\d\d)\b(?![-/,])", re.IGNORECASE)
def _year(m: re.Match[str], anchor: date, text: str) -> Day | None:
    return Day(date(int(m["y"]), 1, 1), "year")


@_rule(r"(?<!\d)(?P<m>\d{1,2}|十[一二]?|[一二三四五六七八九])月(?:份|初|底|中旬)?(?!\d)")
@_rule(rf"\b(?:in|since|by|during|until|last|next|early|late|mid)[\s-](?P<m>{_MONTH_NAME})\b")
def _month(m: re.Match[str], anchor: date, text: str) -> Day | None:
    month = _number(m["m"]) or _MONTH_OF.get(m["m"][:3].lower())
    day = near_year(month, 1, anchor) if month and 1 <= month <= 12 else None
    return Day(day.first, "month") if day else None


_DAY_ALONE = re.compile(r"(?:the )?(?P<d>\d{1,2})(?:st|nd|rd|th)|(?P<z>\d{1,2})[号日]", re.IGNORECASE)


def in_month_of(value: Value, spoken_of: date, language: str) -> Value:
    """Read a day of the month that names no month ("the 2nd") in the month that was just spoken of."""
    match = _DAY_ALONE.fullmatch(value.text)
    day = make_day(spoken_of.year, spoken_of.month, int(match["d"] or match["z"])) if match else None
    return replace(value, norm=day.norm, say=day.say(language)) if day else value


def find_dates(text: str, anchor: date | None, language: str) -> list[Value]:
    """Find dates, best rule first; ``norm`` is ISO at the date's grain.

    Args:
        text: what was said.
        anchor: the day on which it was said; without one, relative dates stay as written.
        language: ``zh`` or ``en``, the language of ``Value.say``.
    """
    return list(_found(text, anchor, language))


def _found(text: str, anchor: date | None, language: str) -> Iterator[Value]:
    base = anchor or date(2000, 1, 1)
    for pattern, resolver in _RULES:
        for match in pattern.finditer(text):
            day = resolver(match, base, text)
            if day is None:
                continue
            surface = match.group()
            absolute = bool(match.groupdict().get("y"))
            if anchor is None and not absolute:
                yield Value("date", match.start(), match.end(), surface, surface.lower(), surface)
            else:
                yield Value("date", match.start(), match.end(), surface, day.norm, day.say(language))
