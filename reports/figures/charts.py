"""The charts of a report. Each takes plain numbers and labels and gives back a matplotlib figure.

Object API only (no pyplot, no global state), every label through ``drawable``, no title (captions belong to the page).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from memtrial.reports.figures import frame
from memtrial.reports.figures.canvas import COLOUR
from memtrial.reports.figures.fonts import drawable, font
from memtrial.reports.figures.marks import Line, Panel, Point

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_BANDS = 3


def outcome_bars(labels: Sequence[str], counts: Sequence[Sequence[int]], outcomes: Sequence[tuple[str, str]]) -> Figure:
    """Draw one stacked bar per trial over all its planned questions.

    Args:
        labels: one per trial.
        counts: per trial, one count per outcome; each row sums to the planned questions.
        outcomes: (name of its theme colour without ``o-``, label) in stacking order.
    """
    left = frame.label_width(labels)
    columns = frame.legend_columns([label for _, label in outcomes], left)
    top = 0.22 + 0.2 * max(2, -(-len(outcomes) // max(1, len(columns))))
    height = top + 0.36 * len(labels) + 0.3
    figure = frame.new_figure(height)
    axes = frame.new_axes(figure, left, 0.3, top, 0.34, height)
    for place, row in enumerate(counts):
        total, start = sum(row) or 1, 0.0
        for (name, _), count in zip(outcomes, row, strict=True):
            share = count / total
            if count == 0:
                continue
            axes.barh(
                place,
                share,
                0.66,
                left=start,
                color=frame.outcome_colour(name),
                edgecolor=COLOUR["paper"],
                linewidth=0.8,
            )
            if share >= 0.012 + 0.013 * len(str(count)):
                ink = (
                    COLOUR["paper"]
                    if name == "error"
                    else "#ffffff"
                    if name in {"correct", "wrong_memory", "unanswerable"}
                    else "#101418"
                )
                frame.put_text(axes, start + share / 2, place, str(count), ink, frame.SMALL, ha="center", va="center")
            start += share
    frame.category_axis(axes, labels)
    frame.share_axis(axes)
    frame.legend_squares(figure, [(frame.outcome_colour(name), label) for name, label in outcomes], left, height)
    return figure


def intervals(labels: Sequence[str], panels: Sequence[Panel], colours: Sequence[int] | None = None) -> Figure:
    """Draw point and interval of several metrics side by side, one row per trial, one panel per metric."""
    left = frame.label_width(labels)
    height = 0.46 + 0.32 * len(labels) + 0.3
    figure = frame.new_figure(height)
    gap = 0.42
    width = (frame.WIDTH - left - 0.3 - gap * (len(panels) - 1)) / len(panels)
    for index, panel in enumerate(panels):
        x0 = left + index * (width + gap)
        axes = figure.add_axes((x0 / frame.WIDTH, 0.34 / height, width / frame.WIDTH, (height - 0.46 - 0.34) / height))
        frame.plain(axes)
        if panel.scale == "log":
            axes.set_xscale("log")
        for place, point in enumerate(panel.points):
            colour = frame.trial_colour(colours[place] if colours else place)
            if point.value is None or (panel.scale == "log" and point.value <= 0):
                axes.text(0.02, place, "—", transform=axes.get_yaxis_transform(), va="center", color=COLOUR["muted"],
                          fontproperties=font(frame.BODY))  # fmt: skip
                continue
            if point.low is not None and point.high is not None:
                low = max(point.low, point.value * 0.05) if panel.scale == "log" else point.low
                axes.plot(
                    [low, point.high], [place, place], color=colour, linewidth=2.2, solid_capstyle="butt", alpha=0.55
                )
            axes.plot([point.value], [place], "o", color=colour, markersize=5.5, clip_on=False, zorder=5)
        frame.category_axis(axes, labels if index == 0 else [""] * len(labels))
        if panel.scale == "share":
            frame.share_axis(axes)
        elif panel.scale == "log":
            frame.log_axis(
                axes, [p for other in panels if other.scale == "log" for p in other.points if p.value is not None]
            )
        else:
            axes.set_xlim(left=0)
            frame.number_axis(axes, "x")
        axes.grid(axis="x", color=COLOUR["line"], linewidth=0.7)
        figure.text(x0 / frame.WIDTH, 1 - 0.22 / height, drawable(panel.title), fontproperties=font(frame.BODY), color=COLOUR["ink"],
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
    columns = 3 if len(panels) == 3 or len(panels) > 4 else min(2, len(panels))
    rows = -(-len(panels) // columns)
    legend_rows = -(-len(names) // 4)
    top, panel_height, under = 0.14 + 0.22 * legend_rows, 2.35 if columns < 3 else 2.0, 0.62
    height = top + rows * (panel_height + under)
    figure = frame.new_figure(height)
    gap, left = 0.62, 0.55
    width = (frame.WIDTH - left - 0.2 - gap * (columns - 1)) / columns
    for index, (title, lines, scale) in enumerate(panels):
        x0 = left + (index % columns) * (width + gap)
        y0 = height - top - (index // columns + 1) * (panel_height + under) + under
        axes = figure.add_axes((x0 / frame.WIDTH, y0 / height, width / frame.WIDTH, (panel_height - 0.3) / height))
        frame.plain(axes)
        if log_x:
            axes.set_xscale("log")
        for place, line in enumerate(lines):
            # Bands of many lines hide each other: then whiskers, side by side.
            dodge = None if len(lines) <= _BANDS else (place - (len(lines) - 1) / 2) * 0.16 / len(lines)
            _draw_line(axes, line, steps, dodge, log_x)
        # A metric that only one value has still stands in its place on the axis.
        axes.update_datalim([(x, 0.0) for x, _ in ticks], updatey=False)
        axes.autoscale_view(scaley=False)
        axes.set_xticks([x for x, _ in ticks])
        axes.set_xticklabels(
            [drawable(name, 18) for _, name in ticks], fontproperties=font(frame.SMALL), parse_math=False
        )
        axes.minorticks_off()
        axes.tick_params(axis="x", length=3, color=COLOUR["line"], labelcolor=COLOUR["muted"])
        if scale == "share":
            frame.fit_share(axes, lines)
        else:
            axes.set_ylim(bottom=0)
            frame.number_axis(axes, "y")
        axes.grid(axis="y", color=COLOUR["line"], linewidth=0.7)
        axes.set_xlabel(
            drawable(x_label, 60), fontproperties=font(frame.SMALL), color=COLOUR["muted"], parse_math=False
        )
        figure.text((x0 - 0.4) / frame.WIDTH, (y0 + panel_height - 0.2) / height, drawable(title, 60), fontproperties=font(frame.BODY),
                    color=COLOUR["ink"], parse_math=False)  # fmt: skip
    frame.legend_lines(figure, names, 0.15, height)
    return figure


def heatmap(
    rows: Sequence[str], columns: Sequence[str], points: Sequence[Sequence[Point]], *, bad: bool = False
) -> Figure:
    """Draw shares as shaded cells with value and interval in percent; ``bad`` shades in the colour of wrong memory."""
    from matplotlib.patches import Rectangle

    left = frame.label_width(rows)
    slanted = len(columns) > 6
    top = 0.3 + (0.05 * max(len(drawable(c, 24)) for c in columns) if slanted else 0)
    height = top + 0.42 * len(rows) + 0.08
    figure = frame.new_figure(height)
    axes = frame.new_axes(figure, left, 0.95 if slanted else 0.15, top, 0.08, height)
    base = frame.rgb(COLOUR["o-wrong_memory" if bad else "o-correct"])
    for y, row in enumerate(points):
        for x, point in enumerate(row):
            share = 0.0 if point.value is None else max(0.0, min(1.0, point.value))
            axes.add_patch(Rectangle((x - 0.48, y - 0.45), 0.96, 0.9, color=(*base, 0.05 + 0.5 * share), linewidth=0))
            if point.value is None:
                frame.put_text(axes, x, y, "—", COLOUR["muted"], frame.SMALL, ha="center", va="center")
                continue
            frame.put_text(
                axes, x, y - 0.14, f"{point.value * 100:.0f}", COLOUR["ink"], frame.SMALL, ha="center", va="center"
            )
            if point.low is not None and point.high is not None:
                ends = f"{point.low * 100:.0f}–{point.high * 100:.0f}"
                frame.put_text(axes, x, y + 0.22, ends, COLOUR["ink"], frame.TINY, ha="center", va="center", alpha=0.72)
    frame.category_axis(axes, rows)
    axes.set_xlim(-0.5, len(columns) - 0.5)
    axes.set_xticks(range(len(columns)))
    axes.xaxis.tick_top()
    axes.set_xticklabels([drawable(c, 24) for c in columns], fontproperties=font(frame.SMALL), parse_math=False,
                         rotation=38 if slanted else 0, ha="left" if slanted else "center")  # fmt: skip
    axes.tick_params(axis="x", length=0, labelcolor=COLOUR["muted"], pad=1)
    return figure


def _draw_line(axes: Axes, line: Line, steps: bool, dodge: float | None, log_x: bool) -> None:
    known = [(x, p, p.value) for x, p in zip(line.xs, line.points, strict=True) if p.value is not None]
    if not known:
        return
    colour = frame.trial_colour(line.colour)
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
    axes.plot(xs, [value for _, _, value in known], color=colour, linewidth=1.7, marker=frame.MARKERS[line.colour % frame.PER_TRIAL], markersize=4.6,
              linestyle=frame.DASHES[line.colour // frame.PER_TRIAL % len(frame.DASHES)], drawstyle="steps-mid" if steps else "default",
              clip_on=False)  # fmt: skip
