"""What is told of vector searches: how much of the exact search an approximate one found, and what drifted to the top.

A system records in ``trace.facts`` of a question ``ann_recall@10``, ``search`` (``exact`` or ``hnsw``), ``vectors``,
``vectors_indexed`` and ``explained_variance``; one that records none of them has no such figure.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from memtrial.metrics.estimates import Estimate, ratio_of
from memtrial.metrics.panel import Panel
from memtrial.metrics.records import Record
from memtrial.metrics.retrieval_estimates import no_ranking

Floats = NDArray[np.float64]

ANN_RECALL, DRIFT, EXACT = "ann_recall@10", "drift@10", "exact_search_rate"
COUNTED = ("vectors", "vectors_indexed", "explained_variance")
_K = 10


def vector_estimates(panel: Panel) -> Iterator[Estimate]:
    """Yield drift of every ranking, and ANN recall and the share of exact searches where vectors were searched."""
    drifted = np.array([drift(record, _K) for record in panel.records])
    reason = no_ranking(panel.records) or ("" if np.isfinite(drifted).any() else "no ranked question has evidence")
    yield _mean(panel, DRIFT, drifted, reason)
    told = [record.result.trace.facts for record in panel.records]
    if any("search" in facts for facts in told):
        yield _mean(panel, EXACT, np.array([_flag(facts.get("search")) for facts in told]))
        recall = np.array([_share(facts.get(ANN_RECALL)) for facts in told])
        yield _mean(panel, ANN_RECALL, recall, "" if np.isfinite(recall).any() else _unmeasured(told))


def trial_figures(panel: Panel) -> Iterator[tuple[str, float]]:
    """Yield vectors held and indexed (added over the logs) and explained variance (their mean), as of the last question.

    Logs that are asked apart have stores apart; what a store holds grows until the last question on its log.
    """
    for name in COUNTED:
        last: dict[str, tuple[int, float]] = {}
        for record in panel.records:
            value = record.result.trace.facts.get(name)
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                now = (record.result.log_size, float(value))
                last[record.result.corpus_id] = max(last.get(record.result.corpus_id, now), now)
        values = [value for _, value in last.values()]
        if values:
            yield name, sum(values) / (len(values) if name == "explained_variance" else 1)


def drift(record: Record, k: int) -> float:
    """Return the share of the first k ranked messages that are near to the question and have nothing to do with it.

    Near: placed before the first evidence message, so that the system holds them to be at least as similar; all k where no
    evidence is among them. Nothing to do with it: no evidence, and of no session that holds evidence. NaN where the question
    has no evidence, or nothing was ranked.
    """
    ranked = record.ranking[:k]
    evidence, sessions = set(record.labels.evidence), set(record.labels.evidence_sessions)
    if not ranked or not evidence:
        return float("nan")
    reach = next((place for place, id in enumerate(ranked) if id in evidence), len(ranked))
    of_session = record.ranking_sessions[:reach] or [""] * reach
    return sum(session not in sessions for session in of_session) / len(ranked)


def _mean(panel: Panel, metric: str, by_record: Floats, reason: str = "") -> Estimate:
    return ratio_of(
        metric, panel.mean(np.nan_to_num(by_record)), panel.mean(np.isfinite(by_record)), sliced=False, reason=reason
    )


def _flag(search: object) -> float:
    return float(search == "exact") if search in ("exact", "hnsw") else float("nan")


def _share(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        return float("nan")
    return float(value)


def _unmeasured(told: list[dict[str, object]]) -> str:
    if all(facts.get("search") != "hnsw" for facts in told):
        return "every search was exact"
    return "no exact search was run beside it; measure_ann does"
