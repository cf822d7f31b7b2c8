from __future__ import annotations

from typing import Any

import pytest

from memtrial.metrics.aggregate import aggregate
from memtrial.metrics.gates import gate_confusion

from .conftest import build_record, build_trial

OPEN, SHUT = [("semantic", True, "")], [("semantic", True, ""), ("cost", False, "over budget")]


def run() -> list[Any]:
    looked_needed = [build_record(f"a{i}", gates=OPEN) for i in range(5)]
    skipped_needed = [build_record("b0", gates=SHUT)]
    looked_needless = [build_record(f"c{i}", gates=OPEN, needs_memory=False) for i in range(1)]
    skipped_needless = [build_record(f"d{i}", gates=SHUT, needs_memory=False) for i in range(3)]
    unknown = [build_record("e0", error="raised"), build_record("e1", error="timeout", needs_memory=False)]
    return looked_needed + skipped_needed + looked_needless + skipped_needless + unknown


@pytest.mark.parametrize(
    ("metric", "value", "n"),
    [
        ("invalid_lookup_rate", 1 / 6, 6),
        ("missed_lookup_rate", 1 / 7, 7),
        ("lookups_avoided", 4 / 12, 12),
        ("gate_balanced_accuracy", (5 / 7 + 3 / 5) / 2, 12),
    ],
)
def test_gates_by_hand(row: Any, metric: str, value: float, n: int) -> None:
    found = row(aggregate(run(), [build_trial(planned=12)], resamples=500), metric)
    assert found.value == pytest.approx(value)
    assert found.n == n
    assert found.low < value < found.high


def test_confusion_and_cost_by_hand() -> None:
    confusion = gate_confusion(run())
    assert confusion is not None
    assert (confusion.looked_needed, confusion.looked_needless) == (5, 1)
    assert (confusion.skipped_needed, confusion.skipped_needless, confusion.undecided) == (1, 3, 2)
    assert confusion.expected_cost(needless_lookup=1.0, missed_lookup=5.0) == pytest.approx(6 / 12)
    assert gate_confusion([build_record("q0")]) is None


def test_balanced_accuracy_needs_both_kinds(row: Any) -> None:
    records = [build_record(f"q{i}", gates=OPEN) for i in range(4)]
    found = row(aggregate(records, [build_trial(planned=4)], resamples=100), "gate_balanced_accuracy")
    assert found.status == "unmeasurable:every question needs memory"
