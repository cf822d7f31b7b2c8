"""From records to the rows of metrics.json."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from memtrial.metrics.confidence import confidence_estimates
from memtrial.metrics.cost import COST, called_a_model, token_estimates
from memtrial.metrics.definitions import rank
from memtrial.metrics.estimates import Estimate, Figure, few, figures
from memtrial.metrics.gates import gate_estimates
from memtrial.metrics.handed_out import unknown
from memtrial.metrics.latency import Percentile, latency_percentiles, percentile
from memtrial.metrics.panel import Panel, make_panels
from memtrial.metrics.quality import citation_estimate, leak_estimate, outcome_estimates, wrong_memory_estimates
from memtrial.metrics.records import OUTCOMES, MetricRow, Record, TrialInfo
from memtrial.metrics.retrieval_estimates import retrieval_estimates
from memtrial.metrics.routing import routing_estimates
from memtrial.metrics.second_judge import second_judge
from memtrial.metrics.statistics import draw_counts
from memtrial.metrics.suspects import suspect_trials
from memtrial.metrics.vectors import trial_figures, vector_estimates

Floats = NDArray[np.float64]

BY_QUESTION = "all (by question)"
"""Slice that repeats a row whose clusters are too few, with an interval that takes questions for independent."""


def aggregate(
    records: Iterable[Record], trials: Sequence[TrialInfo], *, resamples: int = 10_000, seed: int = 0
) -> list[MetricRow]:
    """Compute every metric of METRICS for every trial and data set.

    Args:
        records: all records of a run, in any order.
        trials: the plan; one entry per trial and data set. A trial without records gets rows without values.
        resamples: bootstrap resamples.
        seed: of the bootstrap; equal records and seed give equal rows.

    Returns:
        Rows in the order of ``trials``, then slice ("all" first), then metric. Besides "all" there are slices
        ``category=…``, ``language=…``, ``lure=…``, ``contested=no`` where gold labels are in doubt, and
        ``all (by question)`` where fewer than 8 clusters stand behind a figure. Where verdicts were published with the
        answers, a row by that judge follows the run's own (``MetricRow.judge``).

    Raises:
        ValueError: if a record belongs to no trial or a data set names clusters for a part of its questions only.
    """
    panels = make_panels(records, trials)
    rows = [row for panel in panels for row in _trial_rows(panel, panels, resamples, seed)]
    draw_counts.cache_clear()
    suspects = suspect_trials(panels, rows)
    rows = [_suspect(row) if row.value is not None and (row.trial, row.dataset) in suspects else row for row in rows]
    order = {(t.trial, t.dataset): i for i, t in enumerate(trials)}
    rows.sort(key=lambda row: (order[row.trial, row.dataset], row.slice != "all", row.slice, rank(row.metric)))
    return rows


def outcome_counts(records: Iterable[Record], trials: Sequence[TrialInfo]) -> dict[tuple[str, str], dict[str, float]]:
    """Questions by outcome for each (trial, dataset), all eight outcomes always there.

    Repeats count as parts of their question, so that the counts sum to the number of planned questions.
    """
    counts = {}
    for panel in make_panels(records, trials):
        means = {o: panel.mean([r.judgement.outcome == o for r in panel.records]) for o in OUTCOMES}
        counts[panel.info.trial, panel.info.dataset] = {o: float(mean.sum()) for o, mean in means.items()}
    return counts


@dataclass(frozen=True, slots=True)
class _Cell:
    estimate: Estimate
    slice: str
    mask: Floats


def _trial_rows(panel: Panel, panels: Sequence[Panel], resamples: int, seed: int) -> Iterator[MetricRow]:
    yield from _trial_figures(panel)
    if not panel.n:
        return
    judge = "+".join(sorted({record.judgement.judge for record in panel.records})) or None
    yield from _sampled(panel, [*_estimates(panel), *routing_estimates(panel, panels)], judge, resamples, seed)
    second, estimates = second_judge(panel)
    yield from _sampled(panel, estimates, second, resamples, seed)


def _sampled(
    panel: Panel, estimates: Iterable[Estimate], judge: str | None, resamples: int, seed: int
) -> Iterator[MetricRow]:
    """Rows of what is averaged over questions."""
    cells = list(_cells(panel, estimates))
    measurable = [cell for cell in cells if not cell.estimate.reason]
    kept, masks = [cell.estimate for cell in measurable], [cell.mask for cell in measurable]
    found = figures(kept, panel.cluster, masks, resamples=resamples, seed=seed)
    weak = [
        i
        for i, (cell, figure) in enumerate(zip(measurable, found, strict=True))
        if figure is not None and few(figure) and (cell.slice == "all" or figure.clusters < 2)
    ]
    each = np.arange(panel.n, dtype=np.int64)
    by_question = figures([kept[i] for i in weak], each, [masks[i] for i in weak], resamples=resamples, seed=seed)
    spare = dict(zip(weak, by_question, strict=True))
    for i, (cell, figure) in enumerate(zip(measurable, found, strict=True)):
        if figure is None:
            continue
        beside = spare.get(i)
        shown = beside if beside is not None and figure.clusters < 2 else figure
        yield _row(panel, cell, shown, judge, ("few_clusters",) if few(figure) else ())
        if beside is not None and cell.slice == "all":
            yield _row(panel, _Cell(cell.estimate, BY_QUESTION, cell.mask), beside, judge, ("few_clusters",))
    for cell in cells:
        if cell.estimate.reason and cell.slice == "all":
            yield _empty(panel, cell.estimate.metric, cell.estimate.reason)


def _cells(panel: Panel, estimates: Iterable[Estimate]) -> Iterator[_Cell]:
    slices: dict[str, Floats] = {}
    for name in ("category", "language"):
        values = [str(getattr(label, name)) for label in panel.labels]
        for value in sorted(set(values) - {""}):
            slices[f"{name}={value}"] = np.array([float(v == value) for v in values])
    sound = np.array([float(not label.contested) for label in panel.labels])
    if not sound.all():
        slices["contested=no"] = sound
    for estimate in estimates:
        yield _Cell(estimate, estimate.slice, np.ones(panel.n))
        if estimate.sliced and not estimate.reason:
            for name, mask in slices.items():
                yield _Cell(estimate, name, mask)


def _estimates(panel: Panel) -> Iterator[Estimate]:
    for estimate in _every_estimate(panel):
        reason = unknown(panel.info, estimate.metric)
        yield replace(estimate, reason=reason) if reason else estimate


def _every_estimate(panel: Panel) -> Iterator[Estimate]:
    yield from outcome_estimates(panel)
    yield from wrong_memory_estimates(panel)
    yield citation_estimate(panel)
    yield leak_estimate(panel)
    yield from retrieval_estimates(panel)
    yield from vector_estimates(panel)
    yield from gate_estimates(panel)
    yield from token_estimates(panel)
    yield from confidence_estimates(panel)


def _trial_figures(panel: Panel) -> Iterator[MetricRow]:
    """Rows of what is counted or measured as a whole rather than averaged over questions."""
    info = panel.info
    if not panel.n:
        yield _empty(panel, "accuracy", "no question was asked")
    else:
        leaks = sum(record.judgement.leaks for record in panel.records)
        closed = unknown(info, "tenant_leaks")
        yield _empty(panel, "tenant_leaks", closed) if closed else _plain(panel, "tenant_leaks", float(leaks), panel.n)
        without = sum(not label.evidence for label in panel.labels)
        yield _plain(panel, "questions_without_evidence", float(without), panel.n)
        for metric, value in trial_figures(panel):
            yield _plain(panel, metric, value, panel.n)
        for metric, found in latency_percentiles(panel):
            yield _percentile(panel, metric, found)
        if not called_a_model(panel.records):
            yield _empty(panel, COST, unknown(info, COST) or "no model was called")
    yield _percentile(panel, "write_p95_ms", percentile(info.write_ms, 95), "no write was timed")
    for metric in ("ingest_s", "index_mb", "peak_rss_mb", "other_work_cores"):
        measured = getattr(info, metric)
        reason = unknown(info, metric) or ("not measured" if measured is None else "")
        yield _empty(panel, metric, reason) if reason else _plain(panel, metric, measured, 1)


def _row(panel: Panel, cell: _Cell, figure: Figure, judge: str | None, extra: tuple[str, ...]) -> MetricRow:
    estimate = cell.estimate
    missing = (f"incomplete:{panel.missing}",) if panel.missing else ()
    row = _plain(panel, estimate.metric, figure.value, figure.n, cell.slice)
    return row.model_copy(
        update={
            "low": _tidy(figure.interval.low),
            "high": _tidy(figure.interval.high),
            "judge": judge if estimate.judged else None,
            "status": ";".join((*estimate.flags, *extra, *missing)) or "ok",
        }
    )


def _percentile(panel: Panel, metric: str, found: Percentile, empty: str = "") -> MetricRow:
    reason = unknown(panel.info, metric)
    if not reason and found.value is None and found.n == 0:
        said = found.status.partition("unmeasurable:")[2]
        reason = empty or said or "no question was answered"
    if reason:
        return _empty(panel, metric, reason)
    row = _plain(panel, metric, found.value, found.n)
    return row.model_copy(update={"low": found.low, "high": found.high, "status": found.status})


def _plain(panel: Panel, metric: str, value: float | None, n: int, slice: str = "all") -> MetricRow:
    info = panel.info
    return MetricRow(
        trial=info.trial,
        system=info.system,
        params=info.params,
        dataset=info.dataset,
        slice=slice,
        metric=metric,
        value=None if value is None else _tidy(value),
        n=n,
    )


def _empty(panel: Panel, metric: str, reason: str) -> MetricRow:
    return _plain(panel, metric, None, 0).model_copy(update={"status": f"unmeasurable:{reason}"})


def _tidy(value: float) -> float:
    # Sums may differ in the last bit between processors; files must not.
    return float(f"{value:.12g}")


def _suspect(row: MetricRow) -> MetricRow:
    status = "adapter_suspect" if row.status == "ok" else f"{row.status};adapter_suspect"
    return row.model_copy(update={"status": status})
