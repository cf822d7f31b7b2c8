"""Whether a system looked memory up against whether the question needs it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memtrial.metrics.estimates import Estimate, ratio_of
from memtrial.metrics.panel import Panel
from memtrial.metrics.records import Record

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class GateConfusion:
    """Counts of answers; an error without a recorded decision is ``undecided`` and counts as neither."""

    looked_needed: int
    looked_needless: int
    skipped_needed: int
    skipped_needless: int
    undecided: int

    def expected_cost(self, needless_lookup: float = 1.0, missed_lookup: float = 1.0) -> float | None:
        """Mean cost a question with a weight for each of the two errors; None without any question."""
        total = self.looked_needed + self.looked_needless + self.skipped_needed + self.skipped_needless + self.undecided
        cost = needless_lookup * self.looked_needless + missed_lookup * self.skipped_needed
        return cost / total if total else None


def has_gate(records: Sequence[Record]) -> bool:
    """Whether this system gates at all."""
    return any(record.result.trace.gates for record in records)


def decision(record: Record) -> bool | None:
    """True when memory was looked up (every recorded gate open), False when not, None where an error left it unknown."""
    gates = record.result.trace.gates
    if not gates and record.result.error:
        return None
    return all(is_open for _, is_open, _ in gates)


def gate_confusion(records: Sequence[Record]) -> GateConfusion | None:
    """The confusion matrix, or None for a system without a gate."""
    if not has_gate(records):
        return None
    seen = [(decision(record), record.labels.needs_memory) for record in records]
    return GateConfusion(
        looked_needed=seen.count((True, True)),
        looked_needless=seen.count((True, False)),
        skipped_needed=seen.count((False, True)),
        skipped_needless=seen.count((False, False)),
        undecided=sum(looked is None for looked, _ in seen),
    )


def gate_estimates(panel: Panel) -> Iterator[Estimate]:
    """Invalid and missed lookups, balanced accuracy, lookups avoided."""
    reason = "" if has_gate(panel.records) else "system has no gate"
    decisions = [decision(record) for record in panel.records]
    looked = panel.mean([d is True for d in decisions])
    skipped = panel.mean([d is False for d in decisions])
    needed = np.array([float(label.needs_memory) for label in panel.labels])
    needless = 1.0 - needed
    all_need = "" if needless.any() else "every question needs memory"
    none_need = "" if needed.any() else "no question needs memory"
    yield ratio_of(
        "invalid_lookup_rate",
        looked * needless,
        looked,
        reason=reason or ("" if looked.any() else "no memory was looked up"),
    )
    yield ratio_of("missed_lookup_rate", skipped * needed, needed, reason=reason or none_need)
    yield ratio_of("lookups_avoided", skipped, np.ones(panel.n), reason=reason)
    yield Estimate(
        "gate_balanced_accuracy",
        np.stack([looked * needed, needed, skipped * needless, needless, np.ones(panel.n)], axis=1),
        combine=_balanced,
        weights=4,
        reason=reason or all_need or none_need,
    )


def _balanced(sums: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((sums[..., 0] / sums[..., 1] + sums[..., 2] / sums[..., 3]) / 2)
