"""Entities and what joins them, of each tenant apart: neighbours within a few hops, and chains of relations."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from pydantic import Field

from memtrial.systems.baselines.parts import Part
from memtrial.systems.structured.node import Edge, Entity, EntityKind


class GraphParams(Part):
    """How far and how strongly neighbours count.

    Attributes:
        hops: most edges between an anchor and what is found.
        decay: share of a score that is left after an edge.
        fan_out: most edges of an entity that are followed, the newest first; ones that a question's relations
            name do not count against it.
        damping: a score is divided by 1 + damping × ln(edges of the entity it passes through), so that what everybody
            is joined to (a popular product, a support desk) joins nobody.
        single: relations of which an entity has one at a time; an earlier one counts ``replaced`` of the newest.
        replaced: see ``single``.
    """

    hops: int = Field(default=2, ge=1, le=3)
    decay: float = Field(default=0.5, gt=0, le=1)
    fan_out: int = Field(default=50, ge=1)
    damping: float = Field(default=0.5, ge=0)
    single: tuple[str, ...] = ("assigned_to", "works_for", "located_in")
    replaced: float = Field(default=0.5, ge=0, le=1)


@dataclass(frozen=True, slots=True)
class Step:
    """One edge of a path as it is walked, from ``source`` to ``target``; ``forward`` is False against its direction."""

    source: str
    relation: str
    target: str
    forward: bool
    message_ids: tuple[str, ...]

    def tell(self) -> str:
        """Return the step in words for a trace."""
        arrow = f"-{self.relation}->" if self.forward else f"<-{self.relation}-"
        return f"{self.source} {arrow} {self.target}"


@dataclass(frozen=True, slots=True)
class Reached:
    """An entity that was found, with its score in (0, 1] and the best path to it."""

    key: str
    score: float
    path: tuple[Step, ...]


@dataclass(slots=True)
class _Joined:
    """An edge as kept: once, whatever number of messages say it."""

    source: str
    relation: str
    target: str
    message_ids: tuple[str, ...]
    first: datetime
    last: datetime


class _Graph:
    """The graph of one tenant."""

    def __init__(self) -> None:
        self.entities: dict[str, Entity] = {}
        self.edges: dict[tuple[str, str, str], _Joined] = {}
        self.touching: dict[str, list[_Joined]] = {}


class GraphStore:
    """Graphs by tenant; no path leads from one to another.

    Args:
        params: settings of the search.
    """

    def __init__(self, params: GraphParams | None = None) -> None:
        """Start empty; the records hold what is durable, and the graph is made of them."""
        self.params = params or GraphParams()
        self._graphs: dict[str, _Graph] = {}

    def add(self, entities: Iterable[Entity] = (), edges: Iterable[Edge] = ()) -> None:
        """Take in entities and edges; those that are known change nothing, save that an edge gains messages.

        An edge may name an entity that was not handed over; it is a node all the same.
        """
        for entity in entities:
            self._graph(entity.tenant_id).entities[entity.key] = entity
        for edge in edges:
            graph = self._graph(edge.tenant_id)
            name = (edge.source, edge.relation, edge.target)
            known = graph.edges.get(name)
            if known is None:
                joined = _Joined(*name, edge.message_ids, edge.recorded_at, edge.recorded_at)
                graph.edges[name] = joined
                for key in {edge.source, edge.target}:
                    graph.touching.setdefault(key, []).append(joined)
            else:
                known.message_ids = tuple(dict.fromkeys(known.message_ids + edge.message_ids))
                known.first, known.last = min(known.first, edge.recorded_at), max(known.last, edge.recorded_at)

    def entity(self, tenant: str, key: str) -> Entity | None:
        """Return an entity of a tenant."""
        graph = self._graphs.get(tenant)
        return graph.entities.get(key) if graph else None

    def size(self, tenant: str) -> tuple[int, int]:
        """Return how many entities and edges a tenant's graph has."""
        graph = self._graphs.get(tenant)
        return (len(graph.entities.keys() | graph.touching.keys()), len(graph.edges)) if graph else (0, 0)

    def neighbours(
        self,
        tenant: str,
        start: Mapping[str, float],
        *,
        hops: int | None = None,
        kind: EntityKind | None = None,
        until: datetime | None = None,
    ) -> list[Reached]:
        """Return what lies within a few hops, best first; equal scores in the order of keys.

        An entity reached in several ways counts by the best of them. The start itself is not returned.

        Args:
            tenant: whose graph.
            start: entity keys with their scores in (0, 1].
            hops: fewer hops than the settings say; None for those.
            kind: only entities of this kind; paths may lead through others.
            until: only what was recorded by then (an ``as_of`` reading).
        """
        found: dict[str, Reached] = {}
        front = [Reached(key, score, ()) for key, score in sorted(start.items()) if score > 0]
        for _ in range(min(hops or self.params.hops, self.params.hops)):
            front = self._step(tenant, front, None, until)
            front = [r for r in front if r.key not in start and _better(r, found.get(r.key))]
            found |= {r.key: r for r in front}
        return _ordered(r for r in found.values() if kind is None or r.key.partition(":")[0] == kind)

    def follow(
        self,
        tenant: str,
        start: Mapping[str, float],
        relations: Sequence[str],
        *,
        until: datetime | None = None,
    ) -> list[Reached]:
        """Walk a chain of relations, each in whichever direction it lies, and return where it ends, best first.

        "The owner of the project that the delayed order belonged to" is ``part_of``, ``assigned_to`` from the order.

        Args:
            tenant: whose graph.
            start: entity keys with their scores in (0, 1].
            relations: one for each step; "" for any.
            until: only what was recorded by then.
        """
        front = [Reached(key, score, ()) for key, score in sorted(start.items()) if score > 0]
        for relation in relations:
            front = self._step(tenant, front, relation, until)
        return _ordered(front) if relations else []

    def _graph(self, tenant: str) -> _Graph:
        return self._graphs.setdefault(tenant, _Graph())

    def _step(
        self, tenant: str, front: Iterable[Reached], relation: str | None, until: datetime | None
    ) -> list[Reached]:
        """Walk one edge from each entity of the front, never back to one that the path has passed."""
        graph = self._graphs.get(tenant)
        if graph is None:
            return []
        best: dict[str, Reached] = {}
        for at in front:
            edges = [e for e in graph.touching.get(at.key, ()) if until is None or e.first <= until]
            damped = at.score * self.params.decay / (1 + self.params.damping * math.log(max(1, len(edges))))
            if relation:
                edges = [e for e in edges if e.relation == relation]
            edges.sort(key=lambda e: (-_last(e, until).timestamp(), e.relation, e.source, e.target))
            passed = {at.key, *(step.source for step in at.path)}
            for edge in edges if relation else edges[: self.params.fan_out]:
                forward = edge.source == at.key
                other = edge.target if forward else edge.source
                score = damped
                if edge.relation in self.params.single:
                    score *= self._standing(graph, edge, until)
                if other in passed or score <= 0:
                    continue
                step = Step(at.key, edge.relation, other, forward, edge.message_ids)
                reached = Reached(other, score, (*at.path, step))
                if _better(reached, best.get(other)):
                    best[other] = reached
        return list(best.values())

    def _standing(self, graph: _Graph, edge: _Joined, until: datetime | None) -> float:
        """Return 1 for the newest edge of its source and relation, less for one that was replaced since."""
        last = max(
            _last(e, until)
            for e in graph.touching[edge.source]
            if e.source == edge.source and e.relation == edge.relation and (until is None or e.first <= until)
        )
        return 1.0 if _last(edge, until) >= last else self.params.replaced


def _last(edge: _Joined, until: datetime | None) -> datetime:
    """Return when an edge was last said; as of a time before that, only its first saying is certain to be known."""
    return edge.last if until is None or edge.last <= until else edge.first


def _better(one: Reached, other: Reached | None) -> bool:
    if other is None:
        return True
    return (-one.score, len(one.path), [s.tell() for s in one.path]) < (
        -other.score, len(other.path), [s.tell() for s in other.path],
    )  # fmt: skip


def _ordered(reached: Iterable[Reached]) -> list[Reached]:
    return sorted(reached, key=lambda r: (-r.score, r.key))
