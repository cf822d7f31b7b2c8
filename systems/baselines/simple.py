"""Baselines that search nothing: no memory at all, the last messages, all that fits a budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

from pydantic import Field

from memtrial.datasets.schema import Message
from memtrial.systems.base import Answer, Context, Evidence, Query, Trace
from memtrial.systems.baselines.parts import Part
from memtrial.systems.baselines.reading import RankingParams, ReadingParams, ReadingSystem, answered
from memtrial.systems.models.reader import AnyReaderParams, ReaderParams, close_reader, make_reader
from memtrial.systems.models.tokens import count_tokens


class NoMemoryParams(Part):
    """Parameters of ``no_memory``."""

    reader: AnyReaderParams = Field(default_factory=ReaderParams)


class NoMemory:
    """Keeps nothing: the reader sees the question alone. The floor."""

    Params: ClassVar[type[NoMemoryParams]] = NoMemoryParams
    gated: ClassVar[bool] = False

    def __init__(self, params: NoMemoryParams, context: Context) -> None:
        """Use ``create``, which checks the parameters."""
        self._reader = make_reader(params.reader, context)

    @classmethod
    def create(cls, params: Mapping[str, Any], context: Context) -> Self:
        """Build the system from plain parameters."""
        return cls(cls.Params.model_validate(dict(params)), context)

    async def ingest(self, messages: Sequence[Message], trace: Trace) -> None:
        """Forget at once."""

    async def answer(self, query: Query, trace: Trace) -> Answer:
        """Read an empty context."""
        return await answered(self._reader, query, (), (), trace)

    async def close(self) -> None:
        """Let go of the reader."""
        await close_reader(self._reader)


class RecentParams(RankingParams):
    """Parameters of ``recent``; ``context_items`` is the length of the buffer."""

    context_items: int = Field(default=20, ge=1, le=10_000)


class Recent(ReadingSystem[RecentParams]):
    """Shows the last messages of the asker's tenant: a conversation buffer."""

    Params = RecentParams

    def _rank(self, query: Query, trace: Trace) -> list[tuple[int, float]]:
        own = self.log.of(self._tenant(query))
        depth = max(self.params.k, self.params.context_items)
        newest = own[: -depth - 1 : -1]
        return [(position, 1.0 / rank) for rank, position in enumerate(newest, 1)]

    def _context(self, retrieved: tuple[Evidence, ...], trace: Trace) -> tuple[Evidence, ...]:
        return retrieved[: self.params.context_items][::-1]


class FullContextParams(ReadingParams):
    """Parameters of ``full_context``; ``tokens`` is the budget for the messages shown."""

    tokens: int = Field(default=8_000, ge=1, le=2_000_000)


class FullContext(ReadingSystem[FullContextParams]):
    """Shows the newest messages that fit a token budget, in time order, without any search."""

    Params = FullContextParams

    def _rank(self, query: Query, trace: Trace) -> list[tuple[int, float]]:
        budget = self.params.tokens
        own = self.log.of(self._tenant(query))
        ranking: list[tuple[int, float]] = []
        for rank, position in enumerate(reversed(own), 1):
            budget -= count_tokens(self._evidence(position, 0.0).render())
            if budget < 0:
                trace.warn(f"context cut to the newest {len(ranking)} of {len(own)} messages by the token budget")
                break
            ranking.append((position, 1.0 / rank))
        return ranking

    def _context(self, retrieved: tuple[Evidence, ...], trace: Trace) -> tuple[Evidence, ...]:
        return retrieved[::-1]
