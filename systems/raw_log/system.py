"""The system: searches the log as it was written, by a pipeline or by a model that holds the tools."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

from memtrial.datasets.schema import Message
from memtrial.systems.base import Answer, Context, Evidence, Query, Trace
from memtrial.systems.baselines.log import Log, evidence
from memtrial.systems.baselines.reading import answered
from memtrial.systems.models.reader import ReaderParams, close_reader, make_reader
from memtrial.systems.models.reader.reading import UNKNOWN
from memtrial.systems.models.reader.text import language_of
from memtrial.systems.raw_log.agent.loop import AgentLoop
from memtrial.systems.raw_log.agent.params import AgentParams
from memtrial.systems.raw_log.context import show
from memtrial.systems.raw_log.kept import Kept, Record
from memtrial.systems.raw_log.needs import require
from memtrial.systems.raw_log.params import RawLogParams
from memtrial.systems.raw_log.plan import Plan, Planner, PlanParams
from memtrial.systems.raw_log.rerank import Reranker
from memtrial.systems.raw_log.rerank.params import LexicalRerankParams
from memtrial.systems.raw_log.search import Hits, Searcher, best_of
from memtrial.systems.raw_log.tools import Tools
from memtrial.systems.structured.cache import CacheKey, ResultCache

_CANDIDATES = 200


class RawLog:
    """Plans, searches the log by words and meaning, reranks, and answers from the turns as they were written."""

    Params: ClassVar[type[RawLogParams]] = RawLogParams
    gated: ClassVar[bool] = False

    def __init__(self, params: RawLogParams, context: Context) -> None:
        """Use ``create``, which checks the parameters."""
        self.params = params
        self.log = Log()
        settings = json.dumps(params.model_dump(mode="json"), sort_keys=True)
        self._settings = hashlib.sha256(settings.encode()).hexdigest()
        self._searcher = Searcher(params, self.log, context.folder, context)
        self._agent: AgentLoop | None = None
        # An agent asks neither planner nor reranker nor reader: whatever they are set to, no model of theirs is wanted.
        idle = params.mode == "agent"
        self._planner = Planner(PlanParams() if idle else params.planner, context)
        self._reranker = Reranker(LexicalRerankParams() if idle else params.rerank, context, self.log)
        self._reader = make_reader(ReaderParams() if idle else params.reader, context)
        if idle:
            tools = Tools(self.log, self._searcher, self._evidence)
            self._agent = AgentLoop(params.agent or AgentParams(), context, tools)
        self._plans: ResultCache[Plan] = ResultCache(params.cache, "plans")
        self._candidates: ResultCache[Kept[Hits]] = ResultCache(params.cache, "candidates")
        self._answers: ResultCache[Kept[Answer]] = ResultCache(params.cache, "answers")

    @classmethod
    def create(cls, params: Mapping[str, Any], context: Context) -> Self:
        """Build the system from plain parameters."""
        return cls(cls.Params.model_validate(dict(params)), context)

    @classmethod
    def preflight(cls, params: Mapping[str, Any]) -> None:
        """See that a server is named, and that the files of a model are there."""
        require(cls.Params.model_validate(dict(params)))

    async def ingest(self, messages: Sequence[Message], trace: Trace) -> None:
        """Take in messages; those given before change nothing."""
        new = self.log.add(messages)
        if new:
            with trace.span("index"):
                self._searcher.add(new, trace)

    async def answer(self, query: Query, trace: Trace) -> Answer:
        """Search the log and answer from it."""
        if self._agent is not None:
            return await self._by_agent(self._agent, query, trace)
        key = self._key(query)
        kept = self._answers.get(key, query.asked_at, trace) if self._cached("answers") else None
        if kept is not None:
            return kept.told(trace)
        record = Record(trace)
        answer = await self._by_pipeline(query, key, trace)
        if self._cached("answers"):
            self._answers.put(key, query.asked_at, record.keep(answer))
        return answer

    async def _by_pipeline(self, query: Query, key: CacheKey, trace: Trace) -> Answer:
        kept = self._candidates.get(key, query.asked_at, trace) if self._cached("candidates") else None
        if kept is None:
            record = Record(trace)
            plan = await self._plan(query, key, trace)
            kept = record.keep(self._searcher.search(query, plan, trace))
            if self._cached("candidates"):
                self._candidates.put(key, query.asked_at, kept)
        hits = kept.told(trace)
        trace.facts["candidates"] = [self.log.messages[p].id for p, _ in hits[:_CANDIDATES]]
        hits, best = await self._rerank(query, hits, trace)
        retrieved = tuple(self._evidence(p, score) for p, score in hits[: self.params.k])
        if hits and best < self.params.shown.least_score:
            trace.facts["thin"] = round(best, 3)
            return Answer(UNKNOWN[language_of(query.text, query.language)], abstained=True, retrieved=retrieved)
        scores = dict(hits[: self.params.k])
        shown = show(
            [p for p, _ in hits], self.log, lambda p: self._evidence(p, scores.get(p, 0.0)), self.params.shown, trace
        )
        return await answered(self._reader, query, retrieved, shown, trace)

    async def _plan(self, query: Query, key: CacheKey, trace: Trace) -> Plan:
        if not self.params.planning:
            return Plan()
        plan = self._plans.get(key, query.asked_at, trace) if self._cached("plans") else None
        if plan is None:
            plan = await self._planner.plan(query, self._searcher.view(query.tenant_id), trace)
            if self._cached("plans"):
                self._plans.put(key, query.asked_at, plan)
        trace.facts["plan"] = plan.summary()
        return plan

    async def _rerank(self, query: Query, hits: Hits, trace: Trace) -> tuple[Hits, float]:
        """Return the hits with the pool reranked, without duplicates that were merged, and the best score from 0 to 10."""
        pool = hits[: self.params.tiers.pool]
        if not pool or self.params.rerank.kind == "off":
            return hits, 10.0
        items = [self._evidence(p, score) for p, score in pool]
        ranked = await self._reranker.rerank(query, items, [score for _, score in pool], trace)
        # Merged ones come last and stay in the ranking: they hold the same, and may be the evidence.
        scored = {pool[r.index][0]: r.score for r in ranked}
        return best_of(hits, scored), max((r.score for r in ranked), default=0.0)

    async def _by_agent(self, agent: AgentLoop, query: Query, trace: Trace) -> Answer:
        found = await agent.answer(query, trace)
        if found.open_points:
            trace.facts["open"] = list(found.open_points)
        return Answer(
            text=found.text,
            abstained=found.abstained,
            citations=found.citations,
            confidence=found.confidence,
            retrieved=found.seen[: self.params.k],
            context=found.seen,
        )

    def _evidence(self, position: int, score: float = 0.0) -> Evidence:
        return evidence(self.log.messages[position], score, captions=self.params.captions)

    def _cached(self, what: str) -> bool:
        return self.params.cache.enabled and bool(getattr(self.params.cache, what))

    def _key(self, query: Query) -> CacheKey:
        """Return what a cached thing depends on: the moment of asking too, as "an hour ago" moves; everybody's log, as how
        rare a word is depends on it.
        """
        settings = f"{self._settings} {query.asked_at.isoformat()}"
        return CacheKey.of(query, version=len(self.log), settings=settings)

    async def close(self) -> None:
        """Let go of indexes and clients."""
        await self._planner.aclose()
        await self._reranker.aclose()
        if self._agent is not None:
            await self._agent.aclose()
        await close_reader(self._reader)
        self._searcher.close()
