"""Which memories are about what the question names, and which about something else of the same kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memtrial.systems.base import Query
from memtrial.systems.structured.node import Entity, Fact

_THINGS = frozenset({"order", "ticket", "product"})


def own_matter(query: Query, named: Sequence[Entity], own: str, owners: frozenset[str]) -> str:
    """Return the asker's key where the question may be about their own matters without saying so, else "".

    "When does the Kestrel come?" from a customer is about that customer's; from somebody who owns nothing on record (an
    agent) it is about anybody's.

    Args:
        query: the question.
        named: entities that it names.
        own: the asker's key, or "".
        owners: keys of all whose matters are on record.
    """
    names_somebody = any(entity.kind == "person" for entity in named)
    return own if own in owners and not names_somebody else ""


def is_rival(fact: Fact, anchors: Mapping[str, float]) -> bool:
    """Tell whether a fact is about another order, ticket or product than the one named, or about somebody else's matter.

    A plain statement is no rival for its speaker: people tell of each other.
    """
    held = {*fact.entities, fact.subject} - {""}
    for kind in _THINGS:
        wanted = {key for key in anchors if _kind(key) == kind}
        there = {key for key in held if _kind(key) == kind}
        if wanted and there and not wanted & there:
            return True
    people = {key for key in anchors if _kind(key) == "person"}
    return bool(fact.attribute and fact.owner and people and not people & {*held, fact.owner})


def matches(fact: Fact, anchors: Mapping[str, float]) -> float:
    """Return how much of what the question names a fact is about: the sum of the strengths of the anchors that it holds."""
    held = {*fact.entities, fact.subject, fact.owner}
    return sum(strength for key, strength in anchors.items() if key in held)


def _kind(key: str) -> str:
    return key.partition(":")[0]
