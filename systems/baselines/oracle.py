"""The ceiling: a system that is handed the evidence of each question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

from pydantic import Field

from memtrial.datasets.schema import Message
from memtrial.systems.base import Answer, Context, Query, Trace
from memtrial.systems.baselines.log import Log, evidence
from memtrial.systems.baselines.parts import Part
from memtrial.systems.baselines.reading import answered
from memtrial.systems.models.reader import AnyReaderParams, ReaderParams, close_reader, make_reader


class OracleParams(Part):
    """Parameters of ``oracle``."""

    captions: bool = True
    reader: AnyReaderParams = Field(default_factory=ReaderParams)


class Oracle:
    """Reads exactly the evidence of the question, in time order: what is left is the reader's doing. The ceiling."""

    Params: ClassVar[type[OracleParams]] = OracleParams
    gated: ClassVar[bool] = False

    def __init__(self, params: OracleParams, context: Context) -> None:
        """Use ``create``, which checks the parameters."""
        self._log = Log()
        self._captions = params.captions
        self._reader = make_reader(params.reader, context)
        self._revealed: dict[str, tuple[str, ...]] = {}

    @classmethod
    def create(cls, params: Mapping[str, Any], context: Context) -> Self:
        """Build the system from plain parameters."""
        return cls(cls.Params.model_validate(dict(params)), context)

    def reveal(self, query_id: str, message_ids: Sequence[str]) -> None:
        """Hand over the evidence of the question that will be asked next; the runner alone calls this."""
        self._revealed = {query_id: tuple(message_ids)}

    async def ingest(self, messages: Sequence[Message], trace: Trace) -> None:
        """Remember every message."""
        self._log.add(messages)

    async def answer(self, query: Query, trace: Trace) -> Answer:
        """Read the evidence that was revealed for this query; nothing where none was."""
        known = self._log.position
        positions = sorted({known[i] for i in self._revealed.get(query.id, ()) if i in known})
        shown = tuple(evidence(self._log.messages[p], 1.0, captions=self._captions) for p in positions)
        return await answered(self._reader, query, shown, shown, trace)

    async def close(self) -> None:
        """Let go of the reader."""
        await close_reader(self._reader)
