from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from memtrial.metrics.significance import detectable_difference, holm, sign_flip_p, smallest_p


def total(x: Any, y: Any, axis: int = -1) -> Any:
    return (x - y).sum(axis=axis)


@pytest.mark.parametrize("clusters", [3, 6, 9])
def test_exact_p_equals_scipy(clusters: int) -> None:
    rng = np.random.default_rng(clusters)
    d = rng.normal(0.8, 1.0, (clusters, 4))
    ours = sign_flip_p(d)
    for column in range(4):
        theirs = stats.permutation_test(
            (d[:, column], np.zeros(clusters)), total, permutation_type="samples", n_resamples=np.inf
        )
        assert ours[column] == pytest.approx(theirs.pvalue, abs=1e-12)


def test_p_by_hand() -> None:
    # 3 clusters all in favour: only +++ and --- of the 8 patterns reach the observed sum.
    assert sign_flip_p(np.array([[1.0], [2.0], [3.0]])).tolist() == [0.25]
    # 1 + 2 - 3 = 0: every pattern is at least as extreme.
    assert sign_flip_p(np.array([[1.0], [2.0], [-3.0]])).tolist() == [1.0]
    assert sign_flip_p(np.zeros((5, 1))).tolist() == [1.0]


def test_random_patterns_agree_with_the_normal_limit() -> None:
    rng = np.random.default_rng(0)
    d = rng.normal(0.25, 1.0, (80, 1))
    z = d.sum() / np.sqrt((d**2).sum())
    assert sign_flip_p(d)[0] == pytest.approx(2 * stats.norm.sf(abs(z)), abs=0.01)
    assert sign_flip_p(np.ones((80, 1)))[0] == pytest.approx(1 / 10_001)


@given(st.integers(1, 20))
def test_no_p_is_smaller_than_the_smallest(clusters: int) -> None:
    least = smallest_p(clusters, 500)
    assert sign_flip_p(np.ones((clusters, 1)), resamples=500)[0] == pytest.approx(least, rel=0.5)
    assert sign_flip_p(np.ones((clusters, 1)), resamples=500)[0] >= least - 1e-12


def test_smallest_p_by_hand() -> None:
    assert smallest_p(6, 10_000) == 1 / 32
    assert smallest_p(1, 10_000) == 1.0
    assert smallest_p(100, 999) == 1 / 1000


def test_holm_by_hand() -> None:
    # Sorted .01 .03 .04: 3 * .01, max(.03, 2 * .03), max(.06, .04).
    assert holm([0.04, 0.01, 0.03]) == pytest.approx([0.06, 0.03, 0.06])
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), max_size=30))
def test_holm_only_raises_and_keeps_order(p_values: list[float]) -> None:
    adjusted = holm(p_values)
    assert all(p <= a <= 1.0 for p, a in zip(p_values, adjusted, strict=True))
    for i, p in enumerate(p_values):
        assert all(adjusted[i] <= adjusted[j] for j, q in enumerate(p_values) if p < q)


def test_detectable_difference_is_found_with_80_percent_power() -> None:
    difference = detectable_difference(1.0)
    assert stats.norm.sf(stats.norm.ppf(0.975) - difference) == pytest.approx(0.8, abs=1e-6)
