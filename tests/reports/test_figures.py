from __future__ import annotations

import re
import warnings
import xml.etree.ElementTree as ET
from itertools import pairwise

import pytest

from memtrial.reports.figures import canvas, charts
from memtrial.reports.figures.fonts import drawable, font
from memtrial.reports.figures.marks import Line, Panel, Point

LABELS = ["召回率", "幻覚", "P95−延迟", "emoji 😀", "cost $x^2$ & <b>", "العربية"]
POINTS = [
    Point(0.5, 0.4, 0.6),
    Point(0.0, 0.0, 0.1),
    Point(1.0, 0.9, 1.0),
    Point(None),
    Point(0.3),
    Point(0.2, 0.1, 0.3),
]


def _all() -> dict[str, object]:
    lines = [Line(name, [1, 5, 10], POINTS[:3], i) for i, name in enumerate(LABELS)]
    return {
        "outcomes": charts.outcome_bars(LABELS, [[1, 2, 0], [0, 0, 0], [5, 5, 5], [1, 0, 0], [0, 9, 1], [3, 3, 3]],
                                        [("correct", "correct"), ("error", "错误"), ("not_run", "not run")]),
        "intervals": charts.intervals(LABELS, [Panel("时间", POINTS, "log"), Panel("share", POINTS), Panel("n", POINTS, "linear")]),
        "curves": charts.curves([("召回", lines, "share"), ("few", lines[:1], "linear")], "参数", [(1, "a"), (5, "五"), (10, "c")]),
        "steps": charts.curves([("rungs", lines[:2], "share")], "ladder", [(1, "base"), (5, "+x"), (10, "+y")], steps=True),
        "heat": charts.heatmap(LABELS, [f"类别 {i}" for i in range(9)], [[p] * 9 for p in POINTS], bad=True),
    }  # fmt: skip


@pytest.mark.parametrize("name", ["outcomes", "intervals", "curves", "steps", "heat"])
def test_every_chart_is_well_formed_and_repeatable(name: str) -> None:
    first = canvas.render(_all()[name], name, 'a "title" <b>')  # type: ignore[arg-type]
    second = canvas.render(_all()[name], name, 'a "title" <b>')  # type: ignore[arg-type]
    assert (first.inline, first.svg, first.png) == (second.inline, second.svg, second.png)
    ET.fromstring(first.svg)
    ET.fromstring(first.inline)
    assert first.png.startswith(b"\x89PNG")
    assert b"NaN" not in first.svg
    assert not re.search(r"\d{4}-\d{2}-\d{2}T", first.inline)


def test_ids_of_two_figures_never_meet() -> None:
    inline = [canvas.render(_all()["curves"], name, "t").inline for name in ("a", "b")]  # type: ignore[arg-type]
    ids = [set(re.findall(r' id="([^"]+)"', text)) for text in inline]
    assert ids[0]
    assert not ids[0] & ids[1]


def test_labels_are_text_and_follow_the_theme() -> None:
    drawn = canvas.render(_all()["outcomes"], "x", "t")  # type: ignore[arg-type]
    assert "召回率" in drawn.inline
    assert "cost $x^2$ &amp; &lt;b&gt;" in drawn.inline
    assert "var(--ink,#1d2329)" in drawn.inline
    assert not re.search(r"(?<![,:])#1d2329", drawn.inline)


def test_a_character_without_glyph_is_spelt_out() -> None:
    assert drawable("ok 召回率 幻覚 −") == "ok 召回率 幻覚 −"
    assert drawable("😀") == "<U+1F600>"
    assert drawable("a\u202eb") == "a<U+27E8>U+202E<U+27E9>b"


def test_a_missing_glyph_fails_the_figure() -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(2, 1))
    figure.text(0.1, 0.5, "😀", fontproperties=font(10))
    with pytest.raises(RuntimeError, match="Glyph"):
        canvas.render(figure, "bad", "bad")


def test_both_themes_name_the_same_colours_and_differ() -> None:
    assert canvas.theme_css(False).count("--") == canvas.theme_css(True).count("--") == len(canvas.THEME)
    lights = [light for light, _ in canvas.THEME.values()]
    assert len(set(lights)) == len(lights), "two variables of one light colour cannot be told apart in an SVG"


def _luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(a: str, b: str) -> float:
    high, low = sorted((_luminance(a), _luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("dark", [0, 1])
def test_text_is_readable_in_both_themes(dark: int) -> None:
    paper = canvas.THEME["paper"][dark]
    assert _contrast(canvas.THEME["ink"][dark], paper) > 7
    assert _contrast(canvas.THEME["muted"][dark], paper) > 4.5
    for name, pair in canvas.THEME.items():
        if name.startswith("t-"):
            assert _contrast(pair[dark], paper) > 3, name


def test_neighbouring_outcomes_differ_in_lightness_or_hue_for_the_colour_blind() -> None:
    from memtrial.reports.view import BAR_ORDER

    for (a, _), (b, _) in pairwise(BAR_ORDER):
        assert _contrast(canvas.THEME[f"o-{a}"][0], canvas.THEME[f"o-{b}"][0]) > 1.15, (a, b)


def test_a_metric_that_one_value_has_stands_in_its_place_on_the_axis() -> None:
    whole, alone = (
        Line("s", [0.0, 1.0], [Point(0.2), Point(0.4)], 0),
        Line("s", [0.0, 1.0], [Point(None), Point(0.7)], 0),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure = charts.curves(
            [("a", [whole], "share"), ("b", [alone], "share")], "dims", [(0.0, "none"), (1.0, "0.5")]
        )
    first, second = figure.axes
    assert first.get_xlim() == second.get_xlim()
