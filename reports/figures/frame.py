"""What the charts share: size, axes, legends. Everything is placed in inches, so that no layout engine decides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from memtrial.reports.figures.canvas import COLOUR
from memtrial.reports.figures.fonts import drawable, font
from memtrial.reports.figures.marks import Line, Point

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH = 9.6
BODY, SMALL, TINY = 9.5, 8.5, 7.0
PER_TRIAL = 10
MARKERS = "os^DvPX<>*"
DASHES: tuple[Any, ...] = ("-", "--", "-.", ":", (0, (5, 1, 1, 1)))


def trial_colour(index: int) -> str:
    """Return the colour of the trial at a place in the plan."""
    return COLOUR[f"t-{index % PER_TRIAL}"]


def new_figure(height: float) -> Figure:
    """Return an empty figure of the report's width; height in inches."""
    from matplotlib.figure import Figure

    return Figure(figsize=(WIDTH, height), dpi=144)


def new_axes(figure: Figure, left: float, right: float, top: float, bottom: float, height: float) -> Axes:
    """Return axes inside margins given in inches."""
    axes = figure.add_axes(
        (left / WIDTH, bottom / height, (WIDTH - left - right) / WIDTH, (height - top - bottom) / height)
    )
    plain(axes)
    return axes


def plain(axes: Axes) -> None:
    """Take away background and frame."""
    axes.set_facecolor("none")
    axes.set_axisbelow(True)
    for spine in axes.spines.values():
        spine.set_visible(False)


def label_width(labels: Sequence[str]) -> float:
    """Inches for the longest label; a wide character counts twice. Browsers' fonts run wider than ours: one eighth more."""
    widest = max((sum(2 if ord(c) > 0x2E80 else 1 for c in drawable(label)) for label in labels), default=4)
    return min(3.4, 0.3 + widest * 0.076)


def outcome_colour(name: str) -> str:
    """Return the colour of an outcome; what is no outcome (not run yet) is drawn as a line's grey."""
    return COLOUR.get(f"o-{name}", COLOUR["line"])


def rgb(colour: str) -> tuple[float, float, float]:
    """Return the parts of a colour in [0, 1]."""
    return int(colour[1:3], 16) / 255, int(colour[3:5], 16) / 255, int(colour[5:7], 16) / 255


def put_text(axes: Axes, x: float, y: float, text: str, colour: str, size: float, **place: Any) -> None:
    """Write a label in data coordinates."""
    axes.text(x, y, drawable(text), color=colour, fontproperties=font(size), parse_math=False, **place)


def category_axis(axes: Axes, labels: Sequence[str]) -> None:
    """Put one label per row on the y axis, first row on top."""
    axes.set_ylim(len(labels) - 0.5, -0.5)
    axes.set_yticks(range(len(labels)))
    axes.set_yticklabels([drawable(label) for label in labels], fontproperties=font(BODY), parse_math=False)
    axes.tick_params(axis="y", length=0, labelcolor=COLOUR["ink"], pad=6)


def share_axis(axes: Axes) -> None:
    """Let x run from 0 to 100 %."""
    axes.set_xlim(0, 1)
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1])
    axes.set_xticklabels(["0", "25 %", "50 %", "75 %", "100 %"], fontproperties=font(SMALL))
    axes.tick_params(axis="x", length=0, labelcolor=COLOUR["muted"], pad=4)


def fit_share(axes: Axes, lines: Sequence[Line]) -> None:
    """Let y run from 0 to a round share above the highest interval."""
    highest = max(
        (p.high if p.high is not None else p.value or 0.0 for line in lines for p in line.points), default=1.0
    )
    top = next(t for t in (0.1, 0.25, 0.5, 0.75, 1.0) if highest <= t or t == 1.0)
    axes.set_ylim(0, top * 1.02)
    ticks = [0, top / 2, top] if top < 0.5 else [t for t in (0, 0.25, 0.5, 0.75, 1.0) if t <= top]
    axes.set_yticks(ticks)
    axes.set_yticklabels(
        [f"{t * 100:.0f} %" if t * 100 % 1 == 0 else f"{t * 100:.1f} %" for t in ticks], fontproperties=font(SMALL)
    )
    axes.tick_params(axis="y", length=0, labelcolor=COLOUR["muted"], pad=4)


def number_axis(axes: Axes, which: Literal["x", "y"]) -> None:
    """Label an axis with a few round numbers."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    axis = axes.xaxis if which == "x" else axes.yaxis
    axis.set_major_locator(MaxNLocator(4, steps=[1, 2, 2.5, 5, 10]))
    axis.set_major_formatter(FuncFormatter(lambda value, _: short(value)))
    for label in axis.get_ticklabels():
        label.set_fontproperties(font(SMALL))
    axes.tick_params(axis=which, length=0, labelcolor=COLOUR["muted"], pad=4)


def log_axis(axes: Axes, points: Sequence[Point]) -> None:
    """Let x run over the decades of all points."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    ends = [v for p in points for v in (p.value, p.low, p.high) if v is not None and v > 0]
    low, high = (min(ends), max(ends)) if ends else (1.0, 10.0)
    decades = [10.0**e for e in range(-5, 9) if low / 10 <= 10.0**e <= high * 10]
    axes.set_xlim(
        min(low, decades[1] if len(decades) > 2 else low) * 0.8,
        max(high, decades[-2] if len(decades) > 2 else high) * 1.25,
    )
    axes.xaxis.set_major_locator(FixedLocator(decades[:: 1 + (len(decades) - 1) // 6]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: short(value)))
    for label in axes.get_xticklabels():
        label.set_fontproperties(font(SMALL))
    axes.tick_params(axis="x", length=0, labelcolor=COLOUR["muted"], pad=4)


def short(value: float) -> str:
    """Write a number on an axis."""
    if abs(value) >= 10_000:
        return f"{value / 1000:g}k"
    return f"{value:g}"


def legend_columns(labels: Sequence[str], left: float) -> list[float]:
    """Return the widths of a legend's columns in inches: as many labels to a row as fit, in rows of equal length."""
    widths = [0.4 + 0.074 * len(label) for label in labels]
    for rows in range(1, len(labels) + 1):
        per_row = -(-len(labels) // rows)
        columns = [max(widths[i::per_row]) for i in range(per_row)]
        if sum(widths if rows == 1 else columns) <= WIDTH - left or per_row == 1:
            return columns
    return []


def legend_squares(figure: Figure, entries: Sequence[tuple[str, str]], left: float, height: float) -> None:
    """Draw a legend of coloured squares, in as many rows as it needs."""
    from matplotlib.patches import Rectangle

    columns = legend_columns([label for _, label in entries], left)
    per_row = len(columns)
    for index, (colour, label) in enumerate(entries):
        x, y = left + sum(columns[: index % per_row]), height - 0.2 - 0.2 * (index // per_row)
        box = Rectangle(
            (x / WIDTH, y / height),
            0.12 / WIDTH,
            0.12 / height,
            color=colour,
            transform=figure.transFigure,
            linewidth=0,
        )
        figure.add_artist(box)
        figure.text((x + 0.18) / WIDTH, (y + 0.012) / height, drawable(label), fontproperties=font(SMALL), color=COLOUR["muted"],
                    parse_math=False)  # fmt: skip


def legend_lines(figure: Figure, entries: Sequence[tuple[str, int]], left: float, height: float) -> None:
    """Draw a legend of lines with markers, four to a row."""
    from matplotlib.lines import Line2D

    column = (WIDTH - left - 0.2) / 4
    for index, (label, colour) in enumerate(entries):
        x, y = left + index % 4 * column, height - 0.16 - index // 4 * 0.22
        ends = ([x / WIDTH, (x + 0.16) / WIDTH, (x + 0.32) / WIDTH], [y / height] * 3)
        figure.add_artist(Line2D(*ends, color=trial_colour(colour), marker=MARKERS[colour % PER_TRIAL], markersize=4.6, markevery=[1],
                                 linewidth=1.7, linestyle=DASHES[colour // PER_TRIAL % len(DASHES)],
                                 transform=figure.transFigure))  # fmt: skip
        figure.text((x + 0.42) / WIDTH, y / height, drawable(label, 26), fontproperties=font(SMALL), color=COLOUR["ink"], va="center",
                    parse_math=False)  # fmt: skip
