from __future__ import annotations

from typing import Any

import pytest

from memtrial.metrics.records import MetricRow
from memtrial.reports.tables import Cell, MetricTable, make_cell
from memtrial.reports.words import Column, heading, number, reason, signed


def _row(metric: str, value: float | None, **more: Any) -> MetricRow:
    return MetricRow(trial="A", system="A", params={}, dataset="d", slice="all", metric=metric, value=value, **more)


def test_two_metrics_never_share_a_column() -> None:
    table = MetricTable((Column("recall@5", "d"),))
    table.add("A", [_row("recall@5", 0.93, low=0.9, high=0.95)])
    with pytest.raises(ValueError, match=r"accuracy.*may not stand in the column of recall@5"):
        table.add("B", [_row("accuracy", 0.41, low=0.3, high=0.5)])


def test_two_slices_or_data_sets_never_share_a_column() -> None:
    for column in (Column("accuracy", "other"), Column("accuracy", "d", "category=x")):
        with pytest.raises(ValueError, match="may not stand"):
            MetricTable((column,)).add("A", [_row("accuracy", 0.5)])


def test_a_value_never_stands_without_interval_or_its_reason() -> None:
    assert make_cell(_row("accuracy", 0.5, low=0.4, high=0.625)).interval == "40.0–62.5"
    assert make_cell(_row("ingest_s", 1.5)).interval == "measured once"
    assert make_cell(_row("tenant_leaks", 0.0)).interval == "count"
    assert make_cell(_row("accuracy", 0.5)).interval == "no interval"


def test_a_missing_value_is_a_dash_with_its_reason() -> None:
    cell = make_cell(_row("latency_p95_ms", None, status="few_samples;unmeasurable:fewer than 20 samples"))
    assert cell.text == "—"
    assert cell.why == "too few samples to be firm; fewer than 20 samples"
    assert make_cell(None) == Cell("—")


def test_columns_without_any_value_become_a_note() -> None:
    table = MetricTable((Column("accuracy", "d"), Column("session_recall@5", "d")))
    rows = [_row("accuracy", 0.5, low=0.4, high=0.6), _row("session_recall@5", None, status="unmeasurable:no sessions")]
    table.add("A", rows)
    done = table.finish()
    assert [c.metric for c in done.columns] == ["accuracy"]
    assert done.notes == ["session recall@5: no sessions"]


@pytest.mark.parametrize(("used", "told"), [(0.2, True), (0.1, False)])
def test_more_used_than_shown_is_explained(used: float, told: bool) -> None:
    table = MetricTable((Column("wrong_memory_exposure", "d"), Column("wrong_memory_rate", "d")))
    shares = {"low": 0.0, "high": 0.5}
    table.add("A", [_row("wrong_memory_exposure", 0.1, **shares), _row("wrong_memory_rate", used, **shares)])
    notes = [
        "wrong memory used can be more than wrong memory shown: a message with a lure that is evidence too does not count as shown"
    ]
    assert table.finish().notes == (notes if told else [])


@pytest.mark.parametrize(
    ("metric", "head"),
    [
        ("ingest_s", "ingest,\u00a0s"),
        ("latency_p95_ms", "latency P95,\u00a0ms"),
        ("context_tokens", "context tokens"),
        ("recall@10", "recall@10,\u00a0%"),
    ],
)
def test_a_column_head_names_the_unit_once(metric: str, head: str) -> None:
    assert heading(metric) == head


def test_the_bar_of_a_share_stays_on_its_track() -> None:
    assert make_cell(_row("accuracy", 0.5, low=-0.01, high=1.01)).bar == (0.0, 100.0, 50.0)


@pytest.mark.parametrize(
    ("value", "metric", "text"),
    [
        (0.5, "accuracy", "50.0"),
        (12.345, "latency_p95_ms", "12.35"),
        (0.0031, "latency_p50_ms", "0.0031"),
        (0.0, "latency_p50_ms", "0.00"),
        (1536.4, "context_tokens", "1,536"),
        (0.1234, "mrr", "0.123"),
        (7.0, "unknown_metric", "7"),
    ],
)
def test_numbers_are_written_as_their_metric_asks(value: float, metric: str, text: str) -> None:
    assert number(value, metric) == text


def test_differences_carry_their_sign() -> None:
    assert signed(-0.0281, "accuracy") == "−2.8"
    assert signed(0.5, "latency_p95_ms") == "+0.50"
    assert signed(-0.0001, "accuracy") == "0.0"


def test_reasons_are_words() -> None:
    assert reason("ok") == ""
    assert reason("few_clusters;incomplete:12") == (
        "fewer than 8 independent clusters; 12 planned answers are missing and count as errors"
    )
