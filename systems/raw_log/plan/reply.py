"""A model's plan as typed instructions: whatever it wrote, what cannot be used is named and left out."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace
from datetime import date, datetime, timedelta, tzinfo

from memtrial.systems.base import Query
from memtrial.systems.models.prompts.shapes import Instruction as Row
from memtrial.systems.models.prompts.shapes import PlanReply
from memtrial.systems.models.times.spans import EARLIEST
from memtrial.systems.raw_log.plan.boolean import parse, weigh
from memtrial.systems.raw_log.plan.cues import CUES, find_cues
from memtrial.systems.raw_log.plan.instructions import Concept, Cue, DateRange, Instruction, Keyword, Topic
from memtrial.systems.raw_log.plan.people import named
from memtrial.systems.raw_log.plan.view import LogView
from memtrial.systems.raw_log.plan.words import content_terms

MOST = 12
_SYNONYM = 0.5
_DATE = re.compile(r"\s*(\d{4})[-/.年](\d{1,2})[-/.月](\d{1,2})日?(?:[T\s]+(\d{1,2}):(\d{2}))?", re.ASCII)


def read_reply(reply: PlanReply, query: Query, view: LogView) -> tuple[list[Instruction], list[tuple[str, str]]]:
    """Return the typed instructions, at most 12, and what was left out with the reason."""
    made: list[Instruction] = []
    lost: list[tuple[str, str]] = []
    for row in reply.instructions:
        one, why = _typed(row, query, view)
        if one is None:
            lost.append((f"{row.kind} {row.value[:60]}", why))
        elif len(made) == MOST:
            lost.append((f"{row.kind} {row.value[:60]}", f"more than {MOST} instructions"))
        elif one not in made:
            made.append(one)
    return made, lost


def _typed(row: Row, query: Query, view: LogView) -> tuple[Instruction | None, str]:
    words = " ".join(row.value.split())
    if row.kind == "date_range":
        return _range(row, query)
    if not words:
        return None, "it is empty"
    if row.kind == "person":
        person = named(words, query, view.participants())
        if person is None:
            return None, "nobody of that name takes part"
        return replace(person, certain=row.certain, role="sender" if row.certain else person.role), ""
    if row.kind == "keyword":
        tree = parse(words[:1000])
        if tree is None:
            return None, "it has no word that could be found"
        own = frozenset(content_terms(query.text, 64))
        return Keyword(words, weigh(tree, own, _SYNONYM), row.certain), ""
    if row.kind == "concept":
        return Concept(words[:400]), ""
    if row.kind == "topic":
        return Topic(words[:60]), ""
    cues = find_cues(words)
    if cues:
        return Cue(words[:40], cues[0].name, CUES[cues[0].name][1]), ""
    return None, "no known way of speaking"


def _range(row: Row, query: Query) -> tuple[DateRange | None, str]:
    zone = query.asked_at.tzinfo
    start, end = _moment(row.start, zone, last=False), _moment(row.end, zone, last=True)
    if (row.start and start is None) or (row.end and end is None):
        return None, f"{row.start} to {row.end} is no range of days"
    if start is not None and end is not None and start >= end:
        start, end = _moment(row.end, zone, last=False), _moment(row.start, zone, last=True)
    if start is None and end is None:
        return None, "it names no day"
    if start is None:
        start = EARLIEST.replace(tzinfo=zone)
    elif end is None:
        with suppress(OverflowError):
            end = query.asked_at + timedelta(days=1)
    if end is None or start >= end:
        return None, f"{row.start} to {row.end} is no range of days"
    if start > query.asked_at:
        return None, "lies ahead of the question: nothing was said then yet"
    if start.year <= EARLIEST.year and end > query.asked_at:
        return None, "it takes in everything"
    return DateRange(row.value.strip()[:80], start, end, "said" if row.certain else "event", row.certain), ""


def _moment(text: str | None, zone: tzinfo | None, *, last: bool) -> datetime | None:
    """Read a day, or a day with a time; the moment after it for ``last``."""
    match = _DATE.match(text or "")
    if match is None:
        return None
    year, month, day, hour, minute = match.groups()
    try:
        when = datetime.combine(date(int(year), int(month), int(day)), datetime.min.time(), zone)
        if hour is not None:
            return when + timedelta(hours=int(hour), minutes=int(minute) + last)
        return when + timedelta(days=last)
    except (ValueError, OverflowError):
        return None
