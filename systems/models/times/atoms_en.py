"""English time words: dates, days, weeks, months, and stretches counted from the time of asking."""

from __future__ import annotations

import re
from datetime import date, timedelta

from memtrial.systems.models.reader.days import MONTHS, WEEKDAYS
from memtrial.systems.models.reader.values_numbers import EN_NUMBER_WORDS
from memtrial.systems.models.times.atoms import Made, Moment, Rules, fixed, number, placed
from memtrial.systems.models.times.atoms_common import FEW, ago, ago_between, coming, rolling
from memtrial.systems.models.times.spans import Stretch, between, days, move, whole

ENGLISH_ATOMS = Rules()

_I = re.IGNORECASE
MONTH = r"Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?"
WEEKDAY = (
    r"Mon(?:day)?|Tue(?:s(?:day)?)?|Wed(?:s|nesday)?|Thu(?:r(?:s(?:day)?)?)?|Fri(?:day)?|Sat(?:urday)?|Sun(?:day)?"
)
YEAR = r"(?:19|20)\d\d|['’]\d\d"
UNIT = r"minute|min|hour|hr|day|night|week|weekend|fortnight|month|quarter|year"
COUNT = rf"\d{{1,4}}|an?|{EN_NUMBER_WORDS}"
MONTH_OF = {name[:3].lower(): n for n, name in enumerate(MONTHS, 1)}
WEEKDAY_OF = {name[:3].lower(): n for n, name in enumerate(WEEKDAYS)}
_DAY = r"(?P<d>3[01]|[12]\d|0?[1-9])(?:st|nd|rd|th)?"
_HEAD = rf"(?:(?:{WEEKDAY})\.?,?\s(?:the\s)?)?"


def unit_of(text: str, amount: int = 1) -> tuple[str, int]:
    """Return the unit of the calendar and how many of them are meant (a fortnight is two weeks)."""
    word = text.lower().removesuffix("s")
    if word == "fortnight":
        return "week", amount * 2
    return {"min": "minute", "hr": "hour", "night": "day"}.get(word, word), amount


def year_of(text: str) -> int:
    """Return the year that four figures, or two after an apostrophe, name."""
    return int(text) if len(text) == 4 else 2000 + int(text[1:]) if int(text[1:]) < 70 else 1900 + int(text[1:])


@ENGLISH_ATOMS(
    rf"\b{_HEAD}(?:the\s)?(?<![.:/\d]){_DAY}[\s-](?:of\s)?(?P<m>{MONTH})\b\.?(?:,?[\s-](?:of\s)?(?P<y>{YEAR})\b)?", _I
)
@ENGLISH_ATOMS(rf"\b{_HEAD}(?P<m>{MONTH})\b\.?[\s-](?:the\s)?{_DAY}\b(?![:/%]|[.,]\d)(?:,?[\s-](?P<y>{YEAR})\b)?", _I)
def _day_month(m: re.Match[str], moment: Moment) -> Made:
    month, day = MONTH_OF[m["m"][:3].lower()], int(m["d"])
    if m["m"] in ("may", "march", "mar") and not m["y"] and m.start("m") < m.start("d"):
        return None  # "may 3 people": a verb
    if m["y"]:
        return fixed(m, days(date(year_of(m["y"]), month, day)), kind="absolute")
    return placed(m, "year", lambda year: days(date(year.lo.year, month, day)))


@ENGLISH_ATOMS(rf"\b(?:(?:between|from)\s)?(?:the\s)?(?P<a>3[01]|[12]\d|0?[1-9])(?:st|nd|rd|th)?\s?(?:-|–|to|and|or|until|till|through)\s?(?:the\s)?{_DAY}\s(?:of\s)?(?P<m>{MONTH})\b\.?(?:,?\s(?P<y>{YEAR})\b)?", _I)  # fmt: skip
@ENGLISH_ATOMS(rf"\b(?P<m>{MONTH})\b\.?\s(?:the\s)?(?P<a>3[01]|[12]\d|0?[1-9])(?:st|nd|rd|th)?\s?(?:-|–|to|until|till|through)\s?(?:the\s)?{_DAY}\b(?![:/%])(?:,?\s(?P<y>{YEAR})\b)?", _I)  # fmt: skip
def _days_of_month(m: re.Match[str], moment: Moment) -> Made:
    month, first, last = MONTH_OF[m["m"][:3].lower()], int(m["a"]), int(m["d"])
    if first >= last:
        return None
    if m["y"]:
        year = year_of(m["y"])
        return fixed(m, between(date(year, month, first), date(year, month, last)), kind="absolute")
    return placed(m, "year", lambda unit: between(date(unit.lo.year, month, first), date(unit.lo.year, month, last)))


@ENGLISH_ATOMS(r"(?<![\w/.-])(?P<a>\d{1,2})(?P<s>[/.])(?P<b>\d{1,2})(?P=s)(?P<y>(?:19|20)\d\d|\d\d)(?![\w/-]|\.\d)")
def _figures(m: re.Match[str], moment: Moment) -> Made:
    a, b = int(m["a"]), int(m["b"])
    year = int(m["y"]) if len(m["y"]) == 4 else 2000 + int(m["y"])
    if m["s"] == ".":  # 3.5.2024 is how Europe writes it; 1.2.24 is a version as likely
        return fixed(m, days(date(year, b, a)), kind="absolute") if len(m["y"]) == 4 else None
    if a > 12 or b > 12 or a == b:
        month, day = (b, a) if a > 12 else (a, b)
        return fixed(m, days(date(year, month, day)), kind="absolute")
    first, last = sorted((date(year, a, b), date(year, b, a)))
    return fixed(m, between(first, last), kind="absolute", certain=False)


@ENGLISH_ATOMS(rf"\b(?P<m>{MONTH})\b\.?,?[\s-](?:of\s)?(?P<y>(?:19|20)\d\d|['’]\d\d)\b(?![-/]\d)", _I)
def _month_year(m: re.Match[str], moment: Moment) -> Made:
    return fixed(m, whole(date(year_of(m["y"]), MONTH_OF[m["m"][:3].lower()], 1), "month"), kind="absolute")


_BEFORE_MONTH = re.compile(
    r"\b(?:in|since|during|until|till|through|throughout|around|early|mid|late|last|next|this|past|coming|by|before|after|from|to|and|or|between|(?:end|start|beginning|middle|half|part|week|weekend|day|rest|whole) of|all)[\s-]$",
    _I,
)
_NAMES_TOO = frozenset({"april", "may", "june", "august", "jan"})
_SURE = re.compile(r"\b(?:in|since|during|until|till|throughout|around|early|mid|late|last|next|of|all)[\s-]$", _I)


@ENGLISH_ATOMS(rf"\b(?P<m>{MONTH})\b(?!['’]s\b)", _I)
def _month(m: re.Match[str], moment: Moment) -> Made:
    before = m.string[max(0, m.start() - 20) : m.start()]
    shown = m["m"][0].isupper() or m["m"].lower() not in ("may", "march", "mar", "dec", "sep", "jun", "jan", "oct")
    introduced = bool(_BEFORE_MONTH.search(before)) and shown
    certain = m["m"].lower() not in _NAMES_TOO or bool(_SURE.search(before))
    month = MONTH_OF[m["m"][:3].lower()]
    return placed(m, "year", lambda year: whole(date(year.lo.year, month, 1), "month"), certain=certain, weak=not introduced)  # fmt: skip


_BEFORE_YEAR = re.compile(
    r"\b(?:in|since|during|by|before|after|until|till|from|to|and|or|between|through|throughout|year|early|mid|late|(?:end|start|beginning|middle|half|rest) of|all of)[\s-]$",
    _I,
)


@ENGLISH_ATOMS(r"(?<![\w.,/$€£¥:-])(?P<y>(?:19|20)\d\d)(?![\w%/-]|[.,:]\d)")
def _bare_year(m: re.Match[str], moment: Moment) -> Made:
    introduced = bool(_BEFORE_YEAR.search(m.string[max(0, m.start() - 20) : m.start()]))
    return fixed(m, whole(date(int(m["y"]), 1, 1), "year"), kind="absolute", weak=not introduced)


@ENGLISH_ATOMS(r"\b(?:the\s)?(?:(?P<y>(?:19|20)\d0)|['’]?(?P<s>[2-9]0))['’]?s\b")
def _decade(m: re.Match[str], moment: Moment) -> Made:
    if m["s"] and not m.group().lower().startswith("the"):
        return None
    year = int(m["y"]) if m["y"] else 1900 + int(m["s"]) if m["s"] != "20" else 2020
    return fixed(m, whole(date(year, 1, 1), "decade"), kind="absolute", certain=bool(m["y"]))


@ENGLISH_ATOMS(rf"(?<!\bevery\s)(?<!\bbe\s)\b(?P<d>{WEEKDAY})\b(?!['’]\w)", _I)
def _weekday(m: re.Match[str], moment: Moment) -> Made:
    word = m["d"]
    if (len(word) < 6 and not word[0].isupper()) or word.lower() == "black":
        return None
    before = m.string[max(0, m.start() - 14) : m.start()]
    short = len(word) < 6 and not re.search(
        r"\b(?:on|last|next|this|since|until|till|by|before|after|from|to)\s$", before, _I
    )
    day = WEEKDAY_OF[word[:3].lower()]
    return placed(m, "week", lambda week: days(week.lo.date() + timedelta(days=day)), weak=short)


@ENGLISH_ATOMS(r"(?<!\bevery\s)(?<!\bon\s)\b(?:the\s|(?<=at\s)|(?<=this\s)|(?<=last\s)|(?<=next\s)|(?<=past\s)|(?<=that\s)|(?<=coming\s)|(?<=previous\s))weekend\b(?! of\b)", _I)  # fmt: skip
def _weekend(m: re.Match[str], moment: Moment) -> Made:
    return placed(m, "week", lambda week: whole(week.lo.date(), "weekend"))


_DAY_WORDS = {"the day before yesterday": -2, "yesterday": -1, "today": 0, "earlier today": 0, "tomorrow": 1, "the day after tomorrow": 2}  # fmt: skip


@ENGLISH_ATOMS(rf"\b(?:{'|'.join(sorted(_DAY_WORDS, key=len, reverse=True))})\b", _I)
def _day_word(m: re.Match[str], moment: Moment) -> Made:
    return fixed(m, days(moment.today + timedelta(days=_DAY_WORDS[m.group().lower()])))


_NIGHTS = {"last night": (-1, 18, 30), "tonight": (0, 18, 30), "the night before last": (-2, 18, 30), "this morning": (0, 5, 12),
           "this afternoon": (0, 12, 18), "this evening": (0, 17, 24)}  # fmt: skip


@ENGLISH_ATOMS(rf"\b(?:{'|'.join(_NIGHTS)})\b", _I)
def _night(m: re.Match[str], moment: Moment) -> Made:
    offset, first, last = _NIGHTS[m.group().lower()]
    day = days(moment.today + timedelta(days=offset))
    return fixed(m, Stretch(day.lo + timedelta(hours=first), day.lo + timedelta(hours=last), "daypart"))


@ENGLISH_ATOMS(r"\b(?P<w>last|this past|previous|this|this coming|next|coming)\s(?:calendar\s)?(?P<u>week|month|quarter|year)\b(?!['’]?s?-)", _I)  # fmt: skip
def _calendar_unit(m: re.Match[str], moment: Moment) -> Made:
    word, unit = m["w"].lower(), m["u"].lower()
    if word == "this past":
        return rolling(m, moment, 1, unit)
    offset = {"last": -1, "previous": -1, "this": 0}.get(word, 1)
    return fixed(m, whole(move(moment.today, offset, unit), unit))


@ENGLISH_ATOMS(r"\b(?:the|over the|in the)\spast\s(?P<u>week|month|quarter|year|hour)\b", _I)
def _past_unit(m: re.Match[str], moment: Moment) -> Made:
    return rolling(m, moment, 1, m["u"].lower())


@ENGLISH_ATOMS(r"\bthe\s(?P<u>week|weekend|month|quarter|year)\s(?P<w>before last|after next)\b", _I)
def _two_units(m: re.Match[str], moment: Moment) -> Made:
    unit = m["u"].lower()
    return fixed(m, whole(move(moment.today, -2 if "last" in m["w"].lower() else 2, unit), unit))


@ENGLISH_ATOMS(rf"\b(?:the\s)?(?P<d>{WEEKDAY})\s(?P<w>before last|after next)\b", _I)
def _two_weekdays(m: re.Match[str], moment: Moment) -> Made:
    # "last" may be this week's or last week's day, so the one before it may be a week nearer or farther
    back = m["w"].lower() == "before last"
    day = moment.today + timedelta(days=WEEKDAY_OF[m["d"][:3].lower()] - moment.today.weekday())
    passed = day < moment.today if back else day > moment.today
    far = day + timedelta(days=-14 if back else 14)
    if not passed:
        return fixed(m, days(far))
    near = day + timedelta(days=-7 if back else 7)
    return fixed(m, between(min(near, far), max(near, far)), certain=False)


@ENGLISH_ATOMS(rf"\b(?P<n>{COUNT})\s(?:and\sa\shalf\s)?(?P<u>{UNIT})s?\s(?:ago|back|from\s(?P<f>now|today))\b", _I)
@ENGLISH_ATOMS(rf"\b(?P<f>in)\s(?P<n>{COUNT})\s(?P<u>{UNIT})s?(?:['’]\stime)?\b(?!\s(?:before|after|prior))", _I)
def _ago(m: re.Match[str], moment: Moment) -> Made:
    amount = number(m["n"])
    if amount is None:
        return None
    unit, amount = unit_of(m["u"], amount)
    return ago(m, moment, -amount if m["f"] else amount, unit)


@ENGLISH_ATOMS(r"\bhalf\sa[n]?\s(?P<u>hour|day|month|year)\sago\b", _I)
def _half_ago(m: re.Match[str], moment: Moment) -> Made:
    unit, amount = {"hour": ("minute", 30), "day": ("hour", 12), "month": ("week", 2), "year": ("month", 6)}[
        m["u"].lower()
    ]
    return ago(m, moment, amount, unit)


@ENGLISH_ATOMS(rf"\b(?:(?P<couple>a\scouple\s(?:of\s)?)|(?P<few>an?\sfew\s|several\s|some\s|many\s)|(?P<a>{COUNT})\s?(?:or|to|-)\s?(?P<b>{COUNT})\s)?(?P<u>{UNIT})s?\s(?:ago|back)\b", _I)  # fmt: skip
def _few_ago(m: re.Match[str], moment: Moment) -> Made:
    unit, times = unit_of(m["u"])
    low, high = (2, 3) if m["couple"] else FEW[unit]
    if m["a"]:
        a, b = number(m["a"]), number(m["b"])
        if not a or not b or a >= b:
            return None
        low, high = a, b
    elif not m["couple"] and not m["few"] and not m.group().lower().split()[0].endswith("s"):
        return None  # "day back" says nothing, "days ago" does
    return ago_between(m, moment, low * times, high * times, unit)


@ENGLISH_ATOMS(rf"\b(?:the\s)?(?P<w>last|past|previous|next|coming|following)\s(?:(?P<couple>couple\sof\s)|(?P<few>few\s|several\s)|(?P<n>{COUNT})\s)(?P<u>{UNIT})s?\b(?!\sof\b)", _I)  # fmt: skip
def _rolling(m: re.Match[str], moment: Moment) -> Made:
    unit, times = unit_of(m["u"])
    amount = 3 if m["couple"] else FEW[unit][1] if m["few"] else number(m["n"])
    if not amount:
        return None
    if m["w"].lower() in ("next", "coming", "following"):
        return coming(m, moment, amount * times, unit)
    return rolling(m, moment, amount * times, unit, vague=not m["n"])


_BEFORE_DAY = re.compile(r"\b(?:on|by|of|before|after|since|until|till|between|from|and|to)\s$", _I)


@ENGLISH_ATOMS(rf"\bthe\s(?P<d>3[01]|[12]\d|[1-9])(?:st|nd|rd|th)\b(?!\s(?:of\s)?(?:{MONTH})\b)(?!\s(?:floor|time|one|day|week|month|quarter|century|street|ave))", _I)  # fmt: skip
def _day_of_month(m: re.Match[str], moment: Moment) -> Made:
    day = int(m["d"])
    introduced = bool(_BEFORE_DAY.search(m.string[max(0, m.start() - 10) : m.start()]))
    return placed(m, "month", lambda month: days(date(month.lo.year, month.lo.month, day)), weak=not introduced)
