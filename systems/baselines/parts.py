"""Small things that several baselines build on."""

from __future__ import annotations

import math
from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict


class Part(BaseModel):
    """A named group of parameters; unknown names are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


def require_weight(part: BaseModel, *names: str) -> None:
    """See that something counts: with no weight above 0 every score is 0, and the order is chance.

    Args:
        part: parameters with weights of at least 0.
        names: of the weights.

    Raises:
        ValueError: all of them are 0; for a validator to raise.
    """
    if not any(getattr(part, name) for name in names):
        raise ValueError(f"at least one of {', '.join(names)} must be above 0")


def in_deviations(scores: Sequence[float]) -> list[float]:
    """Return scores in units of their standard deviation, so that scores of different kinds can be added.

    Standardising would subtract the mean too, which moves all alike and so ranks the same. All zero where the scores
    do not differ: they cannot tell the items apart.
    """
    mean = sum(scores) / len(scores) if scores else 0.0
    spread = math.sqrt(sum((s - mean) ** 2 for s in scores) / len(scores)) if scores else 0.0
    return [s / spread if spread > 1e-12 else 0.0 for s in scores]
