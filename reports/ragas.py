"""The section about ragas: its scores from ragas.json, beside memtrial's hallucination rate and part of no figure of memtrial's."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import numpy as np

from memtrial.experiments.ragas_file import RAGAS, RagasFile, read_ragas
from memtrial.metrics.judges.rates import Sample, rate
from memtrial.metrics.ragas.scores import METRICS, Summary
from memtrial.metrics.statistics import FEW_CLUSTERS
from memtrial.reports.sections import DASH, Grid, Section, around, filled
from memtrial.reports.view import DatasetView, View
from memtrial.reports.words import plural

_LEAD = (
    f"Scores by ragas, from {RAGAS}, with the model named below; no figure of memtrial's contains them. Where a score is missing, "
    "two bounds stand in its place: all missing ones 0, and all of them 1. memtrial's own hallucination rate stands beside "
    "faithfulness, because both ask what the context supports: it counts every planned question, faithfulness only answers that "
    "say something"
)

#: In ragas' sense, in our words; shown with the figures.
DEFINITIONS = {
    "faithfulness": "share of an answer's statements that the context shown to the reader supports, by the model",
    "answer_relevancy": "how near questions that the model makes from the answer lie to the question asked (cosine of embeddings); "
    "0 where the answer is noncommittal",
    "context_precision": "whether items of the context that the model finds useful for the gold answer come first (average precision)",
    "context_recall": "share of the gold answer's statements that the model can attribute to the context",
    "answer_correctness": "3/4 F1 of the statements that answer and gold answer share, by the model, and 1/4 cosine of their embeddings",
}


def ragas_section(view: View) -> Section:
    """Return the section; empty where a run was not scored by ragas."""
    found, notes = read_ragas(view.run.folder, view.run.records)
    if found is None:
        return Section("", [], notes)
    grids = [grid for dataset in view.datasets if (grid := _scores(view, dataset, found)) is not None]
    return Section(_LEAD, grids, [*_about(found), *notes])


def _scores(view: View, dataset: DatasetView, found: RagasFile) -> Grid | None:
    by = {(s.trial, s.metric): s for s in found.summaries if s.dataset == dataset.label}
    metrics = [m for m in METRICS if any(metric == m for _, metric in by)]
    if not metrics:
        return None
    rows = []
    for trial in dataset.labels:
        own = view.row(dataset.label, trial, "hallucination_rate")
        cells = [_cell(view, dataset, found, by.get((trial, metric))) for metric in metrics]
        if any(cell != DASH for cell in cells):
            rows.append([trial, *cells, DASH if own is None else around(own.value, own.low, own.high)])
    head = ("system", *(m.replace("_", " ") for m in metrics), "hallucination rate (memtrial's own)")
    few = any(len(set(_clusters(view, dataset, trial).values())) < FEW_CLUSTERS for trial in dataset.labels)
    notes = [f"{metric.replace('_', ' ')}: {DEFINITIONS[metric]}" for metric in metrics]
    notes += ["Fewer than 8 clusters stand behind the intervals: they are too narrow to rely on"] if few else []
    notes += [line for trial in dataset.labels for m in metrics for line in _missing(by.get((trial, m)))]
    return Grid(f"ragas, {dataset.label}", head, filled(rows), tuple(notes))


def _cell(view: View, dataset: DatasetView, found: RagasFile, summary: Summary | None) -> str:
    """Write a mean with its interval over clusters, or bounds where answers are unscored; always with the counts."""
    if summary is None:
        return DASH
    if not summary.n_total or summary.low is None or summary.high is None:
        return f"n/a ({summary.n_not_applicable} left out)"
    of = f"{summary.n_scored} of {summary.n_total} scored"
    if summary.value is None:
        return f"{summary.low:.3f} to {summary.high:.3f}; {of}"
    measured = rate(_sample(view, dataset, found, summary), resamples=view.resamples)
    interval = f" ({measured.interval.low:.3f}–{measured.interval.high:.3f})" if measured.interval else ""
    return f"{summary.value:.3f}{interval}; {of}"


def _sample(view: View, dataset: DatasetView, found: RagasFile, summary: Summary) -> Sample:
    """Collect the scores of a metric by question; repeats are averaged first."""
    scores: dict[tuple[str, str], list[float]] = defaultdict(list)
    for row in found.rows:
        score = row.scores.get(summary.metric)
        if (
            (row.trial, row.dataset) == (summary.trial, summary.dataset)
            and score is not None
            and score.value is not None
        ):
            scores[row.corpus_id, row.question_id].append(score.value)
    clusters = _clusters(view, dataset, summary.trial)
    return Sample(
        np.array([float(np.mean(values)) for values in scores.values()], dtype=np.float64),
        tuple("/".join(name) for name in scores),
        tuple(clusters.get(name, "/".join(name)) for name in scores),
        ("all",) * len(scores),
    )


def _clusters(view: View, dataset: DatasetView, trial: str) -> dict[tuple[str, str], str]:
    records = view.records.get((dataset.label, trial), [])
    return {(r.result.corpus_id, r.result.question_id): r.labels.cluster_id or r.result.question_id for r in records}


def _missing(summary: Summary | None) -> Iterator[str]:
    if summary is None:
        return
    lost = {r.partition(":")[2]: n for r, n in summary.by_reason.items() if r.startswith("unscored:")}
    if lost:
        named = ", ".join(f"{reason.replace('_', ' ')} {n}" for reason, n in lost.items())
        yield f"{summary.trial}, {summary.metric.replace('_', ' ')}: {sum(lost.values())} of {summary.n_total} unscored ({named})"


def _about(found: RagasFile) -> Iterator[str]:
    model = found.model
    yield (
        f"Model {model.get('model')} at {model.get('base_url')}, temperature {model.get('temperature')}, seed {model.get('seed')}; "
        f"embeddings {found.embeddings}; ragas {found.ragas or 'of unknown version'}; {plural(found.strictness, 'question')} made from "
        "an answer for answer relevancy"
    )
    yield f"{found.questions.get('scored')} of {found.questions.get('in_run')} questions were scored"
    for reason, meaning in found.rules.items():
        yield f"Without asking, {reason.replace('_', ' ')}: {meaning}"
    tokens = sum(int(u.get("prompt", 0)) + int(u.get("completion", 0)) for u in found.usage.values())
    yield f"Scoring took {tokens:,} tokens; no system is charged with it. Every score by answer is in {RAGAS}"
