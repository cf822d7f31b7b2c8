"""Which metrics stand together: the short table that everybody reads, and the complete ones behind it."""

from __future__ import annotations

from collections.abc import Sequence

from memtrial.metrics.definitions import family

#: Never one without the others: abstaining alone brings wrong memory to 0.
SIDE_BY_SIDE = ("accuracy", "abstention_recall", "wrong_memory_rate", "abstention_precision")

MAIN = (
    "accuracy", "accuracy_answerable", "abstention_precision", "abstention_recall", "wrong_memory_rate", "wrong_memory_exposure",
    "hallucination_rate", "recall@10", "session_recall@5", "latency_p95_ms", "context_tokens",
)  # fmt: skip

_GROUPS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Answers", ("accuracy", "accuracy_answerable", "hallucination_rate", "hallucination_rate_given_answered", "evidence_cited_rate", "error_rate")),
    ("Abstention", ("accuracy", "abstention_rate", "abstention_precision", "abstention_recall")),
    ("Wrong memory", ("accuracy", "abstention_rate", "wrong_memory_rate", "wrong_memory_exposure", "wrong_memory_susceptibility",
                      "wrong_memory_of_all", "lure_cited_rate", "mixed_rate", "tenant_leaks", "tenant_leak_rate")),
    ("Recall of evidence messages", ("recall@K", "official_recall@K", "questions_without_evidence", "ranking_depth")),
    ("All evidence found", ("all_recall@K", "hit@K")),
    ("Sessions", ("session_recall@K",)),
    ("Order of the ranking", ("mrr", "ndcg@K", "precision@K", "drift@K")),
    ("Vectors", ("ann_recall@K", "exact_search_rate", "vectors", "vectors_indexed", "explained_variance")),
    ("Tokens of the ranking", ("tokens@K",)),
    ("Gates", ("gate_balanced_accuracy", "invalid_lookup_rate", "missed_lookup_rate", "lookups_avoided")),
    ("Routing", ("routed_to_structured", "fallback_rate", "router_accuracy", "router_accuracy_after_fallback",
                 "oracle_router_accuracy")),
    ("Write-back", ("write_back_rate", "write_back_wrong_rate", "derived_shown_rate", "derived_used_rate",
                    "derived_wrong_rate")),
    ("Latency", ("latency_p50_ms", "latency_p95_ms", "latency_p99_ms", "latency_max_ms", "latency_p95_with_timeouts_ms",
                 "latency_own_p50_ms", "latency_model_p50_ms", "error_rate", "other_work_cores")),
    ("Stages", ("stage_p50_ms",)),
    ("Taking in the log", ("ingest_s", "write_p95_ms", "index_mb", "peak_rss_mb")),
    ("Tokens and cost", ("context_tokens", "prompt_tokens", "completion_tokens", "cost_per_1k_questions_usd")),
    ("Confidence", ("brier", "ece", "accuracy_at_coverage@K")),
)  # fmt: skip
_ELSEWHERE = {"outcome_rate"}


def grouped(metrics: Sequence[str]) -> list[tuple[str, list[str]]]:
    """Sort a data set's metrics into named groups; what belongs to none stands in a last one."""
    made = []
    for title, families in _GROUPS:
        own = [m for f in families for m in metrics if family(m) == f]
        if own:
            made.append((title, own))
    known = {f for _, families in _GROUPS for f in families} | _ELSEWHERE
    rest = [m for m in metrics if family(m) not in known]
    return [*made, ("Other", rest)] if rest else made
