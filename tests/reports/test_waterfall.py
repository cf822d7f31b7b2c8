"""The loss waterfall in the report: one bar and one row per system, and what cannot be told apart."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from memtrial.reports import write_report
from memtrial.reports.view import View
from memtrial.reports.waterfall import HOW, falls, waterfall_figure, waterfall_grid
from tests.reports.conftest import make_run


def test_rows_sum_to_the_planned_questions() -> None:
    view = View(make_run())
    dataset = view.datasets[0]
    found = falls(view, dataset)
    grid = waterfall_grid(dataset, found)
    assert grid.head[:2] == ("system", "right")
    for row, trial in zip(grid.rows, dataset.trials, strict=True):
        assert sum(int(cell) for cell in row[1:]) == trial.planned
    assert grid.notes[0] == HOW
    assert any(note.startswith("Every system: ") for note in grid.notes[1:])


def test_a_question_that_was_not_asked_has_no_answer() -> None:
    run = make_run()
    first = run.records[0]
    fewer = replace(run, records=run.records[1:])
    name = (first.result.dataset, first.trial)
    before, after = (
        falls(view, next(d for d in view.datasets if d.label == name[0])) for view in map(View, (run, fewer))
    )
    assert sum(after[name[1]].counts.values()) == sum(before[name[1]].counts.values())
    assert after[name[1]].counts["error"] == before[name[1]].counts["error"] + 1


def test_where_every_answer_is_right_nothing_is_drawn() -> None:
    run = make_run()
    right = [
        r.model_copy(update={"judgement": r.judgement.model_copy(update={"outcome": "correct"})}) for r in run.records
    ]
    view = View(replace(run, records=right))
    assert waterfall_figure(view.datasets[0], falls(view, view.datasets[0])) is None


def test_page_and_markdown_show_it(tmp_path: Path) -> None:
    write_report(make_run(), tmp_path)
    page, text = (tmp_path / "report.html").read_text(), (tmp_path / "report.md").read_text()
    assert '<section id="losses"><h2>Where answers are lost</h2>' in page and '<a href="#losses">' in page
    assert "### Where answers are lost" in text
    drawn = [p.name for p in (tmp_path / "figures").iterdir() if "losses" in p.name]
    assert len([n for n in drawn if n.endswith(".svg")]) == 2
    assert all(f"figures/{name}" in text for name in drawn if name.endswith(".svg"))
