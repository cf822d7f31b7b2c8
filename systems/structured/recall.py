"""From a question to weighed candidates: channels, versions, state, anchors, fusion, trust, arbiter."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from memtrial.systems.base import Query, Trace
from memtrial.systems.stores.graph import GraphStore
from memtrial.systems.stores.records import MemoryRecords
from memtrial.systems.structured.anchors import is_rival, matches
from memtrial.systems.structured.arbiter import Arbiter
from memtrial.systems.structured.fusion import Channel, channel_weights, fuse
from memtrial.systems.structured.indexes import MeaningIndex, WordIndex
from memtrial.systems.structured.node import Node
from memtrial.systems.structured.params import StructuredParams
from memtrial.systems.structured.policy import Policy, demand_authority
from memtrial.systems.structured.slots import Slot
from memtrial.systems.structured.standing import believed
from memtrial.systems.structured.trust import TrustContext, TrustModel, Weighed, by_trust, told

_TOLD = 12
_SLOT_MOST = 500
_UNFIT = frozenset({"injected", "retracted"})


@dataclass(frozen=True, slots=True)
class Recalled:
    """What a question brings up, best first; the ids of all messages among the candidates; what fills its slot."""

    weighed: tuple[Weighed, ...] = ()
    candidates: tuple[str, ...] = field(default=())
    filled: tuple[Weighed, ...] = field(default=())


class Recall:
    """Finds and weighs memories.

    Args:
        params: settings.
        records: the truth.
        words: full text.
        meaning: vectors.
        graph: entities and what joins them.
    """

    def __init__(
        self,
        params: StructuredParams,
        records: MemoryRecords,
        words: WordIndex,
        meaning: MeaningIndex,
        graph: GraphStore,
    ) -> None:
        """Bind the parts."""
        self._params, self._records = params, records
        self._words, self._meaning, self._graph = words, meaning, graph
        self._trust = TrustModel(params.trust)
        self._arbiter = Arbiter(params.arbiter, params.trust.sources)

    async def find(
        self, query: Query, anchors: Mapping[str, float], policy: Policy, trace: Trace, slot: Slot | None = None
    ) -> Recalled:
        """Return the memories for a question, best first.

        Args:
            query: the question.
            anchors: keys of the entities it means, with how firmly.
            policy: what it demands.
            trace: gets spans and every decision.
            slot: the attribute that it asks for; facts of it rank first.
        """
        found = await self._channels(query, anchors, policy, trace)
        if slot is not None:
            with trace.span("slot"):
                found["metadata"] = self._first(self.of_slot(query.tenant_id, slot), found.get("metadata", ()))
        nodes = self._read(query, dict.fromkeys(id for hits in found.values() for id, _ in hits), trace)
        proposed = tuple(dict.fromkeys(m for node in nodes.values() for m in node.fact.message_ids))
        with trace.span("versions"):
            standing, superseded = self._standing(query, policy, nodes.values())
        with trace.span("fuse"):
            found, pool = self._as_read(found, nodes, standing)
            pool = self._fitting(pool, anchors, policy, trace)
            kept = {name: [(id, score) for id, score in hits if id in pool] for name, hits in found.items()}
            fused = fuse(kept, channel_weights(query, self._params.fusion), self._params.fusion, trace)
        with trace.span("weigh"):
            weighed = [Weighed(pool[f.id], f.score) for f in fused]
            context = TrustContext(
                now=policy.as_of or query.asked_at,
                anchors=anchors,
                wants=policy.wants,
                last=policy.last,
                superseded=superseded,
            )
            weighed = self._trust.weigh(weighed, context)
            demanded = demand_authority(weighed, policy, self._params.trust.sources)
            if demanded.reason:
                trace.facts["authority"] = demanded.reason
            verdict = self._arbiter.settle(demanded.kept, history=policy.reading != "newest")
            verdict.record(trace)
            ranked = list(verdict.kept)
            if self._params.trust.enabled:
                ranked = by_trust(ranked, self._params.trust.share)
                trace.facts["trust"] = told(ranked[:_TOLD])
                # node ids mean nothing to a reader of the report: these are the messages that each was taken from
                trace.facts["trust_messages"] = {w.node.id: list(w.node.fact.message_ids) for w in ranked[:_TOLD]}
        filled = [w for w in ranked if slot is not None and slot.fits(w.node.fact)]
        if filled:
            first = {w.node.id for w in filled}
            ranked = filled + [w for w in ranked if w.node.id not in first]
        return Recalled(tuple(ranked), proposed, tuple(filled))

    def _read(self, query: Query, ids: Iterable[str], trace: Trace) -> dict[str, Node]:
        """Read what the channels found from the records: the tenant's own, unless a run is to show what the filter is for."""
        if self._params.vectors.tenant_filter:
            return self._records.nodes(query.tenant_id, ids)
        trace.facts["tenant_filter"] = False
        trace.warn("vectors.tenant_filter is false: memories of other tenants may be shown")
        return self._records.nodes(None, ids)

    def of_slot(self, tenant: str, slot: Slot) -> list[str]:
        """Return memories of the slot's attribute, things and person, whichever words they are in, the newest first."""
        found: list[str] = []
        for keys in [[thing] for thing in slot.things] or [[]]:
            wanted = [*keys, *([slot.owner] if slot.owner else [])]
            # What a product can do is nobody's own.
            ids = self._records.by_entity(tenant, wanted, _SLOT_MOST, every=True) if wanted else []
            if keys and slot.owner:
                ids += self._records.by_entity(tenant, keys, _SLOT_MOST)
            nodes = self._records.nodes(tenant, ids)
            found += [id for id in dict.fromkeys(ids) if id in nodes and slot.fits(nodes[id].fact)]
        return list(dict.fromkeys(found))[: self._params.recall.per_channel]

    @staticmethod
    def _first(ids: Sequence[str], found: Sequence[tuple[str, float]]) -> list[tuple[str, float]]:
        """Put memories before what a channel found."""
        best = max((score for _, score in found), default=0.0) + 1.0
        return [*((id, best) for id in ids), *((id, score) for id, score in found if id not in set(ids))]

    async def _channels(
        self, query: Query, anchors: Mapping[str, float], policy: Policy, trace: Trace
    ) -> dict[Channel, list[tuple[str, float]]]:
        limit, fusion = self._params.recall.per_channel, self._params.fusion
        found: dict[Channel, list[tuple[str, float]]] = {}
        if fusion.keyword:
            with trace.span("words"):
                found["keyword"] = self._words.search(query, limit)
        if fusion.vector:
            found["vector"] = await self._meaning.search(query, limit, trace)
        if anchors and fusion.metadata:
            with trace.span("metadata"):
                found["metadata"] = self._of_entities(query.tenant_id, anchors, limit)
        if anchors and fusion.graph and self._params.recall.graph:
            with trace.span("graph"):
                reached = self._graph.neighbours(query.tenant_id, anchors, until=policy.as_of)[:limit]
                found["graph"] = self._of_entities(query.tenant_id, {r.key: r.score for r in reached}, limit)
                if reached:
                    trace.facts["graph"] = [" ".join(step.tell() for step in r.path) for r in reached[:5]]
        return found

    def _of_entities(self, tenant: str, keys: Mapping[str, float], limit: int) -> list[tuple[str, float]]:
        """Return memories that name any of these entities, those of most of them first, then the newest."""
        if not keys:
            return []
        nodes = self._records.nodes(tenant, self._records.by_entity(tenant, list(keys), 2 * limit))
        scored = [(node, matches(node.fact, keys)) for node in nodes.values()]
        scored.sort(key=lambda pair: (-pair[1], -pair[0].fact.recorded_at.timestamp(), pair[0].id))
        return [(node.id, score) for node, score in scored[:limit] if score > 0]

    def _standing(
        self, query: Query, policy: Policy, nodes: Collection[Node]
    ) -> tuple[dict[str, list[Node]], frozenset[str]]:
        """Return, by memory, the versions to read, and the ids of those found that newer ones have replaced."""
        # One tenant, the asker's, unless the filter is off.
        by_tenant: dict[str, dict[str, None]] = {}
        for node in nodes:
            by_tenant.setdefault(node.fact.tenant_id, {})[node.memory_id] = None
        standing: dict[str, list[Node]] = {}
        superseded: frozenset[str] = frozenset()
        for tenant, memories in by_tenant.items():
            own = [node for node in nodes if node.fact.tenant_id == tenant]
            read, replaced = self._standing_of(tenant, list(memories), own, policy.as_of or query.asked_at, policy)
            standing |= read
            superseded |= replaced
        return standing, superseded

    def _standing_of(
        self, tenant: str, memories: Sequence[str], nodes: Collection[Node], when: datetime, policy: Policy
    ) -> tuple[dict[str, list[Node]], frozenset[str]]:
        newest = self._records.as_of(tenant, memories, when)
        holding = {node.id for held in newest.values() for node in held}
        superseded = frozenset(node.id for node in nodes if node.id not in holding)
        if policy.reading == "newest":
            if self._params.recall.believed:
                newest = believed(self._records, tenant, newest, when, self._params.trust.sources)
            holding = {node.id for held in newest.values() for node in held}
            return newest, superseded - holding
        told = self._records.histories(tenant, memories)
        if policy.reading == "first":
            return {memory: history[:1] for memory, history in told.items()}, frozenset()
        return told, frozenset()

    def _as_read(
        self,
        found: Mapping[Channel, Sequence[tuple[str, float]]],
        nodes: Mapping[str, Node],
        standing: Mapping[str, Sequence[Node]],
    ) -> tuple[dict[Channel, list[tuple[str, float]]], dict[str, Node]]:
        """Put the versions to read in the place of those that were found; each keeps its memory's best score."""
        if not self._params.recall.versions:
            return {name: [h for h in hits if h[0] in nodes] for name, hits in found.items()}, dict(nodes)
        pool: dict[str, Node] = {}
        read: dict[Channel, list[tuple[str, float]]] = {}
        for name, hits in found.items():
            best: dict[str, float] = {}
            for id, score in hits:
                if id in nodes:
                    for version in standing.get(nodes[id].memory_id, ()):
                        pool[version.id] = version
                        best[version.id] = max(score, best.get(version.id, score))
            read[name] = sorted(best.items(), key=lambda pair: -pair[1])
        return read, pool

    def _fitting(
        self, pool: Mapping[str, Node], anchors: Mapping[str, float], policy: Policy, trace: Trace
    ) -> dict[str, Node]:
        """Leave out what no answer may rest on, and what is about something else than the question names."""
        recall = self._params.recall
        kept = dict(pool)
        if recall.states:
            told = policy.wants == "history"
            kept = {
                id: node
                for id, node in kept.items()
                if node.fact.state not in _UNFIT or (told and node.fact.state == "retracted")
            }
        unfit = len(pool) - len(kept)
        rivals = 0
        if recall.anchors == "require" and anchors:
            own = {id: node for id, node in kept.items() if not is_rival(node.fact, anchors)}
            rivals = len(kept) - len(own)
            kept = own or kept
        trace.facts["filtered"] = {"state": unfit, "rivals": rivals}
        return kept


def capped(weighed: Sequence[Weighed], most: int, *, newest: bool) -> list[Weighed]:
    """Return the first so many, or the newest so many of the best few times as many, in the order they came in."""
    if not newest:
        return list(weighed[:most])
    best = sorted(weighed[: 4 * most], key=lambda w: w.node.fact.recorded_at, reverse=True)[:most]
    chosen = {w.node.id for w in best}
    return [w for w in weighed if w.node.id in chosen]


__all__ = ["Recall", "Recalled", "capped"]
