"""The section "When to choose which": typed memories, search in the raw log or both, by what this run measured."""

from __future__ import annotations

from collections.abc import Sequence

from memtrial.metrics.choosing import Choice, Measured, architectures, choices
from memtrial.metrics.records import TrialInfo
from memtrial.reports.sections import DASH, Grid, Section, filled
from memtrial.reports.view import DatasetView, View
from memtrial.reports.words import heading, listing, number, plural, span

_NOTES = (
    "One leads where a paired test over whole clusters tells it from the others (Holm, 5 %); else it is not decidable here",
    "What a run cannot measure stands in no row: effort to define a schema, and to keep it as the domain moves",
)


def choose_section(view: View) -> Section:
    """Return the section; empty unless two of the architectures were run on the same data."""
    section = Section()
    for dataset in view.datasets:
        if not dataset.is_variant and (grid := _grid(view, dataset)) is not None:
            section.grids.append(grid)
    if section.grids:
        section.lead = "Each criterion with the figure that measures it here, and who leads."
    return section


def _grid(view: View, dataset: DatasetView) -> Grid | None:
    chosen = architectures(dataset.trials, dataset.label)
    if not chosen:
        return None
    made = choices(view.run.records, chosen, resamples=view.resamples)
    names = [t.trial for t in chosen]
    rows = [[_title(choice), *(_cell(choice, name) for name in names), _leader(choice)] for choice in made]
    notes = (*_NOTES, *filter(None, [replayed(chosen)]))
    return Grid(f"When to choose which, {dataset.label}", ("criterion", *names, "who leads"), filled(rows), notes)


def replayed(trials: Sequence[TrialInfo]) -> str:
    """Say how much of the time to take in a log was measured by earlier runs, whose embeddings were kept; "" for none."""
    parts = [
        f"{t.trial} {t.ingest_replayed_s:,.1f} of {t.ingest_s:,.1f} s"
        for t in trials
        if t.ingest_s and t.ingest_replayed_s
    ]
    if not parts:
        return ""
    return (
        f"Of the time to take in the log, embeddings that were kept count with what they took when they were made, on that day's machine: {listing(parts)}; "
        "a new MEMTRIAL_CACHE_DIR measures all of it anew"
    )


def _title(choice: Choice) -> str:
    criterion = choice.criterion
    n = max((cell.n for cell in choice.cells.values() if cell is not None), default=0)
    asked = f"; {plural(n, 'question')}" if n else ""
    return f"{criterion.title} ({heading(criterion.metric)}{asked})"


def _cell(choice: Choice, trial: str) -> str:
    cell: Measured | None = choice.cells.get(trial)
    if cell is None:
        return DASH
    metric = choice.criterion.metric
    shown = number(cell.value, metric)
    return shown if cell.low is None or cell.high is None else f"{shown} ({span(cell.low, cell.high, metric)})"


def _leader(choice: Choice) -> str:
    if choice.once:
        return f"{choice.leader}, measured once"
    if not choice.behind:
        return "not decidable"
    ahead = f"{choice.leader} leads"
    return (
        ahead
        if not choice.open
        else f"{choice.leader} before {listing(choice.behind)}; {listing(choice.open)} not decidable"
    )
