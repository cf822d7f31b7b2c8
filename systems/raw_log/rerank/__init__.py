"""Reranking: the candidates of the search, scored against the question, with duplicates merged."""

from memtrial.systems.raw_log.rerank.params import (
    AnyRerankParams,
    CrossEncoderParams,
    LexicalRerankParams,
    ModelRerankParams,
    OffRerankParams,
)
from memtrial.systems.raw_log.rerank.ranked import Reranked
from memtrial.systems.raw_log.rerank.reranker import Reranker

__all__ = [
    "AnyRerankParams",
    "CrossEncoderParams",
    "LexicalRerankParams",
    "ModelRerankParams",
    "OffRerankParams",
    "Reranked",
    "Reranker",
]
