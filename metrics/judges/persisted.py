"""What is written down about judges: their errors on planted answers, and stored answers graded again."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from memtrial.metrics.judges.calibration import Corrected, undecidable_text
from memtrial.metrics.judges.labels import JudgeLabel
from memtrial.metrics.judges.rates import Rate, Sample
from memtrial.metrics.judges.tally import Tally

SCHEMA_VERSION = 1

SampleRow = tuple[int | None, str, str, str]
"""(1 where judged wrongly, 0 where rightly, None unscored; question; cluster; category)."""


class _Persisted(BaseModel):
    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class RateRow(_Persisted):
    """A share with its intervals over clusters and over questions; None where nothing was scored."""

    value: float | None
    low: float | None = None
    high: float | None = None
    low_by_question: float | None = None
    high_by_question: float | None = None
    hits: int = 0
    n: int = 0
    unscored: int = 0
    clusters: int = 0

    @classmethod
    def of(cls, rate: Rate) -> RateRow:
        """Write down a rate."""
        around, beside = rate.interval, rate.by_question
        return cls(
            value=_tidy(rate.value),
            low=_tidy(around.low if around else None),
            high=_tidy(around.high if around else None),
            low_by_question=_tidy(beside.low if beside else None),
            high_by_question=_tidy(beside.high if beside else None),
            hits=rate.hits,
            n=rate.n,
            unscored=rate.unscored,
            clusters=rate.clusters,
        )


class CorrectedRow(_Persisted):
    """A score corrected by the errors of its judge on wrong answers of one kind.

    ``value`` is None where the correction is not decidable; ``youden`` (1 − FPR − FNR, with its interval) says why.
    """

    kind: str
    value: float | None
    low: float | None = None
    high: float | None = None
    low_by_question: float | None = None
    high_by_question: float | None = None
    youden: float | None = None
    youden_low: float | None = None
    youden_high: float | None = None
    status: list[str] = Field(default_factory=list)

    @property
    def undecidable(self) -> str:
        """Why there is no score, in words; "" where there is one or the reason is another."""
        if "undecidable" not in self.status:
            return ""
        known = self.youden_low is not None and self.youden_high is not None
        return undecidable_text(self.youden, (self.youden_low or 0.0, self.youden_high or 0.0) if known else None)

    @classmethod
    def of(cls, kind: str, found: Corrected) -> CorrectedRow:
        """Write down a corrected score."""
        around, beside, youden = found.interval, found.by_question, found.youden_interval
        return cls(
            kind=kind,
            youden=_tidy(found.youden),
            youden_low=_tidy(youden.low if youden else None),
            youden_high=_tidy(youden.high if youden else None),
            value=_tidy(found.value),
            low=_tidy(around.low if around else None),
            high=_tidy(around.high if around else None),
            low_by_question=_tidy(beside.low if beside else None),
            high_by_question=_tidy(beside.high if beside else None),
            status=list(found.status),
        )


class ErrorsFile(_Persisted):
    """What ``memtrial judge check --out`` writes.

    Attributes:
        judge: as in a rejudged run; ``published`` for verdicts that others published.
        judges: names of the published judges; errors measured on others say nothing about them.
        describe: model, prompts with their hashes, temperature and seed.
        data: what the planted answers stand on.
        wrong: planted wrong answers by kind.
        right: planted right answers by kind; empty where there were none, and the FNR is then unknown.
        rates: FPR or FNR by kind of planted answer.
    """

    schema_version: int = SCHEMA_VERSION
    judge: str
    judges: list[str] = Field(default_factory=list)
    describe: dict[str, Any] = Field(default_factory=dict)
    data: dict[str, Any] = Field(default_factory=dict)
    rates: dict[str, RateRow] = Field(default_factory=dict)
    wrong: dict[str, list[SampleRow]] = Field(default_factory=dict)
    right: dict[str, list[SampleRow]] = Field(default_factory=dict)

    @property
    def usable(self) -> bool:
        """Whether so few planted answers are unscored that the rates can be told."""
        return Tally.of(self._hits()).usable

    @property
    def unscored(self) -> int:
        """Planted answers without a verdict."""
        return Tally.of(self._hits()).unscored

    def _hits(self) -> list[int | None]:
        return [row[0] for kinds in (self.wrong, self.right) for rows in kinds.values() for row in rows]

    def wrong_samples(self) -> dict[str, Sample]:
        """Return the planted wrong answers by kind."""
        return {kind: sample_of(rows) for kind, rows in self.wrong.items() if rows}

    def right_sample(self) -> Sample | None:
        """Return all planted right answers, or None."""
        rows = [row for kind in self.right.values() for row in kind]
        return sample_of(rows) if any(row[0] is not None for row in rows) else None


class VerdictRow(_Persisted):
    """One verdict on one stored answer."""

    key: str
    label: JudgeLabel
    detail: str = ""
    lure: str = ""
    status: str = "ok"


class Score(_Persisted):
    """What a judge makes of one trial on one data set.

    Attributes:
        own: accuracy by the run's own judge on the same questions.
        credit: answers credited.
        scored: answers with a verdict.
        total: answers that were to be judged; planned ones that are missing and errors are among them, without credit.
        accuracy: over the scored answers.
        low: accuracy if every unscored answer were wrong.
        high: accuracy if every unscored answer were right.
        kappa: agreement with the run's own judge beyond chance; None where undefined.
        corrected: for each kind of planted wrong answers.
        ceiling: lines about categories whose score lies above what contested gold labels leave to honest answers.
    """

    trial: str
    dataset: str
    own: float | None
    credit: float
    scored: int
    total: int
    accuracy: RateRow
    low: float | None
    high: float | None
    kappa: float | None
    corrected: list[CorrectedRow] = Field(default_factory=list)
    ceiling: list[str] = Field(default_factory=list)

    @property
    def usable(self) -> bool:
        """Whether so few answers are unscored that the accuracy can be told at all."""
        return Tally(self.credit, self.scored, self.total).usable


class RankRow(_Persisted):
    """Whether the order of a data set's systems survives a change; ``flips`` are (ahead before, ahead after).

    ``survives`` is None where that cannot be told: no pair changes places, but a system has no score afterwards.
    """

    dataset: str
    what: str
    survives: bool | None
    text: str
    flips: list[tuple[str, str]] = Field(default_factory=list)


class UsageRow(_Persisted):
    """Tokens and money that evaluating took, replayed or not; ``usd`` is None where a price is unknown."""

    model: str
    trial: str
    calls: int
    prompt: int
    cached: int
    completion: int
    reasoning: int
    estimated: int
    usd: float | None


class Rejudged(_Persisted):
    """One judge's verdicts on the stored answers of a run, and what they make of its figures.

    Attributes:
        judge: its label.
        describe: model, prompts with their hashes, temperature and seed.
        mask: ``contested`` where questions with a gold answer in doubt are left out of the scores.
        answers: hash of the answers that were graded; a run whose answers changed since must be graded again.
        errors: label and data of the planted answers by which scores were corrected, or empty.
    """

    schema_version: int = SCHEMA_VERSION
    judge: str
    describe: dict[str, Any] = Field(default_factory=dict)
    mask: str | None = None
    answers: str = ""
    errors: dict[str, Any] = Field(default_factory=dict)
    scores: list[Score] = Field(default_factory=list)
    ranks: list[RankRow] = Field(default_factory=list)
    usage: list[UsageRow] = Field(default_factory=list)
    verdicts: list[VerdictRow] = Field(default_factory=list)


def sample_of(rows: Sequence[SampleRow]) -> Sample:
    """Return the sample that rows were written from."""
    return Sample.of([(None if hit is None else bool(hit), q, c, s) for hit, q, c, s in rows])


def rows_of(sample: Sample) -> list[SampleRow]:
    """Return the rows of a sample."""
    return [
        (None if np.isnan(hit) else int(hit), q, c, s)
        for hit, q, c, s in zip(sample.hits, sample.questions, sample.clusters, sample.strata, strict=True)
    ]


def _tidy(value: float | None) -> float | None:
    # Sums may differ in the last bit between processors; files must not.
    return None if value is None or not math.isfinite(value) else float(f"{value:.12g}")
