"""What cannot be known of a system whose answers were given elsewhere: how it retrieved, what it read, how long it took."""

from __future__ import annotations

from collections.abc import Mapping

from memtrial.metrics.records import Record, TrialInfo

PUBLISHED = "published"
"""The built-in system that hands out published answers; also the key of what it says in a trace's facts."""

_WHY = "answers were published elsewhere and only looked up here"
# What its own answers and their judgement show. Everything else is about the look-up, or about a context nobody saw.
_KNOWN = frozenset(
    {
        "accuracy", "accuracy_answerable", "abstention_rate", "abstention_precision", "abstention_recall", "error_rate",
        "wrong_memory_rate", "wrong_memory_of_all", "mixed_rate", "outcome_rate", "questions_without_evidence",
    }
)  # fmt: skip


def hands_out(info: TrialInfo) -> bool:
    """Whether a trial only hands out answers that were given elsewhere, whatever its label."""
    return info.target == PUBLISHED or (not info.target and info.system == PUBLISHED)


def unknown(info: TrialInfo, metric: str) -> str:
    """Say why a metric of this trial cannot be known, or return ""."""
    return _WHY if hands_out(info) and metric.partition(":")[0] not in _KNOWN else ""


def published_fact(record: Record) -> Mapping[str, object] | None:
    """Return what travelled in the trace of a published answer; None for any other record."""
    fact = record.result.trace.facts.get(PUBLISHED)
    return fact if isinstance(fact, Mapping) else None
