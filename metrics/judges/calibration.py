"""How often a judge errs on answers whose truth is known, and what that makes of the scores it gave.

corrected = (p_observed − FPR) / (1 − FPR − FNR), after Rogan and Gladen (1978). FPR: share of wrong answers that the judge
credits; FNR: share of right answers that it does not.

1 − FPR − FNR (Youden 1950) is how far the judge tells right from wrong at all. Where it may be near 0 the quotient may be
anything, so no score is given: see ``LEAST_YOUDEN``.
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

LEAST_YOUDEN = 0.1
"""Where the 95 % interval of 1 − FPR − FNR reaches below this, a correction is not decidable.

An error of the observed score is divided by 1 − FPR − FNR: at 0.1 it counts ten times, and at 0 everything is possible.
"""

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
            ``undefined`` (nothing was scored), ``undecidable`` (see ``LEAST_YOUDEN``; value and intervals are None then),
            ``no_planted:<category>``, ``few_clusters``, ``outside`` (value or an end of an interval lies below 0 or above 1,
            and is not clipped).
        youden: 1 − FPR − FNR; the smallest of the categories where they are corrected one by one.
        youden_interval: 95 %, the wider of those over clusters and over questions.
    """

    observed: Rate
    value: float | None
    interval: Interval | None
    by_question: Interval | None
    undefined: float
    status: tuple[str, ...]
    youden: float | None = None
    youden_interval: Interval | None = None

    def __str__(self) -> str:
        """As printed: value and interval, and what limits them."""
        notes = f" ({', '.join(self.status)})" if self.status else ""
        if "undecidable" in self.status:
            return undecidable_text(self.youden, self.youden_interval)
        if self.value is None:
            return f"undefined{notes}"
        around = "no interval" if self.interval is None else f"{self.interval.low:.3f}–{self.interval.high:.3f}"
        if self.by_question is not None and "few_clusters" in self.status:
            around += f"; by question {self.by_question.low:.3f}–{self.by_question.high:.3f}"
        return f"{self.value:.3f} [{around}]{notes}"


def undecidable_text(youden: float | None, interval: Sequence[float] | None) -> str:
    """Say why a score cannot be corrected."""
    around = "" if interval is None else f" [{interval[0]:.2f} to {interval[1]:.2f}]"
    shown = "unknown" if youden is None else f"{youden:.2f}{around}"
    return f"not decidable: 1 - FPR - FNR is {shown} and may lie below {LEAST_YOUDEN:g}, so this judge hardly tells right from wrong"


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
    drawn = [_draws(samples, strata, level, resamples, seed) for level in ("cluster", "question")]
    cluster, question = (_combine(rates) @ weights for rates in drawn)
    undefined = float(np.isnan(cluster).mean())
    youden, around = _youden([_means(sample, strata) for sample in samples], drawn)
    told = (youden, around)
    if around is None or min(youden, around.low) < LEAST_YOUDEN:
        return Corrected(shown, None, None, None, undefined, (*status, "undecidable"), *told)
    intervals = percentile_interval(cluster), percentile_interval(question)
    ends = [end for interval in intervals if interval is not None for end in interval]
    if not all(0 <= end <= 1 for end in (value, *ends)):
        status.append("outside")
    return Corrected(shown, value, *intervals, undefined, tuple(status), *told)


def _youden(means: Sequence[Floats], drawn: Sequence[Sequence[Floats]]) -> tuple[float, Interval | None]:
    """Return 1 − FPR − FNR of the stratum where its interval reaches lowest, with the wider of its two intervals."""
    found: list[tuple[float, float, Interval]] = []
    for i, value in enumerate(_left(means)):
        intervals = [percentile_interval(_left(rates)[:, i]) for rates in drawn]
        known = [interval for interval in intervals if interval is not None]
        if not known:
            return float(value), None
        whole = Interval(min(k.low for k in known), max(k.high for k in known))
        found.append((whole.low, float(value), whole))
    _, youden, around = min(found)
    return youden, around


def _left(rates: Sequence[Floats]) -> Floats:
    """What is left of 1 when FPR and, where known, FNR are taken off; ``rates`` begin with the observed one."""
    left = 1.0 - rates[1]
    return left - rates[2] if len(rates) > 2 else left


def _means(sample: Sample, strata: Sequence[str]) -> Floats:
    return np.array([np.nanmean(sample.only(s).hits) for s in strata])


def _combine(rates: Sequence[Floats]) -> Floats:
    """Correct rates given as (observed, FPR) or (observed, FPR, FNR), elementwise; NaN where undefined."""
    observed, fpr = rates[:2]
    left = _left(rates)
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
