"""What a chart is given: points with intervals, panels of points, lines over x."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Point:
    """A value with its interval; None where it could not be measured."""

    value: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Panel:
    """One metric over all trials. ``scale`` is ``share`` (0 to 1), ``linear`` or ``log``."""

    title: str
    points: Sequence[Point]
    scale: str = "share"


@dataclass(frozen=True, slots=True)
class Line:
    """One metric of one trial or system over x."""

    label: str
    xs: Sequence[float]
    points: Sequence[Point]
    colour: int
