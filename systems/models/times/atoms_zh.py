"""Chinese time words: dates, days, weeks, months, and stretches counted from the time of asking."""

from __future__ import annotations

import re
from datetime import date, timedelta

from memtrial.systems.models.reader.days import ZH_WEEKDAYS
from memtrial.systems.models.reader.values_numbers import ZH_DIGITS
from memtrial.systems.models.times.atoms import Made, Moment, Rules, fixed, number, placed
from memtrial.systems.models.times.atoms_common import FEW, ago, ago_between, coming, rolling
from memtrial.systems.models.times.spans import Stretch, between, days, move, whole

CHINESE_ATOMS = Rules()

NUM = r"\d{1,4}|[零〇一二两三四五六七八九十百]{1,5}"
UNIT = r"个?工作日|天|日|晚|周|个?星期|个?礼拜|个月|个?季度|年|个?小时|个?钟头|分钟|个周末"
_Y = r"(?P<y>(?:19|20)\d\d|[二一][零〇九][零〇一二三四五六七八九]{2}|\d\d)\s?年(?!代)"
_M = r"(?P<m>1[0-2]|0?[1-9]|十[一二]?|[一二三四五六七八九])\s?月"
_D = r"(?P<d>3[01]|[12]\d|0?[1-9]|[一二三]?十[一二三四五六七八九]?|[一二三四五六七八九])"
_TAIL = rf"(?:\s?[（(]?(?:周|星期|礼拜)[{ZH_WEEKDAYS}天][)）]?)?"
_NOT_LUNAR = r"(?<!农历)(?<!阴历)(?<![\d一二三四五六七八九十])"
WEEKDAY = rf"[{ZH_WEEKDAYS}天]"


def unit_of(text: str) -> str:
    """Return the unit of the calendar that a word names."""
    word = text.removeprefix("个")
    return {"天": "day", "日": "day", "晚": "day", "工作日": "day", "周": "week", "星期": "week", "礼拜": "week", "月": "month", "季度": "quarter",
            "年": "year", "小时": "hour", "钟头": "hour", "分钟": "minute", "周末": "weekend"}[word]  # fmt: skip


def _int(text: str) -> int:
    value = number(text)
    if value is None or (len(text) == 2 and all(ZH_DIGITS.get(c) for c in text)):
        raise ValueError(text)  # 两三 is two or three
    return value


def _year(text: str) -> int:
    if len(text) == 2 and text.isdigit():
        return (2000 if int(text) < 70 else 1900) + int(text)
    return _int(text) if text.isdigit() else int("".join(str(ZH_DIGITS[c]) for c in text))


def weekday_of(text: str) -> int:
    """Return 0 for Monday from the last character of a Chinese weekday."""
    return 6 if text[-1] in "日天" else ZH_WEEKDAYS.index(text[-1])


@CHINESE_ATOMS(rf"{_NOT_LUNAR}{_Y}(?:的)?\s?{_M}\s?{_D}\s?[日号]?{_TAIL}")
def _ymd(m: re.Match[str], moment: Moment) -> Made:
    return fixed(m, days(date(_year(m["y"]), _int(m["m"]), _int(m["d"]))), kind="absolute")


@CHINESE_ATOMS(rf"{_NOT_LUNAR}{_M}\s?{_D}\s?[日号]{_TAIL}")
@CHINESE_ATOMS(rf"{_NOT_LUNAR}(?P<m>1[0-2]|[1-9])月(?P<d>3[01]|[12]\d|[1-9])(?![\d日号点.%：:])")
def _md(m: re.Match[str], moment: Moment) -> Made:
    month, day = _int(m["m"]), _int(m["d"])
    return placed(m, "year", lambda year: days(date(year.lo.year, month, day)))


@CHINESE_ATOMS(rf"{_NOT_LUNAR}(?:{_Y})?{_M}{_D}[日号]?\s?(?:-|–|—|~|～|到|至)\s?(?P<e>3[01]|[12]\d|0?[1-9])\s?[日号]")
def _days_of_month(m: re.Match[str], moment: Moment) -> Made:
    month, first, last = _int(m["m"]), _int(m["d"]), _int(m["e"])
    if first >= last:
        return None
    if m["y"]:
        year = _year(m["y"])
        return fixed(m, between(date(year, month, first), date(year, month, last)), kind="absolute")
    return placed(m, "year", lambda unit: between(date(unit.lo.year, month, first), date(unit.lo.year, month, last)))


@CHINESE_ATOMS(r"(?<![\w/.])(?P<m>1[0-2]|[1-9])/(?P<d>3[01]|[12]\d|[1-9])(?=[\u4e00-\u9fff，。？]|\s|$)(?!分)")
def _slash(m: re.Match[str], moment: Moment) -> Made:
    month, day = int(m["m"]), int(m["d"])
    return placed(m, "year", lambda year: days(date(year.lo.year, month, day)), certain=False, weak=not moment.chinese)


@CHINESE_ATOMS(rf"{_NOT_LUNAR}{_Y}(?:的)?\s?{_M}(?:份)?(?!\s?\d|饼|薪|租)")
def _ym(m: re.Match[str], moment: Moment) -> Made:
    return fixed(m, whole(date(_year(m["y"]), _int(m["m"]), 1), "month"), kind="absolute")


@CHINESE_ATOMS(rf"{_NOT_LUNAR}{_M}(?:份)?(?!\s?\d|饼|薪|租|球|[日号])")
def _month(m: re.Match[str], moment: Moment) -> Made:
    month = _int(m["m"])
    return placed(m, "year", lambda year: whole(date(year.lo.year, month, 1), "month"))


@CHINESE_ATOMS(rf"(?<!\d){_Y}(?:度)?(?!前|后|级|多|来|内|以)")
def _calendar_year(m: re.Match[str], moment: Moment) -> Made:
    two = len(m["y"]) == 2  # "23年" may be a duration, beside a month or a season it is a year
    return fixed(m, whole(date(_year(m["y"]), 1, 1), "year"), kind="absolute", weak=two)


@CHINESE_ATOMS(r"(?:(?P<c>19|20|上世纪|二十世纪))?(?P<s>[1-9]0|[一二三四五六七八九]十)年代")
def _decade(m: re.Match[str], moment: Moment) -> Made:
    short = _int(m["s"])
    century = 1900 if m["c"] in (None, "19", "上世纪", "二十世纪") else 2000
    if m["c"] is None and short < 30:
        century = 2000
    return fixed(m, whole(date(century + short, 1, 1), "decade"), kind="absolute", certain=m["c"] is not None)


_DAY_WORDS = {"大前": -3, "前": -2, "昨": -1, "今": 0, "明": 1, "后": 2, "大后": 3}
_HOURS = {"早": (5, 12), "晨": (5, 12), "夜": (18, 30), "晚": (18, 24)}


@CHINESE_ATOMS(
    r"(?<![以最之然此目提从当])(?P<d>大前|大后|前|昨|今|明|后)(?P<u>天(?![天气数])|日|儿(?!子|童)|早(?!上)|晚(?!上|点|饭)|夜(?!里)|晨)(?!期)"
)
def _day_word(m: re.Match[str], moment: Moment) -> Made:
    unit, which = m["u"], m["d"]
    if (unit in "儿日" and which not in ("昨", "今", "明")) or (unit in "早晨夜" and which.endswith(("前", "后"))):
        return None
    if unit == "晚" and which.endswith("后"):
        return None
    day = days(moment.today + timedelta(days=_DAY_WORDS[which]))
    if unit not in _HOURS:
        return fixed(m, day)
    first, last = _HOURS[unit]
    return fixed(m, Stretch(day.lo + timedelta(hours=first), day.lo + timedelta(hours=last), "daypart"))


_OFFSET = {"上上": -2, "上": -1, "这": 0, "本": 0, "下": 1, "下下": 2}
_WHICH = r"(?P<w>上上上|上上|上|这|本|下下|下)(?:一)?(?:个)?"


@CHINESE_ATOMS(rf"(?<![以之]){_WHICH}(?:周|星期|礼拜)(?:的?周|的?星期|的?礼拜)?(?P<d>{WEEKDAY})(?!次|个)")
def _weekday_of(m: re.Match[str], moment: Moment) -> Made:
    week = whole(move(moment.today, _OFFSET.get(m["w"], -3), "week"), "week")
    return fixed(m, days(week.lo.date() + timedelta(days=weekday_of(m["d"]))))


@CHINESE_ATOMS(rf"(?<![以之晚早]){_WHICH}(?P<u>周末|周|星期|礼拜|季度?|月(?!饼))(?![{ZH_WEEKDAYS}天年])(?!节)")
def _calendar_unit(m: re.Match[str], moment: Moment) -> Made:
    unit = {"周末": "weekend", "月": "month", "季": "quarter", "季度": "quarter"}.get(m["u"], "week")
    return fixed(m, whole(move(moment.today, _OFFSET.get(m["w"], -3), unit), unit))


_YEARS = {"大前": -3, "前": -2, "去": -1, "今": 0, "明": 1, "后": 2, "上一": -1, "本": 0, "当": 0}


@CHINESE_ATOMS(r"(?<![以之])(?P<w>大前|前|去|今|明|后|上一|本)年(?:度)?(?![龄轻级纪糕货])")
def _relative_year(m: re.Match[str], moment: Moment) -> Made:
    return fixed(m, whole(move(moment.today, _YEARS[m["w"]], "year"), "year"))


@CHINESE_ATOMS(rf"(?<![每一二两三四五六七八九十几\d逢])(?:周|星期|礼拜)(?P<d>{WEEKDAY})(?!次|个|天|遍|回|[周年])")
def _weekday(m: re.Match[str], moment: Moment) -> Made:
    day = weekday_of(m["d"])
    return placed(m, "week", lambda week: days(week.lo.date() + timedelta(days=day)))


@CHINESE_ATOMS(r"(?<![每上下这本个])周末(?!都)")
def _weekend(m: re.Match[str], moment: Moment) -> Made:
    return placed(m, "week", lambda week: whole(week.lo.date(), "weekend"))


@CHINESE_ATOMS(
    rf"(?<![\d.第一二三四五六七八九十月])(?:(?P<half>半)(?P<hu>个月|年|天|个?小时|个?钟头)|(?P<n>{NUM})(?P<plus>个半)?(?P<u>{UNIT}|月))(?:多)?(?:之|以)?(?P<w>前|后)(?![天面期任来])"
)
def _ago(m: re.Match[str], moment: Moment) -> Made:
    sign = 1 if m["w"] == "前" else -1
    if m["half"]:
        unit, amount = {"个月": ("day", 15), "年": ("month", 6), "天": ("hour", 12)}.get(m["hu"], ("minute", 30))
        if m["hu"] == "个月":
            stretch = whole(move(moment.today, -sign * amount, "day"), "week")
            return fixed(m, stretch, certain=False)
        return ago(m, moment, sign * amount, unit)
    if m["u"] == "月" and not m["plus"]:
        return None  # "三月前" is before March
    amount = _int(m["n"])
    unit = "month" if m["u"] == "月" else unit_of(m["u"])
    if m["plus"]:
        if unit == "month":
            return fixed(m, whole(move(moment.today, -sign * (30 * amount + 15), "day"), "week"), certain=False)
        if unit == "hour":
            return ago(m, moment, sign * (60 * amount + 30), "minute")
        return None
    if sign < 0 and unit not in ("hour", "minute"):
        made = ago(m, moment, -amount, unit)
        # told of the past, "三天后" counts from what was spoken of
        return fixed(m, made.stretch, certain=False) if made.stretch else None
    return ago(m, moment, sign * amount, unit)


@CHINESE_ATOMS(
    rf"(?:(?P<few>好?几|若干|数)|(?P<a>[一二两三四五六七八九])(?P<b>[二两三四五六七八九])|(?P<t>十几|十多|几十))(?P<u>{UNIT})(?:之|以)?前"
)
def _few_ago(m: re.Match[str], moment: Moment) -> Made:
    unit = unit_of(m["u"])
    if m["a"]:
        low, high = ZH_DIGITS[m["a"]], ZH_DIGITS[m["b"]]
        if not 0 < high - low <= 2:
            return None
        return ago_between(m, moment, low, high, unit)
    low, high = {"十几": (11, 19), "十多": (11, 19), "几十": (20, 90)}[m["t"]] if m["t"] else FEW[unit]
    return ago_between(m, moment, low, high, unit)


@CHINESE_ATOMS(
    rf"(?P<w>过去的?|最近的?|近|前|这|未来的?|接下来的?|今后|往后)(?:这)?(?:(?P<half>半)(?P<hu>个月|年)|(?P<few>几)(?P<fu>{UNIT})|(?P<n>{NUM})(?P<u>{UNIT}))(?:以来|之内|以内|里|内|间|来)?(?!前|后|[{ZH_WEEKDAYS}]?月)"
)
def _rolling(m: re.Match[str], moment: Moment) -> Made:
    word = m["w"].rstrip("的")
    if m["half"]:
        unit, amount = ("day", 15) if m["hu"] == "个月" else ("month", 6)
    else:
        unit = unit_of(m["fu"] or m["u"])
        amount = FEW[unit][1] if m["few"] else _int(m["n"])
    if unit in ("week", "month") and word == "近" and m["n"] == "一" and not amount:
        return None
    if word in ("未来", "接下来", "今后", "往后"):
        return coming(m, moment, amount, unit)
    if word == "前":
        if m["few"] or m["n"] in ("两", "2", "二", "三", "3"):
            first = move(moment.today, -amount - (0 if m["few"] else 1), unit)
            return fixed(m, between(first, moment.today - timedelta(days=1)), kind="vague", certain=False)
        return None
    # 这两天, 最近两天 are no count: a few days
    loose = bool(m["few"]) or (word in ("这", "最近") and m["n"] in ("两", "2"))
    if word == "这" and not loose and m["n"] not in ("两", "三"):
        return None
    return rolling(m, moment, amount, unit, vague=loose)


_NO_DAY = "线楼院门店仓柜码机车位房库常期本元用铺厅桌球选染钢字键"


@CHINESE_ATOMS(rf"(?<![\d第.一二三四五六七八九十])(?P<d>3[01]|[12]\d|[1-9])\s?(?:号|日)(?![{_NO_DAY}])(?!\d)")
@CHINESE_ATOMS(
    rf"(?<![\d第.一二三四五六七八九十])(?P<d>[二三]?十[一二三四五六七八九]?|[一二三四五六七八九])号(?![{_NO_DAY}])"
)
def _day_of_month(m: re.Match[str], moment: Moment) -> Made:
    day = _int(m["d"])
    return placed(m, "month", lambda month: days(date(month.lo.year, month.lo.month, day)))
