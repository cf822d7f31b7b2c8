from __future__ import annotations

from typing import Any

import pytest

from memtrial.metrics.aggregate import aggregate

from .conftest import build_record, build_trial


def rows_of(stated: list[tuple[float, str]]) -> list[Any]:
    records = [build_record(f"q{i:03}", confidence=c, outcome=o) for i, (c, o) in enumerate(stated)]
    return aggregate(records, [build_trial(planned=len(records))], resamples=200)


def test_brier_and_calibration_by_hand(row: Any) -> None:
    rows = rows_of([(0.9, "correct"), (0.9, "wrong_other"), (0.2, "wrong_other"), (0.2, "wrong_other")])
    assert row(rows, "brier").value == pytest.approx((0.01 + 0.81 + 0.04 + 0.04) / 4)
    # Two bins of two: |0.9 - 0.5| and |0.2 - 0|.
    assert row(rows, "ece").value == pytest.approx((2 * 0.4 + 2 * 0.2) / 4)
    assert row(rows, "accuracy_at_coverage@50").value == 0.5


def test_confidence_of_an_abstention_or_an_error_does_not_count(row: Any) -> None:
    rows = rows_of([(1.0, "correct"), (0.0, "needless_abstention"), (0.3, "correct_abstention")])
    assert (row(rows, "brier").value, row(rows, "brier").n) == (0.0, 1)


def test_perfect_calibration_has_no_error(row: Any) -> None:
    rows = rows_of([(0.75, "correct" if i % 4 else "wrong_other") for i in range(100)])
    assert row(rows, "ece").value == pytest.approx(0.0, abs=1e-12)


def test_no_row_where_no_confidence_is_stated() -> None:
    rows = aggregate([build_record("q0")], [build_trial(planned=1)], resamples=100)
    assert not [r for r in rows if r.metric in ("brier", "ece")]
