"""A plan by rules: what the words of a question say about when, who and what."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from datetime import timedelta

from memtrial.systems.base import Query
from memtrial.systems.models.times import TimeExpression, find_times
from memtrial.systems.raw_log.plan.cues import find_cues
from memtrial.systems.raw_log.plan.instructions import Concept, DateRange, Instruction, Person, Plan
from memtrial.systems.raw_log.plan.params import PlanParams
from memtrial.systems.raw_log.plan.people import find_people
from memtrial.systems.raw_log.plan.speech import limits_saying
from memtrial.systems.raw_log.plan.view import LogView
from memtrial.systems.raw_log.plan.words import find_keywords, find_topic, left_out

_LONGEST = 4_000


def plan_by_rules(query: Query, view: LogView, params: PlanParams) -> Plan:
    """Plan a question without a model."""
    query = replace(query, text=query.text[:_LONGEST])
    times = find_times(query.text, query.asked_at, query.language) if params.dates else []
    dropped: list[tuple[str, str]] = []
    instructions: list[Instruction] = []
    for time in times:
        made, why = date_range(time, query, params)
        if made is None:
            dropped.append((f"date_range {time.text}", why))
        else:
            instructions.append(made)
    taken = [*(t.span for t in times), *(span for span, _ in left_out(query.text))]
    people = find_people(query, view.participants(), taken) if params.people else []
    if not params.validation:
        people = [replace(p, certain=p.role != "mentioned") for p in people]
    instructions += people
    # a relative time names no word that a message holds; "3 May" may
    cut = [t.span for t in times if t.kind != "absolute" and t.granularity not in ("month", "season")]
    cut += [span for p in people if p.certain for span in _spans(query.text, p)]
    history = [turn.text for turn in query.history]
    instructions += find_keywords(query.text, history, cut, view, params)
    if query.text.strip():
        instructions.append(Concept(query.text.strip()))
    topic = find_topic(query.text, cut, view)
    if topic is not None:
        instructions.append(topic)
    if params.cues:
        instructions += find_cues(query.text)
    return Plan(tuple(instructions), tuple(dropped))


def date_range(time: TimeExpression, query: Query, params: PlanParams) -> tuple[DateRange | None, str]:
    """Turn a time expression into an instruction; None, and why, where it says nothing about any message.

    Where it limits when something was said it filters, if its reading is certain. Otherwise it is the time of what is
    told: it speaks for messages from then until some days later.
    """
    if time.start > query.asked_at:
        return None, "lies ahead of the question: nothing was said then yet"
    said = limits_saying(query.text, time.span)
    weight = 0.3 if time.kind == "vague" else 1.0 if said else 0.5
    end = time.end
    if not said:
        with suppress(OverflowError):
            end += timedelta(days=params.event_lag_days)
    certain = said and time.certain if params.validation else True
    return DateRange(time.text, time.start, end, "said" if said else "event", certain, weight), ""


def _spans(text: str, person: Person) -> list[tuple[int, int]]:
    start = text.find(person.words)
    return [(start, start + len(person.words))] if start >= 0 else []
