"""Whether how a matter stands fits what the question asks."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Literal, TypeAlias

from pydantic import Field

from memtrial.systems.baselines.parts import Part
from memtrial.systems.structured.node import Fact, FactType, State
from memtrial.systems.structured.trust.sources import Share

Wants: TypeAlias = Literal["current", "state", "history"]

_FITS: Mapping[Wants, Mapping[State, float]] = {
    "current": {"resolved": 0.8, "cancelled": 0.6, "uncertain": 0.4, "retracted": 0.0, "injected": 0.0},
    # How does it stand? Then that it is closed or cancelled is the answer.
    "state": {"uncertain": 0.4, "retracted": 0.0, "injected": 0.0},
    # What was first said may have been taken back since.
    "history": {"uncertain": 0.4, "retracted": 0.7, "injected": 0.0},
}

_OVERDUE: Mapping[FactType, float] = {"complaint": 48.0}


class StateParams(Part):
    """How much a state speaks against a memory.

    Attributes:
        superseded: fit of a version that a newer one replaced, where the question asks for what holds.
        overdue_hours: by type of fact, after how long an open matter should have been settled, so that "open" is doubtful.
        overdue_cost: what is taken off then.
    """

    superseded: Share = 0.2
    overdue_hours: dict[FactType, float] = Field(default_factory=lambda: dict(_OVERDUE))
    overdue_cost: Share = 0.3


def consistency(fact: Fact, wants: Wants, now: datetime, params: StateParams, *, superseded: bool) -> float:
    """Return how well a fact's state fits the question, in [0, 1].

    Args:
        fact: what is judged.
        wants: what the question asks for: what holds now, how a matter stands, or how it was.
        now: the time the question is about.
        params: what a misfit costs.
        superseded: a newer version of the memory is known.
    """
    fit = _FITS[wants].get(fact.state, 1.0)
    if superseded and wants != "history":
        fit = min(fit, params.superseded)
    due = params.overdue_hours.get(fact.fact_type)
    if due is not None and fact.state == "open" and (now - fact.recorded_at).total_seconds() > due * 3600:
        fit = max(0.0, fit - params.overdue_cost)
    return fit
