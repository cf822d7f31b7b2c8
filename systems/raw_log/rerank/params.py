"""Settings of the rerankers, and which of them is meant."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, Discriminator, Field, model_validator

from memtrial.systems.baselines.parts import Part, require_weight
from memtrial.systems.models.role import ModelParams, settle_kind


class OffRerankParams(Part):
    """No reranking: the tier's order stays.

    Attributes:
        kind: which reranker.
    """

    kind: Literal["off"] = "off"


class LexicalRerankParams(Part):
    """Reranking by words and typed values, without a model; a weight of 0 leaves a signal out.

    Every signal lies in [0, 1], and a score is ten times their weighted mean. What found the candidates has seen words,
    meaning and speakers and counts most; of the weights below it, in proportions set by reasoning, those of fourteen tried
    were taken that did best on supportdesk's train split (docs/rerank_agent.md).

    Attributes:
        kind: which reranker.
        tier: the score that a candidate comes with, brought to [0, 1] over the candidates. Where texts were embedded, it
            holds their meaning.
        words: share of the question's terms that the turn holds, rare ones counting more.
        around: the same for the turn together with its neighbours.
        values: share of the numbers, codes and dates stated in the question that stand in the turn or beside it.
        answer: the turn holds a value of the kind asked for (a date, a number, a name, …) which the question does not hold.
        reach: neighbours on either side.
        merge_hours: messages of one sender with the same words, no further apart than this, count as one; 0 merges none.
    """

    kind: Literal["lexical"] = "lexical"
    tier: float = Field(default=1.0, ge=0)
    words: float = Field(default=0.4, ge=0)
    around: float = Field(default=0.2, ge=0)
    values: float = Field(default=0.6, ge=0)
    answer: float = Field(default=0.4, ge=0)
    reach: int = Field(default=1, ge=1, le=10)
    merge_hours: float = Field(default=24.0, ge=0)

    @model_validator(mode="after")
    def _something_counts(self) -> Self:
        require_weight(self, "tier", "words", "around", "values", "answer")
        return self


class ModelRerankParams(ModelParams):
    """Reranking by a language model; what is not given of its settings comes from the role ``rerank``.

    Attributes:
        kind: which reranker.
        batch: most messages of one prompt; fewer where ``max_tokens`` leaves no room for their marks. Prompts are asked at the same time, as far as the client lets them.
        max_context_tokens: most tokens of a prompt's question and messages together; counted before anything is sent.
        max_message_tokens: most tokens of one message; of a longer one the beginning is shown.
        on_failure: a batch without a usable reply keeps the tier's order; ``all``: it is an error if no batch has one,
            ``any``: already if one has none, ``none``: never.
        merge_hours: as in :class:`LexicalRerankParams`; what the model calls the same is merged whatever this is.
    """

    kind: Literal["model"] = "model"
    batch: int = Field(default=30, ge=1, le=100)
    max_context_tokens: int = Field(default=12_000, ge=200)
    max_message_tokens: int = Field(default=600, ge=20)
    on_failure: Literal["none", "all", "any"] = "all"
    merge_hours: float = Field(default=24.0, ge=0)


class CrossEncoderParams(Part):
    """Reranking by a cross-encoder of one's own in the ONNX format.

    Attributes:
        kind: which reranker.
        path: the ``.onnx`` file; it takes ``input_ids`` (and, where it has them, ``attention_mask`` and
            ``token_type_ids``) and gives one number, or the logits of no and yes, for each pair.
        tokenizer: its ``tokenizer.json``; the one beside the model, or one folder above, where empty.
        batch: pairs that are scored at a time.
        max_tokens: longest pair; the message's end is cut.
        around: put the neighbours of a turn, as far as ``reach``, before and behind it.
        reach: neighbours on either side.
        merge_hours: as in :class:`LexicalRerankParams`.
    """

    kind: Literal["cross_encoder"] = "cross_encoder"
    path: str = Field(min_length=1)
    tokenizer: str = ""
    batch: int = Field(default=16, ge=1, le=512)
    max_tokens: int = Field(default=512, ge=16, le=32_768)
    around: bool = False
    reach: int = Field(default=1, ge=1, le=10)
    merge_hours: float = Field(default=24.0, ge=0)


def _chosen(value: Any) -> Any:
    if not isinstance(value, Mapping):
        return value
    return settle_kind(value, KINDS, "reranker")


KINDS: Mapping[str, type[BaseModel]] = {
    "lexical": LexicalRerankParams,
    "off": OffRerankParams,
    "model": ModelRerankParams,
    "cross_encoder": CrossEncoderParams,
}
AnyRerankParams = Annotated[
    LexicalRerankParams | OffRerankParams | ModelRerankParams | CrossEncoderParams,
    Discriminator("kind"),
    BeforeValidator(_chosen),
]
