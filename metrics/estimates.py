"""A figure before its interval: columns over questions, and how their sums make the value."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from memtrial.metrics.statistics import (
    FEW_CLUSTERS,
    Interval,
    percentile_interval,
    ratio,
    resampled_sums,
    wilson,
)

Floats = NDArray[np.float64]
_BATCH = 64


@dataclass(frozen=True, slots=True)
class Estimate:
    """One metric in one slice, by question.

    Attributes:
        metric: name as in metrics.json.
        columns: shape (n, c), what is summed over questions; column 1 is the denominator of a ratio.
        combine: sums of the columns (last axis) to values; NaN where undefined.
        weights: column that counts the questions behind the figure.
        bounded: the value lies in [0, 1], so that an interval can fall back on Wilson's.
        slice: where the figure has a slice of its own rather than one cut out of "all".
        sliced: repeat by category and language.
        judged: the figure rests on the judge.
        flags: statuses to add.
        reason: why it cannot be measured, or "".
    """

    metric: str
    columns: Floats
    combine: Callable[[Floats], Floats] = ratio
    weights: int = 1
    bounded: bool = True
    slice: str = "all"
    sliced: bool = True
    judged: bool = False
    flags: tuple[str, ...] = ()
    reason: str = ""


def ratio_of(
    metric: str,
    numerator: Floats,
    denominator: Floats,
    *,
    bounded: bool = True,
    slice: str = "all",
    sliced: bool = True,
    judged: bool = False,
    flags: tuple[str, ...] = (),
    reason: str = "",
) -> Estimate:
    """A sum over a sum; the numerator is read as 0 where the denominator is 0 (there it may be NaN)."""
    columns = np.stack([np.where(denominator > 0, numerator, 0.0), denominator], axis=1)
    return Estimate(
        metric, columns, bounded=bounded, slice=slice, sliced=sliced, judged=judged, flags=flags, reason=reason
    )


@dataclass(frozen=True, slots=True)
class Figure:
    """A value with its interval, the number of questions behind it and the number of clusters they come from."""

    value: float
    interval: Interval
    n: int
    clusters: int


def figures(
    estimates: list[Estimate], cluster: NDArray[np.int64], masks: list[Floats], *, resamples: int, seed: int
) -> list[Figure | None]:
    """Value and 95 % interval of each estimate within its mask; None where no question counts.

    The interval comes from the bootstrap over clusters; Wilson's takes its place where the questions are their own
    clusters and the figure is a single rate, and wherever the bootstrap would be of zero width for a rate.

    Args:
        estimates: what to measure.
        cluster: shape (n,), ascending cluster numbers.
        masks: one per estimate, shape (n,), 1 where a question is in the slice.
        resamples: of the bootstrap.
        seed: of the bootstrap.
    """
    if not cluster.size:
        return [None] * len(estimates)
    starts = np.flatnonzero(np.diff(cluster, prepend=cluster[0] - 1))
    single = len(starts) == len(cluster)
    found: list[Figure | None] = []
    drawn: list[tuple[int, Floats]] = []
    for place, (estimate, mask) in enumerate(zip(estimates, masks, strict=True)):
        columns = estimate.columns * mask[:, None]
        value = float(estimate.combine(columns.sum(axis=0)))
        if math.isnan(value):
            found.append(None)
            continue
        weight = columns[:, estimate.weights]
        by_cluster = np.add.reduceat(columns, starts, axis=0)
        clusters = int((by_cluster[:, estimate.weights] > 0).sum())
        if clusters > 1 and not (single and _is_single_rate(estimate, columns)):
            drawn.append((place, by_cluster))
        spare = _spare(value, estimate.bounded, float(weight.sum()))
        found.append(Figure(value, spare, int((weight > 0).sum()), clusters))
    for place, sums in _draw(drawn, resamples, seed):
        figure, estimate = found[place], estimates[place]
        assert figure is not None
        interval = percentile_interval(estimate.combine(sums))
        settled = estimate.bounded and figure.value in (0.0, 1.0)
        if interval is not None and not settled and interval.low < interval.high:
            around = Interval(min(interval.low, figure.value), max(interval.high, figure.value))
            found[place] = replace(figure, interval=around)
    return found


def _draw(drawn: list[tuple[int, Floats]], resamples: int, seed: int) -> Iterator[tuple[int, Floats]]:
    """Resample many estimates together, in batches that keep the arrays small."""
    for start in range(0, len(drawn), _BATCH):
        batch = drawn[start : start + _BATCH]
        sums = resampled_sums(np.concatenate([columns for _, columns in batch], axis=1), resamples, seed)
        at = 0
        for place, columns in batch:
            yield place, sums[:, at : at + columns.shape[1]]
            at += columns.shape[1]


def few(figure: Figure) -> bool:
    """Whether so few clusters stand behind a figure that its interval is not to be trusted alone."""
    return figure.clusters < FEW_CLUSTERS


def _is_single_rate(estimate: Estimate, columns: Floats) -> bool:
    if not estimate.bounded or estimate.combine is not ratio:
        return False
    weight = columns[:, 1]
    return bool(np.all((columns[:, 0] == 0) | (columns[:, 0] == weight)) and np.all((weight == 0) | (weight == 1)))


def _spare(value: float, bounded: bool, weight: float) -> Interval:
    return wilson(value * weight, weight) if bounded else Interval(value, value)
