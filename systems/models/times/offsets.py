"""Counting from a time that is named: two weeks before 3 May, the day after Christmas, 国庆前三天; and open ends: since, before."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta

from memtrial.systems.models.times.atoms import Atom, Moment, number
from memtrial.systems.models.times.atoms_common import FEW
from memtrial.systems.models.times.atoms_en import COUNT
from memtrial.systems.models.times.atoms_en import UNIT as EN_UNIT
from memtrial.systems.models.times.atoms_en import unit_of as en_unit
from memtrial.systems.models.times.atoms_zh import NUM
from memtrial.systems.models.times.atoms_zh import UNIT as ZH_UNIT
from memtrial.systems.models.times.atoms_zh import unit_of as zh_unit
from memtrial.systems.models.times.spans import EARLIEST, LATEST, Stretch, midnight, move, whole

_I = re.IGNORECASE
_DAY = timedelta(days=1)
_EN_COUNTED = re.compile(
    rf"\b(?P<the>(?:(?:in|within|over|during)\s)?the\s)?(?:(?P<n>{COUNT})|(?P<c>(?:a\s)?couple\sof)|(?P<f>(?:a\s)?few|several))\s"
    rf"(?P<u>{EN_UNIT})s?\s(?P<w>before|after|prior\sto|following|from)\s(?:the\s)?$",
    _I,
)
_EN_ONE = re.compile(r"\bthe\s(?P<u>day|night|evening|morning|week|weekend|month|year)\s(?P<w>before|after|prior\sto|following)\s(?:the\s)?$", _I)  # fmt: skip
_EN_PLURAL = re.compile(
    r"\bthe\s(?P<u>hours|days|weeks|months|years)\s(?P<w>before|leading up to|after|following)\s(?:the\s)?$", _I
)
_EN_NEAR = re.compile(r"\b(?P<a>around|about|circa|near)\s(?:the\s)?$|\b(?:shortly|right|just|soon)\s(?P<w>before|after)\s(?:the\s)?$", _I)  # fmt: skip
_ZH_WINDOW = re.compile(rf"的?(?:之|以)?(?P<w>前|后)的?(?:(?P<n>{NUM})|(?P<f>几))(?P<u>{ZH_UNIT})(?![前后])")
_ZH_POINT = re.compile(rf"的?(?:(?P<n>{NUM})|(?P<f>几))(?P<u>{ZH_UNIT})(?:之|以)?(?P<w>前|后)(?![天面期])")
_ZH_NEXT = re.compile(r"(?:(?:之|以)?后)?的?(?:(?P<n>第二天|次日|隔天|翌日)|(?P<e>前一?晚|前夜)|(?P<x>前夕))")
_ZH_NEAR = re.compile(r"(?:前后|左右|那会儿?|那阵子?|那段时间)")


def offset(text: str, atom: Atom) -> Atom | None:
    """Count from a settled atom, in the words before or after it."""
    at = atom.stretch
    if at is None or atom.kind == "vague":
        return None
    reach = max(0, atom.start - 48)
    if m := _EN_COUNTED.search(text, reach, atom.start):
        amount = 3 if m["c"] else FEW[en_unit(m["u"])[0]][1] if m["f"] else number(m["n"])
        if not amount:
            return None
        unit, amount = en_unit(m["u"], amount)
        back = m["w"].lower() in ("before",) or m["w"].lower().startswith("prior")
        here = atom.over(m.start(), atom.end)
        if m["the"] or m["c"] or m["f"]:
            return _window(here, at, amount, unit, back=back, certain=bool(m["n"]))
        return _point(here, at, amount, unit, back=back)
    if m := _EN_PLURAL.search(text, reach, atom.start):
        unit, times = en_unit(m["u"])
        back = m["w"].lower() in ("before", "leading up to")
        return _window(atom.over(m.start(), atom.end), at, FEW[unit][1] * times, unit, back=back, certain=False)
    if m := _EN_ONE.search(text, reach, atom.start):
        back = m["w"].lower() != "after" and m["w"].lower() != "following"
        return _one(atom.over(m.start(), atom.end), at, m["u"].lower(), back=back)
    if m := _EN_NEAR.search(text, reach, atom.start):
        here = atom.over(m.start(), atom.end)
        return (
            _near(here, at) if m["a"] else _window(here, at, 1, "week", back=m["w"].lower() == "before", certain=False)
        )
    return _chinese_offset(text, atom, at)


def _chinese_offset(text: str, atom: Atom, at: Stretch) -> Atom | None:
    if m := _ZH_WINDOW.match(text, atom.end):
        unit = zh_unit(m["u"])
        amount = FEW[unit][1] if m["f"] else number(m["n"])
        here = atom.over(atom.start, m.end())
        if amount == 1 and unit == "day":
            return _one(here, at, "day", back=m["w"] == "前")
        return _window(here, at, amount, unit, back=m["w"] == "前", certain=False) if amount else None
    if m := _ZH_POINT.match(text, atom.end):
        unit = zh_unit(m["u"])
        here = atom.over(atom.start, m.end())
        if m["f"]:
            return _window(here, at, FEW[unit][1], unit, back=m["w"] == "前", certain=False)
        amount = number(m["n"])
        return _point(here, at, amount, unit, back=m["w"] == "前") if amount else None
    if m := _ZH_NEXT.match(text, atom.end):
        here = atom.over(atom.start, m.end())
        if m["x"]:
            return _window(here, at, 3, "day", back=True, certain=False)
        return _one(here, at, "night" if m["e"] else "day", back=not m["n"])
    if m := _ZH_NEAR.match(text, atom.end):
        here = atom.over(atom.start, m.end())
        return _near(here, at) if m.group() in ("前后", "左右") else here
    return None


def _point(atom: Atom, at: Stretch, amount: int, unit: str, *, back: bool) -> Atom | None:
    """N units before: that day; that calendar week, month or year, like "N units ago"."""
    if unit in ("hour", "minute"):
        length = timedelta(**{f"{unit}s": amount})
        shift = -length if back else length
        return replace(atom, stretch=Stretch(at.lo + shift, at.hi + shift, at.grain))
    base = at.lo if back else at.hi - _DAY
    day = move(base.date(), -amount if back else amount, unit)
    return replace(atom, stretch=whole(day, unit), certain=atom.certain and unit == "day")


def _window(atom: Atom, at: Stretch, amount: int, unit: str, *, back: bool, certain: bool) -> Atom:
    """The N units before: from so long before up to it."""
    if unit in ("hour", "minute"):
        length = timedelta(**{f"{unit}s": amount})
        stretch = Stretch(at.lo - length, at.lo, "span") if back else Stretch(at.hi, at.hi + length, "span")
    elif back:
        stretch = Stretch(midnight(move(at.lo.date(), -amount, unit)), at.lo, "span")
    else:
        stretch = Stretch(at.hi, midnight(move(at.hi.date(), amount, unit)), "span")
    return replace(atom, stretch=stretch, certain=atom.certain and certain)


def _one(atom: Atom, at: Stretch, unit: str, *, back: bool) -> Atom | None:
    """The day, night, week, … before or after. A week beside a day is seven days or a calendar week: both are covered."""
    day = (at.lo - _DAY if back else at.hi).date()
    if unit == "day":
        return replace(atom, stretch=whole(day, "day"))
    if unit in ("night", "evening", "morning"):
        hours = (5, 12) if unit == "morning" else (18, 24 if unit == "evening" else 30)
        lo = midnight(day)
        stretch = Stretch(lo + timedelta(hours=hours[0]), lo + timedelta(hours=hours[1]), "daypart")
        return replace(atom, stretch=stretch)
    if unit == "weekend":
        near = whole(day, "weekend")
        if back and near.hi > at.lo:
            near = whole(move(day, -1, "week"), "weekend")
        return replace(atom, stretch=near)
    if at.grain == unit:
        return replace(atom, stretch=whole(day, unit))
    here = (at.lo if back else at.hi - _DAY).date()
    calendar = whole(move(here, -1 if back else 1, unit), unit)
    if back:
        lo = min(calendar.lo, midnight(move(at.lo.date(), -1, unit)))
        return replace(atom, stretch=Stretch(lo, at.lo, "span"), certain=False)
    hi = max(calendar.hi, midnight(move(at.hi.date(), 1, unit)))
    return replace(atom, stretch=Stretch(at.hi, hi, "span"), certain=False)


_SLACK = {"minute": timedelta(minutes=10), "hour": timedelta(hours=1), "daypart": timedelta(hours=2), "month": 10 * _DAY, "season": 15 * _DAY,
          "quarter": 15 * _DAY, "year": 90 * _DAY, "decade": 730 * _DAY}  # fmt: skip


def _near(atom: Atom, at: Stretch) -> Atom:
    slack = _SLACK.get(at.grain, 3 * _DAY)
    return replace(atom, stretch=Stretch(at.lo - slack, at.hi + slack, "span"), certain=False)


_SINCE = re.compile(r"(?:\b(?:ever\s)?since\s(?:the\s)?|(?:自从|打从))$", _I)
_FROM = re.compile(r"(?:\b(?:from|starting|as\sof)\s(?:the\s)?|(?:从|自))$", _I)
_ON = re.compile(r"\s(?:on|onwards?)\b(?!\s(?:to|the))|\s?(?:以来|至今|到现在|到今天|到目前|起(?![来床飞])|开始)", _I)
_SO_FAR = re.compile(r"\s?(?:以来|至今|到现在|到目前)")
_AFTER = re.compile(r"\bafter\s(?:the\s)?$", _I)
_ZH_AFTER = re.compile(r"(?:的)?(?:之后|以后|过后|后(?![天面来期台续悔果备门]))")
_BEFORE = re.compile(r"\b(?:before|prior\sto|ahead\sof|earlier\sthan)\s(?:the\s)?$", _I)
_ZH_BEFORE = re.compile(r"(?:的)?(?:之前|以前|前(?![天面台后年期往任晚提几一二两三四五六七八九十\d]))")
_UNTIL = re.compile(r"(?:\b(?:until|till|up\sto|by|no\slater\sthan)\s(?:the\s)?|(?:截至|截止到?|直到))$", _I)
_ZH_UNTIL = re.compile(r"(?:的)?为?止")


def open_ended(text: str, atom: Atom, moment: Moment) -> Atom | None:
    """Open a settled atom on one side.

    What began in the past ends with the day of asking. "Before" something that is still to come begins with that day, so
    that no expression ever takes in the whole log.
    """
    at = atom.stretch
    if at is None or atom.kind == "vague":
        return None
    reach = max(0, atom.start - 24)
    today = whole(moment.today, "day")
    later = today.hi if at.hi < today.hi else LATEST
    tail = _ON.match(text, atom.end)
    since = _SINCE.search(text, reach, atom.start)
    start = _FROM.search(text, reach, atom.start) if tail else None
    if since or start or _SO_FAR.match(text, atom.end):
        head = since or start
        here = atom.over(head.start() if head else atom.start, tail.end() if tail else atom.end)
        hi = today.hi if at.lo < today.hi else LATEST
        return replace(here, stretch=Stretch(at.lo, hi, "span"))
    after = _AFTER.search(text, reach, atom.start)
    if after or (tail := _ZH_AFTER.match(text, atom.end)):
        here = atom.over(after.start() if after else atom.start, tail.end() if tail and not after else atom.end)
        return replace(here, stretch=Stretch(at.hi, later, "span"))
    before = _BEFORE.search(text, reach, atom.start)
    if before or (tail := _ZH_BEFORE.match(text, atom.end)):
        here = atom.over(before.start() if before else atom.start, tail.end() if tail and not before else atom.end)
        if at.lo <= moment.now:
            return replace(here, stretch=Stretch(EARLIEST, at.lo, "span"))
        return replace(here, stretch=Stretch(min(today.lo, at.lo - _DAY), at.lo, "span"))
    until = _UNTIL.search(text, reach, atom.start)
    if until is not None:
        tail = _ZH_UNTIL.match(text, atom.end)
        here = atom.over(until.start(), tail.end() if tail else atom.end)
        if at.hi <= moment.now:
            return replace(here, stretch=Stretch(EARLIEST, at.hi, "span"))
        return replace(here, stretch=Stretch(min(today.lo, at.lo), at.hi, "span"))
    return None
