"""Whether a difference between two systems is more than chance, on questions that both were asked."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

ALPHA = 0.05
_Z_TWO_SIDED_PLUS_POWER = 1.959963984540054 + 0.8416212335729143
_EXACT_UP_TO = 14
_CHUNK = 2_000_000


def smallest_p(clusters: int, resamples: int) -> float:
    """Smallest two-sided p that flipping the signs of whole clusters can give.

    2 of the 2^clusters sign patterns are as extreme as the most extreme one; a test by random patterns cannot go below
    1 / (resamples + 1) either.
    """
    if clusters < 1:
        return 1.0
    exact = min(1.0, 2.0 ** (1 - clusters))
    return exact if clusters <= _EXACT_UP_TO else max(exact, 1.0 / (resamples + 1))


def sign_flip_p(by_cluster: Floats, *, resamples: int = 10_000, seed: int = 0) -> Floats:
    """Two-sided p of the paired permutation test that swaps the two systems in whole clusters.

    All sign patterns are tried up to 14 clusters, random ones beyond (p = (1 + hits) / (1 + resamples), Phipson and
    Smyth 2010).

    Args:
        by_cluster: shape (clusters, pairs), sum of the paired differences within each cluster.
        resamples: random patterns.
        seed: of the patterns.

    Returns:
        Shape (pairs,).
    """
    clusters, pairs = by_cluster.shape
    if clusters == 0:
        return np.ones(pairs)
    # Sums in another order differ in the last bits, and a pattern equal to the observed one must count as a hit.
    bar = np.abs(by_cluster.sum(axis=0)) - 1e-9 * np.abs(by_cluster).sum(axis=0)
    exact = clusters <= _EXACT_UP_TO
    total = 2 ** (clusters - 1) if exact else resamples
    rng = np.random.default_rng([seed, clusters, 1])
    hits = np.zeros(pairs, dtype=np.int64)
    step = max(1, _CHUNK // max(clusters, pairs))
    for start in range(0, total, step):
        rows = min(step, total - start)
        if exact:
            # The first sign stays fixed: a pattern and its mirror are equally extreme.
            numbers = np.arange(start, start + rows)[:, None]
            flips = (numbers >> np.arange(clusters)) & 1
        else:
            flips = rng.integers(0, 2, size=(rows, clusters), dtype=np.int8)
        hits += (np.abs((1.0 - 2.0 * flips) @ by_cluster) >= bar).sum(axis=0)
    return np.asarray(hits / total if exact else (hits + 1) / (total + 1))


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjust p-values of one family (Holm 1979), in the order given."""
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    for place, index in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
        largest = max(largest, min(1.0, p_values[index] * (len(p_values) - place)))
        adjusted[index] = largest
    return adjusted


def detectable_difference(standard_error: float) -> float:
    """Difference that a two-sided test at 5 % finds with 80 % power, before any adjustment for many comparisons."""
    return _Z_TWO_SIDED_PLUS_POWER * standard_error
