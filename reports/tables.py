"""Tables in which a column holds one metric and a value never stands without its interval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from memtrial.metrics.records import MetricRow
from memtrial.reports.words import Column, describe, number, reason


@dataclass(frozen=True, slots=True)
class Cell:
    """What one cell shows: ``text`` large, ``interval`` small, ``why`` on demand; positions of the bar in percent."""

    text: str
    interval: str = ""
    why: str = ""
    bar: tuple[float, float, float] | None = None
    share: float | None = None


@dataclass
class MetricTable:
    """Rows are trials, columns are metrics of one data set."""

    columns: tuple[Column, ...]
    rows: list[tuple[str, list[Cell]]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, label: str, rows: Sequence[MetricRow | None]) -> None:
        """Append a trial's values, one per column.

        Raises:
            ValueError: a value belongs to another metric, slice or data set than its column.
        """
        if len(rows) != len(self.columns):
            raise ValueError(f"{label}: {len(rows)} values for {len(self.columns)} columns")
        for column, row in zip(self.columns, rows, strict=True):
            if row is not None and (row.metric, row.slice, row.dataset) != (
                column.metric,
                column.slice,
                column.dataset,
            ):
                raise ValueError(
                    f"{label}: {row.metric} of {row.slice!r} in {row.dataset!r} may not stand in the column "
                    f"of {column.metric} of {column.slice!r} in {column.dataset!r}"
                )
        cells = [self._cell(row, column) for column, row in zip(self.columns, rows, strict=True)]
        self.rows.append((label, cells))

    def without_empty(self) -> MetricTable:
        """Return the table without columns in which no trial has a value or a reason for having none."""
        kept = [
            i for i in range(len(self.columns)) if any(cells[i].text != "—" or cells[i].why for _, cells in self.rows)
        ]
        columns = tuple(self.columns[i] for i in kept)
        return MetricTable(columns, [(label, [cells[i] for i in kept]) for label, cells in self.rows], self.notes)

    def _cell(self, row: MetricRow | None, column: Column) -> Cell:
        cell = make_cell(row)
        if cell.why and cell.text == "—":
            note = f"{column.heading}: {cell.why}"
            if note not in self.notes:
                self.notes.append(note)
        return cell


def make_cell(row: MetricRow | None) -> Cell:
    """Format a metric row; a missing or unmeasurable value is a dash with its reason."""
    if row is None:
        return Cell("—")
    if row.value is None or not math.isfinite(row.value):
        return Cell("—", why=reason(row.status))
    unit = describe(row.metric).unit
    low, high = row.low, row.high
    if low is None or high is None:
        return Cell(number(row.value, unit), "no interval", reason(row.status))
    bar = None
    if unit == "share":
        ends = [max(0.0, min(1.0, x)) * 100 for x in (low, high, row.value)]
        bar = (round(ends[0], 2), round(ends[1] - ends[0], 2), round(ends[2], 2))
    share = row.value if unit == "share" else None
    return Cell(number(row.value, unit), f"{number(low, unit)}–{number(high, unit)}", reason(row.status), bar, share)
