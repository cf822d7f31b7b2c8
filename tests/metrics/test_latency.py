from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from memtrial.metrics.aggregate import aggregate
from memtrial.metrics.latency import nearest_rank, percentile

TIMES = st.lists(st.floats(0.001, 1e6), min_size=1, max_size=400)


def test_nearest_rank_of_few_samples(fault: Callable[[str], dict[str, Any]]) -> None:
    case = fault("st-01")
    for samples, expected in zip(case["input"]["cases"], case["expected"]["checks"]["nearest_rank"], strict=True):
        assert nearest_rank(samples, 95) == expected
        shown = percentile(samples, 95)
        assert shown.value is None
        assert "few_samples" in shown.status


def test_thresholds_of_p95() -> None:
    assert percentile([1.0] * 19, 95).value is None
    assert percentile([1.0] * 20, 95).status == "few_samples"
    assert percentile([1.0] * 59, 95).status == "few_samples"
    assert percentile([1.0] * 60, 95).status == "ok"
    assert percentile([], 95).status.startswith("unmeasurable")


@given(TIMES, st.sampled_from([50, 95, 99]))
def test_a_percentile_is_a_sample_within_its_interval(samples: list[float], percent: int) -> None:
    value = nearest_rank(samples, percent)
    assert value in samples
    assert sum(s <= value for s in samples) >= percent * len(samples) / 100
    assert sum(s < value for s in samples) < percent * len(samples) / 100
    shown = percentile(samples, percent)
    if shown.value is not None:
        assert shown.value == value
        assert shown.low is not None and shown.high is not None
        assert shown.low <= value <= shown.high


@pytest.mark.parametrize(("n", "percent"), [(100, 50), (1000, 95), (5000, 99), (75, 95), (10, 50)])
def test_interval_ranks_are_binomial_quantiles(n: int, percent: int) -> None:
    shown = percentile([float(i) for i in range(1, n + 1)], percent)
    if shown.value is None:
        pytest.skip("not shown")
    low, high = stats.binom.ppf([0.025, 0.975], n, percent / 100)
    assert (shown.low, shown.high) == (max(low, 1), min(high + 1, n))
    cover = stats.binom.cdf(high, n, percent / 100) - stats.binom.cdf(low - 1, n, percent / 100)
    assert cover >= 0.95


def test_failures_stay_out_of_the_pool(
    fault: Callable[[str], dict[str, Any]], record: Any, trial: Any, row: Any
) -> None:
    case = fault("st-05")
    given_, checks = case["input"], case["expected"]["checks"]
    records = [record(f"a{i}", latency_ms=ms) for i, ms in enumerate(given_["ok_ms"])]
    records += [record(f"b{i}", error="raised") for i in range(len(given_["fail_ms"]))]
    rows = aggregate(records, [trial(planned=6)], resamples=200)
    assert row(rows, "latency_p50_ms").value == checks["p50"]
    assert row(rows, "error_rate").value == checks["failure_rate"]
    none = aggregate([record("a", error="raised")], [trial(planned=1)], resamples=200)
    assert row(none, "latency_p50_ms").value is None


def test_timeouts_count_at_their_limit_in_one_row_only(record: Any, trial: Any, row: Any) -> None:
    records = [record(f"a{i:02}", latency_ms=float(i + 1)) for i in range(57)]
    records += [record(f"t{i}", error="timeout") for i in range(4)] + [record("x", error="raised")]
    rows = aggregate(records, [trial(planned=62, time_limit_s=2.5)], resamples=200)
    assert row(rows, "latency_p95_ms").value == 55.0  # ceil(0.95 * 57) = 55
    with_timeouts = row(rows, "latency_p95_with_timeouts_ms")
    assert (with_timeouts.value, with_timeouts.n) == (2500.0, 61)  # ceil(0.95 * 61) = 58 > 57


def test_repeats_are_averaged_within_a_question(record: Any, trial: Any, row: Any) -> None:
    records = [record("a", repeat=r, latency_ms=ms) for r, ms in enumerate([10.0, 20.0, 60.0])]
    rows = aggregate(records, [trial(planned=1, repeats=3)], resamples=200)
    shown = row(rows, "latency_p50_ms")
    assert (shown.value, shown.n) == (30.0, 1)


def test_nearest_rank_refuses_nonsense() -> None:
    with pytest.raises(ValueError, match="no sample"):
        nearest_rank([], 95)
    with pytest.raises(ValueError, match="outside"):
        nearest_rank([1.0], 0)
    assert not math.isnan(nearest_rank([1.0], 100))
