"""Rates of a judge with intervals, and their resampled values for whatever is computed from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from memtrial.metrics.estimates import figures, ratio_of
from memtrial.metrics.statistics import FEW_CLUSTERS, Interval, ratio, resampled_sums, wilson

Floats = NDArray[np.float64]
Level = Literal["cluster", "question"]

RESAMPLES = 10_000


@dataclass(frozen=True, slots=True)
class Sample:
    """Answers that a judge scored.

    Attributes:
        hits: shape (n,): 1 where the judge gave credit (or, for right answers, withheld it), 0 where not, NaN unscored.
        questions: id of each answer's question.
        clusters: what counts as one independent unit.
        strata: category of each.
    """

    hits: Floats
    questions: tuple[str, ...]
    clusters: tuple[str, ...]
    strata: tuple[str, ...]

    @classmethod
    def of(cls, rows: Sequence[tuple[bool | None, str, str, str]]) -> Sample:
        """Build from (hit, question, cluster, stratum), None for unscored."""
        hits = np.array([np.nan if hit is None else float(hit) for hit, *_ in rows], dtype=np.float64)
        return cls(hits, tuple(r[1] for r in rows), tuple(r[2] for r in rows), tuple(r[3] for r in rows))

    def only(self, stratum: str) -> Sample:
        """Return the part in one stratum."""
        keep = [i for i, s in enumerate(self.strata) if s == stratum]
        return Sample(
            self.hits[keep],
            tuple(self.questions[i] for i in keep),
            tuple(self.clusters[i] for i in keep),
            tuple(self.strata[i] for i in keep),
        )

    def pooled(self) -> Sample:
        """Return the same answers in one stratum."""
        return Sample(self.hits, self.questions, self.clusters, ("all",) * len(self.hits))

    def strata_scored(self) -> tuple[str, ...]:
        """Return the strata that hold a scored answer, sorted."""
        return tuple(sorted(set(_scored(self, self.strata))))

    def __add__(self, other: Sample) -> Sample:
        """Return both together."""
        return Sample(
            np.concatenate([self.hits, other.hits]),
            self.questions + other.questions,
            self.clusters + other.clusters,
            self.strata + other.strata,
        )


@dataclass(frozen=True, slots=True)
class Rate:
    """A share of the scored answers.

    Attributes:
        value: None where nothing was scored.
        interval: 95 %, from the bootstrap over clusters (Wilson's where that is not possible).
        by_question: Wilson's interval over answers, to be shown beside it where clusters are few.
        hits: answers that count.
        n: answers scored.
        unscored: answers not scored, which are in no denominator.
        clusters: independent units behind it.
    """

    value: float | None
    interval: Interval | None
    by_question: Interval | None
    hits: int
    n: int
    unscored: int
    clusters: int

    @property
    def few_clusters(self) -> bool:
        """Whether the interval over clusters is not to be trusted alone."""
        return self.clusters < FEW_CLUSTERS

    def __str__(self) -> str:
        """As printed: value, interval, counts."""
        if self.value is None or self.interval is None or self.by_question is None:
            return f"unmeasurable (0 of {self.unscored} scored)"
        beside = f"; by question {self.by_question.low:.3f}–{self.by_question.high:.3f}" if self.few_clusters else ""
        left = f", {self.unscored} unscored" if self.unscored else ""
        return f"{self.value:.3f} [{self.interval.low:.3f}–{self.interval.high:.3f}{beside}] ({self.hits} of {self.n}{left})"


def rate(sample: Sample, *, resamples: int = RESAMPLES, seed: int = 0) -> Rate:
    """Measure the share of hits with its intervals."""
    keep = ~np.isnan(sample.hits)
    unscored = int((~keep).sum())
    if not keep.any():
        return Rate(None, None, None, 0, 0, unscored, 0)
    codes = np.unique(np.array(sample.clusters)[keep], return_inverse=True)[1].astype(np.int64)
    order = np.argsort(codes, kind="stable")
    hits = sample.hits[keep][order]
    ones = np.ones_like(hits)
    figure = figures([ratio_of("rate", hits, ones)], codes[order], [ones], resamples=resamples, seed=seed)[0]
    assert figure is not None
    n, count = len(hits), int(hits.sum())
    return Rate(figure.value, figure.interval, wilson(count, n), count, n, unscored, figure.clusters)


def by_stratum(sample: Sample, *, resamples: int = RESAMPLES, seed: int = 0) -> dict[str, Rate]:
    """Measure each stratum, in order of name."""
    return {s: rate(sample.only(s), resamples=resamples, seed=seed) for s in sorted(set(sample.strata))}


def units_of(sample: Sample, level: Level) -> tuple[str, ...]:
    """Return the names of what is drawn at a level, sorted; a single cluster leaves only questions to draw."""
    return tuple(sorted(set(_scored(sample, _drawn_by(sample, level)))))


def _drawn_by(sample: Sample, level: Level) -> tuple[str, ...]:
    alone = len(set(_scored(sample, sample.clusters))) < 2
    return sample.questions if level == "question" or alone else sample.clusters


def _scored(sample: Sample, names: Sequence[str]) -> list[str]:
    return [name for name, hit in zip(names, sample.hits, strict=True) if not np.isnan(hit)]


def resampled_rates(sample: Sample, strata: Sequence[str], level: Level, *, resamples: int, seed: int) -> Floats:
    """Draw units with replacement and return the rate of each stratum in each resample.

    A rate of exactly 0 or 1 would come out the same in every resample; it is drawn from the Jeffreys posterior
    Beta(hits + ½, misses + ½) instead, so that what was never seen is not taken to be impossible.

    Returns:
        Shape (resamples, strata); NaN where a resample holds none of a stratum.
    """
    units = units_of(sample, level)
    column = {stratum: i for i, stratum in enumerate(strata)}
    row = {name: i for i, name in enumerate(units)}
    by_unit = np.zeros((len(units), 2 * len(strata)))
    for hit, name, stratum in zip(sample.hits, _drawn_by(sample, level), sample.strata, strict=True):
        if not np.isnan(hit) and stratum in column:
            by_unit[row[name], 2 * column[stratum]] += hit
            by_unit[row[name], 2 * column[stratum] + 1] += 1
    sums = resampled_sums(by_unit, resamples, seed).reshape(resamples, len(strata), 2)
    rates = ratio(sums)
    rng = np.random.default_rng([seed, len(units), 2])
    for i in range(len(strata)):
        hits, n = by_unit[:, 2 * i].sum(), by_unit[:, 2 * i + 1].sum()
        if n and hits in (0, n):
            rates[:, i] = rng.beta(hits + 0.5, n - hits + 0.5, size=resamples)
    return rates
