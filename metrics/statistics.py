"""Intervals: how far a figure could lie from what was measured.

The unit that is drawn is the cluster (questions of one conversation are not independent). A bootstrap never calls a
metric again: it multiplies drawn counts with sums by cluster, so that all metrics of a trial share the same draws.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

CONFIDENCE = 0.95
Z95 = 1.959963984540054
FEW_CLUSTERS = 8
_CHUNK = 2_000_000


class Interval(NamedTuple):
    """Lower and upper end."""

    low: float
    high: float


def wilson(successes: float, n: float) -> Interval:
    """Wilson score interval of a rate at 95 % (Wilson 1927); never of zero width.

    Args:
        successes: number of successes; a mean over repeats may make it fractional.
        n: number of trials, more than 0.

    Raises:
        ValueError: if n is not positive.
    """
    if n <= 0:
        raise ValueError(f"a rate needs at least one trial, not {n}")
    rate = min(max(successes / n, 0.0), 1.0)
    z2 = Z95 * Z95
    centre = (rate + z2 / (2 * n)) / (1 + z2 / n)
    half = Z95 / (1 + z2 / n) * math.sqrt(rate * (1 - rate) / n + z2 / (4 * n * n))
    low = 0.0 if rate == 0.0 else max(0.0, centre - half)
    high = 1.0 if rate == 1.0 else min(1.0, centre + half)
    return Interval(low, high)


@lru_cache(maxsize=2)
def draw_counts(units: int, resamples: int, seed: int) -> NDArray[np.uint8]:
    """How often each unit is drawn in each resample: multinomial counts, shape (resamples, units).

    The same arguments give the same counts, on any machine. One byte a count is enough: a count is at most ``units``,
    and for 256 units or more the chance of drawing one of them 256 times is below 1e-300.
    """
    rng = np.random.default_rng([seed, units])
    counts = np.empty((resamples, units), dtype=np.uint8)
    step = max(1, _CHUNK // max(units, 1))
    for start in range(0, resamples, step):
        rows = min(step, resamples - start)
        picks = rng.integers(0, units, size=(rows, units))
        picks += np.arange(rows)[:, None] * units
        counts[start : start + rows] = np.bincount(picks.ravel(), minlength=rows * units).reshape(rows, units)
    counts.setflags(write=False)
    return counts


def resampled_sums(by_unit: Floats, resamples: int, seed: int) -> Floats:
    """Sums of every column in every resample.

    Args:
        by_unit: shape (units, columns), sums of each column within each unit.
        resamples: number of resamples.
        seed: of the draws.

    Returns:
        Shape (resamples, columns).
    """
    units = by_unit.shape[0]
    counts = draw_counts(units, resamples, seed)
    sums = np.empty((resamples, by_unit.shape[1]))
    step = max(1, _CHUNK // max(units, 1))
    for start in range(0, resamples, step):
        sums[start : start + step] = counts[start : start + step].astype(np.float64) @ by_unit
    return sums


def percentile_interval(values: Floats) -> Interval | None:
    """The middle 95 % of resampled values (nearest rank), NaN left out; None where fewer than half are defined.

    A resample has no value where none of the drawn units holds a question of the slice.
    """
    defined = values[~np.isnan(values)]
    if defined.size == 0 or defined.size * 2 < values.size:
        return None
    tail = (1 - CONFIDENCE) / 2
    low = max(0, math.ceil(tail * defined.size) - 1)
    high = min(defined.size - 1, math.ceil((1 - tail) * defined.size) - 1)
    parts = np.partition(defined, [low, high])
    return Interval(float(parts[low]), float(parts[high]))


def ratio(sums: Floats) -> Floats:
    """Numerator over denominator from an array whose last axis is (numerator, denominator); NaN where that is 0."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(sums[..., 1] > 0, sums[..., 0] / sums[..., 1], np.nan)


def bootstrap_ratio(
    numerators: Floats, denominators: Floats, clusters: NDArray[np.int64], *, resamples: int = 10_000, seed: int = 0
) -> Interval | None:
    """Cluster bootstrap of sum(numerators) / sum(denominators).

    Args:
        numerators: shape (n,), by question.
        denominators: shape (n,), by question; 0 where the question does not count.
        clusters: shape (n,), cluster of each question, numbered from 0.
        resamples: number of resamples.
        seed: of the draws.

    Returns:
        The 95 % interval, or None where it is not defined.
    """
    units = int(clusters.max()) + 1 if clusters.size else 0
    if not units:
        return None
    by_unit = np.zeros((units, 2))
    np.add.at(by_unit, clusters, np.stack([numerators, denominators], axis=1))
    return percentile_interval(ratio(resampled_sums(by_unit, resamples, seed)))
