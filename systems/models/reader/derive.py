"""Answers that no message states: sums, days between two events, counts over a period."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, timedelta
from decimal import Decimal

from memtrial.systems.models.reader.candidates import Candidate
from memtrial.systems.models.reader.need import Need
from memtrial.systems.models.reader.passages import KEY_LENGTH, Passage
from memtrial.systems.models.reader.values import extract_values
from memtrial.systems.models.reader.values_numbers import plain

_SUM = re.compile(
    r"\b(?:together|sum|total|plus|add up|combined|altogether|in all|both)\b|加起来|合计|共计|一共|总共|加上|两[单笔个]",
    re.IGNORECASE,
)
_PAIR = re.compile(r"\band\b|\bplus\b|&|\bboth\b|[和与跟及、]|加上|两[单笔个件]", re.IGNORECASE)
_SPAN = re.compile(
    r"\bfrom\b.+\b(?:to|till|until)\b|\b(?:till|until|between|after|took|take|since)\b|从.+到|下单.*(?:到|收)|隔了?|之间|用了|花了|过了|等了|耗时|历时|用时|几天[后才]|多少天[后才]",
    re.IGNORECASE,
)


def derive(
    need: Need, candidates: Sequence[Candidate], passages: Sequence[Passage]
) -> tuple[str, list[Passage]] | None:
    """Return an answer that has to be worked out, with what it rests on; None where the question asks for none."""
    return add_up(need, candidates) or days_between(need, candidates) or count_in_period(need, passages)


def add_up(need: Need, candidates: Sequence[Candidate]) -> tuple[str, list[Passage]] | None:
    """Sum the amounts of the two things that a question names; None where it asks for no sum or only one is found.

    The second amount is the best one whose passage covers terms of the question that the first one's leaves open.
    """
    amounts = [c for c in candidates if c.kind == "money"]
    if need.asked.kind != "money" or not (_SUM.search(need.question) and _PAIR.search(need.question)) or not amounts:
        return None
    first = amounts[0]
    covered = first.passage.shown.hits
    rest = [
        c
        for c in amounts[1:]
        if c.passage.shown is not first.passage.shown and c.norm.split(" ")[-1] == first.norm.split(" ")[-1]
    ]
    second = max(rest, key=lambda c: _weight(need, c.passage.shown.hits - covered), default=None)
    if second is None or not second.passage.shown.hits - covered:
        return None
    total = sum((Decimal(c.norm.split(":")[1].split(" ")[0]) for c in (first, second)), Decimal(0))
    digits = re.search(r"\d[\d,]*(?:\.\d+)?", first.say)
    if digits is None:
        return None
    shown = plain(total) if total == total.to_integral_value() else f"{total:.2f}"
    return first.say[: digits.start()] + shown + first.say[digits.end() :], [first.passage, second.passage]


def _weight(need: Need, hits: frozenset[str]) -> float:
    return sum(need.terms[t] for t in hits)


def days_between(need: Need, candidates: Sequence[Candidate]) -> tuple[str, list[Passage]] | None:
    """Count the days between two events; None where no two days differ.

    The first event is told by the best passage, the second by the one that adds most of what the question names besides.
    An event's day is a date that its passage states, else the day on which it was written.
    """
    if need.asked.kind != "duration" or not _SPAN.search(need.question) or not candidates:
        return None
    first = candidates[0]
    others = [c for c in candidates if c.passage.shown is not first.passage.shown]
    second = max(
        others,
        key=lambda c: c.score + 2 * len(need.concepts & c.passage.shown.hits - first.passage.shown.hits),
        default=None,
    )
    if second is None:
        return None
    days = [_day(need, first.passage), _day(need, second.passage)]
    if days[0] is None or days[1] is None or days[0] == days[1]:
        return None
    gap = abs((days[0] - days[1]).days)
    return (f"{gap}天" if need.language == "zh" else f"{gap} days"), [first.passage, second.passage]


def _day(need: Need, passage: Passage) -> date | None:
    written = passage.shown.item.timestamp
    stated = [v for v in extract_values(passage.text, written, need.language) if v.kind == "date" and len(v.norm) == 10]
    if stated:
        return date.fromisoformat(stated[0].norm) if stated[0].norm[:4].isdigit() else None
    return written.date() if written else None


def count_in_period(need: Need, passages: Sequence[Passage]) -> tuple[str, list[Passage]] | None:
    """Count what the relevant messages of a named month, week or year tell of, one per identifier or else per message."""
    period = next((v for v in need.values if v.kind == "date" and len(v.norm) in (4, 7, 8)), None)
    if need.asked.kind != "number" or period is None:
        return None
    first, last = _bounds(period.norm)
    inside: dict[int, Passage] = {}
    for passage in passages:
        written, shown = passage.shown.item.timestamp, passage.shown
        mine = shown.own if need.first_person else passage.item_cover > 0
        if written is not None and first <= written.date() < last and mine and (shown.codes or passage.item_cover > 0):
            inside.setdefault(id(shown), passage)
    if not inside:
        return None
    # one order may leave several records; what all of them share is the customer
    every = frozenset.intersection(*(p.shown.codes for p in inside.values())) if len(inside) > 1 else frozenset()
    things: dict[frozenset[str] | int, Passage] = {}
    for key, passage in inside.items():
        codes = frozenset(c for c in passage.shown.codes - every if len(c) >= KEY_LENGTH)
        things.setdefault(next((k for k in things if isinstance(k, frozenset) and k & codes), codes or key), passage)
    return str(len(things)), list(things.values())


def _bounds(norm: str) -> tuple[date, date]:
    if len(norm) == 4:
        return date(int(norm), 1, 1), date(int(norm) + 1, 1, 1)
    if "W" in norm:
        monday = date.fromisocalendar(int(norm[:4]), int(norm[-2:]), 1)
        return monday, monday + timedelta(days=7)
    year, month = int(norm[:4]), int(norm[5:])
    return date(year, month, 1), date(year + month // 12, month % 12 + 1, 1)
