"""Confusion matrices side by side: what was done (rows) against what was due (columns)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memtrial.reports.figures import frame
from memtrial.reports.figures.canvas import COLOUR
from memtrial.reports.figures.fonts import drawable, font

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_IN_A_ROW = 3
_LEFT, _GAP, _SIDE, _HEAD, _UNDER = 0.95, 0.35, 1.3, 0.52, 0.16


@dataclass(frozen=True, slots=True)
class Matrix:
    """Counts of one system: ``counts[row][column]``, with the diagonal from the upper left being right."""

    title: str
    counts: tuple[tuple[int, int], tuple[int, int]]


def matrices(found: Sequence[Matrix], rows: tuple[str, str], columns: tuple[str, str]) -> Figure:
    """Draw two-by-two matrices; a cell is shaded by its share of the column, errors in the colour of wrong memory.

    Args:
        found: one per system, at least one.
        rows: what was done.
        columns: what was due.
    """
    lines = -(-len(found) // _IN_A_ROW)
    height = lines * (_SIDE + _HEAD + _UNDER)
    figure = frame.new_figure(height)
    width = (frame.WIDTH - _LEFT - 0.2 - _GAP * (_IN_A_ROW - 1)) / _IN_A_ROW
    for place, matrix in enumerate(found):
        x0 = _LEFT + (place % _IN_A_ROW) * (width + _GAP)
        y0 = height - (place // _IN_A_ROW + 1) * (_SIDE + _HEAD + _UNDER) + _UNDER
        axes = figure.add_axes((x0 / frame.WIDTH, y0 / height, width / frame.WIDTH, _SIDE / height))
        frame.plain(axes)
        _fill(axes, matrix)
        frame.category_axis(axes, rows if place % _IN_A_ROW == 0 else ("", ""))
        axes.set_xlim(-0.5, 1.5)
        axes.set_xticks([0, 1])
        axes.xaxis.tick_top()
        axes.set_xticklabels([drawable(c, 20) for c in columns], fontproperties=font(frame.SMALL), parse_math=False)
        axes.tick_params(axis="x", length=0, labelcolor=COLOUR["muted"], pad=1)
        figure.text(x0 / frame.WIDTH, (y0 + _SIDE + 0.3) / height, drawable(matrix.title, 40), fontproperties=font(frame.BODY),
                    color=COLOUR["ink"], parse_math=False)  # fmt: skip
    return figure


def _fill(axes: Axes, matrix: Matrix) -> None:
    from matplotlib.patches import Rectangle

    for x in (0, 1):
        total = matrix.counts[0][x] + matrix.counts[1][x]
        for y in (0, 1):
            count = matrix.counts[y][x]
            share = count / total if total else 0.0
            base = frame.rgb(COLOUR["o-correct" if x == y else "o-wrong_memory"])
            axes.add_patch(Rectangle((x - 0.485, y - 0.47), 0.97, 0.94, color=(*base, 0.06 + 0.5 * share), linewidth=0))
            frame.put_text(axes, x, y - 0.1, f"{count:,}", COLOUR["ink"], frame.BODY, ha="center", va="center")
            of_all = f"{share:.1%} of {total:,}" if total else "—"
            frame.put_text(axes, x, y + 0.22, of_all, COLOUR["ink"], frame.TINY, ha="center", va="center", alpha=0.75)
