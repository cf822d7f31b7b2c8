"""The charts of a report. Each takes plain numbers and labels and gives back a matplotlib figure.

Object API only (no pyplot, no global state), every label through ``drawable``, no title (captions belong to the page).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from memtrial.reports.figures.canvas import COLOUR
from memtrial.reports.figures.fonts import drawable, font

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH = 9.6
_BODY, _SMALL, _TINY = 9.5, 8.5, 7.0
_PER_TRIAL = 10
_BANDS = 3
_MARKERS = "os^DvPX<>*"
_DASHES: tuple[Any, ...] = ("-", "--", "-.", ":", (0, (5, 1, 1, 1)))


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


def trial_colour(index: int) -> str:
    """Return the colour of the trial at a place in the plan."""
    return COLOUR[f"t-{index % _PER_TRIAL}"]


def outcome_bars(labels: Sequence[str], counts: Sequence[Sequence[int]], outcomes: Sequence[tuple[str, str]]) -> Figure:
    """Draw one stacked bar per trial over all its planned questions.

    Args:
        labels: one per trial.
        counts: per trial, one count per outcome; each row sums to the planned questions.
        outcomes: (name of its theme colour without ``o-``, label) in stacking order.
    """
    left = _label_width(labels)
    height = 0.62 + 0.36 * len(labels) + 0.3
    figure = _figure(height)
    axes = _axes(figure, left, 0.3, 0.62, 0.34, height)
    for place, row in enumerate(counts):
        total, start = sum(row) or 1, 0.0
        for (name, _), count in zip(outcomes, row, strict=True):
            share = count / total
            if count == 0:
                continue
            axes.barh(place, share, 0.66, left=start, color=_outcome(name), edgecolor=COLOUR["paper"], linewidth=0.8)
            if share >= 0.012 + 0.013 * len(str(count)):
                ink = (
                    COLOUR["paper"]
                    if name == "error"
                    else "#ffffff"
                    if name in {"correct", "wrong_memory"}
                    else "#101418"
                )
                _text(axes, start + share / 2, place, str(count), ink, _SMALL, ha="center", va="center")
            start += share
    _category_axis(axes, labels)
    _share_axis(axes)
    _legend_squares(figure, [(_outcome(name), label) for name, label in outcomes], left, height)
    return figure


def intervals(labels: Sequence[str], panels: Sequence[Panel], colours: Sequence[int] | None = None) -> Figure:
    """Draw point and interval of several metrics side by side, one row per trial, one panel per metric."""
    left = _label_width(labels)
    height = 0.46 + 0.32 * len(labels) + 0.3
    figure = _figure(height)
    gap = 0.42
    width = (WIDTH - left - 0.3 - gap * (len(panels) - 1)) / len(panels)
    for index, panel in enumerate(panels):
        x0 = left + index * (width + gap)
        axes = figure.add_axes((x0 / WIDTH, 0.34 / height, width / WIDTH, (height - 0.46 - 0.34) / height))
        _plain(axes)
        if panel.scale == "log":
            axes.set_xscale("log")
        for place, point in enumerate(panel.points):
            colour = trial_colour(colours[place] if colours else place)
            if point.value is None or (panel.scale == "log" and point.value <= 0):
                axes.text(0.02, place, "—", transform=axes.get_yaxis_transform(), va="center", color=COLOUR["muted"],
                          fontproperties=font(_BODY))  # fmt: skip
                continue
            if point.low is not None and point.high is not None:
                low = max(point.low, point.value * 0.05) if panel.scale == "log" else point.low
                axes.plot(
                    [low, point.high], [place, place], color=colour, linewidth=2.2, solid_capstyle="butt", alpha=0.55
                )
            axes.plot([point.value], [place], "o", color=colour, markersize=5.5, clip_on=False, zorder=5)
        _category_axis(axes, labels if index == 0 else [""] * len(labels))
        if panel.scale == "share":
            _share_axis(axes)
        elif panel.scale == "log":
            _log_axis(
                axes, [p for other in panels if other.scale == "log" for p in other.points if p.value is not None]
            )
        else:
            axes.set_xlim(left=0)
            _number_axis(axes, "x")
        axes.grid(axis="x", color=COLOUR["line"], linewidth=0.7)
        figure.text(x0 / WIDTH, 1 - 0.22 / height, drawable(panel.title), fontproperties=font(_BODY), color=COLOUR["ink"],
                    parse_math=False)  # fmt: skip
    return figure


def curves(panels: Sequence[tuple[str, Sequence[Line], str]], x_label: str, ticks: Sequence[tuple[float, str]], *,
           log_x: bool = False, steps: bool = False) -> Figure:  # fmt: skip
    """Draw lines with interval bands over a common x axis, one panel per metric, one legend for all.

    Args:
        panels: (title, lines, scale as in ``Panel``).
        x_label: what x is.
        ticks: (place, label) on the x axis.
        log_x: logarithmic x.
        steps: draw as steps, for axes whose values add up one after another.
    """
    names = list(dict.fromkeys((line.label, line.colour) for _, lines, _ in panels for line in lines))
    columns = 3 if len(panels) in {3, 5, 6} else min(2, len(panels))
    rows = -(-len(panels) // columns)
    legend_rows = -(-len(names) // 4)
    top, panel_height, under = 0.14 + 0.22 * legend_rows, 2.35 if columns < 3 else 2.0, 0.62
    height = top + rows * (panel_height + under)
    figure = _figure(height)
    gap, left = 0.62, 0.55
    width = (WIDTH - left - 0.2 - gap * (columns - 1)) / columns
    for index, (title, lines, scale) in enumerate(panels):
        x0 = left + (index % columns) * (width + gap)
        y0 = height - top - (index // columns + 1) * (panel_height + under) + under
        axes = figure.add_axes((x0 / WIDTH, y0 / height, width / WIDTH, (panel_height - 0.3) / height))
        _plain(axes)
        if log_x:
            axes.set_xscale("log")
        for place, line in enumerate(lines):
            # Bands of many lines hide each other: then whiskers, side by side.
            dodge = None if len(lines) <= _BANDS else (place - (len(lines) - 1) / 2) * 0.16 / len(lines)
            _draw_line(axes, line, steps, dodge, log_x)
        axes.set_xticks([x for x, _ in ticks])
        axes.set_xticklabels([drawable(name, 18) for _, name in ticks], fontproperties=font(_SMALL), parse_math=False)
        axes.minorticks_off()
        axes.tick_params(axis="x", length=3, color=COLOUR["line"], labelcolor=COLOUR["muted"])
        if scale == "share":
            _fit_share(axes, lines)
        else:
            axes.set_ylim(bottom=0)
            _number_axis(axes, "y")
        axes.grid(axis="y", color=COLOUR["line"], linewidth=0.7)
        axes.set_xlabel(drawable(x_label, 60), fontproperties=font(_SMALL), color=COLOUR["muted"], parse_math=False)
        figure.text((x0 - 0.4) / WIDTH, (y0 + panel_height - 0.2) / height, drawable(title, 60), fontproperties=font(_BODY),
                    color=COLOUR["ink"], parse_math=False)  # fmt: skip
    _legend_lines(figure, names, 0.15, height)
    return figure


def heatmap(
    rows: Sequence[str], columns: Sequence[str], points: Sequence[Sequence[Point]], *, bad: bool = False
) -> Figure:
    """Draw shares as shaded cells with value and interval in percent; ``bad`` shades in the colour of wrong memory."""
    from matplotlib.patches import Rectangle

    left = _label_width(rows)
    slanted = len(columns) > 6
    top = 0.3 + (0.05 * max(len(drawable(c, 24)) for c in columns) if slanted else 0)
    height = top + 0.42 * len(rows) + 0.08
    figure = _figure(height)
    axes = _axes(figure, left, 0.95 if slanted else 0.15, top, 0.08, height)
    base = _rgb(COLOUR["o-wrong_memory" if bad else "o-correct"])
    for y, row in enumerate(points):
        for x, point in enumerate(row):
            share = 0.0 if point.value is None else max(0.0, min(1.0, point.value))
            axes.add_patch(Rectangle((x - 0.48, y - 0.45), 0.96, 0.9, color=(*base, 0.05 + 0.5 * share), linewidth=0))
            if point.value is None:
                _text(axes, x, y, "—", COLOUR["muted"], _SMALL, ha="center", va="center")
                continue
            _text(axes, x, y - 0.14, f"{point.value * 100:.0f}", COLOUR["ink"], _SMALL, ha="center", va="center")
            if point.low is not None and point.high is not None:
                ends = f"{point.low * 100:.0f}–{point.high * 100:.0f}"
                _text(axes, x, y + 0.22, ends, COLOUR["ink"], _TINY, ha="center", va="center", alpha=0.72)
    _category_axis(axes, rows)
    axes.set_xlim(-0.5, len(columns) - 0.5)
    axes.set_xticks(range(len(columns)))
    axes.xaxis.tick_top()
    axes.set_xticklabels([drawable(c, 24) for c in columns], fontproperties=font(_SMALL), parse_math=False,
                         rotation=38 if slanted else 0, ha="left" if slanted else "center")  # fmt: skip
    axes.tick_params(axis="x", length=0, labelcolor=COLOUR["muted"], pad=1)
    return figure


def _figure(height: float) -> Figure:
    from matplotlib.figure import Figure

    return Figure(figsize=(WIDTH, height), dpi=144)


def _axes(figure: Figure, left: float, right: float, top: float, bottom: float, height: float) -> Axes:
    axes = figure.add_axes(
        (left / WIDTH, bottom / height, (WIDTH - left - right) / WIDTH, (height - top - bottom) / height)
    )
    _plain(axes)
    return axes


def _plain(axes: Axes) -> None:
    axes.set_facecolor("none")
    axes.set_axisbelow(True)
    for spine in axes.spines.values():
        spine.set_visible(False)


def _label_width(labels: Sequence[str]) -> float:
    """Inches for the longest label; a wide character counts twice. Browsers' fonts run wider than ours: one eighth more."""
    widest = max((sum(2 if ord(c) > 0x2E80 else 1 for c in drawable(label)) for label in labels), default=4)
    return min(3.4, 0.3 + widest * 0.076)


def _outcome(name: str) -> str:
    return COLOUR.get(f"o-{name}", COLOUR["line"])


def _rgb(colour: str) -> tuple[float, float, float]:
    return int(colour[1:3], 16) / 255, int(colour[3:5], 16) / 255, int(colour[5:7], 16) / 255


def _text(axes: Axes, x: float, y: float, text: str, colour: str, size: float, **place: Any) -> None:
    axes.text(x, y, drawable(text), color=colour, fontproperties=font(size), parse_math=False, **place)


def _category_axis(axes: Axes, labels: Sequence[str]) -> None:
    axes.set_ylim(len(labels) - 0.5, -0.5)
    axes.set_yticks(range(len(labels)))
    axes.set_yticklabels([drawable(label) for label in labels], fontproperties=font(_BODY), parse_math=False)
    axes.tick_params(axis="y", length=0, labelcolor=COLOUR["ink"], pad=6)


def _share_axis(axes: Axes) -> None:
    axes.set_xlim(0, 1)
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1])
    axes.set_xticklabels(["0", "25 %", "50 %", "75 %", "100 %"], fontproperties=font(_SMALL))
    axes.tick_params(axis="x", length=0, labelcolor=COLOUR["muted"], pad=4)


def _fit_share(axes: Axes, lines: Sequence[Line]) -> None:
    highest = max(
        (p.high if p.high is not None else p.value or 0.0 for line in lines for p in line.points), default=1.0
    )
    top = next(t for t in (0.1, 0.25, 0.5, 0.75, 1.0) if highest <= t or t == 1.0)
    axes.set_ylim(0, top * 1.02)
    ticks = [0, top / 2, top] if top < 0.5 else [t for t in (0, 0.25, 0.5, 0.75, 1.0) if t <= top]
    axes.set_yticks(ticks)
    axes.set_yticklabels(
        [f"{t * 100:.0f} %" if t * 100 % 1 == 0 else f"{t * 100:.1f} %" for t in ticks], fontproperties=font(_SMALL)
    )
    axes.tick_params(axis="y", length=0, labelcolor=COLOUR["muted"], pad=4)


def _number_axis(axes: Axes, which: Literal["x", "y"]) -> None:
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    axis = axes.xaxis if which == "x" else axes.yaxis
    axis.set_major_locator(MaxNLocator(4, steps=[1, 2, 2.5, 5, 10]))
    axis.set_major_formatter(FuncFormatter(lambda value, _: _short(value)))
    for label in axis.get_ticklabels():
        label.set_fontproperties(font(_SMALL))
    axes.tick_params(axis=which, length=0, labelcolor=COLOUR["muted"], pad=4)


def _log_axis(axes: Axes, points: Sequence[Point]) -> None:
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
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: _short(value)))
    for label in axes.get_xticklabels():
        label.set_fontproperties(font(_SMALL))
    axes.tick_params(axis="x", length=0, labelcolor=COLOUR["muted"], pad=4)


def _short(value: float) -> str:
    if abs(value) >= 10_000:
        return f"{value / 1000:g}k"
    return f"{value:g}"


def _draw_line(axes: Axes, line: Line, steps: bool, dodge: float | None, log_x: bool) -> None:
    known = [(x, p, p.value) for x, p in zip(line.xs, line.points, strict=True) if p.value is not None]
    if not known:
        return
    colour = trial_colour(line.colour)
    xs = [x for x, _, _ in known]
    bounded = [(x, p.low, p.high) for x, p, _ in known if p.low is not None and p.high is not None]
    lows, highs = [low for _, low, _ in bounded], [high for _, _, high in bounded]
    if dodge is None and len(bounded) > 1:
        axes.fill_between([x for x, _, _ in bounded], lows, highs, color=colour, alpha=0.12, linewidth=0,
                          step="mid" if steps else None)  # fmt: skip
    elif bounded:
        spread = (max(xs) - min(xs)) or 1.0
        places = [x * (1 + (dodge or 0.0)) if log_x else x + (dodge or 0.0) * spread * 0.3 for x, _, _ in bounded]
        axes.vlines(places, lows, highs, color=colour, linewidth=1.3, alpha=0.5)
    axes.plot(xs, [value for _, _, value in known], color=colour, linewidth=1.7, marker=_MARKERS[line.colour % _PER_TRIAL], markersize=4.6,
              linestyle=_DASHES[line.colour // _PER_TRIAL % len(_DASHES)], drawstyle="steps-mid" if steps else "default",
              clip_on=False)  # fmt: skip


def _legend_squares(figure: Figure, entries: Sequence[tuple[str, str]], left: float, height: float) -> None:
    from matplotlib.patches import Rectangle

    widths = [0.4 + 0.074 * len(label) for _, label in entries]
    rows = 1 if sum(widths) <= WIDTH - left else 2
    per_row = -(-len(entries) // rows)
    columns = [max(widths[i::per_row]) for i in range(per_row)]
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
        figure.text((x + 0.18) / WIDTH, (y + 0.012) / height, drawable(label), fontproperties=font(_SMALL), color=COLOUR["muted"],
                    parse_math=False)  # fmt: skip


def _legend_lines(figure: Figure, entries: Sequence[tuple[str, int]], left: float, height: float) -> None:
    from matplotlib.lines import Line2D

    column = (WIDTH - left - 0.2) / 4
    for index, (label, colour) in enumerate(entries):
        x, y = left + index % 4 * column, height - 0.16 - index // 4 * 0.22
        ends = ([x / WIDTH, (x + 0.16) / WIDTH, (x + 0.32) / WIDTH], [y / height] * 3)
        figure.add_artist(Line2D(*ends, color=trial_colour(colour), marker=_MARKERS[colour % _PER_TRIAL], markersize=4.6, markevery=[1],
                                 linewidth=1.7, linestyle=_DASHES[colour // _PER_TRIAL % len(_DASHES)],
                                 transform=figure.transFigure))  # fmt: skip
        figure.text((x + 0.42) / WIDTH, y / height, drawable(label, 26), fontproperties=font(_SMALL), color=COLOUR["ink"], va="center",
                    parse_math=False)  # fmt: skip
