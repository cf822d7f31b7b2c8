"""Search in a log: full text and vectors propose, the plan filters and steers, signals are added up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path

from memtrial.systems.base import Context, Query, Trace
from memtrial.systems.baselines.lexical import LexicalRanker
from memtrial.systems.baselines.log import Log
from memtrial.systems.raw_log.params import RawLogParams
from memtrial.systems.raw_log.plan import DateRange, Filters, Keyword, LogIndex, LogView, Person, Plan, relax
from memtrial.systems.raw_log.plan.boolean import leaves
from memtrial.systems.raw_log.signals import Meaning, fuse

Hits = list[tuple[int, float]]


class Searcher:
    """Ranks the turns of a log.

    Args:
        params: settings.
        log: the log.
        folder: for the indexes.
        context: of the system.
    """

    def __init__(self, params: RawLogParams, log: Log, folder: Path, context: Context) -> None:
        """Open the indexes of a folder, or make them."""
        self._params, self._log = params, log
        self._terms = LogIndex(log)
        self._words = LexicalRanker(params.words, log, folder / "words", captions=params.captions)
        self._meaning: Meaning | None = None
        if params.tiers.meaning:
            self._meaning = Meaning(params.meaning, log, folder / "meaning", context, captions=params.captions)

    def add(self, positions: Sequence[int], trace: Trace) -> None:
        """Index messages by their positions, which must come in order."""
        self._terms.add(positions)
        self._words.add(positions)
        if self._meaning is not None:
            self._meaning.add(positions, trace)

    def view(self, tenant: str) -> LogView:
        """Return the tenant's log as a planner may see it."""
        return self._terms.view(tenant)

    def search(self, query: Query, plan: Plan, trace: Trace) -> Hits:
        """Return positions and scores of the tenant's turns, best first.

        Args:
            query: the question.
            plan: its instructions; the certain ones filter, the others only rank.
            trace: gets spans, tier sizes, and which filters gave way.
        """
        history = [turn.text for turn in query.history]
        with trace.span("words"):
            words = self._words.rank(query.text, history, query.tenant_id, self._near(plan))
        meaning: Hits = []
        if self._meaning is not None:
            meaning = self._meaning.rank(query, query.tenant_id, trace)
        with trace.span("filter"):
            words, meaning = self._filtered(plan, words, meaning, trace)
        with trace.span("fuse"):
            ranges = [(i.start, i.end) for i in plan.of("date_range") if isinstance(i, DateRange)]
            hits = fuse(self._params.signals, words, meaning, self._log, self._people(plan), ranges)
        trace.facts["tiers"] = {"words": len(words), "meaning": len(meaning), "joined": len(hits)}
        return hits

    def _near(self, plan: Plan) -> dict[str, float]:
        share = self._params.signals.near
        found: dict[str, float] = {}
        for one in plan.instructions:
            if isinstance(one, Keyword) and one.weight < 1 and share:
                for leaf in leaves(one.tree):
                    found |= {term: max(found.get(term, 0.0), share * one.weight) for term in leaf.terms}
        return found

    @staticmethod
    def _people(plan: Plan) -> frozenset[str]:
        people = [i for i in plan.instructions if isinstance(i, Person) and i.role != "party"]
        return frozenset(id for person in people for id in person.ids)

    def _filtered(self, plan: Plan, words: Hits, meaning: Hits, trace: Trace) -> tuple[Hits, Hits]:
        """Keep the candidates that the plan's filters admit, relaxed until enough are left."""
        candidates = {position for hits in (words, meaning) for position, _ in hits}
        if plan.filters.empty or not candidates:
            return words, meaning
        filters = relax(plan, lambda f: sum(self._admits(f, p) for p in candidates), self._params.tiers.least, trace)
        kept = {p for p in candidates if self._admits(filters, p)}
        return [h for h in words if h[0] in kept], [h for h in meaning if h[0] in kept]

    def _admits(self, filters: Filters, position: int) -> bool:
        message = self._log.messages[position]
        return filters.admits(message, self._terms.view(message.tenant_id).terms_at(position))

    def within(
        self, tenant: str, start: datetime | None, end: datetime | None, until: datetime, sender: frozenset[str] | None
    ) -> list[int]:
        """Return the positions of a tenant's turns of a time, by somebody where given, in time order."""
        found = []
        for position in self._log.of(tenant):
            message = self._log.messages[position]
            if message.timestamp > until or (start and message.timestamp < start) or (end and message.timestamp >= end):
                continue
            if sender is None or message.sender in sender:
                found.append(position)
        return found

    def close(self) -> None:
        """Let go of the indexes."""
        self._words.close()
        if self._meaning is not None:
            self._meaning.close()


def best_of(hits: Hits, ranked: Mapping[int, float]) -> Hits:
    """Put reranked positions, best first, before the rest of the hits."""
    return [*ranked.items(), *(hit for hit in hits if hit[0] not in ranked)]
