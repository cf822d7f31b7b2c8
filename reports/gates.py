"""The section "Gates": whether memory was looked up against whether the question needs it, a confusion matrix per system."""

from __future__ import annotations

from memtrial.metrics.gates import gate_confusion
from memtrial.reports.sections import DASH, Grid, Section, filled
from memtrial.reports.tables import make_cell
from memtrial.reports.view import DatasetView, View
from memtrial.reports.words import describe

_METRICS = ("invalid_lookup_rate", "missed_lookup_rate", "gate_balanced_accuracy", "lookups_avoided")
_COUNTS = ("looked up, needed", "looked up, needless", "skipped, needed", "skipped, needless", "undecided", "mean cost")


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
    rows = []
    for trial in dataset.trials:
        counted = gate_confusion(view.records.get((dataset.label, trial.trial), []))
        if counted is None:
            continue
        cost = counted.expected_cost()
        rows.append(
            [
                trial.trial,
                f"{counted.looked_needed:,}",
                f"{counted.looked_needless:,}",
                f"{counted.skipped_needed:,}",
                f"{counted.skipped_needless:,}",
                f"{counted.undecided:,}",
                DASH if cost is None else f"{cost:.3f}",
                *(_shown(view, dataset, trial.trial, metric) for metric in _METRICS),
            ]
        )
    if not rows:
        return None
    told = [f"{describe(m).title}: {describe(m).sentence}".rstrip(".") for m in _METRICS]
    head = ("system", *_COUNTS, *(describe(m).title for m in _METRICS))
    cost_note = "Mean cost: a needless and a missed look-up each cost 1, spread over all questions"
    return Grid(f"Looked up against needed, {dataset.label}", head, filled(rows), (cost_note, *told))


def _shown(view: View, dataset: DatasetView, trial: str, metric: str) -> str:
    cell = make_cell(view.row(dataset.label, trial, metric))
    return f"{cell.text} ({cell.interval})" if cell.text != DASH and cell.interval else cell.text
