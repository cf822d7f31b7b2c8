"""The memory of most frameworks: a rolling summary of what is past, and the last turns as they were said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pydantic import Field

from memtrial.datasets.schema import Message
from memtrial.systems.base import Answer, Context, Evidence, Query, Trace
from memtrial.systems.baselines.reading import ReadingParams, ReadingSystem, answered
from memtrial.systems.models.role import model_span
from memtrial.systems.models.summariser import AnySummariserParams, ExtractiveParams, Summary, make_summariser


class SummaryParams(ReadingParams):
    """Parameters of ``summary``.

    ``turns``: newest messages shown as they are; ``fold``: older ones go into the summary this many at a time, so up to
    ``fold`` - 1 more are shown as they are; ``tokens``: budget of the summary.
    """

    turns: int = Field(default=10, ge=0, le=10_000)
    fold: int = Field(default=10, ge=1, le=1_000)
    tokens: int = Field(default=1_000, ge=1, le=100_000)
    summariser: AnySummariserParams = Field(default_factory=ExtractiveParams)


class RollingSummary(ReadingSystem[SummaryParams]):
    """Shows a rolling summary of the older messages and the last turns as they are, of the asker's tenant."""

    Params = SummaryParams

    def __init__(self, params: SummaryParams, context: Context) -> None:
        """Use ``create``, which checks the parameters."""
        super().__init__(params, context)
        self._summariser = make_summariser(params.summariser, context)
        self._summaries: dict[str | None, Summary] = {}
        self._folded: dict[str | None, int] = {}

    async def ingest(self, messages: Sequence[Message], trace: Trace) -> None:
        """Take in messages and summarise what is no longer among the last turns.

        The blocks begin at fixed places of a tenant's log, so the portions in which it comes make no difference, and
        what a failed or cancelled call left undone is done by the next.
        """
        self.log.add(messages)
        with model_span(trace, "summarise") as span:
            for tenant in list(self.log.by_tenant) if self.params.tenant_filter else [None]:
                own = self.log.of(tenant)
                while len(own) - self._folded.get(tenant, 0) >= self.params.turns + self.params.fold:
                    first = self._folded.get(tenant, 0)
                    block = [self._evidence(place, 0.0) for place in own[first : first + self.params.fold]]
                    summary = self._summaries.setdefault(tenant, self._summariser.start(self.params.tokens))
                    await summary.fold(block, trace, span)
                    self._folded[tenant] = first + self.params.fold

    async def answer(self, query: Query, trace: Trace) -> Answer:
        """Show summary and last turns, whatever the question."""
        with trace.span("retrieve"):
            tenant = self._tenant(query)
            summary = self._summaries.get(tenant)
            lines = summary.lines if summary is not None else ()
            turns = [self._evidence(place, 0.0) for place in self.log.of(tenant)[self._folded.get(tenant, 0) :]]
            # Best first: the newest turn, the older ones, then the lines of the summary by what they stand for.
            shown = [*lines, *turns]
            best = [
                *range(len(shown) - 1, len(lines) - 1, -1),
                *sorted(range(len(lines)), key=lambda i: -lines[i].score),
            ]
            ranked: dict[int, Evidence] = {
                place: replace(shown[place], score=1.0 / rank) for rank, place in enumerate(best, 1)
            }
        trace.facts["summary_lines"] = len(lines)
        context = tuple(ranked[place] for place in range(len(shown)))
        return await answered(self._reader, query, tuple(ranked.values()), context, trace)

    async def close(self) -> None:
        """Let go of the models' connections."""
        await self._summariser.aclose()
        await super().close()
