"""Scores that may be missing, and means that say how many are: what was not scored is never averaged away."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

METRICS = ("faithfulness", "answer_relevancy", "context_precision", "context_recall", "answer_correctness")

# Cosines of equal vectors come out a little above 1.
_ROUNDING = 1e-6
_DIGITS = 9


class Score(BaseModel):
    """What one metric made of one answer.

    Attributes:
        status: ``scored``; ``unscored`` where there should be a value and is none (an error, a timeout, NaN, a reply that
            cannot be used); ``not_applicable`` where the metric says nothing about such an answer.
        value: from 0 to 1; None unless scored.
        reason: which rule set the value or why there is none: one word of a closed list, for counting; ``model`` where
            the metric itself gave the value.
        detail: one sentence for people.
    """

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, frozen=True)

    status: Literal["scored", "unscored", "not_applicable"]
    value: float | None = None
    reason: str = "model"
    detail: str = ""

    @classmethod
    def of(cls, value: Any) -> Score:
        """Take what a metric returned: a number that is none, or none from 0 to 1, is no score.

        A negative cosine counts as 0, which is the least that ragas' own range allows.
        """
        if value is None:
            return cls.missing("none", "the metric returned None")
        try:
            number = float(value)
        except (TypeError, ValueError):
            return cls.missing("not_a_number", f"the metric returned {type(value).__name__}")
        if math.isnan(number):
            return cls.missing("nan", "the metric returned NaN")
        if not -1.0 - _ROUNDING <= number <= 1.0 + _ROUNDING:
            return cls.missing("out_of_range", f"the metric returned {number:g}")
        return cls(status="scored", value=round(min(1.0, max(0.0, number)), _DIGITS))

    @classmethod
    def missing(cls, reason: str, detail: str = "") -> Score:
        """Say why there is no value although there should be."""
        return cls(status="unscored", reason=reason, detail=detail)

    @classmethod
    def ruled(cls, value: float | None, reason: str) -> Score:
        """Give the value that a rule sets without asking; None where the metric does not apply."""
        if value is None:
            return cls(status="not_applicable", reason=reason)
        return cls(status="scored", value=value, reason=reason)


class Summary(BaseModel):
    """One metric over the answers of one trial on one data set.

    Attributes:
        value: the mean; None as soon as one answer is unscored, because only bounds are known then.
        low: the mean if every unscored answer scored 0; None where the metric applies to no answer.
        high: the mean if every one scored 1.
        mean_scored: mean over the scored ones alone; never to be shown without ``n_scored`` of ``n_total``.
        n_scored: answers with a value.
        n_total: answers that the metric applies to: ``n_scored`` and the unscored ones.
        n_not_applicable: answers left out by the rules.
        by_reason: how many unscored, and how many ruled or left out, by reason.
    """

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    trial: str = ""
    dataset: str = ""
    metric: str = ""
    value: float | None
    low: float | None
    high: float | None
    mean_scored: float | None
    n_scored: int
    n_total: int
    n_not_applicable: int = 0
    by_reason: dict[str, int] = Field(default_factory=dict)

    @property
    def unscored_share(self) -> float:
        """Share of the answers concerned that has no value."""
        return (self.n_total - self.n_scored) / self.n_total if self.n_total else 0.0

    def show(self) -> str:
        """Return the value for display, with bounds and counts wherever something is missing."""
        if self.low is None or self.high is None:
            return "does not apply to any answer"
        of = f"{self.n_scored}/{self.n_total} scored"
        return f"{self.value:.3f} ({of})" if self.value is not None else f"{self.low:.3f} to {self.high:.3f} ({of})"


def summarise(scores: Iterable[Score], *, trial: str = "", dataset: str = "", metric: str = "") -> Summary:
    """Average scores, with bounds that hold whatever the unscored ones would have been."""
    rows = list(scores)
    values = [s.value for s in rows if s.status == "scored" and s.value is not None]
    unscored = sum(s.status == "unscored" for s in rows)
    total = len(values) + unscored
    known = math.fsum(values)
    return Summary(
        trial=trial,
        dataset=dataset,
        metric=metric,
        value=round(known / total, _DIGITS) if total and not unscored else None,
        low=round(known / total, _DIGITS) if total else None,
        high=round((known + unscored) / total, _DIGITS) if total else None,
        mean_scored=round(known / len(values), _DIGITS) if values else None,
        n_scored=len(values),
        n_total=total,
        n_not_applicable=len(rows) - total,
        by_reason=dict(sorted(Counter(f"{s.status}:{s.reason}" for s in rows if s.reason != "model").items())),
    )
