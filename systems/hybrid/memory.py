"""The structured part: it also tells what it could answer, takes in what the log established, and shows that to whom it may."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from memtrial.datasets.schema import Message
from memtrial.systems.base import Context, Query, Trace
from memtrial.systems.hybrid.established import DERIVED
from memtrial.systems.hybrid.params import WriteBackParams
from memtrial.systems.hybrid.router import Known
from memtrial.systems.models.reader.text import terms
from memtrial.systems.structured.node import Entity, Extraction, Fact
from memtrial.systems.structured.params import StructuredParams
from memtrial.systems.structured.policy import make_policy
from memtrial.systems.structured.recall import Recalled
from memtrial.systems.structured.slots import Slot
from memtrial.systems.structured.system import Structured
from memtrial.systems.structured.trust import Weighed

_UNFIT = frozenset({"injected", "retracted"})
_THINGS = frozenset({"product", "order", "ticket"})
_MOST = 200
_WRITTEN = "written_back"


class StructuredPart(Structured):
    """Structured memory inside a hybrid.

    Args:
        params: of structured memory.
        context: with a folder of its own.
        write_back: what becomes of answers found in the log.
    """

    def __init__(self, params: StructuredParams, context: Context, write_back: WriteBackParams) -> None:
        """Open the part."""
        self._write_back = write_back
        if write_back.enabled:
            params = _with_derived(params, write_back.authority)
        super().__init__(params, context)
        self._marker = context.folder / _WRITTEN
        self._answered: set[tuple[str, str, frozenset[str]]] = set()

    @property
    def log(self) -> Mapping[str, Message]:
        """Messages handed over so far, by id."""
        return self._log

    def named(self, query: Query) -> list[Entity]:
        """Return the entities that a question names, its history heeded."""
        return self._extractor.resolve(query.text, query.tenant_id, query.asker, query.history)

    def known(self, query: Query) -> Known:
        """Return what can be told of a question before it is answered: a few look-ups by key."""
        named = self.named(query)
        slot = self._slot(query, named) if self.params.slots.enabled else None
        things = tuple(dict.fromkeys(entity.key for entity in named if entity.kind in _THINGS))
        tenant = query.tenant_id
        filling = self._told_by_then(self._recall.of_slot(tenant, slot), query) if slot is not None else []
        about = self._records.by_entity(tenant, things, _MOST, until=query.asked_at) if things else []
        typed = [fact for fact in self._told_by_then(about, query) if fact.attribute]
        established = self._asked(query.tenant_id, query.asker, query.text) in self._answered
        return Known(slot, len(filling), make_policy(query, self.params.policy), things, len(typed), established)

    def is_sound(self, tenant: str, message_ids: Iterable[str]) -> bool:
        """Tell whether messages may be the ground of a memory: none of them gives orders or was taken back."""
        nodes = self._records.nodes(tenant, self._records.by_message(tenant, message_ids))
        return all(node.fact.state not in _UNFIT for node in nodes.values())

    def _asked(self, tenant: str, asker: str, text: str) -> tuple[str, str, frozenset[str]]:
        """Return what makes a question the same one: its words, and who asks where that matters."""
        return tenant, asker if self._write_back.scope == "asker" else "", terms(text)

    async def learn(self, question: str, fact: Fact, trace: Trace) -> None:
        """Write a memory that rests on the answer to a question."""
        await self._forget_what_was_not_given(trace)
        self._answered.add(self._asked(fact.tenant_id, fact.speaker, question))
        self._marker.touch()
        await self._memory.write(Extraction(facts=[fact]), [], trace)
        self._writes[fact.tenant_id] = self._writes.get(fact.tenant_id, 0) + 1

    async def _forget_what_was_not_given(self, trace: Trace) -> None:
        """Forget, too, what an earlier process learnt from its answers: those are handed over anew like the messages."""
        if not self._compared and self._marker.exists():
            self._compared = True
            await self._make_anew(trace)
            self._marker.unlink()
        await super()._forget_what_was_not_given(trace)

    async def _remember(self, query: Query, trace: Trace) -> tuple[Recalled, Slot | None]:
        recalled, slot = await super()._remember(query, trace)
        return replace(recalled, weighed=tuple(self._shown_to(query, recalled.weighed))), slot

    def _shown_to(self, query: Query, weighed: Sequence[Weighed]) -> list[Weighed]:
        if self._write_back.scope == "tenant":
            return list(weighed)
        return [w for w in weighed if w.node.fact.source != DERIVED or w.node.fact.speaker == query.asker]

    def _told_by_then(self, ids: Iterable[str], query: Query) -> list[Fact]:
        """Return the facts of nodes that had been told when a question was asked, without those that no answer rests on."""
        facts = [node.fact for node in self._records.nodes(query.tenant_id, ids).values()]
        return [fact for fact in facts if fact.state not in _UNFIT and fact.recorded_at <= query.asked_at]


def _with_derived(params: StructuredParams, authority: float) -> StructuredParams:
    """Name the source of derived memories with its authority."""
    sources: dict[str, Any] = {"authorities": {**params.trust.sources.authorities, DERIVED: authority}}
    trust = params.trust.model_copy(update={"sources": params.trust.sources.model_copy(update=sources)})
    return params.model_copy(update={"trust": trust})
