"""Sections made of sentences and plain tables, the same in HTML and in Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from memtrial.reports.figures.canvas import Drawn

DASH = "—"


@dataclass(frozen=True, slots=True)
class Grid:
    """A table of texts; the first column names the row. ``figure`` stands above it, ``notes`` stand below."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()
    figure: Drawn | None = None


@dataclass(slots=True)
class Section:
    """What stands under one heading. Empty where there is nothing to say."""

    lead: str = ""
    grids: list[Grid] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        """Whether there is anything to show."""
        return bool(self.grids or self.notes)


def percent(value: float | None) -> str:
    """Write a share."""
    return DASH if value is None else f"{value:.1%}"


class Measured(Protocol):
    """A share with its intervals over clusters and over questions."""

    value: float | None
    low: float | None
    high: float | None
    low_by_question: float | None
    high_by_question: float | None


def around(value: float | None, low: float | None, high: float | None) -> str:
    """Write a share with its interval, which it never stands without where there is one."""
    if value is None:
        return DASH
    return percent(value) if low is None or high is None else f"{percent(value)} ({percent(low)}–{percent(high)})"


def measured(found: Measured, *, few: bool) -> str:
    """Write a share with its interval, and beside it the one by question where clusters are few."""
    text = around(found.value, found.low, found.high)
    if few and found.low_by_question is not None and found.high_by_question is not None:
        text += f"; by question {percent(found.low_by_question)}–{percent(found.high_by_question)}"
    return text


def filled(rows: Sequence[Sequence[str]]) -> tuple[tuple[str, ...], ...]:
    """Return rows as a grid holds them."""
    return tuple(tuple(row) for row in rows)
