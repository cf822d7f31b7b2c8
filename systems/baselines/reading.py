"""What every reading baseline shares: take in a log, rank it for a question, show the best to the reader."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Generic, Self, TypeVar, cast

from pydantic import Field

from memtrial.datasets.schema import Message
from memtrial.systems.base import Answer, Context, Evidence, Query, Trace
from memtrial.systems.baselines.log import Log, evidence
from memtrial.systems.baselines.parts import Part
from memtrial.systems.models.reader import AnyReader, AnyReaderParams, ReaderParams, close_reader, make_reader, read


class ReadingParams(Part):
    """Parameters of every baseline that shows a log to the reader.

    ``tenant_filter``: only what belongs to the asker's tenant; ``captions``: texts derived from pictures count as part
    of a message.
    """

    tenant_filter: bool = True
    captions: bool = True
    reader: AnyReaderParams = Field(default_factory=ReaderParams)


class RankingParams(ReadingParams):
    """Parameters of baselines that rank: ``k`` is the ranking's length, ``context_items`` how many of it are shown."""

    k: int = Field(default=50, ge=1, le=10_000)
    context_items: int = Field(default=8, ge=1, le=10_000)


async def answered(
    reader: AnyReader, query: Query, retrieved: tuple[Evidence, ...], shown: tuple[Evidence, ...], trace: Trace
) -> Answer:
    """Let the reader read what is shown, and return what it says with what it says it from."""
    reading = await read(reader, query, shown, trace)
    return Answer(
        text=reading.text,
        abstained=reading.abstained,
        citations=reading.citations,
        confidence=reading.confidence,
        retrieved=retrieved,
        context=shown if reading.shown is None else reading.shown,
    )


P = TypeVar("P", bound=ReadingParams)


class ReadingSystem(Generic[P]):
    """Log, ranking, reader. Subclasses say how a question ranks the log (``_rank``) and what of it is shown."""

    Params: ClassVar[type[ReadingParams]]
    gated: ClassVar[bool] = False

    def __init__(self, params: P, context: Context) -> None:
        """Use ``create``, which checks the parameters."""
        self.log = Log()
        self.params = params
        self._reader = make_reader(params.reader, context)

    @classmethod
    def create(cls, params: Mapping[str, Any], context: Context) -> Self:
        """Build the system from plain parameters."""
        return cls(cast(P, cls.Params.model_validate(dict(params))), context)

    async def ingest(self, messages: Sequence[Message], trace: Trace) -> None:
        """Take in messages; those given before change nothing."""
        new = self.log.add(messages)
        if new:
            with trace.span("index"):
                self._index(new, trace)

    async def answer(self, query: Query, trace: Trace) -> Answer:
        """Rank the log, show the best of it to the reader, return what it says."""
        with trace.span("retrieve"):
            ranking = self._rank(query, trace)
        retrieved = tuple(self._evidence(position, score) for position, score in ranking)
        return await answered(self._reader, query, retrieved, self._context(retrieved, trace), trace)

    async def close(self) -> None:
        """Let go of files and handles."""
        await close_reader(self._reader)

    def _index(self, new: Sequence[int], trace: Trace) -> None:
        """Index the messages at these positions of the log."""

    def _rank(self, query: Query, trace: Trace) -> list[tuple[int, float]]:
        """Return positions and scores, best first."""
        raise NotImplementedError

    def _context(self, retrieved: tuple[Evidence, ...], trace: Trace) -> tuple[Evidence, ...]:
        """Choose what the reader is shown, in the order shown."""
        raise NotImplementedError

    def _tenant(self, query: Query) -> str | None:
        return query.tenant_id if self.params.tenant_filter else None

    def _evidence(self, position: int, score: float) -> Evidence:
        return evidence(self.log.messages[position], score, captions=self.params.captions)


R = TypeVar("R", bound=RankingParams)


class RankingSystem(ReadingSystem[R]):
    """Shows the first ``context_items`` of its ranking, which it cuts to ``k``."""

    def _search(self, query: Query, trace: Trace) -> list[tuple[int, float]]:
        """Return positions and scores, best first, as many as were found."""
        raise NotImplementedError

    def _rank(self, query: Query, trace: Trace) -> list[tuple[int, float]]:
        return self._search(query, trace)[: self.params.k]

    def _context(self, retrieved: tuple[Evidence, ...], trace: Trace) -> tuple[Evidence, ...]:
        return retrieved[: self.params.context_items]
