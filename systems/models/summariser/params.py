"""Settings of the summarisers, and which of them is meant."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Discriminator, Field

from memtrial.systems.models.role import ModelParams, settle_kind


class ExtractiveParams(BaseModel):
    """Keeping the sentences that stand for the most of what was said.

    Attributes:
        kind: which summariser.
        overlap: share of a sentence's weight from which it counts as said before.
        questions: what a question counts for; it states nothing.
    """

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    kind: Literal["extractive"] = "extractive"
    overlap: float = Field(default=0.8, gt=0, le=1)
    questions: float = Field(default=0.5, ge=0, le=1)


class ModelSummariserParams(ModelParams):
    """Writing the summary with a language model; what is not given comes from the settings for the role ``summarise``.

    Attributes:
        kind: which summariser.
        max_context_tokens: most tokens of the new messages in one prompt; longer ones are cut, each to its share.
    """

    kind: Literal["model"] = "model"
    max_context_tokens: int = Field(default=30_000, ge=100)


def _chosen(value: Any) -> Any:
    if not isinstance(value, Mapping):
        return value
    return settle_kind(value, {"extractive": ExtractiveParams, "model": ModelSummariserParams}, "summariser")


AnySummariserParams = Annotated[
    ExtractiveParams | ModelSummariserParams, Discriminator("kind"), BeforeValidator(_chosen)
]
