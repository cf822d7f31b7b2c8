"""Retrieval by words alone."""

from __future__ import annotations

from collections.abc import Sequence

from memtrial.systems.base import Context, Query, Trace
from memtrial.systems.baselines.lexical import LexicalParams, LexicalRanker
from memtrial.systems.baselines.reading import RankingParams, RankingSystem


class Bm25Params(RankingParams, LexicalParams):
    """Parameters of ``bm25``."""


class Bm25(RankingSystem[Bm25Params]):
    """Ranks turns by BM25 over turn, window and session (Tantivy; jieba for Chinese, stemming for English)."""

    Params = Bm25Params

    def __init__(self, params: Bm25Params, context: Context) -> None:
        """Use ``create``, which checks the parameters."""
        super().__init__(params, context)
        self._ranker = LexicalRanker(params, self.log, context.folder / "fulltext", captions=params.captions)

    def _index(self, new: Sequence[int], trace: Trace) -> None:
        self._ranker.add(new)

    def _search(self, query: Query, trace: Trace) -> list[tuple[int, float]]:
        history = [turn.text for turn in query.history]
        return self._ranker.rank(query.text, history, self._tenant(query))

    async def close(self) -> None:
        """Let go of the index."""
        self._ranker.close()
        await super().close()
