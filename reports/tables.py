"""Tables in which a column holds one metric and a value never stands without its interval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from memtrial.metrics.records import MetricRow
from memtrial.reports.view import DatasetView, View
from memtrial.reports.words import Column, describe, listing, number, reason, span, unsampled

DASH = "—"


@dataclass(frozen=True, slots=True)
class Cell:
    """What one cell shows.

    Attributes:
        text: the value, without unit.
        interval: its interval, or why it has none.
        second: the interval that takes questions as independent, where clusters are few.
        why: what the reader must know of this value.
        bar: left, width and place of the dot, in percent, where the value is a share.
        share: the value in [0, 1] where it is one.
    """

    text: str
    interval: str = ""
    second: str = ""
    why: str = ""
    bar: tuple[float, float, float] | None = None
    share: float | None = None


@dataclass
class MetricTable:
    """Rows are trials, columns are metrics of one data set (or slices of one metric)."""

    columns: tuple[Column, ...]
    rows: list[tuple[str, list[Cell]]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, label: str, rows: Sequence[MetricRow | None], second: Sequence[MetricRow | None] = ()) -> None:
        """Append a trial's values, one per column.

        Args:
            label: of the trial.
            rows: one per column; None where the run has no such row.
            second: rows with the question-level interval, one per column.

        Raises:
            ValueError: a value belongs to another metric, slice or data set than its column.
        """
        if len(rows) != len(self.columns):
            raise ValueError(f"{label}: {len(rows)} values for {len(self.columns)} columns")
        for column, row in zip(self.columns, rows, strict=True):
            found = row and (row.metric, row.slice, row.dataset)
            if found and found != (column.metric, column.slice, column.dataset):
                raise ValueError(f"{label}: {found} may not stand in the column of {column.metric} of {column.slice!r}")
        beside = second or [None] * len(rows)
        self.rows.append((label, [make_cell(r, s) for r, s in zip(rows, beside, strict=True)]))

    def finish(self) -> MetricTable:
        """Drop columns in which no trial has a value, and gather the reasons for missing ones as notes."""
        kept = [i for i in range(len(self.columns)) if any(cells[i].text != DASH for _, cells in self.rows)]
        columns = tuple(self.columns[i] for i in kept)
        rows = [(label, [cells[i] for i in kept]) for label, cells in self.rows]
        return MetricTable(columns, rows, [*_notes(self), *_used_unshown(self)])

    def definitions(self) -> list[tuple[str, str]]:
        """Return (title, definition) of every column."""
        return list(dict.fromkeys((describe(c.metric).title, describe(c.metric).sentence) for c in self.columns))


def metric_table(view: View, dataset: DatasetView, metrics: Sequence[str]) -> MetricTable:
    """Return a table of metrics (columns) over trials (rows), empty columns left out."""
    label = dataset.label
    table = MetricTable(tuple(Column(m, label) for m in metrics))
    for trial in dataset.labels:
        table.add(
            trial, [view.row(label, trial, m) for m in metrics], [view.by_question(label, trial, m) for m in metrics]
        )
    return table.finish()


def slice_table(view: View, dataset: DatasetView, metric: str, slices: Sequence[str]) -> MetricTable:
    """Return one metric over slices (columns) and trials (rows)."""
    table = MetricTable(tuple(Column(metric, dataset.label, s) for s in slices))
    for trial in dataset.labels:
        table.add(trial, [view.row(dataset.label, trial, metric, s) for s in slices])
    return table.finish()


def make_cell(row: MetricRow | None, second: MetricRow | None = None) -> Cell:
    """Format a metric row; a missing or unmeasurable value is a dash with its reason."""
    if row is None:
        return Cell(DASH)
    if row.value is None or not math.isfinite(row.value):
        return Cell(DASH, why=reason(row.status))
    metric, low, high = row.metric, row.low, row.high
    if low is None or high is None:
        return Cell(number(row.value, metric), unsampled(metric), why=reason(row.status))
    bar = None
    share = row.value if describe(metric).unit == "%" else None
    if share is not None:
        ends = [max(0.0, min(1.0, x)) * 100 for x in (low, high, row.value)]
        bar = (round(ends[0], 2), round(ends[1] - ends[0], 2), round(ends[2], 2))
    other = ""
    if second is not None and second.low is not None and second.high is not None:
        other = span(second.low, second.high, metric)
    return Cell(number(row.value, metric), span(low, high, metric), other, reason(row.status), bar, share)


def _used_unshown(table: MetricTable) -> list[str]:
    """Explain a wrong memory that was used more often than one was shown, where the table says so."""
    places = {column.metric: i for i, column in enumerate(table.columns) if column.slice == "all"}
    if not places.keys() >= {"wrong_memory_rate", "wrong_memory_exposure"}:
        return []
    used, shown = places["wrong_memory_rate"], places["wrong_memory_exposure"]
    if not any((cells[used].share or 0.0) > (cells[shown].share or 0.0) for _, cells in table.rows):
        return []
    both = f"{describe('wrong_memory_rate').title} can be more than {describe('wrong_memory_exposure').title}"
    return [f"{both}: a message with a lure that is evidence too does not count as shown"]


def _notes(table: MetricTable) -> list[str]:
    """Say each reason once, with the columns and systems that it concerns where it does not concern all."""
    found: dict[str, dict[str, list[str]]] = {}
    for label, cells in table.rows:
        for column, cell in zip(table.columns, cells, strict=True):
            for why in cell.why.split("; ") if cell.why else ():
                # Said once for the whole data set, beside its name.
                if why != reason("few_clusters"):
                    found.setdefault(why, {}).setdefault(column.title, []).append(label)
    notes = []
    for why, columns in found.items():
        by_labels: dict[tuple[str, ...], list[str]] = {}
        for head, labels in columns.items():
            by_labels.setdefault(tuple(labels), []).append(head)
        for whose, heads in by_labels.items():
            what = "every column" if len(heads) == len(table.columns) > 1 else listing(heads)
            whom = "" if len(whose) == len(table.rows) else f" of {listing(whose)}"
            notes.append(f"{what}{whom}: {why}")
    return notes
