"""English words for a place inside a larger unit, and for a time that nobody could name exactly."""

from __future__ import annotations

import re
from datetime import timedelta

from memtrial.systems.models.times.atoms import Made, Moment, Rules, fixed, number, placed
from memtrial.systems.models.times.atoms_common import clock, part_of_day, quarter_of, some_days
from memtrial.systems.models.times.atoms_en import COUNT, WEEKDAY, WEEKDAY_OF, year_of
from memtrial.systems.models.times.holidays import ENGLISH as HOLIDAYS
from memtrial.systems.models.times.spans import Stretch, nth, portion, season

ENGLISH_PARTS = Rules()

_I = re.IGNORECASE
_NAMED = [(re.compile(rf"(?:{pattern})", _I), rule) for pattern, rule in HOLIDAYS.items()]
_ORDINAL = {"first": 1, "1st": 1, "second": 2, "2nd": 2, "third": 3, "3rd": 3, "fourth": 4, "4th": 4, "fifth": 5, "last": -1, "final": -1}  # fmt: skip
_SEASONS = {"spring": 0, "summer": 1, "autumn": 2, "fall": 2, "winter": 3}
# "spring" is a coil and "fall" a verb: they need a word before them, or a year after
_BEFORE_SEASON = re.compile(r"\b(?:in|in the|during|during the|over|over the|this|last|next|since|since the|before|before the|after|after the|early|mid|late|of|until|past|by)[\s-]$", _I)  # fmt: skip


@ENGLISH_PARTS(rf"\b(?:{'|'.join(HOLIDAYS)})(?!\w)", _I)
def _holiday(m: re.Match[str], moment: Moment) -> Made:
    for pattern, rule in _NAMED:
        if pattern.fullmatch(m.group()):
            return placed(m, "year", lambda year, rule=rule: rule(year.lo.year))  # type: ignore[misc]
    return None


@ENGLISH_PARTS(r"\b(?P<s>spring|summer|autumn|fall|winter)\b(?!\s(?:roll|clean|onion|mattress|break|short|asleep|down|for\b|back))(?:\s(?:of\s)?(?P<y>(?:19|20)\d\d|['’]\d\d\b))?", _I)  # fmt: skip
def _season(m: re.Match[str], moment: Moment) -> Made:
    which = _SEASONS[m["s"].lower()]
    if m["y"]:
        return fixed(m, season(year_of(m["y"]), which), kind="absolute", certain=False)
    introduced = bool(_BEFORE_SEASON.search(m.string[max(0, m.start() - 12) : m.start()]))
    return placed(m, "year", lambda year: season(year.lo.year, which), certain=False, weak=not introduced)


@ENGLISH_PARTS(r"\b(?:the\s)?(?P<q>first|second|third|fourth|last|1st|2nd|3rd|4th)\squarter\b", _I)
def _quarter(m: re.Match[str], moment: Moment) -> Made:
    q = _ORDINAL[m["q"].lower()]
    if q < 0 and m.string[m.end() : m.end() + 4].lower() != " of ":
        return None  # "last quarter" is the one before this
    return placed(m, "year", lambda year: quarter_of(year, 4 if q < 0 else q))


@ENGLISH_PARTS(rf"\b(?:the\s)?(?P<n>{'|'.join(_ORDINAL)})\s(?P<u>day|week|weekend|{WEEKDAY})(?=\s(?:of|in)\s)", _I)
def _nth(m: re.Match[str], moment: Moment) -> Made:
    word = m["u"].lower()
    unit = word if word in ("day", "week", "weekend") else str(WEEKDAY_OF[word[:3]])
    which = _ORDINAL[m["n"].lower()]
    return placed(m, "month", lambda month: nth(month, which, unit), certain=word != "week")


@ENGLISH_PARTS(r"\b(?P<p>beginning|start|middle|end)\sof\sthe\s(?P<u>week|month|year)\b(?!\s(?:before|after|of))", _I)
def _portion_of_this(m: re.Match[str], moment: Moment) -> Made:
    which = PORTION_WORDS[m["p"].lower()]
    return placed(m, m["u"].lower(), lambda unit: portion(unit, which), certain=False)


@ENGLISH_PARTS(r"\bmid-?week\b|\bearly in the week\b|\blater? in the week\b", _I)
def _midweek(m: re.Match[str], moment: Moment) -> Made:
    which = "mid" if "mid" in m.group().lower() else "early" if "early" in m.group().lower() else "late"
    return placed(m, "week", lambda week: portion(week, which), certain=False)


@ENGLISH_PARTS(r"\b(?:the\s)?(?P<h>first|second)\shalf\sof\sthe\s(?P<u>month|year)\b", _I)
def _half(m: re.Match[str], moment: Moment) -> Made:
    which = f"{m['h'].lower()}_half"
    return placed(m, m["u"].lower(), lambda unit: portion(unit, which))


PORTION_WORDS = {"early": "early", "beginning": "early", "start": "early", "mid": "mid", "middle": "mid", "late": "late", "end": "late"}  # fmt: skip

_PARTS = {"early morning": (4, 9), "morning": (5, 12), "noon": (11, 14), "midday": (11, 14), "lunchtime": (11, 14), "lunch": (11, 14),
          "afternoon": (12, 18), "evening": (17, 24), "night": (18, 30), "midnight": (23, 25)}  # fmt: skip


@ENGLISH_PARTS(rf"\b(?:{'|'.join(_PARTS)})\b", _I)
def _part_of_day(m: re.Match[str], moment: Moment) -> Made:
    return part_of_day(m, *_PARTS[m.group().lower()])


@ENGLISH_PARTS(r"(?<![\d:.])(?P<h>1[0-2]|0?[1-9])(?:[:.](?P<m>[0-5]\d))?\s?(?P<ap>[ap])\.?m\b\.?", _I)
@ENGLISH_PARTS(r"(?<![\d:.])(?P<h>[01]?\d|2[0-3]):(?P<m>[0-5]\d)(?::[0-5]\d)?(?![\d:]|\s?[ap]\.?m\b)(?P<ap>)", _I)
@ENGLISH_PARTS(
    rf"\b(?P<h>1[0-2]|[1-9]|{COUNT})(?P<m>)\so['’]clock(?:\s(?:in\sthe|at)\s(?P<ap>morning|afternoon|evening|night))?",
    _I,
)
def _clock(m: re.Match[str], moment: Moment) -> Made:
    hour = number(m["h"])
    if hour is None:
        return None
    half = (m["ap"] or "").lower()[:1]
    if half in ("p", "a", "m", "e", "n"):
        later = half in ("p", "e", "n") or m["ap"].lower() == "afternoon"
        hour = hour % 12 + (12 if later else 0)
    return clock(m, hour, int(m["m"]) if m["m"] else None)


@ENGLISH_PARTS(r"(?<![\d:.])(?P<a>1[0-2]|0?[1-9])(?:\s?(?P<x>[ap])\.?m\.?)?\s?(?:-|–|to|until|till)\s?(?P<b>1[0-2]|0?[1-9])\s?(?P<y>[ap])\.?m\b\.?", _I)  # fmt: skip
def _hours(m: re.Match[str], moment: Moment) -> Made:
    last = int(m["b"]) % 12 + (12 if m["y"].lower() == "p" else 0)
    half = (m["x"] or m["y"]).lower()
    first = int(m["a"]) % 12 + (12 if half == "p" else 0)
    if first >= last and not m["x"]:
        first -= 12
    if not 0 <= first < last:
        return None

    def place(day: Stretch) -> Stretch:
        return Stretch(day.lo + timedelta(hours=first), day.lo + timedelta(hours=last), "span")

    return placed(m, "day", place)


_VAGUE = {"recently": (30, 0), "lately": (30, 0), "the other day": (14, 1), "these days": (30, 0), "a while ago": (180, 7), "a while back": (180, 7),
          "some time ago": (180, 7), "not long ago": (30, 1), "the other week": (28, 3), "just now": (0, 0), "long ago": (3650, 180)}  # fmt: skip


@ENGLISH_PARTS(rf"\b(?:{'|'.join(_VAGUE)})\b", _I)
def _vague(m: re.Match[str], moment: Moment) -> Made:
    word = m.group().lower()
    if word == "just now":
        return fixed(m, Stretch(moment.now - timedelta(hours=1), moment.now + timedelta(seconds=1), "hour"), kind="vague", certain=False)  # fmt: skip
    return some_days(m, moment, *_VAGUE[word])
