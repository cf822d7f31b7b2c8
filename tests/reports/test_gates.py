"""The section on gates: counts that add up to the questions, a figure of them, and nothing where nobody gates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from memtrial.experiments.store import Run
from memtrial.metrics.records import Record
from memtrial.reports.content import build
from memtrial.reports.figures.canvas import render
from memtrial.reports.figures.matrices import Matrix, matrices
from memtrial.reports.gates import gates_section
from memtrial.reports.html import render_html, value_and_interval
from memtrial.reports.markdown import render_markdown
from memtrial.reports.view import View
from tests.reports.conftest import make_run


def _gated(run: Run, trial: str, opens: Callable[[int], bool]) -> Run:
    """Let a trial decide by the number of the question."""

    def decided(record: Record) -> Record:
        if record.trial != trial:
            return record
        number = int(record.result.question_id[1:])
        trace = record.result.trace.model_copy(update={"gates": [("lookup", opens(number), "rules")]})
        return record.model_copy(update={"result": record.result.model_copy(update={"trace": trace})})

    return replace(run, records=[decided(record) for record in run.records])


def test_without_a_gate_there_is_no_section() -> None:
    run = make_run()
    assert not gates_section(View(run))
    assert 'id="gates"' not in render_html(build(run))


def test_a_matrix_adds_up_to_the_questions() -> None:
    run = _gated(make_run(), "bm25", lambda number: number % 2 == 0)
    section = gates_section(View(run))
    assert [grid.title for grid in section.grids] == [
        "Looked up against needed, 手写",
        "Looked up against needed, desk",
    ]
    for grid in section.grids:
        assert [row[:6] for row in grid.rows] == [("bm25", "8", "0", "8", "0", "0")]


def test_mean_cost_counts_both_errors_and_has_an_interval() -> None:
    # Every question here needs memory: of 16, the 4 that were skipped are errors.
    grid = gates_section(View(_gated(make_run(), "bm25", lambda number: number >= 4))).grids[0]
    cost, low, high = (
        float(part) for part in grid.rows[0][6].replace("(", "").replace(")", "").replace("–", " ").split()
    )
    assert cost == 0.25
    assert low < cost < high


def test_the_figure_names_systems_that_decide_alike_once() -> None:
    run = _gated(_gated(make_run(), "bm25", lambda _: True), "oracle", lambda _: True)
    figure = gates_section(View(run)).grids[1].figure
    assert figure is not None
    assert figure.name == "2-desk-gates"
    assert figure.inline.count("bm25, oracle") == 1
    assert figure.inline.count("100.0% of 16") == 1


def test_at_most_six_matrices_are_drawn_and_the_table_has_all() -> None:
    names = tuple(f"system {number}" for number in range(8))
    run = make_run(trials=names)
    for number, name in enumerate(names):
        run = _gated(run, name, lambda question, most=number: question < most)  # type: ignore[misc]
    grid = gates_section(View(run)).grids[0]
    assert [row[0] for row in grid.rows] == list(names)
    assert grid.figure is not None
    assert grid.figure.title.endswith("the first 6 of 8 that differ")
    assert "system 5" in grid.figure.inline
    assert "system 6" not in grid.figure.inline


def test_page_and_markdown_hold_figure_and_table() -> None:
    content = build(_gated(make_run(), "bm25", lambda _: True))
    page, text = render_html(content), render_markdown(content)
    assert page.count("Looked up or skipped against needed or not, by system on desk") == 1
    assert "(figures/2-desk-gates.svg)" in text
    assert "2-desk-gates" in [figure.name for figure in content.figures]


def test_equal_matrices_give_equal_bytes_and_an_empty_column_no_share() -> None:
    found = [Matrix("<b>&|", ((3, 0), (1, 0)))]
    first, second = (render(matrices(found, ("a", "b"), ("c", "d")), "m", "t") for _ in range(2))
    assert first == second
    assert "75.0% of 4" in first.inline
    assert "25.0% of 4" in first.inline
    assert first.inline.count("—") >= 2
    assert "<b>" not in first.inline


def test_a_value_is_parted_from_its_interval_only() -> None:
    assert value_and_interval("98.8 (96.8–100.0)") == ("98.8", "(96.8–100.0)")
    assert value_and_interval("1.5% (0.0%–3.2%)") == ("1.5%", "(0.0%–3.2%)")
    assert value_and_interval("none hit (cache is on)") == ("none hit (cache is on)", "")
    assert value_and_interval("—") == ("—", "")
