"""Estimates of retrieval at message and session level, with what makes them unmeasurable or doubtful."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from memtrial.metrics import retrieval
from memtrial.metrics.estimates import Estimate, ratio_of
from memtrial.metrics.panel import Panel
from memtrial.metrics.records import Record

Floats = NDArray[np.float64]

KS = (1, 5, 10, 20, 50)
SESSION_KS = (1, 5, 10)
_AT_K: dict[str, Callable[[retrieval.Aligned, int], Floats]] = {
    "recall": retrieval.recall,
    "all_recall": retrieval.all_recall,
    "hit": retrieval.hit,
    "precision": retrieval.precision,
    "ndcg": retrieval.ndcg,
}
_SLICED = {"recall@1", "recall@5", "recall@10", "recall@20", "recall@50", "all_recall@10", "ndcg@10", "mrr"}


def retrieval_estimates(panel: Panel) -> Iterator[Estimate]:
    """Yield every retrieval metric of METRICS. A question that ended in an error found nothing."""
    records = panel.records
    why = no_ranking(records)
    golds = [record.labels.evidence for record in records]
    aligned = retrieval.align([record.ranking for record in records], golds, max(KS))
    reason = why or ("" if aligned.gold.any() else "no question has evidence")
    has_gold = panel.mean(aligned.gold > 0)
    log_size = np.array([record.result.log_size for record in records])
    answered = np.array([record.result.error is None for record in records])
    for name, function in _AT_K.items():
        for k in KS:
            flags = _flags(aligned, log_size, answered, k)
            yield _estimate(panel, f"{name}@{k}", function(aligned, k), has_gold, reason, flags)
    yield _estimate(panel, "mrr", retrieval.reciprocal_rank(aligned), has_gold, reason)
    yield from _tokens(panel, (aligned.gold > 0) & answered, reason)
    depth = np.where(answered, aligned.length, 0)
    served = panel.mean(answered)
    yield ratio_of("ranking_depth", panel.mean(depth), served, bounded=False, sliced=False, reason=why)
    yield from _sessions(panel, why)
    if any(record.labels.official_evidence for record in records):
        both = [[*record.labels.evidence, *record.labels.official_evidence] for record in records]
        official = retrieval.align([record.ranking for record in records], both, max(KS))
        counted = panel.mean(official.gold > 0)
        for k in KS:
            yield _estimate(panel, f"official_recall@{k}", retrieval.recall(official, k), counted, why)


def no_ranking(records: Sequence[Record]) -> str:
    """Why this system has no retrieval metric at all, or ""."""
    if all(record.result.error for record in records):
        return "every question ended in an error"
    items = [item for record in records for item in record.result.retrieved]
    if not items and not any(record.ranking for record in records):
        return "system retrieves nothing"
    if not any(record.ranking for record in records):
        return "no provenance"
    return ""


def _estimate(
    panel: Panel, metric: str, by_record: Floats, counted: Floats, reason: str, flags: tuple[str, ...] = ()
) -> Estimate:
    values = panel.mean(np.nan_to_num(by_record))
    sliced = metric in _SLICED or metric.startswith(("session_", "official_"))
    return ratio_of(metric, values, counted, sliced=sliced, reason=reason, flags=flags)


def _flags(
    aligned: retrieval.Aligned, log_size: NDArray[np.int64], answered: NDArray[np.bool_], k: int
) -> tuple[str, ...]:
    seen = answered & (aligned.gold > 0)
    if not seen.any():
        return ()
    flags = []
    if bool(np.any(log_size[seen] <= k)):
        flags.append("saturated")
    short = aligned.length[seen] < np.minimum(k, log_size[seen])
    if float(short.mean()) > 0.5:
        flags.append("short_ranking")
    return tuple(flags)


def _tokens(panel: Panel, seen: NDArray[np.bool_], reason: str) -> Iterator[Estimate]:
    counted = panel.mean(seen)
    for k in KS:
        tokens = [sum(record.ranking_tokens[:k]) if ok else 0 for record, ok in zip(panel.records, seen, strict=True)]
        yield ratio_of(f"tokens@{k}", panel.mean(tokens), counted, bounded=False, sliced=False, reason=reason)


def _sessions(panel: Panel, why: str) -> Iterator[Estimate]:
    golds = [record.labels.evidence_sessions for record in panel.records]
    aligned = retrieval.align([record.ranking_sessions for record in panel.records], golds, max(SESSION_KS))
    reason = why or ("" if aligned.gold.any() else "no question has evidence labelled by session")
    counted = panel.mean(aligned.gold > 0)
    for k in SESSION_KS:
        yield _estimate(panel, f"session_recall@{k}", retrieval.recall(aligned, k), counted, reason)
