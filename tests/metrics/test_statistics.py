from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from memtrial.metrics.statistics import bootstrap_ratio, draw_counts, percentile_interval, wilson


def test_a_rate_of_none_or_all_has_a_wide_interval(fault: Callable[[str], dict[str, Any]]) -> None:
    case = fault("st-06")
    for (successes, n), expected in zip(case["input"]["cases"], case["expected"]["checks"]["wilson95"], strict=True):
        assert wilson(successes, n) == pytest.approx(expected, abs=5e-5)


@given(st.integers(1, 5000), st.floats(0, 1))
def test_wilson_equals_scipy_and_holds_the_rate(n: int, share: float) -> None:
    successes = round(share * n)
    theirs = stats.binomtest(successes, n).proportion_ci(method="wilson")
    ours = wilson(successes, n)
    assert ours == pytest.approx((theirs.low, theirs.high), abs=1e-12)
    assert 0.0 <= ours.low <= successes / n <= ours.high <= 1.0
    assert ours.low < ours.high


def test_wilson_needs_a_trial() -> None:
    with pytest.raises(ValueError, match="at least one"):
        wilson(0, 0)


def test_draws_are_multinomial_and_reproducible() -> None:
    counts = draw_counts(300, 2000, 0)
    assert (counts.sum(axis=1) == 300).all()
    assert counts.mean() == 1.0
    assert counts.var() == pytest.approx(1 - 1 / 300, abs=0.01)
    first = counts.copy()
    draw_counts.cache_clear()
    assert (draw_counts(300, 2000, 0) == first).all()
    assert (draw_counts(300, 2000, 1) != first).any()


def test_bootstrap_of_a_ratio_equals_scipy_on_clusters() -> None:
    rng = np.random.default_rng(3)
    cluster = np.repeat(np.arange(40), rng.integers(2, 30, 40))
    right = (rng.random(len(cluster)) < rng.beta(2, 3, 40)[cluster]).astype(float)
    ours = bootstrap_ratio(right, np.ones(len(cluster)), cluster)
    sums, sizes = np.bincount(cluster, right), np.bincount(cluster)

    def rate(num: Any, den: Any, axis: int = -1) -> Any:
        return num.sum(axis=axis) / den.sum(axis=axis)

    theirs = stats.bootstrap(
        (sums, sizes), rate, paired=True, n_resamples=10_000, method="percentile", vectorized=True, rng=1
    ).confidence_interval
    assert ours is not None
    assert ours == pytest.approx((theirs.low, theirs.high), abs=0.006)


def test_clusters_that_agree_within_widen_the_interval() -> None:
    cluster = np.repeat(np.arange(20), 50)
    right = (cluster % 2).astype(float)
    ones = np.ones(len(right))
    by_cluster = bootstrap_ratio(right, ones, cluster)
    by_question = bootstrap_ratio(right, ones, np.arange(len(right)))
    assert by_cluster is not None and by_question is not None
    # Whole clusters are right or wrong: the effective sample is 20, not 1,000, i.e. sqrt(50) = 7 times as wide.
    assert 5.5 < (by_cluster.high - by_cluster.low) / (by_question.high - by_question.low) < 8.5


def test_an_interval_that_is_mostly_undefined_is_none() -> None:
    assert percentile_interval(np.array([np.nan, np.nan, 1.0])) is None
    assert percentile_interval(np.array([np.nan, 1.0, 2.0])) == (1.0, 2.0)
