"""What a cache keeps beside a result: what its making wrote into the trace, so that a hit can be explained like the first time."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from memtrial.systems.base import Trace

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Kept(Generic[T]):
    """A result, and the facts and warnings of its making."""

    result: T
    facts: Mapping[str, Any]
    warnings: tuple[str, ...]

    def told(self, trace: Trace) -> T:
        """Return the result; the trace says what it said when the result was made, each thing once."""
        trace.facts |= deepcopy(dict(self.facts))
        trace.warnings += [text for text in self.warnings if text not in trace.warnings]
        return self.result


class Record:
    """Notes where a trace stands, to tell later what was added."""

    def __init__(self, trace: Trace) -> None:
        """Note it."""
        self._trace = trace
        self._warnings = len(trace.warnings)

    def keep(self, result: T) -> Kept[T]:
        """Return a result with the trace's facts and the warnings since."""
        return Kept(result, deepcopy(self._trace.facts), tuple(self._trace.warnings[self._warnings :]))
