"""Checking a model's instructions against the question: what it says, and no more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from memtrial.systems.base import Query
from memtrial.systems.models.analyze import terms
from memtrial.systems.models.times import TimeExpression, find_times
from memtrial.systems.raw_log.plan.boolean import leaves
from memtrial.systems.raw_log.plan.cues import find_cues
from memtrial.systems.raw_log.plan.instructions import Cue, DateRange, Instruction, Keyword, Person, Plan
from memtrial.systems.raw_log.plan.params import PlanParams
from memtrial.systems.raw_log.plan.people import named
from memtrial.systems.raw_log.plan.rules import date_range
from memtrial.systems.raw_log.plan.view import LogView

Dropped = list[tuple[str, str]]


def validated(
    plan: Sequence[Instruction], query: Query, view: LogView, rules: Plan, params: PlanParams
) -> tuple[list[Instruction], Dropped]:
    """Keep what the question or its dialogue bears out, and let only that filter of which the rules are certain too.

    A date range needs time words: where the rules read them, the range must overlap theirs, and takes theirs if they have
    one reading; a range over words that the rules cannot read ("Diwali") only ranks. A person must be named, or be meant
    by a pronoun. An expression needs a word of the question or of the dialogue, and filters only where it is made of
    quoted phrases and numbers. A cue must be in the question. Sentences and topics only rank and are kept.
    """
    times = find_times(query.text, query.asked_at, query.language)
    earlier = [t for turn in query.history for t in find_times(turn.text, query.asked_at, query.language)]
    own = set(terms(query.text))
    said = own | {t for turn in query.history for t in terms(turn.text)}
    kept: list[Instruction] = []
    dropped: Dropped = []
    for one in plan:
        checked: Instruction | None = one
        why = ""
        if isinstance(one, DateRange):
            checked, why = _range(one, query, times, earlier, params)
        elif isinstance(one, Person):
            checked, why = _person(one, query, view, rules)
        elif isinstance(one, Keyword):
            checked, why = _keyword(one, own, said, rules)
        elif isinstance(one, Cue):
            checked = one if one.name in {cue.name for cue in find_cues(query.text)} else None
            why = "the question does not say so"
        if checked is None:
            dropped.append((f"{one.kind} {one.words}", why))
        elif checked not in kept:
            kept.append(checked)
    return kept, dropped


def unsure(one: Instruction) -> Instruction:
    """Return an instruction that does not filter."""
    return replace(one, certain=False)


def _range(
    one: DateRange, query: Query, times: Sequence[TimeExpression], earlier: Sequence[TimeExpression], params: PlanParams
) -> tuple[DateRange | None, str]:
    for time in times:
        if time.start < one.end and one.start < time.end:
            read, why = date_range(time, query, params)
            if read is None:
                return None, why
            if time.certain:
                return replace(read, certain=read.certain and one.certain), ""
            start, end = max(one.start, read.start), min(one.end, read.end)
            return replace(read, start=start, end=end, certain=False), ""
    if any(time.start < one.end and one.start < time.end for time in earlier):
        return replace(one, about="event", certain=False, weight=0.3), ""
    known = one.words and one.words in query.text and not any(one.words in t.text or t.text in one.words for t in times)
    if known:
        return replace(one, about="event", certain=False, weight=0.3), ""
    return None, "the question names no such time"


def _person(one: Person, query: Query, view: LogView, rules: Plan) -> tuple[Person | None, str]:
    for known in rules.of("person"):
        if isinstance(known, Person) and set(known.ids) & set(one.ids):
            return replace(known, certain=known.certain and one.certain), ""
    people = view.participants()
    if any((p := named(turn.text, query, people)) and set(p.ids) & set(one.ids) for turn in query.history):
        return replace(one, role="mentioned", certain=False), ""
    return None, "the question does not name them"


def _keyword(one: Keyword, own: set[str], said: set[str], rules: Plan) -> tuple[Keyword | None, str]:
    words = [leaf.terms for leaf in leaves(one.tree)]
    if not any(said.intersection(found) for found in words):
        return None, "it has no word of the question"
    literal = {
        t for known in rules.of("keyword") if isinstance(known, Keyword) and known.certain for leaf in leaves(known.tree) for t in leaf.terms
    }  # fmt: skip
    exact = all(set(found) <= literal for found in words)
    return replace(one, certain=one.certain and exact and all(own.issuperset(found) for found in words)), ""
