"""Settings of the extractive reader."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class ReaderParams(BaseModel):
    """What an ablation may change about reading.

    Attributes:
        kind: which reader.
        abstain_below: confidence under which it abstains; None takes the calibrated threshold.
        max_items: items of the context that are read, in the order shown.
        recency: newer statements win over older ones on the same matter.
        authority: more authoritative sources win where statements differ.
        speakers: a statement counts more when the right person made it.
    """

    model_config = ConfigDict(extra="forbid")

    kind: Literal["extractive"] = "extractive"
    abstain_below: float | None = Field(default=None, ge=0.0, le=1.0)
    max_items: int = Field(default=2000, ge=1)
    recency: bool = True
    authority: bool = True
    speakers: bool = True
