"""How often a judge errs on answers whose truth is known, and what that makes of the scores it gave.

corrected = (p_observed − FPR) / (1 − FPR − FNR), after Rogan and Gladen (1978). FPR: share of wrong answers that the judge
credits; FNR: share of right answers that it does not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from memtrial.metrics.judges.labels import Verdict, credited
from memtrial.metrics.judges.planted import Planted
from memtrial.metrics.judges.rates import (
    RESAMPLES,
    Floats,
    Level,
    Rate,
    Sample,
    by_stratum,
    rate,
    resampled_rates,
    units_of,
)
from memtrial.metrics.statistics import FEW_CLUSTERS, Interval, percentile_interval

Row = tuple[bool | None, str, str, str]
"""(Judged wrongly, question, cluster, category); None where unscored."""


@dataclass(frozen=True, slots=True)
class JudgeErrors:
    """What planted answers show about a judge.

    Attributes:
        fpr: share of planted wrong answers that were credited.
        fnr: share of planted right answers that were not.
        by_kind: for each kind of planted answer the share judged wrongly.
        by_category: (FPR, FNR) for each category of question.
        wrong: the sample behind ``fpr``.
        right: the sample behind ``fnr``.
    """

    fpr: Rate
    fnr: Rate
    by_kind: dict[str, Rate]
    by_category: dict[str, tuple[Rate, Rate]]
    wrong: Sample
    right: Sample


def judge_errors(
    judged: Sequence[tuple[Planted, Verdict]], *, resamples: int = RESAMPLES, seed: int = 0
) -> JudgeErrors:
    """Measure a judge by its verdicts on planted answers.

    Args:
        judged: planted answers with their verdicts; unscored ones are counted and in no rate.
        resamples: of the bootstrap over clusters.
        seed: of the bootstrap.
    """
    wrong: list[Row] = []
    right: list[Row] = []
    kinds: dict[str, list[Row]] = {}
    for planted, verdict in judged:
        credit = credited(verdict.label, answerable=planted.case.answerable)
        misjudged = None if credit is None else credit != planted.is_right
        row = (misjudged, planted.question_id, planted.cluster, planted.case.category)
        (right if planted.is_right else wrong).append(row)
        kinds.setdefault(planted.kind, []).append(row)
    rights, wrongs = Sample.of(right), Sample.of(wrong)
    fprs, fnrs = (by_stratum(s, resamples=resamples, seed=seed) for s in (wrongs, rights))
    nothing = rate(Sample.of([]))
    return JudgeErrors(
        fpr=rate(wrongs, resamples=resamples, seed=seed),
        fnr=rate(rights, resamples=resamples, seed=seed),
        by_kind={k: rate(Sample.of(rows), resamples=resamples, seed=seed) for k, rows in kinds.items()},
        by_category={c: (fprs.get(c, nothing), fnrs.get(c, nothing)) for c in sorted({*fprs, *fnrs})},
        wrong=wrongs,
        right=rights,
    )


def corrected(observed: float, fpr: float, fnr: float) -> float | None:
    """Correct a score for the judge's errors; None where 1 − FPR − FNR <= 0 (the judge tells nothing).

    The value is not clipped: below 0 it says that even the errors alone would give more credit than was observed.
    """
    left = 1.0 - fpr - fnr
    return (observed - fpr) / left if left > 0 else None


@dataclass(frozen=True, slots=True)
class Corrected:
    """A corrected score.

    Attributes:
        observed: what the judge gave.
        value: None where it is undefined.
        interval: 95 %, the judge's own error in it, by clusters.
        by_question: the same by questions, to be shown beside it where clusters are few.
        undefined: share of resamples in which 1 − FPR − FNR <= 0.
        status: ``fnr_assumed_0`` (no right answers were planted: with a larger FNR the score would be higher),
            ``undefined``, ``no_planted:<category>``, ``few_clusters``, ``outside`` (value below 0 or above 1).
    """

    observed: Rate
    value: float | None
    interval: Interval | None
    by_question: Interval | None
    undefined: float
    status: tuple[str, ...]

    def __str__(self) -> str:
        """As printed: value and interval, and what limits them."""
        notes = f" ({', '.join(self.status)})" if self.status else ""
        if self.value is None:
            return f"undefined{notes}"
        around = "no interval" if self.interval is None else f"{self.interval.low:.3f}–{self.interval.high:.3f}"
        if self.by_question is not None and "few_clusters" in self.status:
            around += f"; by question {self.by_question.low:.3f}–{self.by_question.high:.3f}"
        return f"{self.value:.3f} [{around}]{notes}"


def correct_score(
    observed: Sample,
    wrong: Sample,
    right: Sample | None,
    *,
    by_category: bool = False,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Corrected:
    """Correct a judge's score of a system; the interval carries the judge's own error.

    Observed verdicts and planted answers are both drawn anew in each resample. Where planted answers stand on the very
    questions (or in the very clusters) of the run, one draw serves both, so that what they share is not counted twice.

    Args:
        observed: hits are credits given to the system.
        wrong: planted wrong answers; hits are credits given.
        right: planted right answers; hits are credits withheld. None takes the FNR as 0 and says so.
        by_category: correct each category by its own rates and weigh by the questions observed; only so can a
            correction by one judge change an order.
        resamples: number of resamples.
        seed: of the draws.
    """
    status = ["fnr_assumed_0"] if right is None else []
    samples = [observed, wrong] if right is None else [observed, wrong, right]
    if not by_category:
        samples = [sample.pooled() for sample in samples]
    shown = rate(observed, resamples=resamples, seed=seed)
    strata = samples[0].strata_scored()
    if not strata:
        return Corrected(shown, None, None, None, 0.0, (*status, "undefined"))
    missing = [s for s in strata if any(s not in planted.strata_scored() for planted in samples[1:])]
    if missing:
        return Corrected(shown, None, None, None, 0.0, (*status, f"no_planted:{missing[0]}"))
    if min(len({*sample.clusters}) for sample in samples) < FEW_CLUSTERS:
        status.append("few_clusters")
    counts = np.array([np.count_nonzero(~np.isnan(samples[0].only(s).hits)) for s in strata])
    weights = counts / counts.sum()
    value = float(_combine([_means(sample, strata) for sample in samples]) @ weights)
    cluster, question = (
        _combine(_draws(samples, strata, level, resamples, seed)) @ weights for level in ("cluster", "question")
    )
    undefined = float(np.isnan(cluster).mean())
    if np.isnan(value):
        return Corrected(shown, None, None, None, undefined, (*status, "undefined"))
    if not 0 <= value <= 1:
        status.append("outside")
    intervals = percentile_interval(cluster), percentile_interval(question)
    return Corrected(shown, value, *intervals, undefined, tuple(status))


def _means(sample: Sample, strata: Sequence[str]) -> Floats:
    return np.array([np.nanmean(sample.only(s).hits) for s in strata])


def _combine(rates: Sequence[Floats]) -> Floats:
    """Correct rates given as (observed, FPR) or (observed, FPR, FNR), elementwise; NaN where undefined."""
    observed, fpr = rates[:2]
    fnr = rates[2] if len(rates) > 2 else np.zeros_like(fpr)
    left = 1.0 - fpr - fnr
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(left > 0, (observed - fpr) / left, np.nan)


def _draws(samples: Sequence[Sample], strata: Sequence[str], level: Level, resamples: int, seed: int) -> list[Floats]:
    # The same units with the same seed give the same draws; other units get draws of their own.
    units = units_of(samples[0], level)
    return [
        resampled_rates(
            sample,
            strata,
            level,
            resamples=resamples,
            seed=seed if units_of(sample, level) == units else seed + 1_000_003 * place,
        )
        for place, sample in enumerate(samples)
    ]
