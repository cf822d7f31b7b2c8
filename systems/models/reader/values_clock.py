"""Times of day and durations in English and Chinese text."""

from __future__ import annotations

import re

from memtrial.systems.models.reader.value import Value
from memtrial.systems.models.reader.values_numbers import DIGITS, EN_NUMBER_WORDS, ZH_NUMBER, parse_number, plain

_ZH_PART = {
    "凌晨": 0,
    "清晨": 0,
    "早上": 0,
    "上午": 0,
    "早": 0,
    "中午": 12,
    "下午": 12,
    "傍晚": 12,
    "晚上": 12,
    "晚": 12,
    "夜里": 12,
}
_PARTS = "|".join(sorted(_ZH_PART, key=len, reverse=True))
_ZH_TIME = re.compile(
    rf"(?P<p>{_PARTS})?(?P<h>\d{{1,2}}|[一二两三四五六七八九]|十[一二]?|二十[一二三四]?)(?:点钟|点整?|时(?!候|间))"
    rf"(?:(?P<half>半)|(?P<quarter>[一三])刻|(?P<m>\d{{1,2}}|{ZH_NUMBER})分?)?"
)
_CLOCK = re.compile(
    rf"(?P<p>{_PARTS})?(?<![\d:.])(?P<h>[01]?\d|2[0-4])[:：](?P<m>[0-5]\d)(?::[0-5]\d)?(?![\d:])\s?(?P<ap>[ap]\.?m\b\.?)?",
    re.IGNORECASE | re.ASCII,
)
_AMPM = re.compile(r"\b(?P<h>1[0-2]|0?[1-9])\s?(?P<ap>[ap]\.?m\b\.?)", re.IGNORECASE)
_OCLOCK = re.compile(rf"\b(?P<h>\d{{1,2}}|{EN_NUMBER_WORDS})\so['’]?clock\b", re.IGNORECASE)
_PAST = re.compile(rf"\b(?P<q>half|quarter) (?P<w>past|to) (?P<h>\d{{1,2}}|{EN_NUMBER_WORDS})\b", re.IGNORECASE)
_NAMED = re.compile(r"\b(?P<w>noon|midday|midnight)\b|正午|午夜|零点", re.IGNORECASE)

_EN_UNITS = r"(?:business|working|calendar|full|more|extra|additional)?\s?(?P<u>seconds?|secs?|minutes?|mins?|hours?|hrs?|h|days?|nights?|weeks?|wks?|months?|quarters?|years?|yrs?|decades?)"
_EN_DURATION = re.compile(
    rf"\b(?P<n>{DIGITS}|an?|{EN_NUMBER_WORDS}|half an?)(?:\s?(?:-|–|to|or)\s?(?P<n2>{DIGITS}|{EN_NUMBER_WORDS}))?[\s-]?{_EN_UNITS}\b"
    r"(?P<half>\sand a half)?(?![^\S\n]ago\b)",
    re.IGNORECASE | re.ASCII,
)
_ZH_DURATION = re.compile(
    rf"(?<![年月第\d.])(?P<n>{DIGITS}|{ZH_NUMBER}|半)(?:\s?(?:-|–|~|～|到|至)\s?(?P<n2>{DIGITS}|{ZH_NUMBER}))?\s?(?P<half>个半)?"
    r"(?P<u>个?工作日|个?自然日|个?小时|分钟|秒钟?|天|日(?![一-鿿]?[期常用])|个?星期|个?礼拜|周(?![一二三四五六日天末])|个月|年(?!\d|级|前)|个?季度)(?P<half2>半)?(?!前|之前|以前)"
)
# "is there a day for it" speaks of no duration, "takes a day" does
_LASTING = re.compile(
    r"\b(?:for|takes?|took|within|about|around|in|lasts?|over|than|only|just|of|another|after|every|need|spent|is|was)\s$",
    re.IGNORECASE,
)
_UNIT_NAME = {
    "s": "second", "秒": "second", "分": "minute", "小": "hour", "天": "day", "日": "day", "工": "workday", "自": "day",
    "星": "week", "礼": "week", "周": "week", "月": "month", "季": "quarter", "年": "year",
}  # fmt: skip


def find_times(text: str) -> list[Value]:
    """Find times of day; ``norm`` is 24-hour ``HH:MM``."""
    found: list[Value] = []

    def add(match: re.Match[str], hour: int, minute: int) -> None:
        if 0 <= hour <= 24 and 0 <= minute < 60:
            surface = match.group().strip()
            found.append(
                Value(
                    "time",
                    match.start(),
                    match.start() + len(match.group().rstrip()),
                    surface,
                    f"{hour % 24:02d}:{minute:02d}",
                    surface,
                )
            )

    for match in _CLOCK.finditer(text):
        add(match, _hour(int(match["h"]), match["ap"], match["p"]), int(match["m"]))
    for match in _ZH_TIME.finditer(text):
        hour = parse_number(match["h"])
        minute = parse_number(match["m"]) if match["m"] else None
        if hour is not None:
            quarter = {"一": 15, "三": 45}.get(match["quarter"] or "", 0)
            add(match, _hour(int(hour), None, match["p"]), 30 if match["half"] else quarter or int(minute or 0))
    for match in _AMPM.finditer(text):
        add(match, _hour(int(match["h"]), match["ap"], None), 0)
    for match in _OCLOCK.finditer(text):
        add(match, int(parse_number(match["h"]) or 0), 0)
    for match in _PAST.finditer(text):
        past = int(parse_number(match["h"]) or 0)
        minutes = 30 if match["q"].lower() == "half" else 15
        add(match, *((past, minutes) if match["w"].lower() == "past" else (past - 1, 60 - minutes)))
    for match in _NAMED.finditer(text):
        add(match, 12 if match.group().lower() in ("noon", "midday", "正午") else 0, 0)
    return found


def _hour(hour: int, ampm: str | None, part: str | None) -> int:
    if ampm:
        return hour % 12 + (12 if ampm.lower().startswith("p") else 0)
    if part and _ZH_PART[part] and hour < 12 and not (part == "中午" and hour >= 11):
        return hour + 12
    return hour


def find_durations(text: str) -> list[Value]:
    """Find durations; ``norm`` is ``<count or low-high> <unit>`` with English unit names in the singular."""
    found = []
    for match in _EN_DURATION.finditer(text):
        low = _count(match["n"])
        bare = match["n"].lower() in ("a", "an") and not match["half"]
        if low is None or (bare and not _LASTING.search(match.string, 0, match.start())):
            continue
        unit = _english_unit(match["u"])
        if re.search(r"\b(?:business|working)\b", match.group(), re.IGNORECASE):
            unit = "workday"
        found.append(_duration(match, low + (0.5 if match["half"] else 0), match["n2"], unit))
    for match in _ZH_DURATION.finditer(text):
        low = _count(match["n"])
        if low is None:
            continue
        unit = _UNIT_NAME[match["u"].removeprefix("个")[0]]
        found.append(_duration(match, low + (0.5 if match["half"] or match["half2"] else 0), match["n2"], unit))
    return found


def _count(text: str) -> float | None:
    text = text.lower()
    if text in ("a", "an"):
        return 1.0
    if text.startswith("half") or text == "半":
        return 0.5
    number = parse_number(text)
    return None if number is None else float(number)


def _english_unit(text: str) -> str:
    short = {"sec": "second", "min": "minute", "hr": "hour", "h": "hour", "wk": "week", "yr": "year", "night": "day"}
    word = text.lower().rstrip("s") or "s"
    return short.get(word, word)


def _duration(match: re.Match[str], low: float, high_text: str | None, unit: str) -> Value:
    high = parse_number(high_text) if high_text else None
    amount = f"{low:g}" + (f"-{plain(high)}" if high is not None else "")
    surface = match.group().strip()
    return Value("duration", match.start(), match.end(), surface, f"{amount} {unit}", surface, unit)
