"""How a fact fades: a half-life and a floor by type of fact."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal, TypeAlias

from pydantic import Field

from memtrial.systems.baselines.parts import Part
from memtrial.systems.structured.node import FactType

Decay: TypeAlias = Literal["half_life", "exponential", "off"]


class DecayRule(Part):
    """How one type of fact fades: ``days`` to the half (``exponential``: to 1/e), and the ``floor`` it keeps for good."""

    days: float = Field(gt=0)
    floor: float = Field(default=0.1, ge=0, le=1)


# Complaint, product, promotion and stock are the seed design's; the others by reasoning: what is done stays done, who
# somebody is changes slowly, plans and states are soon overtaken.
RULES: Mapping[FactType, DecayRule] = {
    "profile": DecayRule(days=365, floor=0.6),
    "preference": DecayRule(days=180, floor=0.5),
    "event": DecayRule(days=365, floor=0.6),
    "plan": DecayRule(days=30, floor=0.2),
    "state": DecayRule(days=30, floor=0.3),
    "complaint": DecayRule(days=7, floor=0.1),
    "product": DecayRule(days=180, floor=0.6),
    "stock": DecayRule(days=1 / 24, floor=0.05),
    "policy": DecayRule(days=180, floor=0.6),
    "promotion": DecayRule(days=30, floor=0.3),
    "other": DecayRule(days=180, floor=0.5),
}


def recency(age_days: float, rule: DecayRule, decay: Decay, *, floor: bool = True) -> float:
    """Return how much of a fact's freshness is left, in [0, 1].

    ``half_life``: 2^(-t/h), the usual meaning of a half-life. ``exponential``: e^(-t/τ), as the seed design writes it
    while calling the same number a half-life. ``off``: 1.

    Args:
        age_days: since it was recorded; below 0 counts as 0.
        rule: half-life and floor of its type.
        decay: which formula.
        floor: False lets it fade to nothing, for a question that asks for what was last.
    """
    if decay == "off":
        return 1.0
    spent = max(0.0, age_days) / rule.days
    left = 2.0**-spent if decay == "half_life" else math.exp(-spent)
    return max(left, rule.floor) if floor else left
