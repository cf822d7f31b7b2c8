"""Percentiles of measured times, with intervals from order statistics."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from memtrial.metrics.panel import Panel
from memtrial.metrics.records import Record
from memtrial.metrics.statistics import CONFIDENCE

SHOWN_FROM = {50: 1, 95: 20, 99: 100}
"""Below 1 / (1 - p) samples the nearest rank is nothing but the maximum, so the percentile is not shown."""
TRUSTED_FROM = {50: 6, 95: 60, 99: 300}
"""Below these numbers even the largest sample lies under the true percentile with a chance above 5 %."""


@dataclass(frozen=True, slots=True)
class Percentile:
    """A percentile with its interval; ``value`` is None below ``SHOWN_FROM`` samples."""

    value: float | None
    low: float | None
    high: float | None
    n: int
    status: str


def nearest_rank(samples: Sequence[float], percent: float) -> float:
    """The smallest sample that at least ``percent`` % of the samples do not exceed.

    Raises:
        ValueError: if there is no sample or ``percent`` lies outside (0, 100].
    """
    if not samples:
        raise ValueError("no sample, no percentile")
    if not 0 < percent <= 100:
        raise ValueError(f"percent={percent} is outside (0, 100]")
    return sorted(samples)[_rank(len(samples), percent) - 1]


def percentile(samples: Sequence[float], percent: int) -> Percentile:
    """Nearest-rank percentile with the distribution-free 95 % interval of its order statistics.

    The interval runs from the l-th to the u-th smallest sample, with l and u the binomial quantiles (David and Nagaraja,
    Order Statistics, 7.1). Where u lies beyond the sample it ends at the largest one, and the status is ``few_samples``.

    Args:
        samples: times, any unit.
        percent: 50, 95 or 99.
    """
    n = len(samples)
    if n == 0:
        return Percentile(None, None, None, 0, "unmeasurable:no question was answered")
    if n < SHOWN_FROM[percent]:
        return Percentile(None, None, None, n, f"few_samples;unmeasurable:fewer than {SHOWN_FROM[percent]} samples")
    ordered = sorted(samples)
    low, high = _interval_ranks(n, percent / 100)
    return Percentile(
        ordered[_rank(n, percent) - 1],
        ordered[low - 1],
        ordered[high - 1],
        n,
        "ok" if n >= TRUSTED_FROM[percent] else "few_samples",
    )


def _rank(n: int, percent: float) -> int:
    # Rounded first: a product such as 0.29 * 100 = 28.999999999999996 must not move to another rank.
    return max(1, math.ceil(round(percent * n / 100, 9)))


def _interval_ranks(n: int, p: float) -> tuple[int, int]:
    tail = (1 - CONFIDENCE) / 2
    low, high = 0, n
    below = 0.0
    found_low = False
    log_p, log_q = math.log(p), math.log1p(-p)
    for k in range(n + 1):
        log_term = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1) + k * log_p + (n - k) * log_q
        below += math.exp(log_term)
        if not found_low and below >= tail:
            low, found_low = k, True
        if below >= 1 - tail:
            high = k + 1
            break
    return max(low, 1), min(high, n)


def latency_percentiles(panel: Panel) -> Iterator[tuple[str, Percentile]]:
    """Yield the latency rows of one trial, in milliseconds; repeats are averaged within a question first.

    Answered questions alone count, except in ``latency_p95_with_timeouts_ms``, where each time-out counts at its limit.
    Questions that were asked while others were under way have no latency of their own and do not count.
    """
    for name, found in _all_percentiles(panel):
        if found.n == 0 and (at_once := max(map(_at_once, panel.records), default=1)) > 1:
            found = replace(found, value=None, status=f"unmeasurable:up to {at_once} questions were asked at a time")
        yield name, found


def _all_percentiles(panel: Panel) -> Iterator[tuple[str, Percentile]]:
    answered = list(question_times(panel).values())
    for percent in (50, 95, 99):
        yield f"latency_p{percent}_ms", percentile(answered, percent)
    largest = max(answered, default=None)
    yield "latency_max_ms", Percentile(largest, None, None, len(answered), "ok")
    yield "latency_p95_with_timeouts_ms", percentile(list(question_times(panel, with_timeouts=True).values()), 95)
    yield "latency_own_p50_ms", percentile(list(_by_question(panel, _own_ms).values()), 50)
    model = _by_question(panel, lambda r: r.result.trace.model_ms)
    yield "latency_model_p50_ms", percentile(list(model.values()), 50)
    stages = sorted({stage for record in panel.records for stage in record.result.trace.spans})
    for stage in stages:
        spent = _by_question(panel, partial(_stage_ms, stage))
        yield f"stage_p50_ms:{stage}", percentile(list(spent.values()), 50)


def question_times(panel: Panel, *, with_timeouts: bool = False) -> dict[int, float]:
    """Milliseconds by index of the question, averaged over its repeats; questions without any are left out.

    So are questions that were asked while others were under way: what they took includes waiting for those.
    """
    limit = panel.info.time_limit_s * 1000.0

    def time_of(record: Record) -> float | None:
        if record.result.error == "timeout" and with_timeouts:
            return limit or record.result.latency_ms
        return record.result.latency_ms

    return _by_question(panel, time_of, with_timeouts=with_timeouts)


def _by_question(
    panel: Panel, measure: Callable[[Record], float | None], *, with_timeouts: bool = False
) -> dict[int, float]:
    times: dict[int, list[float]] = {}
    for question, record in zip(panel.question.tolist(), panel.records, strict=True):
        if record.result.error is not None and not (with_timeouts and record.result.error == "timeout"):
            continue
        if _at_once(record) > 1:
            continue
        value = measure(record)
        if value is not None:
            times.setdefault(question, []).append(value)
    return {question: math.fsum(values) / len(values) for question, values in times.items()}


def _at_once(record: Record) -> int:
    """How many questions were asked at a time when this one was."""
    return int(record.result.trace.facts.get("concurrency", 1))


def _stage_ms(stage: str, record: Record) -> float | None:
    return record.result.trace.spans.get(stage)


def _own_ms(record: Record) -> float | None:
    whole = record.result.latency_ms
    return None if whole is None else max(0.0, whole - record.result.trace.model_ms)
