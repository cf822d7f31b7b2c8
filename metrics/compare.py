"""Every pair of trials on the same data, compared question by question."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal

import numpy as np

from memtrial.metrics.cost import token_estimates
from memtrial.metrics.definitions import define
from memtrial.metrics.estimates import Estimate
from memtrial.metrics.handed_out import unknown as unknown_of
from memtrial.metrics.latency import question_times
from memtrial.metrics.paired import Column, Difference, mean_differences, p95_differences
from memtrial.metrics.panel import Panel, QuestionKey, make_panels
from memtrial.metrics.quality import citation_estimate, outcome_estimates, wrong_memory_estimates
from memtrial.metrics.records import Record, TrialInfo
from memtrial.metrics.retrieval_estimates import retrieval_estimates
from memtrial.metrics.significance import ALPHA, holm, smallest_p
from memtrial.metrics.statistics import FEW_CLUSTERS, draw_counts, ratio
from memtrial.metrics.suspects import FLOOR, ORACLE, is_named

ComparisonStatus = Literal["better", "worse", "tied", "not_decidable", "not_comparable"]

LATENCY = "latency_p95_ms"
COMPARED = ("accuracy", "wrong_memory_rate", "recall@10", "wrong_memory_exposure", "context_tokens", LATENCY)
_LATENCY_RESAMPLES = 2_000


@dataclass(frozen=True, slots=True)
class Comparison:
    """Trial ``a`` against trial ``b``.

    Attributes:
        dataset: label of the data.
        metric: what is compared.
        a: a trial.
        b: another trial.
        status: ``better`` or ``worse`` (of a): the paired interval excludes 0 and Holm's p is at most 0.05; ``tied``
            otherwise; ``not_decidable``: even the smallest p that this number of clusters can give exceeds 0.05 after
            Holm; ``not_comparable``: one of the two has no such figure, or no question is common.
        value_a: of a, on common questions.
        value_b: of b, on common questions.
        difference: value_a - value_b.
        low: of the paired 95 % interval over clusters.
        high: of the paired 95 % interval over clusters.
        low_by_question: of the interval that takes questions for independent, below 8 clusters.
        high_by_question: the same, upper end.
        p: of the paired permutation test over whole clusters.
        p_holm: adjusted over the family.
        smallest_p: smallest p possible with so many clusters, before adjusting.
        detectable: difference that this sample finds with 80 % power at 5 %, before adjusting.
        family: comparisons made together, which Holm adjusts for: this metric on this data set, between systems or
            between the variants of one system.
        n: common questions.
        clusters: that they come from.
    """

    dataset: str
    metric: str
    a: str
    b: str
    status: ComparisonStatus
    value_a: float | None = None
    value_b: float | None = None
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    low_by_question: float | None = None
    high_by_question: float | None = None
    p: float | None = None
    p_holm: float | None = None
    smallest_p: float | None = None
    detectable: float | None = None
    family: int = 0
    n: int = 0
    clusters: int = 0

    @property
    def few_clusters(self) -> bool:
        """Whether fewer than 8 clusters stand behind it."""
        return 0 < self.clusters < FEW_CLUSTERS

    def reversed(self) -> Comparison:
        """The same comparison seen from ``b``."""
        turn: dict[ComparisonStatus, ComparisonStatus] = {"better": "worse", "worse": "better"}
        return replace(
            self,
            a=self.b,
            b=self.a,
            status=turn.get(self.status, self.status),
            value_a=self.value_b,
            value_b=self.value_a,
            difference=_minus(self.difference),
            low=_minus(self.high),
            high=_minus(self.low),
            low_by_question=_minus(self.high_by_question),
            high_by_question=_minus(self.low_by_question),
        )


def compare(
    records: Iterable[Record],
    trials: Sequence[TrialInfo],
    *,
    metrics: Sequence[str] = COMPARED,
    baseline: str | None = None,
    resamples: int = 10_000,
    seed: int = 0,
) -> list[Comparison]:
    """Compare trials pair by pair within each data set.

    Args:
        records: all records of a run.
        trials: the plan.
        metrics: names as in metrics.json: a rate or mean over questions, or ``latency_p95_ms``.
        baseline: compare all others with this trial only; None compares the contenders (see ``contenders``) with each
            other and, as a family of its own, the variants of each system with each other.
        resamples: of bootstrap and permutation.
        seed: of both.

    Returns:
        Comparisons by data set, metric and pair, in the order of ``trials``.

    Raises:
        ValueError: if ``baseline`` is no trial, or a metric cannot be compared by question.
    """
    if baseline is not None and baseline not in {t.trial for t in trials}:
        raise ValueError(
            f"baseline {baseline!r} is no trial; trials are {', '.join(sorted({t.trial for t in trials}))}"
        )
    by_dataset: dict[str, list[Panel]] = defaultdict(list)
    for panel in make_panels(records, trials):
        by_dataset[panel.info.dataset].append(panel)
    found: list[Comparison] = []
    for dataset, panels in by_dataset.items():
        found += _compare_dataset(dataset, panels, metrics, baseline, resamples, seed)
    draw_counts.cache_clear()
    return found


def _compare_dataset(
    dataset: str, panels: Sequence[Panel], metrics: Sequence[str], baseline: str | None, resamples: int, seed: int
) -> list[Comparison]:
    where = {key: name for panel in panels for key, name in zip(panel.keys, panel.cluster_names, strict=True)}
    keys = sorted(where, key=lambda key: (where[key], key))
    place = {key: i for i, key in enumerate(keys)}
    _, cluster = np.unique([where[key] for key in keys], return_inverse=True)
    columns = {panel.info.trial: _columns(panel, metrics, place) for panel in panels}
    families = _families([panel.info for panel in panels], baseline)
    wanted = [(metric, a, b) for metric in metrics for family in families for a, b in family]
    have = [w for w in wanted if w[0] in columns[w[1]] and w[0] in columns[w[2]]]
    measured: dict[tuple[str, str, str], Difference | None] = {}
    for times in (False, True):
        some = [w for w in have if (w[0] == LATENCY) == times]
        pairs = [(columns[a][metric], columns[b][metric]) for metric, a, b in some]
        differences, draws = (
            (p95_differences, min(resamples, _LATENCY_RESAMPLES)) if times else (mean_differences, resamples)
        )
        measured |= zip(some, differences(pairs, cluster, resamples=draws, seed=seed), strict=True)
    return [
        comparison
        for metric in metrics
        for family in families
        for comparison in _judge_family(
            dataset, metric, [(a, b, measured.get((metric, a, b))) for a, b in family], resamples
        )
    ]


def contenders(trials: Iterable[TrialInfo]) -> list[str]:
    """Trials of one data set among which a choice is made, in their order.

    One per system: the one that carries the system's own label, or all its variants where a sweep left no such trial.
    Where that leaves one, the choice is between the variants. The oracle and ``no_memory`` are points of reference, not
    choices.
    """
    infos = [t for t in trials if not is_reference(t)]
    plain = {t.system for t in infos if t.trial == t.system}
    chosen = [t.trial for t in infos if t.trial == t.system or t.system not in plain]
    return chosen if len(chosen) > 1 else [t.trial for t in infos]


def is_reference(trial: TrialInfo) -> bool:
    """Whether a trial is a point of reference that nobody would choose: the oracle or ``no_memory``."""
    return is_named(trial, ORACLE) or is_named(trial, FLOOR)


def against(leader: str, comparisons: Iterable[Comparison]) -> list[Comparison]:
    """Compare the best with each of the rest, adjusted for these comparisons alone.

    That is the family behind "this one is best" (multiple comparisons with the best, Hsu 1981); the table of all pairs
    asks more, and adjusts for more.

    Args:
        leader: the trial with the best figure.
        comparisons: of one metric on one data set, as ``compare`` returns them.

    Returns:
        One comparison for each trial that ``leader`` was compared with, the leader as ``a``, in the order given.
    """
    own = [c if c.a == leader else c.reversed() for c in comparisons if leader in (c.a, c.b)]
    known = [c for c in own if c.p is not None]
    adjusted = dict(zip((c.b for c in known), holm([c.p for c in known if c.p is not None]), strict=True))
    return [
        replace(c, family=len(known), p_holm=adjusted[c.b], status=_restate(c, adjusted[c.b], len(known)))
        if c.b in adjusted
        else c
        for c in own
    ]


def _restate(c: Comparison, p_holm: float, family: int) -> ComparisonStatus:
    assert c.difference is not None and c.low is not None and c.high is not None and c.smallest_p is not None
    return _status(c.metric, c.difference, c.low, c.high, p_holm, c.smallest_p * family)


def _families(trials: Sequence[TrialInfo], baseline: str | None) -> list[list[tuple[str, str]]]:
    """Pairs by family, no pair twice: adjusting for comparisons that nobody asks for would hide those that matter."""
    names = [t.trial for t in trials]
    if baseline is not None:
        return [[pair for pair in combinations(names, 2) if baseline in pair]]
    families = [list(combinations(contenders(trials), 2))]
    seen = set(families[0])
    for system in dict.fromkeys(t.system for t in trials):
        variants = [t.trial for t in trials if t.system == system]
        families.append([pair for pair in combinations(variants, 2) if pair not in seen])
    return [family for family in families if family]


def _columns(panel: Panel, metrics: Sequence[str], place: Mapping[QuestionKey, int]) -> dict[str, Column]:
    """By metric, values at each question's place; a metric that the system does not have is left out."""
    if not panel.n:
        return {}
    at = [place[key] for key in panel.keys]
    found: dict[str, Column] = {}
    known = {LATENCY}
    for estimate in comparable(panel):
        known.add(estimate.metric)
        if estimate.metric in metrics and not (estimate.reason or unknown_of(panel.info, estimate.metric)):
            values = np.full(len(place), np.nan)
            values[at] = ratio(estimate.columns)
            found[estimate.metric] = Column(values, estimate.bounded)
    if LATENCY in metrics and not unknown_of(panel.info, LATENCY):
        values = np.full(len(place), np.nan)
        times = question_times(panel)
        values[[at[question] for question in times]] = list(times.values())
        found[LATENCY] = Column(values, bounded=False)
    if unknown := set(metrics) - known:
        raise ValueError(f"{', '.join(sorted(unknown))} cannot be compared question by question")
    return found


def comparable(panel: Panel) -> Iterable[Estimate]:
    """Yield the figures of a trial that can be compared with another's question by question."""
    yield citation_estimate(panel)
    for family in (outcome_estimates, wrong_memory_estimates, retrieval_estimates, token_estimates):
        yield from (e for e in family(panel) if e.slice == "all" and e.columns.shape[1] == 2)


def _judge_family(
    dataset: str, metric: str, measured: list[tuple[str, str, Difference | None]], resamples: int
) -> list[Comparison]:
    known = [(a, b, d) for a, b, d in measured if d is not None]
    adjusted = {(a, b): p for (a, b, _), p in zip(known, holm([d.p for _, _, d in known]), strict=True)}
    found = []
    for a, b, d in measured:
        if d is None:
            found.append(Comparison(dataset, metric, a, b, "not_comparable", family=len(known)))
            continue
        least = smallest_p(d.clusters, resamples)
        p_holm = adjusted[a, b]
        found.append(
            Comparison(
                dataset,
                metric,
                a,
                b,
                _status(metric, d.difference, d.interval.low, d.interval.high, p_holm, least * len(known)),
                value_a=d.value_a,
                value_b=d.value_b,
                difference=d.difference,
                low=d.interval.low,
                high=d.interval.high,
                low_by_question=d.interval_by_question.low if d.interval_by_question else None,
                high_by_question=d.interval_by_question.high if d.interval_by_question else None,
                p=d.p,
                p_holm=p_holm,
                smallest_p=least,
                detectable=d.detectable,
                family=len(known),
                n=d.n,
                clusters=d.clusters,
            )
        )
    return found


def _status(
    metric: str, difference: float, low: float, high: float, p_holm: float, least_after_holm: float
) -> ComparisonStatus:
    if least_after_holm > ALPHA:
        return "not_decidable"
    if low <= 0.0 <= high or p_holm > ALPHA:
        return "tied"
    return "better" if (difference > 0) == (define(metric).better != "lower") else "worse"


def _minus(value: float | None) -> float | None:
    return None if value is None else -value
