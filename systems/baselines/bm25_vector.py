"""Retrieval by words and by meaning together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Self

from pydantic import Field, model_validator

from memtrial.systems.base import Context, Query, Trace
from memtrial.systems.baselines.fusion import added_scores, reciprocal_rank
from memtrial.systems.baselines.lexical import LexicalParams, LexicalRanker
from memtrial.systems.baselines.parts import Part, require_weight
from memtrial.systems.baselines.reading import RankingParams, RankingSystem
from memtrial.systems.baselines.semantic import SemanticParams, SemanticRanker


class FusionParams(Part):
    """How the two rankings are joined.

    ``method``: ``rrf`` adds reciprocal ranks, ``zscore`` adds standardised scores; ``constant`` belongs to ``rrf``.
    """

    method: Literal["rrf", "zscore"] = "rrf"
    bm25: float = Field(default=1.0, ge=0)
    vector: float = Field(default=1.0, ge=0)

    @model_validator(mode="after")
    def _something_counts(self) -> Self:
        require_weight(self, "bm25", "vector")
        return self

    constant: int = Field(default=60, ge=0)


class Bm25VectorParams(RankingParams):
    """Parameters of ``bm25_vector``."""

    bm25: LexicalParams = Field(default_factory=LexicalParams)
    vector: SemanticParams = Field(default_factory=SemanticParams)
    fusion: FusionParams = Field(default_factory=FusionParams)


class Bm25Vector(RankingSystem[Bm25VectorParams]):
    """Joins the rankings of ``bm25`` and ``vector`` (reciprocal rank fusion, or added standardised scores)."""

    Params = Bm25VectorParams

    def __init__(self, params: Bm25VectorParams, context: Context) -> None:
        """Use ``create``, which checks the parameters."""
        super().__init__(params, context)
        folder = context.folder
        self._words = LexicalRanker(params.bm25, self.log, folder / "fulltext", captions=params.captions)
        self._meaning = SemanticRanker(params.vector, self.log, folder / "vectors", context, captions=params.captions)

    def _index(self, new: Sequence[int], trace: Trace) -> None:
        self._words.add(new)
        self._meaning.add(new, trace)

    def _search(self, query: Query, trace: Trace) -> list[tuple[int, float]]:
        history = [turn.text for turn in query.history]
        tenant = self._tenant(query)
        fusion = self.params.fusion
        rankings = [
            (self._words.rank(query.text, history, tenant), fusion.bm25),
            (self._meaning.rank(query.text, history, tenant, trace), fusion.vector),
        ]
        return reciprocal_rank(rankings, fusion.constant) if fusion.method == "rrf" else added_scores(rankings)

    async def close(self) -> None:
        """Let go of index and vectors."""
        self._words.close()
        self._meaning.close()
        await super().close()
