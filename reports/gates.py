"""The section "Gates": whether memory was looked up against whether the question needs it, a confusion matrix per system."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from memtrial.metrics.gates import GateConfusion, decision, gate_confusion
from memtrial.metrics.panel import Panel
from memtrial.reports.figures.canvas import Drawn, render
from memtrial.reports.figures.matrices import Matrix, matrices
from memtrial.reports.plots import file_name
from memtrial.reports.sections import Grid, Section, filled
from memtrial.reports.shares import share_of, show_share
from memtrial.reports.tables import make_cell
from memtrial.reports.view import DatasetView, View
from memtrial.reports.words import describe, heading, reason

_METRICS = ("invalid_lookup_rate", "missed_lookup_rate", "gate_balanced_accuracy", "lookups_avoided")
_COUNTS = ("looked up, needed", "looked up, needless", "skipped, needed", "skipped, needless", "undecided", "mean cost")
_DRAWN, _TITLE = 6, 38


def gates_section(view: View) -> Section:
    """Return the section; empty where no system decides whether to look memory up."""
    section = Section()
    for dataset in view.datasets:
        grid = None if dataset.is_variant else _grid(view, dataset)
        if grid is not None:
            section.grids.append(grid)
    if section.grids:
        section.lead = "Whether memory was looked up, against whether the question needs it."
    return section


def _grid(view: View, dataset: DatasetView) -> Grid | None:
    found: dict[str, GateConfusion] = {}
    rows = []
    for trial in dataset.labels:
        panel = view.panels[dataset.label, trial]
        counted = gate_confusion(panel.records)
        if counted is None:
            continue
        found[trial] = counted
        counts = (counted.looked_needed, counted.looked_needless, counted.skipped_needed, counted.skipped_needless)
        rows.append(
            [
                trial,
                *(f"{n:,}" for n in (*counts, counted.undecided)),
                _cost(view, panel),
                *(_shown(view, dataset, trial, metric) for metric in _METRICS),
            ]
        )
    if not rows:
        return None
    told = [f"{describe(m).title}: {describe(m).sentence}".rstrip(".") for m in _METRICS]
    why = dict.fromkeys(
        f"{describe(metric).title}: {reason(row.status)}"
        for trial in found
        for metric in _METRICS
        if (row := view.row(dataset.label, trial, metric)) is not None and row.value is None
    )
    head = ("system", *_COUNTS, *(heading(m) for m in _METRICS))
    cost_note = "Mean cost: a needless and a missed look-up each cost 1, spread over all questions"
    notes = (cost_note, *told, *why)
    return Grid(f"Looked up against needed, {dataset.label}", head, filled(rows), notes, _figure(dataset, found))


def _figure(dataset: DatasetView, found: Mapping[str, GateConfusion]) -> Drawn:
    """Draw the first few matrices that differ; variants that decide alike share one."""
    alike: dict[tuple[tuple[int, int], tuple[int, int]], list[str]] = {}
    for trial, one in found.items():
        counts = ((one.looked_needed, one.looked_needless), (one.skipped_needed, one.skipped_needless))
        alike.setdefault(counts, []).append(trial)
    drawn = [Matrix(_together(trials), counts) for counts, trials in alike.items()]
    title = f"Looked up or skipped against needed or not, by system on {dataset.label}"
    if len(drawn) > _DRAWN:
        title += f", the first {_DRAWN} of {len(drawn)} that differ"
    figure = matrices(drawn[:_DRAWN], ("looked up", "skipped"), ("needed", "not needed"))
    return render(figure, file_name(dataset, "gates"), title)


def _together(trials: Sequence[str]) -> str:
    names = ", ".join(trials)
    return (
        names if len(trials) == 1 or len(names) <= _TITLE else f"{trials[0][: _TITLE - 12]} and {len(trials) - 1} alike"
    )


def _cost(view: View, panel: Panel) -> str:
    looked = [decision(record) for record in panel.records]
    needed = [record.labels.needs_memory for record in panel.records]
    wrong = np.array([done is not None and done != due for done, due in zip(looked, needed, strict=True)], dtype=float)
    return show_share(share_of(panel, wrong, np.ones(len(wrong)), view.resamples), plain=True)


def _shown(view: View, dataset: DatasetView, trial: str, metric: str) -> str:
    cell = make_cell(view.row(dataset.label, trial, metric))
    return f"{cell.text} ({cell.interval})" if cell.interval else cell.text
