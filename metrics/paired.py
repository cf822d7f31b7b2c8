"""Differences between pairs of trials on the same questions, with cluster-bootstrap intervals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memtrial.metrics.latency import SHOWN_FROM
from memtrial.metrics.significance import detectable_difference, sign_flip_p
from memtrial.metrics.statistics import (
    FEW_CLUSTERS,
    Z95,
    Interval,
    draw_counts,
    percentile_interval,
    ratio,
    resampled_sums,
    wilson,
)

Floats = NDArray[np.float64]
_CHUNK = 2_000_000
_BATCH = 32


@dataclass(frozen=True, slots=True)
class Column:
    """One metric of one trial over the n questions of a data set, NaN where a question does not count.

    ``bounded``: values lie in [0, 1].
    """

    values: Floats
    bounded: bool


Pair = tuple[Column, Column]


@dataclass(frozen=True, slots=True)
class Difference:
    """a minus b on the questions that count in both; ``detectable`` is the minimum detectable difference."""

    value_a: float
    value_b: float
    difference: float
    interval: Interval
    interval_by_question: Interval | None
    p: float
    detectable: float
    n: int
    clusters: int


def mean_differences(
    pairs: Sequence[Pair], cluster: NDArray[np.int64], *, resamples: int, seed: int
) -> list[Difference | None]:
    """Differences of means; None for a pair without a common question.

    The interval comes from the bootstrap over clusters. With one cluster it comes from questions, and where no
    difference varies at all, from how many deviating questions this sample could have missed (Wilson).

    Args:
        pairs: columns of shape (n,).
        cluster: shape (n,), ascending, numbered from 0.
        resamples: of bootstrap and permutation.
        seed: of both.
    """
    if not pairs:
        return []
    deltas = np.stack([a.values - b.values for a, b in pairs], axis=1)
    counted = (~np.isnan(deltas)).astype(float)
    deltas = np.nan_to_num(deltas)
    starts = np.flatnonzero(np.diff(cluster, prepend=-1))
    by_cluster = np.add.reduceat(deltas, starts, axis=0), np.add.reduceat(counted, starts, axis=0)
    p_values = sign_flip_p(by_cluster[0], resamples=resamples, seed=seed)
    clusters = (by_cluster[1] > 0).sum(axis=0)
    drawn = dict(_spread(by_cluster, np.flatnonzero(clusters > 1), resamples, seed))
    few = np.flatnonzero((clusters > 0) & (clusters < FEW_CLUSTERS))
    by_question = dict(_spread((deltas, counted), few, resamples, seed))
    found: list[Difference | None] = []
    for i, (a, b) in enumerate(pairs):
        common = counted[:, i] > 0
        n = int(common.sum())
        if not n:
            found.append(None)
            continue
        value_a, value_b = float(a.values[common].mean()), float(b.values[common].mean())
        value = value_a - value_b
        spread = drawn.get(i) or by_question[i]
        interval, error = spread.interval or Interval(value, value), spread.error
        if interval.low == interval.high and a.bounded:
            missed = wilson(0, n).high
            interval, error = Interval(max(-1.0, value - missed), min(1.0, value + missed)), missed / Z95
        beside = by_question[i].interval if i in by_question else None
        detectable = detectable_difference(error)
        found.append(
            Difference(value_a, value_b, value, interval, beside, float(p_values[i]), detectable, n, int(clusters[i]))
        )
    return found


def p95_differences(
    pairs: Sequence[Pair], cluster: NDArray[np.int64], *, resamples: int, seed: int
) -> list[Difference | None]:
    """Differences of nearest-rank 95th percentiles of times; None for a pair with too few common questions.

    The interval resamples whole clusters of questions, both trials with the same draws. The p is that of swapping the
    two in whole clusters with the sum of log ratios as the statistic: it tests whether the two are exchangeable.

    Args:
        pairs: columns of shape (n,), times above 0.
        cluster: shape (n,), ascending, numbered from 0.
        resamples: of the bootstrap.
        seed: of bootstrap and permutation.
    """
    drawn: dict[tuple[int, bytes, bool], tuple[float, Floats]] = {}

    def percentiles(column: Column, common: NDArray[np.bool_], by_question: bool) -> tuple[float, Floats]:
        # A trial meets many others on the same questions; its resampled percentiles are the same each time.
        key = (id(column), common.tobytes(), by_question)
        if key not in drawn:
            values = column.values[common]
            unit = np.arange(len(values)) if by_question else np.unique(cluster[common], return_inverse=True)[1]
            counts = draw_counts(int(unit.max()) + 1, resamples, seed)
            drawn[key] = float(_p95(values, unit, np.ones_like(counts[:1]))[0]), _p95(values, unit, counts)
        return drawn[key]

    found: list[Difference | None] = []
    for a, b in pairs:
        common = ~np.isnan(a.values - b.values)
        n = int(common.sum())
        if n < SHOWN_FROM[95]:
            found.append(None)
            continue
        clusters = len(np.unique(cluster[common]))
        (value_a, x), (value_b, y) = (percentiles(column, common, False) for column in (a, b))
        beside = None
        if clusters < FEW_CLUSTERS:
            beside = percentile_interval(percentiles(a, common, True)[1] - percentiles(b, common, True)[1])
        value = value_a - value_b
        interval = (beside if clusters == 1 else percentile_interval(x - y)) or Interval(value, value)
        around = Interval(min(interval.low, value), max(interval.high, value))
        p = _exchangeable_p(a.values[common], b.values[common], cluster[common], seed)
        error = detectable_difference(float((x - y).std()))
        found.append(Difference(value_a, value_b, value, around, beside, p, error, n, clusters))
    return found


def _exchangeable_p(x: Floats, y: Floats, cluster: NDArray[np.int64], seed: int) -> float:
    shortest = 1e-6
    logs = np.log(np.maximum(x, shortest)) - np.log(np.maximum(y, shortest))
    sums = np.add.reduceat(logs, np.flatnonzero(np.diff(cluster, prepend=-1)))
    return float(sign_flip_p(sums[:, None], seed=seed)[0])


@dataclass(frozen=True, slots=True)
class _Spread:
    interval: Interval | None
    error: float


def _spread(
    sums: tuple[Floats, Floats], places: NDArray[np.int64], resamples: int, seed: int
) -> Iterator[tuple[int, _Spread]]:
    """Resample the columns at ``places`` of (numerators, denominators), each of shape (units, pairs), in batches."""
    for start in range(0, len(places), _BATCH):
        batch = places[start : start + _BATCH]
        drawn = resampled_sums(np.concatenate([part[:, batch] for part in sums], axis=1), resamples, seed)
        values = ratio(np.stack([drawn[:, : len(batch)], drawn[:, len(batch) :]], axis=-1))
        for column, place in enumerate(batch.tolist()):
            yield place, _Spread(percentile_interval(values[:, column]), float(np.nanstd(values[:, column])))


def _p95(values: Floats, unit: NDArray[np.int64], counts: NDArray[np.uint8]) -> Floats:
    """Nearest-rank 95th percentile in each resample: values (n,), their units (n,), counts (resamples, units)."""
    order = np.argsort(values, kind="stable")
    ordered, units = values[order], unit[order]
    found = np.empty(len(counts))
    step = max(1, _CHUNK // len(values))
    for start in range(0, len(counts), step):
        reached = counts[start : start + step][:, units].cumsum(axis=1, dtype=np.int64)
        wanted = (reached[:, -1] * 95 + 99) // 100
        found[start : start + step] = ordered[(reached >= wanted[:, None]).argmax(axis=1)]
    return found
