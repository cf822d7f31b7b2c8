"""The system: one log for two memories, a router between them, and what the one finds written into the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, ClassVar, Self

from memtrial.datasets.schema import Message
from memtrial.systems.base import Answer, Context, Query, System, Trace
from memtrial.systems.hybrid.established import DERIVED, Planting, Refused, established, restored, statement, told
from memtrial.systems.hybrid.memory import StructuredPart
from memtrial.systems.hybrid.params import HybridParams
from memtrial.systems.hybrid.router import OTHER, Place, Route, choose
from memtrial.systems.models.reader.reading import UNKNOWN
from memtrial.systems.models.reader.text import language_of
from memtrial.systems.raw_log.system import RawLog
from memtrial.systems.structured.gates import Decision
from memtrial.systems.structured.system import Structured

ROUTE, ANSWERED_BY, FELL_BACK, ESTABLISHED = "route", "answered_by", "fell_back", "established"


class Hybrid:
    """A router between ``structured`` and ``raw_log``: typed facts where they hold what is asked, the log for the rest."""

    Params: ClassVar[type[HybridParams]] = HybridParams
    gated: ClassVar[bool] = True

    def __init__(self, params: HybridParams, context: Context) -> None:
        """Use ``create``, which checks the parameters."""
        self.params = params
        folders: dict[Place, Context] = {}
        for place in OTHER:
            folder = context.folder / place
            folder.mkdir(exist_ok=True)
            folders[place] = replace(context, folder=folder)
        self._structured = StructuredPart(params.structured, folders["structured"], params.write_back)
        self._raw_log: System = RawLog.create(params.raw_log.model_dump(mode="json"), folders["raw_log"])
        self._planting = Planting(params.write_back.planted, context.seed)

    @classmethod
    def create(cls, params: Mapping[str, Any], context: Context) -> Self:
        """Build the system from plain parameters."""
        return cls(cls.Params.model_validate(dict(params)), context)

    @classmethod
    def preflight(cls, params: Mapping[str, Any]) -> None:
        """See that both parts find what they need."""
        given = cls.Params.model_validate(dict(params))
        Structured.preflight(given.structured.model_dump(mode="json"))
        RawLog.preflight(given.raw_log.model_dump(mode="json"))

    @staticmethod
    def serial(params: Mapping[str, Any]) -> bool:
        """Tell whether questions must be asked one at a time: what one establishes is there for the next."""
        return bool(params.get("write_back", {}).get("enabled", False))

    async def ingest(self, messages: Sequence[Message], trace: Trace) -> None:
        """Hand messages to both parts."""
        await self._structured.ingest(messages, trace)
        await self._raw_log.ingest(messages, trace)

    async def answer(self, query: Query, trace: Trace) -> Answer:
        """Ask the part that the router chooses, and the other one where that abstains."""
        decision = await self._structured.decide(query, trace)
        if not decision.lookup:
            trace.facts[ROUTE] = {"to": "none", "rule": "gate", "reason": "the question needs no memory"}
            trace.facts[ANSWERED_BY], trace.facts[FELL_BACK] = "none", False
            return await self._structured.answer_as_decided(query, decision, trace)
        with trace.span("route"):
            route = choose(self._structured.known(query), self.params.router)
        trace.facts[ROUTE] = {"to": route.to, "rule": route.rule, "reason": route.reason}
        answer, by = await self._ask_both(query, route, decision, trace)
        trace.facts[ANSWERED_BY] = by
        if self.params.write_back.enabled:
            self._mark(query, answer, by, trace)
        return answer

    async def _ask_both(self, query: Query, route: Route, decision: Decision, trace: Trace) -> tuple[Answer, Place]:
        with _within(trace) as first:
            answer = _sure_enough(await self._ask(route.to, query, decision, first), route.least, query, first)
        alone = route.rule.startswith("always_") or not self.params.fallback
        trace.facts[FELL_BACK] = answer.abstained and not alone
        if not trace.facts[FELL_BACK]:
            return answer, route.to
        other = OTHER[route.to]
        with _within(trace) as second:
            again = await self._ask(other, query, decision, second)
        if not again.abstained:
            return again, other
        trace.facts.update(first.facts)  # both abstain: the answer and what is told of it are the first part's
        return answer, route.to

    async def _ask(self, place: Place, query: Query, decision: Decision, trace: Trace) -> Answer:
        if place == "structured":
            return await self._structured.answer_as_decided(query, decision, trace)
        return await self._raw_log.answer(query, trace)

    def _mark(self, query: Query, answer: Answer, by: Place, trace: Trace) -> None:
        """Tell of derived memories that were shown, and of the memory that this answer is to become."""
        shown = [item.text for item in answer.context if item.source == DERIVED]
        if shown:
            said = answer.text.casefold()
            used = bool(said) and not answer.abstained and any(said in text.casefold() for text in shown)
            trace.facts[DERIVED] = {"shown": len(shown), "used": used}
        if by != "raw_log":
            return
        structured = self._structured
        found = established(query, answer, structured.named(query), structured.log, self.params.write_back)
        if isinstance(found, Refused) or not structured.is_sound(query.tenant_id, found.message_ids):
            trace.facts["not_established"] = found.why if isinstance(found, Refused) else "its ground gives orders"
            return
        wrong = self._planting.wrong(query, answer.text)
        if wrong:
            found = replace(found, text=statement(query.text, wrong, query.language))
        trace.facts[ESTABLISHED] = {**told(found), "answer": answer.text, "planted": bool(wrong)}

    async def establish(self, query: Query, kept: Mapping[str, Any]) -> None:
        """Write back what an answer established: called once an answer is stored, and again with it after a restart.

        The runner calls it, before it hands over or asks anything more. So what a question can find depends on the stored
        answers to the questions before it alone, whether or not the run was interrupted between, and a made-up question
        that warms the system up leaves nothing behind.

        Args:
            query: the question.
            kept: ``trace.facts["established"]`` of its answer.
        """
        self._planting.note(query, kept["answer"])
        await self._structured.learn(query.text, restored(query, kept), Trace())

    async def close(self) -> None:
        """Close both parts."""
        try:
            await self._structured.close()
        finally:
            await self._raw_log.close()


def _sure_enough(answer: Answer, least: float, query: Query, trace: Trace) -> Answer:
    """Return an answer, or an abstention in its place where it states a lower confidence than it must."""
    if answer.abstained or answer.confidence is None or answer.confidence >= least:
        return answer
    trace.facts["doubted"] = {"answer": answer.text, "confidence": answer.confidence, "least": least}
    return replace(answer, text=UNKNOWN[language_of(query.text, query.language)], abstained=True, citations=())


@contextmanager
def _within(trace: Trace) -> Iterator[Trace]:
    """Give a part a trace of its own, and add it to the whole's whatever comes of it: what was used was used."""
    own = Trace()
    try:
        yield own
    finally:
        trace.spans += own.spans
        trace.llm_calls += own.llm_calls
        trace.gates += own.gates
        trace.warnings += own.warnings
        trace.facts.update(own.facts)
        trace.replayed_ms += own.replayed_ms
        trace.instrument_ms += own.instrument_ms
        for name, hits in own.cache_hits.items():
            trace.cache_hits[name] = trace.cache_hits.get(name, 0) + hits


__all__ = ["Hybrid"]
