"""Which sources say the same, and which say otherwise."""

from __future__ import annotations

from collections.abc import Iterable

from memtrial.systems.baselines.parts import Part
from memtrial.systems.structured.node import Fact, Node, State
from memtrial.systems.structured.trust.sources import Share

_UNHEARD: frozenset[State] = frozenset({"uncertain", "retracted", "injected"})


class VoiceParams(Part):
    """What company is worth, in [0, 1]: at least two independent sources agree, one stands alone, another contradicts."""

    confirmed: Share = 1.0
    alone: Share = 0.6
    contradicted: Share = 0.2


class Voices:
    """What each source says on each matter, so that a memory's company is found without comparing all pairs.

    Sources are independent where they are different systems: an agent who repeats a customer in the same chat adds nothing.

    Args:
        nodes: all memories that may confirm each other: the candidates of one question, all of one tenant.
    """

    def __init__(self, nodes: Iterable[Node] = ()) -> None:
        """Sort the statements by matter."""
        self._said: dict[tuple[str, ...], dict[str, set[tuple[str, str]]]] = {}
        for node in nodes:
            fact = node.fact
            if (matter := _matter(fact)) and fact.state not in _UNHEARD:
                self._said.setdefault(matter, {}).setdefault(_value(fact), set()).add((fact.source.lower(), fact.owner))

    def company(self, fact: Fact, params: VoiceParams) -> float:
        """Return how far other sources bear a fact out, in [0, 1]; agreement counts before contradiction."""
        said = self._said.get(_matter(fact), {})
        own, source = _value(fact), fact.source.lower()
        if any(other != source and _same_matter(owner, fact.owner) for other, owner in said.get(own, ())):
            return params.confirmed
        # A later part of a list does not deny the earlier ones.
        against = not fact.adds and any(
            other != source and _same_matter(owner, fact.owner)
            for value, voices in said.items()
            if value != own
            for other, owner in voices
        )
        return params.contradicted if against else params.alone


def _matter(fact: Fact) -> tuple[str, ...]:
    return (fact.tenant_id, fact.subject, fact.attribute) if fact.subject and fact.attribute else ()


def _value(fact: Fact) -> str:
    return (fact.value or fact.text).casefold()


def _same_matter(one: str, other: str) -> bool:
    return one == other or not one or not other
