"""One way to summarise, whichever summariser a configuration names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from memtrial.systems.base import Context, Evidence, Span, Trace
from memtrial.systems.models.summariser.extractive import ExtractiveSummariser
from memtrial.systems.models.summariser.params import ExtractiveParams, ModelSummariserParams


class Summary(Protocol):
    """What is left of one stream of messages."""

    @property
    def lines(self) -> tuple[Evidence, ...]:
        """The lines in the order in which they are to be read, each with the messages that it comes from."""
        ...

    async def fold(self, items: Sequence[Evidence], trace: Trace, span: Span) -> None:
        """Take in messages that have scrolled away; either all of them or, where it raises or is cancelled, none."""
        ...


class Summariser(Protocol):
    """Starts summaries."""

    def start(self, tokens: int) -> Summary:
        """Return an empty summary with a budget of tokens."""
        ...

    async def aclose(self) -> None:
        """Let go of a model's connections."""
        ...


def make_summariser(params: ExtractiveParams | ModelSummariserParams, context: Context) -> Summariser:
    """Build the summariser that the parameters name.

    Raises:
        UserError: it is a model, and none is named, or its settings are wrong.
    """
    if isinstance(params, ExtractiveParams):
        return ExtractiveSummariser(params)
    from memtrial.systems.models.summariser.written import WrittenSummariser  # a keyless run loads none of it

    return WrittenSummariser.of(params, context)
