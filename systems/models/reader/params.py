"""Settings of the readers, and which of them is meant."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Discriminator, Field

from memtrial.systems.models.role import ModelParams


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


class ModelReaderParams(ModelParams):
    """Reading by a language model; what is not given here comes from the run's settings for the role ``read``.

    Attributes:
        kind: which reader.
        max_context_tokens: most tokens of question, history and items together; the items of the lowest scores are left
            out first.
    """

    kind: Literal["model"] = "model"
    max_context_tokens: int = Field(default=100_000, ge=1)


def _chosen(value: Any) -> Any:
    """Fill in which reader is meant, and let a change of ``kind`` alone take the other's defaults along.

    A configuration is stored with every default filled in, so an axis ``reader.kind: [extractive, model]`` comes here
    with the fields of the other kind.
    """
    if not isinstance(value, Mapping):
        return value
    given = dict(value)
    names_model = given.get("model") is not None
    kind = given.setdefault("kind", "model" if names_model else "extractive")
    if kind == "extractive" and names_model:
        raise ValueError("names a model, but its kind is 'extractive'; set reader.kind to 'model'")
    other: type[BaseModel] = ModelReaderParams if kind == "extractive" else ReaderParams
    own: type[BaseModel] = ReaderParams if kind == "extractive" else ModelReaderParams
    if kind in ("extractive", "model"):
        for name, field in other.model_fields.items():
            if name not in own.model_fields and name in given and given[name] == field.default:
                del given[name]
    return given


AnyReaderParams = Annotated[ReaderParams | ModelReaderParams, Discriminator("kind"), BeforeValidator(_chosen)]
