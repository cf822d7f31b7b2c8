"""What a trial works with: limits, what the run around it offers, how far a system is, and how a trial can end."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memtrial.datasets.schema import Question
from memtrial.experiments.folder import folder_mb
from memtrial.experiments.journal import Measure
from memtrial.experiments.plan import CorpusPlan
from memtrial.metrics.records import Result

if TYPE_CHECKING:
    from memtrial.experiments.spending import Spending

INGEST_USAGE = "ingest_usage"
# What a model makes of one message; a hand-over that fails for any other reason of the model's fails for all that follow.
_OF_CONTENT = ("refused", "filtered", "truncated", "empty", "tool_call", "invalid", "bad_request")


@dataclass(frozen=True, slots=True)
class Limits:
    """What a trial may take.

    Attributes:
        answer_s: seconds for an answer.
        ingest_s: seconds for everything else.
        warmup: made-up queries before the first of a corpus.
        at_once: questions under way at a time.
    """

    answer_s: float
    ingest_s: float
    warmup: int
    at_once: int = 1


@dataclass(frozen=True, slots=True)
class Desk:
    """What a trial needs from the run around it.

    Attributes:
        results: finished questions by key; a trial adds to it through ``record``.
        measures: what was measured, by (unit, repeat, corpus).
        record: journals a result, judges it and counts it.
        measure: journals a measure.
        working: tells the progress display what goes on.
        spool: gives the file that holds a corpus' messages.
        log: file for what the system prints.
        scratch: folder under which each system gets one of its own.
        cache_dir: shared artifact cache, or None.
        spending: of the run on models, or None where none is asked.
    """

    results: dict[str, Result]
    measures: dict[tuple[str, int, str], Measure]
    record: Callable[[dict[str, Any], Result, Question, CorpusPlan], None]
    measure: Callable[[Measure], None]
    working: Callable[[str], None]
    spool: Callable[[CorpusPlan], Path]
    log: Path
    scratch: Path
    cache_dir: Path | None
    spending: Spending | None = None


class RunStopped(Exception):
    """Going on makes no sense, for the reason that the message gives; what finished is kept."""


class StepFailed(Exception):
    """Creating a system or handing messages over failed; no question of the corpus can be asked any more."""

    def __init__(self, kind: str, detail: str, *, final: bool = False) -> None:
        """Say what failed; ``final`` where trying again is out of the question."""
        super().__init__(detail)
        self.kind = kind
        self.detail = detail
        self.final = final


@dataclass(slots=True)
class Open:
    """A system that is open on one corpus: how far it is, and what was measured on the way."""

    folder: Path
    given: int = 0
    passed: int = 0
    ms: float = 0.0
    replayed_ms: float = 0.0
    write_ms: list[float] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)
    usage: list[dict[str, Any]] = field(default_factory=list)

    def took_in(self, reply: Mapping[str, Any], upto: int) -> None:
        """Add up what the worker says of a hand-over."""
        spent = reply["ms"] + reply["replayed_ms"]
        count, self.given = upto - self.given, upto
        self.ms += spent
        self.replayed_ms += reply["replayed_ms"]
        self.write_ms.append(round(spent / count, 6))
        self.warnings += [w for w in reply["trace"].get("warnings", []) if w not in self.warnings]
        self.facts.update(reply["trace"].get("facts", {}))
        add_usage(self.usage, reply["trace"].get("usage", []))

    def measured(self, measure: Measure) -> None:
        """Put what was added up into a measure, once the system is closed."""
        measure.ingest_s = self.ms / 1000.0
        measure.replayed_s = self.replayed_ms / 1000.0
        measure.messages = self.given
        measure.write_ms = self.write_ms
        measure.index_mb = folder_mb(self.folder)
        measure.warnings = self.warnings
        measure.facts = {**self.facts, INGEST_USAGE: self.usage} if self.usage else self.facts


def ends_the_run(kind: str) -> bool:
    """Whether a failed hand-over was the model's doing in a way that holds for every other one too."""
    return kind.startswith("model_") and kind.removeprefix("model_") not in _OF_CONTENT


def add_usage(sums: list[dict[str, Any]], rows: Iterable[Mapping[str, Any]]) -> None:
    """Add rows of a ``Usage`` up by role, model and phase; a sum with an unknown cost in it is unknown."""
    for row in rows:
        name = tuple(row.get(key) for key in _USAGE_OF)
        held = next((old for old in sums if tuple(old.get(key) for key in _USAGE_OF) == name), None)
        if held is None:
            sums.append(dict(row))
            continue
        for key, value in row.items():
            if key == "usd":
                held[key] = None if value is None or held.get(key) is None else round(held[key] + value, 12)
            elif key == "estimated":
                held[key] = held.get(key, False) or value
            elif key not in _USAGE_OF:
                held[key] = held.get(key, 0) + value


_USAGE_OF = ("role", "model", "phase")
