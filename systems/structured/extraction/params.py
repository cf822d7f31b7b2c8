"""Settings of extraction, and which kind is meant."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Discriminator, Field

from memtrial.systems.models.role import ModelParams, settle_kind


class ExtractionParams(BaseModel):
    """Taking facts with patterns and with dictionaries that are learnt from the log itself.

    Attributes:
        kind: which way to extract.
        typed: take facts with an attribute and a typed value (a delivery date, a refund).
        statements: which messages are kept as plain statements: ``all``; ``untyped``, those that gave no typed fact (its
            text holds the message anyway, and a later version replaces it); or ``none``.
        max_chars: longest plain statement; a longer message is cut at sentence ends into several.
        keep_questions: keep messages that only ask.
        resolve_dates: append the dates that relative days of a statement stand for.
        support_check: refuse facts whose messages do not support them.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    kind: Literal["keyless"] = "keyless"
    typed: bool = True
    statements: Literal["all", "untyped", "none"] = "untyped"
    max_chars: int = Field(default=600, ge=40)
    keep_questions: bool = False
    resolve_dates: bool = True
    support_check: bool = True


class ModelExtractionParams(ModelParams):
    """Taking facts with a language model; what is not given comes from the run's settings for the role ``extract``.

    Attributes:
        kind: which way to extract.
        segment_messages: most messages in one prompt; a segment never crosses a session.
        max_context_tokens: most tokens of a segment's messages; a longer message is cut to its share.
        concurrency: prompts under way at a time.
        typed: also take typed facts with the patterns; the model's statements have no attribute, so that a later one never
            replaces an earlier one.
        support_check: refuse facts whose messages do not support them.
    """

    kind: Literal["model"] = "model"
    segment_messages: int = Field(default=12, ge=1)
    max_context_tokens: int = Field(default=4000, ge=200)
    concurrency: int = Field(default=8, ge=1)
    typed: bool = False
    support_check: bool = True


def _chosen(value: Any) -> Any:
    if not isinstance(value, Mapping):
        return value
    return settle_kind(value, {"keyless": ExtractionParams, "model": ModelExtractionParams}, "extraction")


AnyExtractionParams = Annotated[
    ExtractionParams | ModelExtractionParams, Discriminator("kind"), BeforeValidator(_chosen)
]
