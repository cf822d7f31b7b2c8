"""What a plan is made of: typed instructions, and the order in which they give way where they leave nothing to find."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Literal

from memtrial.datasets.schema import Message
from memtrial.systems.base import Trace
from memtrial.systems.raw_log.plan.boolean import Node, holds, show


@dataclass(frozen=True, slots=True)
class DateRange:
    """When something was said, or happened.

    Attributes:
        words: of the question.
        start: first moment, aware.
        end: first moment after it.
        about: ``said`` limits the messages' own times; ``event`` is when something happened, which is told of then or later.
        certain: a message outside of it cannot be the answer: it filters. Otherwise it speaks for messages.
        weight: how much, in (0, 1].
    """

    words: str
    start: datetime
    end: datetime
    about: Literal["said", "event"] = "event"
    certain: bool = False
    weight: float = 0.5
    kind: Literal["date_range"] = "date_range"


@dataclass(frozen=True, slots=True)
class Person:
    """Who takes part. ``ids`` are of participants; several where the name fits several, or where all of them are meant.

    ``role``: ``sender`` wrote the message, ``party`` belongs to those who wrote the dialogue, ``mentioned`` wrote it or is spoken of.
    """

    words: str
    ids: tuple[str, ...]
    names: tuple[str, ...] = ()
    role: Literal["sender", "party", "mentioned"] = "mentioned"
    certain: bool = False
    weight: float = 0.5
    kind: Literal["person"] = "person"


@dataclass(frozen=True, slots=True)
class Keyword:
    """Words that the message holds; ``tree`` never matches everything."""

    words: str
    tree: Node
    certain: bool = False
    weight: float = 1.0
    kind: Literal["keyword"] = "keyword"


@dataclass(frozen=True, slots=True)
class Concept:
    """A sentence to compare by meaning."""

    words: str
    certain: bool = False
    weight: float = 1.0
    kind: Literal["concept"] = "concept"


@dataclass(frozen=True, slots=True)
class Topic:
    """The matter in a few words."""

    words: str
    certain: bool = False
    weight: float = 0.3
    kind: Literal["topic"] = "topic"


@dataclass(frozen=True, slots=True)
class Cue:
    """An attitude or act of speech: ``name`` is one of ``cues.CUES``, ``signs`` are words that show it in a message."""

    words: str
    name: str
    signs: tuple[str, ...] = ()
    certain: bool = False
    weight: float = 0.3
    kind: Literal["cue"] = "cue"


Instruction = DateRange | Person | Keyword | Concept | Topic | Cue


@dataclass(frozen=True, slots=True)
class Filters:
    """What a message must meet to be a candidate; different kinds are joined by AND, instructions of one kind by OR.

    ``relaxed``: names of the steps that were taken to get here, in order.
    """

    dates: tuple[DateRange, ...] = ()
    people: tuple[Person, ...] = ()
    keywords: tuple[Keyword, ...] = ()
    relaxed: tuple[str, ...] = ()

    @property
    def empty(self) -> bool:
        """Whether every message is a candidate."""
        return not (self.dates or self.people or self.keywords)

    @property
    def senders(self) -> tuple[str, ...]:
        """Ids of those who may have written it; empty for everybody."""
        return tuple(dict.fromkeys(id for person in self.people for id in person.ids))

    def admits(self, message: Message, words: Sequence[str]) -> bool:
        """Whether a message with these index terms meets them. This is what an engine's query must agree with."""
        if self.dates and not any(d.start <= message.timestamp < d.end for d in self.dates):
            return False
        if self.people and message.sender not in self.senders:
            return False
        return not self.keywords or any(holds(k.tree, words) for k in self.keywords)


_SLACK = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Plan:
    """Instructions for one question.

    Attributes:
        instructions: those that were kept.
        dropped: what was not, each with the reason.
        source: who made it: ``rules``, or ``model`` (``rules`` also where the model's could not be used).
    """

    instructions: tuple[Instruction, ...] = ()
    dropped: tuple[tuple[str, str], ...] = ()
    source: Literal["rules", "model"] = "rules"

    def of(self, kind: str) -> list[Instruction]:
        """Return the instructions of a kind."""
        return [i for i in self.instructions if i.kind == kind]

    @property
    def filters(self) -> Filters:
        """The certain instructions, none relaxed."""
        return Filters(
            dates=tuple(i for i in self.instructions if isinstance(i, DateRange) and i.certain),
            people=tuple(i for i in self.instructions if isinstance(i, Person) and i.certain and i.ids),
            keywords=tuple(i for i in self.instructions if isinstance(i, Keyword) and i.certain),
        )

    def relaxations(self) -> Iterator[Filters]:
        """Yield filters from the strictest to none, in a fixed order; a step that changes nothing is left out.

        First the dates are widened by a day on either side (a message of just after midnight, another time zone), then it
        may be anybody's, then from any time, then without the words. Who said it goes before when: people confuse who
        more often than when, and the name still speaks for a message. Words in quotes and numbers go last, as they are
        the question's own.
        """
        now = self.filters
        yield now
        if now.dates:
            wide = tuple(replace(d, start=_moved(d.start, -_SLACK), end=_moved(d.end, _SLACK)) for d in now.dates)
            now = replace(now, dates=wide, relaxed=(*now.relaxed, "date_range widened"))
            yield now
        for name, field_name in (("person", "people"), ("date_range", "dates"), ("keyword", "keywords")):
            if getattr(now, field_name):
                changes: dict[str, Any] = {field_name: (), "relaxed": (*now.relaxed, name)}
                now = replace(now, **changes)
                yield now

    def summary(self) -> dict[str, Any]:
        """Return it as small JSON for the trace."""
        return {
            "source": self.source,
            "instructions": [_told(i) for i in self.instructions],
            "dropped": [{"what": what, "why": why} for what, why in self.dropped],
        }


def relax(plan: Plan, count: Callable[[Filters], int], need: int, trace: Trace) -> Filters:
    """Return the strictest filters that leave at least ``need`` candidates, and write down which gave way.

    Args:
        plan: the plan.
        count: how many messages filters admit; may stop counting at ``need``.
        need: at least 1.
        trace: gets ``facts["plan"]["relaxed"]``, and a warning where a filter gave way.
    """
    chosen = Filters()
    for filters in plan.relaxations():
        chosen = filters
        if filters.empty or count(filters) >= max(need, 1):
            break
    trace.facts.setdefault("plan", {})["relaxed"] = list(chosen.relaxed)
    if chosen.relaxed:
        trace.warn(f"plan: too few candidates, relaxed in this order: {', '.join(chosen.relaxed)}")
    return chosen


def _moved(when: datetime, by: timedelta) -> datetime:
    try:
        return when + by
    except OverflowError:
        return when


def _told(one: Instruction) -> dict[str, Any]:
    told: dict[str, Any] = {"kind": one.kind, "words": one.words, "certain": one.certain, "weight": one.weight}
    if isinstance(one, DateRange):
        told |= {"start": one.start.isoformat(), "end": one.end.isoformat(), "about": one.about}
    elif isinstance(one, Person):
        told |= {"ids": list(one.ids), "role": one.role}
    elif isinstance(one, Keyword):
        told["expression"] = show(one.tree)
    elif isinstance(one, Cue):
        told["name"] = one.name
    return told
