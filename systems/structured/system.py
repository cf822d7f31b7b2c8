"""The system: takes a log into memories, and answers from those that are worth it."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any, ClassVar, Literal, Self

from memtrial.datasets.schema import Message
from memtrial.systems.base import Answer, Context, Evidence, Query, Trace
from memtrial.systems.baselines.reading import answered
from memtrial.systems.models.reader import close_reader, make_reader
from memtrial.systems.stores.graph import GraphStore
from memtrial.systems.stores.records import MemoryRecords
from memtrial.systems.structured.anchors import own_matter
from memtrial.systems.structured.cache import CacheKey, ResultCache
from memtrial.systems.structured.extraction import Extractor
from memtrial.systems.structured.gates import Decision, Gates
from memtrial.systems.structured.history import tell
from memtrial.systems.structured.indexes import MeaningIndex, WordIndex
from memtrial.systems.structured.injection import inject
from memtrial.systems.structured.memory import Memory
from memtrial.systems.structured.needs import records_url, require
from memtrial.systems.structured.node import Entity
from memtrial.systems.structured.params import StructuredParams
from memtrial.systems.structured.policy import make_policy
from memtrial.systems.structured.recall import Recall, Recalled, capped
from memtrial.systems.structured.slot_answers import Computed, compute
from memtrial.systems.structured.slot_facts import SlotFacts
from memtrial.systems.structured.slot_statements import may_fill
from memtrial.systems.structured.slots import Slot, find_slot
from memtrial.systems.structured.trust import Weighed, bind

_CANDIDATES = 200


class Structured:
    """Facts taken from the log, in versions, gated, found by words, meaning and graph, and weighed by trust."""

    Params: ClassVar[type[StructuredParams]] = StructuredParams
    gated: ClassVar[bool] = True

    def __init__(self, params: StructuredParams, context: Context) -> None:
        """Use ``create``, which checks the parameters."""
        self.params = params
        self._settings = hashlib.sha256(json.dumps(params.model_dump(mode="json"), sort_keys=True).encode()).hexdigest()
        url = records_url(params)
        self._extractor = Extractor(params.extraction, context)
        self._reader = make_reader(params.reader, context)
        self._gates = Gates(params.gates, context)
        self._url, self._context = url, context
        self._open()
        self._cache: ResultCache[Recalled] = ResultCache(params.cache)
        self._writes: dict[str, int] = {}
        self._log: dict[str, Message] = {}
        self._owners: dict[str, set[str]] = {}
        self._compared = False

    def _open(self) -> None:
        params, folder = self.params, self._context.folder
        with ExitStack() as undo:
            extraction = params.extraction.model_dump(mode="json")
            self._records = MemoryRecords(folder / "records", {"extraction": extraction}, url=self._url)
            undo.callback(self._records.close)
            self._words = WordIndex(folder / "words")
            undo.callback(self._words.close)
            self._meaning = MeaningIndex(params.vectors, folder / "vectors", self._context)
            undo.pop_all()
        self._memory = Memory(self._records, {"words": self._words, "vectors": self._meaning}, params.outbox)
        self._graph = GraphStore(params.graph)
        self._recall = Recall(params, self._records, self._words, self._meaning, self._graph)

    @classmethod
    def create(cls, params: Mapping[str, Any], context: Context) -> Self:
        """Build the system from plain parameters."""
        return cls(cls.Params.model_validate(dict(params)), context)

    @classmethod
    def preflight(cls, params: Mapping[str, Any]) -> None:
        """See that every server is named and its client installed."""
        require(cls.Params.model_validate(dict(params)))

    async def ingest(self, messages: Sequence[Message], trace: Trace) -> None:
        """Take facts from messages and write them; those given before change nothing."""
        new = [m for m in {m.id: m for m in messages}.values() if m.id not in self._log]
        if new:
            await self._take(new, trace)
            self._log |= {m.id: m for m in new}

    async def _take(self, new: Sequence[Message], trace: Trace) -> None:
        # After a restart the dictionaries are learnt again from the same messages; the records know which they hold.
        extraction = await self._extractor.extract(new, trace)
        await self._memory.write(extraction, [m.id for m in new], trace)
        self._graph.add(extraction.entities, extraction.edges)
        for fact in extraction.facts:
            if fact.owner:
                self._owners.setdefault(fact.tenant_id, set()).add(fact.owner)
        for tenant in dict.fromkeys(m.tenant_id for m in new):
            self._writes[tenant] = self._writes.get(tenant, 0) + 1

    async def _forget_what_was_not_given(self, trace: Trace) -> None:
        """Make everything anew where a folder is ahead of the log it is reopened for: that must not be found yet."""
        if self._compared:
            return
        self._compared = True
        if self._records.messages() > len(self._log):
            await self._make_anew(trace)

    async def _make_anew(self, trace: Trace) -> None:
        """Drop everything and take in again what was given since this process began."""
        await self._close_stores()
        for name in ("words", "vectors"):
            shutil.rmtree(self._context.folder / name, ignore_errors=True)
        self._records.drop()
        self._open()
        self._extractor = Extractor(self.params.extraction, self._context)
        await self._take(list(self._log.values()), trace)

    async def answer(self, query: Query, trace: Trace) -> Answer:
        """Decide whether to look memory up, find and weigh what there is, and let the reader read it."""
        return await self.answer_as_decided(query, await self.decide(query, trace), trace)

    async def decide(self, query: Query, trace: Trace) -> Decision:
        """Let the gates decide whether memory is looked up for a question, and how much of it."""
        await self._forget_what_was_not_given(trace)
        state = self._gates.state(query, lambda text: self._extractor.resolve(text, query.tenant_id, query.asker))
        return await self._gates.decide(query, state, trace)

    async def answer_as_decided(self, query: Query, decision: Decision, trace: Trace) -> Answer:
        """Answer where the gates have decided already."""
        if not decision.lookup:
            return await answered(self._reader, query, (), (), trace)
        if self._memory.behind:
            trace.warn(f"{self._memory.behind} memories are not in the indexes: a search misses them")
        recalled, slot = await self._remember(query, trace)
        trace.facts["candidates"] = list(recalled.candidates[:_CANDIDATES])
        weighed = list(recalled.weighed)
        if decision.max_items is not None:
            weighed = capped(weighed, decision.max_items, newest=decision.newest_only)
        retrieved = tuple(self._evidence(w) for w in weighed[: self.params.k])
        if slot is not None:
            result = self._from_slot(slot, recalled.filled, query, trace)
            if result is not None:
                return self._computed(result, retrieved, trace)
            weighed = self._narrowed(slot, weighed, recalled.filled, query, trace)
        shown = self._told(weighed[: self.params.context_items], query, trace)
        return await answered(self._reader, query, retrieved, inject(shown, self.params.injection, trace), trace)

    async def _remember(self, query: Query, trace: Trace) -> tuple[Recalled, Slot | None]:
        key = CacheKey.of(query, version=self._writes.get(query.tenant_id, 0), settings=self._settings)
        kept = self._cache.get(key, query.asked_at, trace) if self.params.cache.enabled else None
        policy = make_policy(query, self.params.policy)
        policy.record(trace)
        with trace.span("anchors"):
            named = self._extractor.resolve(query.text, query.tenant_id, query.asker, query.history)
            anchors = self._anchors(query, named)
            slot = self._slot(query, named) if self.params.slots.enabled else None
        if kept is not None:
            return kept, slot
        recalled = await self._recall.find(query, anchors, policy, trace, slot)
        self._cache.put(key, query.asked_at, recalled)
        return recalled, slot

    def _slot(self, query: Query, named: Sequence[Entity]) -> Slot | None:
        own = self._extractor.person(query.tenant_id, query.asker)
        people = [entity.key for entity in named if entity.kind == "person" and entity.key != own]
        owners = frozenset(self._owners.get(query.tenant_id, ()))
        owner = people[0] if len(people) == 1 else own if own in owners and not people else ""
        slot = find_slot(query, named, owner)
        if slot is not None and slot.attributes == ("account_owner",) and slot.things:
            return self._of_client(query.tenant_id, slot)
        return slot

    def _of_client(self, tenant: str, slot: Slot) -> Slot:
        """Ask for the account of the one whose order (ticket) is named, where that is one person."""
        nodes = self._records.nodes(tenant, self._records.by_entity(tenant, slot.things, _CANDIDATES))
        clients = {node.fact.owner for node in nodes.values() if node.fact.subject in slot.things} - {""}
        return replace(slot, things=(), owner=clients.pop()) if len(clients) == 1 else slot

    def _from_slot(self, slot: Slot, filled: Sequence[Weighed], query: Query, trace: Trace) -> Computed | None:
        facts = SlotFacts(self._records, query, slot, tuple(filled), self._name)
        result = compute(facts, self.params.slots.least_trust) if self.params.slots.compute else None
        trace.facts["slot"] = {
            "attributes": list(slot.attributes),
            "shape": slot.shape,
            "things": list(slot.things),
            "owner": slot.owner,
            "cue": slot.cue,
            "filled": len(filled),
            "computed": result is not None,
        }
        return result

    def _name(self, tenant: str, key: str) -> str:
        entity = self._graph.entity(tenant, key)
        return entity.name if entity else key.partition(":")[2]

    def _computed(self, result: Computed, retrieved: tuple[Evidence, ...], trace: Trace) -> Answer:
        shown = inject(
            [self._evidence(w, self.params.injection.details) for w in result.used], self.params.injection, trace
        )
        return Answer(
            text=result.text,
            citations=result.citations,
            confidence=result.confidence,
            retrieved=retrieved,
            context=shown,
        )

    def _narrowed(
        self, slot: Slot, weighed: Sequence[Weighed], filled: Sequence[Weighed], query: Query, trace: Trace
    ) -> list[Weighed]:
        """Leave out what would only offer the reader another attribute's value."""
        left = list(weighed)
        if filled and self.params.slots.narrow:
            own = {w.node.id for w in filled}
            left = [w for w in weighed if w.node.id in own]
        elif not filled and self.params.slots.unfilled == "statements":
            tenant = query.tenant_id
            said = [(w, self._extractor.person(tenant, w.node.fact.speaker)) for w in weighed]
            left = [w for w, speaker in said if may_fill(w.node.fact, slot, query, speaker)]
        trace.facts["slot"]["left_out"] = len(weighed) - len(left)
        return left

    def _anchors(self, query: Query, named: Sequence[Entity]) -> dict[str, float]:
        if self.params.recall.anchors == "off":
            return {}
        own = self._extractor.person(query.tenant_id, query.asker)
        owners = frozenset(self._owners.get(query.tenant_id, ()))
        anchors = bind(query.text, named, self.params.trust.binding)
        implied = own_matter(query, named, own, owners)
        if implied:
            anchors.setdefault(implied, self.params.trust.binding.alias)
        return self._with_customer(query, anchors)

    def _with_customer(self, query: Query, anchors: dict[str, float]) -> dict[str, float]:
        """Add whose order or ticket it is that the question names, where it names nobody: the graph knows."""
        codes = {key: held for key, held in anchors.items() if key.startswith(("order:", "ticket:"))}
        if not codes or not self.params.recall.graph or any(key.startswith("person:") for key in anchors):
            return anchors
        people = self._graph.neighbours(query.tenant_id, codes, hops=1, kind="person", until=query.asked_at)
        return anchors | {person.key: person.score for person in people}

    def _told(self, weighed: Sequence[Weighed], query: Query, trace: Trace) -> list[Evidence]:
        """Make what the reader is shown; where the question asks for a memory's history, that is told in its words."""
        shown = [self._evidence(w, self.params.injection.details) for w in weighed]
        policy = make_policy(query, self.params.policy)
        if policy.reading != "history":
            return shown
        memories = [w.node.memory_id for w in weighed if w.node.fact.attribute]
        histories = self._records.histories(query.tenant_id, dict.fromkeys(memories))
        longer = [history for history in histories.values() if len(history) > 1]
        if longer:
            language: Literal["zh", "en"] = "zh" if query.language == "zh" else "en"
            trace.facts["history"] = [tell(history, language)[:300] for history in longer[:3]]
        return shown

    def _evidence(self, weighed: Weighed, details: bool = True) -> Evidence:
        fact = weighed.node.fact
        return Evidence(
            text=fact.whole if details else fact.text,
            score=weighed.score,
            message_ids=fact.message_ids,
            tenant_id=fact.tenant_id,
            kind="fact",
            timestamp=fact.recorded_at,
            source=fact.source,
            sender_id=fact.speaker,
            conversation_id=fact.conversation_id,
            trust=weighed.trust.score if weighed.trust else None,
            status=fact.state,
        )

    async def close(self) -> None:
        """Let go of files, connections and clients."""
        await self._extractor.aclose()
        await self._gates.aclose()
        await close_reader(self._reader)
        await self._close_stores()

    async def _close_stores(self) -> None:
        self._memory.close()
        self._words.close()
        await self._meaning.aclose()


__all__ = ["Structured"]
