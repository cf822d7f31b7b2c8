"""Retrieval by meaning alone."""

from __future__ import annotations

from collections.abc import Sequence

from memtrial.systems.base import Context, Query, Trace
from memtrial.systems.baselines.reading import RankingParams, RankingSystem
from memtrial.systems.baselines.semantic import SemanticParams, SemanticRanker


class VectorParams(RankingParams, SemanticParams):
    """Parameters of ``vector``."""


class Vector(RankingSystem[VectorParams]):
    """Ranks turns by embedding, nearest first (Qdrant Edge; a bundled embedder)."""

    Params = VectorParams

    def __init__(self, params: VectorParams, context: Context) -> None:
        """Use ``create``, which checks the parameters."""
        super().__init__(params, context)
        self._ranker = SemanticRanker(params, self.log, context.folder / "vectors", context, captions=params.captions)

    def _index(self, new: Sequence[int], trace: Trace) -> None:
        self._ranker.add(new, trace)

    def _search(self, query: Query, trace: Trace) -> list[tuple[int, float]]:
        history = [turn.text for turn in query.history]
        return self._ranker.rank(query.text, history, self._tenant(query), trace)

    async def close(self) -> None:
        """Let go of the vectors."""
        self._ranker.close()
        await super().close()
