"""One way to read, whichever reader a configuration names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from memtrial.systems.base import Context, Evidence, Query, Trace
from memtrial.systems.models.reader.params import ModelReaderParams, ReaderParams
from memtrial.systems.models.reader.reading import ExtractiveReader, Reading
from memtrial.systems.models.role import model_span

if TYPE_CHECKING:
    from memtrial.systems.models.reader.model_reader import ModelReader

    AnyReader = ExtractiveReader | ModelReader
else:
    AnyReader = object


def make_reader(params: ReaderParams | ModelReaderParams, context: Context) -> AnyReader:
    """Build the reader that the parameters name.

    Raises:
        UserError: it is a model, and none is named, or its settings are wrong.
    """
    if isinstance(params, ReaderParams):
        return ExtractiveReader(params)
    from memtrial.systems.models.reader.model_reader import ModelReader  # a keyless run loads none of it

    return ModelReader.of(params, context)


async def read(reader: AnyReader, query: Query, context: Sequence[Evidence], trace: Trace) -> Reading:
    """Answer from the items shown; timed as the stage ``read``.

    Raises:
        ModelRoleError: a model gave no usable reply.
    """
    with model_span(trace, "read") as span:
        if isinstance(reader, ExtractiveReader):
            return reader.read(query, context, trace)
        return await reader.read(query, context, trace, span)


async def close_reader(reader: AnyReader) -> None:
    """Let go of a model's connections."""
    if not isinstance(reader, ExtractiveReader):
        await reader.aclose()
