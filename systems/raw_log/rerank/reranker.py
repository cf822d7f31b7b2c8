"""One way to rerank, whichever reranker a configuration names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from memtrial.systems.base import Context, Evidence, Query, Trace
from memtrial.systems.baselines.log import Log
from memtrial.systems.models.role import model_span
from memtrial.systems.raw_log.rerank.lexical import by_words
from memtrial.systems.raw_log.rerank.params import (
    AnyRerankParams,
    CrossEncoderParams,
    LexicalRerankParams,
    ModelRerankParams,
)
from memtrial.systems.raw_log.rerank.ranked import MOST, Reranked, arranged, in_range, tier_order

if TYPE_CHECKING:
    from memtrial.systems.raw_log.rerank.cross_encoder import CrossEncoder
    from memtrial.systems.raw_log.rerank.model import ModelReranker


class Reranker:
    """Scores candidates from 0 to 10, says which sentence matters, and merges duplicates.

    Args:
        params: of one of the kinds.
        context: of the system; names the models.
        log: where the neighbours of a message are found; None where there are none.

    Raises:
        UserError: it is a model, and none is named, or its settings or files are wrong.
        MissingExtraError: it is a cross-encoder, and its packages are not installed.
    """

    def __init__(self, params: AnyRerankParams, context: Context, log: Log | None = None) -> None:
        """Build what the parameters name."""
        self.params = params
        self._log = log
        self._model: ModelReranker | None = None
        self._encoder: CrossEncoder | None = None
        if isinstance(params, ModelRerankParams):
            from memtrial.systems.raw_log.rerank.model import ModelReranker  # a keyless run loads none of it

            self._model = ModelReranker.of(params, context)
        elif isinstance(params, CrossEncoderParams):
            from memtrial.systems.raw_log.rerank.cross_encoder import CrossEncoder

            self._encoder = CrossEncoder.of(params, log)

    async def rerank(
        self, query: Query, items: Sequence[Evidence], scores: Sequence[float], trace: Trace
    ) -> list[Reranked]:
        """Rank candidates anew; timed as the stage ``rerank``.

        Args:
            query: the question.
            items: candidates, in any order.
            scores: what the tier before gave them, higher is better, one for each.
            trace: gets a span, ``facts["rerank"]`` and warnings.

        Returns:
            Every item once: those that stand for themselves, best first; after them those merged into others.

        Raises:
            ModelRoleError: a model gave no usable reply (see ``on_failure``).
        """
        if len(items) != len(scores):
            raise ValueError(f"{len(items)} items come with {len(scores)} scores")
        facts = trace.facts["rerank"] = {"kind": self.params.kind, "items": len(items)}
        if not items:
            return []
        with model_span(trace, "rerank") as span:
            if self._model is not None:
                ranked = await self._model.rerank(query, items, scores, trace, span)
            elif self._encoder is not None:
                ranked = self._encoder.rerank(query, items, scores, trace)
            elif isinstance(self.params, LexicalRerankParams):
                ranked = by_words(self.params, query, items, scores, self._log)
            else:
                order = tier_order(scores)
                tens = [MOST * share for share in in_range(scores)]
                ranked = arranged(order, tens, {}, {})
        if merged := sum(row.merged_into is not None for row in ranked):
            facts["merged"] = merged
        return ranked

    async def aclose(self) -> None:
        """Close a model's connections."""
        if self._model is not None:
            await self._model.aclose()
