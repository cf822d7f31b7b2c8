"""Hit rates of caches: over the answers that looked memory up, and an honest nothing where none was hit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from memtrial.experiments.store import Run
from memtrial.reports.caches import caches_grid, caches_on
from memtrial.reports.content import build
from memtrial.reports.html import render_html
from memtrial.reports.markdown import render_markdown
from memtrial.reports.sections import Grid
from memtrial.reports.view import View
from tests.reports.conftest import make_run

HITS: dict[str, dict[str, int]] = {"q001": {"results": 2}, "q002": {"results": 1, "plans": 1}, "q003": {"results": 5}}


def _run(**shut: bool) -> Run:
    """Let bm25 hit its caches on three questions; those in ``shut`` never looked memory up."""
    records = []
    for record in make_run().records:
        if record.trial == "bm25":
            id = record.result.question_id
            gates = [("lookup", id not in shut, "")]
            trace = record.result.trace.model_copy(update={"cache_hits": HITS.get(id, {}), "gates": gates})
            record = record.model_copy(update={"result": record.result.model_copy(update={"trace": trace})})
        records.append(record)
    return replace(make_run(), records=records)


def _grid(run: Run) -> Grid | None:
    view = View(run)
    return caches_grid(view, next(d for d in view.datasets if d.label == "desk"))


def test_answers_are_counted_once_and_hits_all() -> None:
    grid = _grid(_run())
    assert grid is not None
    assert [(*row[:3], row[4]) for row in grid.rows] == [
        ("bm25", "plans", "1 of 16", "1"),
        ("bm25", "results", "3 of 16", "8"),
    ]
    assert grid.rows[1][3].startswith("18.8% (")


def test_an_answer_that_looked_nothing_up_is_not_in_the_rate() -> None:
    grid = _grid(_run(q003=True, q004=True))
    assert grid is not None
    assert grid.rows[1][2] == "2 of 14"


def test_a_cache_that_is_on_and_was_never_hit_says_so() -> None:
    run = make_run()
    params: dict[str, Any] = {"cache": {"enabled": True}, "part": {"cache": {"enabled": True}, "k": 1}}
    trials = [t.model_copy(update={"params": params}) if t.trial == "bm25" else t for t in run.trials]
    grid = _grid(replace(run, trials=trials))
    assert grid is not None
    assert [row[:3] for row in grid.rows] == [("bm25", "none hit (cache, part.cache is on)", "0 of 14")]
    assert "was never hit" in grid.notes[1]


def test_without_a_cache_there_is_no_table() -> None:
    assert _grid(make_run()) is None
    assert list(caches_on({"cache": {"enabled": False}, "cached": {"enabled": True}, "x": [{"cache": 1}]})) == []


def test_page_and_markdown_hold_the_table() -> None:
    content = build(_run())
    assert "<summary>Caches</summary>" in render_html(content)
    assert "| bm25 | results | 3 of 16 |" in render_markdown(content)
