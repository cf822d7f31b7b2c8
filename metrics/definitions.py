"""What each metric is called and what it means, for every place that prints a figure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from memtrial.metrics.routing_words import ROUTING_WORDS

Better = Literal["higher", "lower"]


@dataclass(frozen=True, slots=True)
class Definition:
    """How to present a metric.

    Attributes:
        title: a short name for column heads.
        sentence: the definition, to be printed beside the figure.
        better: direction, or None where there is none.
        unit: "%", "ms", "tokens", "MB", "s", "USD", "" (a plain number).
        format: format specification for the value; a "%" unit goes with a percent format.
    """

    title: str
    sentence: str
    better: Better | None
    unit: str = "%"
    format: str = ".1%"

    def show(self, value: float | None) -> str:
        """Render a value with its unit; a missing one as "n/a"."""
        if value is None:
            return "n/a"
        text = format(value, self.format)
        return text if self.unit in ("%", "") else f"{text} {self.unit}"


def _rate(title: str, sentence: str, better: Better | None = "higher") -> Definition:
    return Definition(title, sentence, better)


def _time(title: str, sentence: str) -> Definition:
    return Definition(title, sentence, "lower", "ms", ",.2f")


def _count(title: str, sentence: str, unit: str = "", better: Better | None = None, spec: str = ",.0f") -> Definition:
    return Definition(title, sentence, better, unit, spec)


DEFINITIONS: dict[str, Definition] = {
    "accuracy": _rate(
        "accuracy",
        "Correct answers and correct abstentions over all planned questions; an incomplete answer and an error count 0.",
    ),
    "accuracy_answerable": _rate(
        "accuracy, answerable", "Correct answers over the planned questions that have an answer."
    ),
    "abstention_rate": _rate("abstained", "Abstentions, right or needless, over all planned questions.", None),
    "abstention_precision": _rate(
        "abstention precision", "Of the abstentions, the share on questions that the log cannot answer."
    ),
    "abstention_recall": _rate(
        "abstention recall", "Of the questions that the log cannot answer, the share that was abstained from."
    ),
    "wrong_memory_rate": _rate(
        "wrong memory used",
        "Answers that assert a lure's value over all questions that carry a lure with a value; errors and abstentions "
        "stay in the denominator.",
        "lower",
    ),
    "wrong_memory_exposure": _rate(
        "wrong memory shown",
        "Questions in which a lure message that is not evidence was in the context, over all questions that carry one.",
        "lower",
    ),
    "wrong_memory_susceptibility": _rate(
        "used when shown",
        "Of the questions in which a lure with a value was in the context, the share that used it.",
        "lower",
    ),
    "wrong_memory_of_all": _rate(
        "wrong memory, of all", "Answers that assert a lure's value over all planned questions.", "lower"
    ),
    "lure_cited_rate": _rate(
        "lure cited",
        "Questions in which a message that only a lure contains was cited, over all questions that carry one.",
        "lower",
    ),
    "mixed_rate": _rate(
        "gold and lure mixed",
        "Answers that state gold and lure without saying which holds, over all questions that carry a lure with a value; "
        "they are part of wrong memory used.",
        "lower",
    ),
    "hallucination_rate": _rate(
        "hallucinated",
        "Answers that assert what neither context, question, history nor gold supports, or that answer the unanswerable, "
        "over all planned questions.",
        "lower",
    ),
    "hallucination_rate_given_answered": _rate(
        "hallucinated, of answered", "Hallucinations over the questions that were answered.", "lower"
    ),
    "error_rate": _rate(
        "errors",
        "Questions that ended in an exception, a time-out or a broken answer, over all planned questions.",
        "lower",
    ),
    "outcome_rate": _rate(
        "outcome", "Share of all planned questions with this outcome; the eight outcomes sum to 1.", None
    ),
    "evidence_cited_rate": _rate(
        "evidence cited",
        "Of the answers given to questions with labelled evidence, the share that cites a message of it.",
    ),
    "tenant_leaks": _count(
        "tenant leaks", "Items of another tenant in a ranking, a context or an answer; must be 0.", "", "lower"
    ),
    "tenant_leak_rate": _rate(
        "questions with a leak",
        "Questions in which any item of another tenant turned up, over all planned questions.",
        "lower",
    ),
    "recall@K": _rate(
        "recall@K",
        "Share of the evidence messages among the first K distinct messages of the ranking, averaged over questions that "
        "have evidence; an error has recall 0.",
    ),
    "all_recall@K": _rate("all evidence@K", "Questions with every evidence message among the first K of the ranking."),
    "hit@K": _rate("hit@K", "Questions with at least one evidence message among the first K of the ranking."),
    "precision@K": _rate("precision@K", "Evidence messages among the first K of the ranking, divided by K."),
    "ndcg@K": Definition(
        "nDCG@K",
        "Discounted gain of the first K of the ranking over the best possible, gain 1 for evidence.",
        "higher",
        "",
        ".3f",
    ),
    "mrr": Definition(
        "MRR", "Mean of 1 / rank of the first evidence message, 0 where none was found.", "higher", "", ".3f"
    ),
    "session_recall@K": _rate(
        "session recall@K", "Share of the evidence sessions among the first K sessions, in order of first appearance."
    ),
    "official_recall@K": _rate(
        "recall@K, as published",
        "recall@K that also counts the evidence of adversarial questions (LoCoMo category 5); only for comparison with "
        "figures published that way.",
    ),
    "tokens@K": _count(
        "tokens@K",
        "Mean tokens of the first K messages of the ranking: what a recall@K costs to read.",
        "tokens",
        "lower",
    ),
    "ranking_depth": _count(
        "messages ranked",
        "Mean number of distinct messages in a ranking: the K that was effectively there.",
        "",
        None,
        ",.1f",
    ),
    "drift@K": _rate(
        "drift@K",
        "Share of the first K ranked messages that stand before the first evidence message (all K where there is none) and "
        "are of no session that holds evidence: similar, but about something else. Questions that have evidence and a "
        "ranking.",
        "lower",
    ),
    "ann_recall@K": _rate(
        "ANN recall@K",
        "Share of the K nearest vectors by exact search that the approximate search returned among its first K (one as near "
        "as the last of them counts), averaged over questions for which a graph was searched. What the graph loses, and no "
        "part of what the answer loses.",
    ),
    "exact_search_rate": _rate(
        "searches exact",
        "Of the questions for which vectors were searched, the share for which every vector was compared: a graph, and its "
        "settings, had no part in it.",
        None,
    ),
    "explained_variance": _rate(
        "explained variance",
        "Share of the variance of the vectors that the principal components hold which were kept, on the vectors they were "
        "fitted on; the mean over logs.",
        "higher",
    ),
    "vectors": _count("vectors", "Vectors in the store when the last question was asked, added over logs."),
    "vectors_indexed": _count(
        "vectors in a graph", "How many of them stood in a graph index; the others are compared one by one."
    ),
    "questions_without_evidence": _count(
        "no evidence by design", "Questions without evidence messages; they have no recall and are left out of it."
    ),
    "invalid_lookup_rate": _rate(
        "invalid lookups", "Of the lookups, the share on questions that need no memory.", "lower"
    ),
    "missed_lookup_rate": _rate(
        "missed lookups", "Of the questions that need memory, the share on which it was not looked up.", "lower"
    ),
    "lookups_avoided": _rate(
        "lookups avoided", "Share of all planned questions on which memory was not looked up.", None
    ),
    "gate_balanced_accuracy": _rate(
        "gate balanced accuracy",
        "Mean of the share of needed lookups that were made and the share of needless ones that were avoided.",
    ),
    **{name: _rate(title, sentence, better) for name, (title, sentence, better) in ROUTING_WORDS.items()},
    "latency_p50_ms": _time("latency P50", "Median time of an answered question, nearest rank."),
    "latency_p95_ms": _time(
        "latency P95", "95th percentile of the time of answered questions, nearest rank; not shown below 20 samples."
    ),
    "latency_p99_ms": _time(
        "latency P99", "99th percentile of the time of answered questions, nearest rank; not shown below 100 samples."
    ),
    "latency_max_ms": _time("latency max", "Longest time of an answered question."),
    "latency_p95_with_timeouts_ms": _time(
        "latency P95 with time-outs",
        "95th percentile over answered questions and time-outs, each time-out at its limit.",
    ),
    "latency_own_p50_ms": _time("own time P50", "Median time of an answered question outside model calls."),
    "latency_model_p50_ms": _time("model time P50", "Median time of an answered question inside model calls."),
    "stage_p50_ms": _time("stage P50", "Median time of this stage over answered questions that went through it."),
    "write_p95_ms": _time("write P95", "95th percentile of the time of a write, nearest rank."),
    "ingest_s": _count("ingest", "Time to take in the whole log.", "s", "lower", ",.2f"),
    "index_mb": _count("index size", "Size of everything that the system keeps on disk.", "MB", "lower", ",.2f"),
    "peak_rss_mb": _count("peak memory", "Largest resident memory of the worker process.", "MB", "lower"),
    "other_work_cores": _count(
        "other work",
        "Mean number of cores that other programs kept busy meanwhile, of several logs the highest; latencies of "
        "trials with different values do not compare.",
        "cores",
        None,
        ".2f",
    ),
    "context_tokens": _count(
        "context tokens", "Mean tokens of what the reader was shown, over answered questions.", "tokens", "lower"
    ),
    "prompt_tokens": _count(
        "prompt tokens", "Mean prompt tokens of the system's own model calls a question.", "tokens", "lower"
    ),
    "completion_tokens": _count(
        "completion tokens", "Mean completion tokens of the system's own model calls a question.", "tokens", "lower"
    ),
    "cost_per_1k_questions_usd": _count(
        "cost per 1,000 questions",
        "Tokens of the system's own calls times a dated price table, taking in the log left out; unknown where no model or "
        "no price is there.",
        "USD",
        "lower",
        ",.2f",
    ),
    "brier": Definition(
        "Brier score",
        "Mean squared gap between stated confidence and being right, over answered questions.",
        "lower",
        "",
        ".3f",
    ),
    "ece": Definition(
        "calibration error",
        "Expected gap between stated confidence and the share right, over 10 bins of equal size, answered questions.",
        "lower",
        "",
        ".3f",
    ),
    "accuracy_at_coverage@K": _rate(
        "accuracy at K % coverage", "Share right among the K % of the answered questions with the highest confidence."
    ),
}
"""By metric; ``@K`` stands for any number, and what follows a colon in a metric's name is left out."""

_RANKS = {name: i for i, name in enumerate(DEFINITIONS)}
_AT = re.compile(r"@(\d+)$")


def family(metric: str) -> str:
    """``recall@10`` to ``recall@K``, ``outcome_rate:error`` to ``outcome_rate``."""
    return _AT.sub("@K", metric.partition(":")[0])


def define(metric: str) -> Definition:
    """Return the definition of a metric as it is named in metrics.json, its K or its part filled in.

    Raises:
        KeyError: if there is no such metric.
    """
    found = DEFINITIONS[family(metric)]
    at, part = _AT.search(metric), metric.partition(":")[2]
    title, sentence = found.title, found.sentence
    if at:
        title, sentence = (re.sub(r"\bK\b", at.group(1), text) for text in (title, sentence))
    if part:
        title = f"{title}: {part.replace('_', ' ')}"
    return Definition(title, sentence, found.better, found.unit, found.format)


def rank(metric: str) -> tuple[int, int, str]:
    """Sort key: order of ``DEFINITIONS``, then K, then the rest of the name."""
    at = _AT.search(metric)
    return _RANKS[family(metric)], int(at.group(1)) if at else 0, metric
