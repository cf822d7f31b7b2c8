"""Days found by counting from today in other ways: the same day of another year, weekdays counted back, what is over of a week."""

from __future__ import annotations

import re
from datetime import timedelta

from memtrial.systems.models.times.atoms import Made, Moment, Rules, fixed, number, placed
from memtrial.systems.models.times.atoms_en import COUNT, WEEKDAY, WEEKDAY_OF, unit_of
from memtrial.systems.models.times.spans import Stretch, between, days, move, whole

COUNTED = Rules()

_I = re.IGNORECASE


@COUNTED(rf"\b(?P<n>{COUNT})\s(?P<u>week|fortnight|month|year)s?\sago\s(?:today|to the day)\b", _I)
def _ago_today(m: re.Match[str], moment: Moment) -> Made:
    amount = number(m["n"])
    if amount is None:
        return None
    unit, amount = unit_of(m["u"], amount)
    return fixed(m, days(move(moment.today, -amount, unit)))


_SLACK = {"week": 0, "month": 3, "year": 15}


@COUNTED(r"\bthis\s(?P<x>time|day)\s(?P<w>last|next)\s(?P<u>week|month|year)\b", _I)
def _this_time(m: re.Match[str], moment: Moment) -> Made:
    unit = m["u"].lower()
    day = move(moment.today, -1 if m["w"].lower() == "last" else 1, unit)
    if m["x"].lower() == "day":
        return fixed(m, days(day))
    slack = timedelta(days=_SLACK[unit])
    return fixed(m, between(day - slack, day + slack, "span" if slack else "day"), certain=False)


@COUNTED(r"(?P<w>上上个?周|上个?周|上上个?月|上个?月|大前年|前年|去年)的?(?:(?P<x>今天|今日|同一天)|这个?时候|这时候?)")
def _same_day(m: re.Match[str], moment: Moment) -> Made:
    unit = {"周": "week", "月": "month", "年": "year"}[m["w"][-1]]
    back = {"大前": 3, "上上": 2, "前年": 2}.get(m["w"][:2], 1)
    day = move(moment.today, -back, unit)
    if m["x"]:
        return fixed(m, days(day))
    slack = timedelta(days=_SLACK[unit])
    return fixed(m, between(day - slack, day + slack, "span" if slack else "day"), certain=False)


@COUNTED(rf"\b(?P<n>{COUNT})\s(?P<d>{WEEKDAY})s\sago\b", _I)
def _weekdays_ago(m: re.Match[str], moment: Moment) -> Made:
    amount = number(m["n"])
    if not amount:
        return None
    back = (moment.today.weekday() - WEEKDAY_OF[m["d"][:3].lower()] - 1) % 7 + 1
    return fixed(m, days(moment.today - timedelta(days=back + 7 * (amount - 1))))


@COUNTED(r"\b(?P<w>earlier|later|rest of)\s(?P<t>this|in the)\s(?P<u>week|month|year)\b", _I)
def _side_of_today(m: re.Match[str], moment: Moment) -> Made:
    unit = whole(moment.today, m["u"].lower())
    today = days(moment.today)
    if m["w"].lower() == "earlier":
        return fixed(m, Stretch(unit.lo, today.hi, "span"))
    if m["t"].lower() == "in the":
        return None
    return fixed(m, Stretch(today.lo, unit.hi, "span"))


@COUNTED(rf"\b(?:the\s)?(?P<w>first|last)\s(?P<n>{COUNT}|few|couple of)\s(?P<u>day|week|month)s(?=\sof\s)", _I)
def _first_few(m: re.Match[str], moment: Moment) -> Made:
    few = {"few": 4, "couple of": 2}.get(m["n"].lower())
    amount = few or number(m["n"])
    if not amount:
        return None
    unit, back = m["u"].lower(), m["w"].lower() == "last"

    def place(of: Stretch) -> Stretch:
        if back:
            return Stretch(max(days(move(of.hi.date(), -amount, unit)).lo, of.lo), of.hi, "span")
        return Stretch(of.lo, min(days(move(of.lo.date(), amount, unit)).lo, of.hi), "span")

    return placed(m, "year" if unit == "month" else "month", place, certain=few is None)
