"""Settings of the readers, and which of them is meant."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Discriminator, Field

from memtrial.systems.models.role import ModelParams, settle_kind


class ReaderParams(BaseModel):
    """What an ablation may change about reading.

    Attributes:
        kind: which reader.
        abstain_below: confidence under which it abstains; None takes the calibrated threshold.
        max_items: items of the context that are read, in the order shown.
        recency: newer statements win over older ones on the same matter.
        authority: more authoritative sources win where statements differ.
        speakers: a statement counts more when the right person made it.
        trust: memories of high trust are preferred and those of low trust doubted; items without a trust read as ever.
    """

    model_config = ConfigDict(extra="forbid")

    kind: Literal["extractive"] = "extractive"
    abstain_below: float | None = Field(default=None, ge=0.0, le=1.0)
    max_items: int = Field(default=2000, ge=1)
    recency: bool = True
    authority: bool = True
    speakers: bool = True
    trust: bool = True


class ModelReaderParams(ModelParams):
    """Reading by a language model; what is not given here comes from the run's settings for the role ``read``.

    Attributes:
        kind: which reader.
        max_context_tokens: most tokens of question, history and items together; the items of the lowest scores are left
            out first.
        trust: show how far memories are to be believed, with the rule that says what to make of it; what carries no
            trust is shown as ever.
    """

    kind: Literal["model"] = "model"
    max_context_tokens: int = Field(default=100_000, ge=1)
    trust: bool = True


def _chosen(value: Any) -> Any:
    if not isinstance(value, Mapping):
        return value
    return settle_kind(value, {"extractive": ReaderParams, "model": ModelReaderParams}, "reader")


AnyReaderParams = Annotated[ReaderParams | ModelReaderParams, Discriminator("kind"), BeforeValidator(_chosen)]
