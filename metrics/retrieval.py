"""Retrieval metrics over rankings of message ids (or of sessions).

Ids are compared once, in ``align``; every metric is then arithmetic on a small array of gains. A question with empty
gold has no value: NaN inside this package, never 0, and never written to a file.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Aligned:
    """Rankings set against their gold.

    Attributes:
        gains: shape (n, depth), 1 where the id at that rank is gold; zero beyond the end of a ranking.
        first: shape (n,), rank from 1 of the first gold id in the whole ranking, also beyond ``depth``; 0 where none.
        gold: shape (n,), number of distinct gold ids.
        length: shape (n,), number of distinct ids in the ranking.
    """

    gains: NDArray[np.float64]
    first: NDArray[np.int64]
    gold: NDArray[np.int64]
    length: NDArray[np.int64]

    @property
    def depth(self) -> int:
        """Largest k for which a metric can be asked."""
        return int(self.gains.shape[1])


def align(rankings: Sequence[Iterable[str]], golds: Sequence[Collection[str]], depth: int) -> Aligned:
    """Collapse duplicates at their first place and mark the gold ids.

    Args:
        rankings: n rankings, best first.
        golds: n collections of gold ids, read as sets.
        depth: ranks kept, i.e. the largest k wanted.

    Returns:
        The aligned rankings, n rows.

    Raises:
        ValueError: if there are not as many rankings as golds.
    """
    n = len(golds)
    gains = np.zeros((n, depth))
    first = np.zeros(n, dtype=np.int64)
    size = np.zeros(n, dtype=np.int64)
    length = np.zeros(n, dtype=np.int64)
    for row, (ranking, gold) in enumerate(zip(rankings, golds, strict=True)):
        wanted = frozenset(gold)
        distinct = dict.fromkeys(ranking)
        size[row] = len(wanted)
        length[row] = len(distinct)
        if wanted and not wanted.isdisjoint(distinct):
            ranks = [rank for rank, one in enumerate(distinct) if one in wanted]
            first[row] = ranks[0] + 1
            gains[row, [rank for rank in ranks if rank < depth]] = 1.0
    return Aligned(gains, first, size, length)


def _found(aligned: Aligned, k: int) -> Floats:
    if not 1 <= k <= aligned.depth:
        raise ValueError(f"k={k} is outside 1..{aligned.depth}, the depth that was aligned")
    return np.asarray(aligned.gains[:, :k].sum(axis=1))


def _measurable(aligned: Aligned, values: Floats) -> Floats:
    return np.where(aligned.gold > 0, values, np.nan)


def recall(aligned: Aligned, k: int) -> Floats:
    """|gold ∩ top-k| / |gold|, shape (n,); NaN where gold is empty."""
    return _measurable(aligned, _found(aligned, k) / np.maximum(aligned.gold, 1))


def all_recall(aligned: Aligned, k: int) -> Floats:
    """1 where every gold id is in the top k, shape (n,); NaN where gold is empty."""
    return _measurable(aligned, (_found(aligned, k) >= aligned.gold).astype(float))


def hit(aligned: Aligned, k: int) -> Floats:
    """1 where at least one gold id is in the top k, shape (n,); NaN where gold is empty."""
    return _measurable(aligned, (_found(aligned, k) > 0).astype(float))


def precision(aligned: Aligned, k: int) -> Floats:
    """|gold ∩ top-k| / k, shape (n,), also where the ranking is shorter than k (as trec_eval); NaN where gold is empty."""
    return _measurable(aligned, _found(aligned, k) / k)


def ndcg(aligned: Aligned, k: int) -> Floats:
    """nDCG with binary gain and discount 1/log2(rank + 1) (Järvelin and Kekäläinen 2002), shape (n,); NaN where gold is empty."""
    if not 1 <= k <= aligned.depth:
        raise ValueError(f"k={k} is outside 1..{aligned.depth}, the depth that was aligned")
    discounts = 1.0 / np.log2(np.arange(2, k + 2))
    ideal = np.concatenate([[1.0], np.cumsum(discounts)])[np.minimum(aligned.gold, k)]
    return _measurable(aligned, np.einsum("nk,k->n", aligned.gains[:, :k], discounts) / ideal)


def reciprocal_rank(aligned: Aligned) -> Floats:
    """1 / rank of the first gold id in the whole ranking, 0 where none, shape (n,); NaN where gold is empty."""
    return _measurable(aligned, np.where(aligned.first > 0, 1.0 / np.maximum(aligned.first, 1), 0.0))
