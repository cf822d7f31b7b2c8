"""The sections about routing, write-back and when to choose which architecture, in page and Markdown."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memtrial.experiments.store import Run
from memtrial.metrics.aggregate import aggregate
from memtrial.metrics.records import MetricRow, Record
from memtrial.reports import write_report
from memtrial.reports.choose import choose_section, replayed
from memtrial.reports.routing import routing_section
from memtrial.reports.view import View
from tests.reports.conftest import HOSTILE, make_run

TRIALS = ("structured", "raw_log", "hybrid")


def _routed(record: Record, place: int, **facts: Any) -> Record:
    if record.trial != "hybrid":
        return record
    to = "structured" if place % 3 else "raw_log"
    route = {"to": to, "rule": "slot" if place % 3 else "long_tail", "reason": HOSTILE}
    told = {"route": route, "answered_by": "raw_log", "fell_back": to == "structured", **facts}
    trace = record.result.trace.model_copy(update={"facts": told})
    return record.model_copy(update={"result": record.result.model_copy(update={"trace": trace})})


def routed_run(**facts: Any) -> Run:
    run = make_run(trials=TRIALS)
    config = {**run.config, "metrics": {"resamples": 100}}
    records = [_routed(record, place, **facts) for place, record in enumerate(run.records)]
    rows: list[MetricRow] = aggregate(records, run.trials, resamples=100)
    return replace(run, records=records, metrics=rows, config=config)


def test_no_section_where_nothing_was_routed_or_one_architecture_ran_alone() -> None:
    view = View(make_run())
    assert not routing_section(view)
    assert not choose_section(view)


def test_the_router_stands_beside_the_parts_and_one_that_knows() -> None:
    view = View(routed_run())
    section = routing_section(view)
    first = next(grid for grid in section.grids if grid.title == "The router against one that knows, desk")
    assert first.head[:4] == ("system", "accuracy", "oracle router", "router accuracy")
    [row] = first.rows
    assert row[0] == "hybrid"
    assert all("(" in cell and "–" in cell for cell in row[1:])  # never without an interval
    assert [note for note in first.notes if note.startswith("structured alone: ")]
    assert [note for note in first.notes if note.startswith("router accuracy: Of the questions on which one part")]
    assert not any(grid.title.startswith("Write-back") for grid in section.grids)


def test_rules_are_counted() -> None:
    run = routed_run()
    view = View(run)
    grid = next(g for g in routing_section(view).grids if g.title == "What hybrid sent where, desk")
    own = [r for r in run.records if r.trial == "hybrid" and r.result.dataset == "desk"]
    assert sum(int(row[2]) for row in grid.rows) == len(own) == 16
    by_rule = {row[0]: row for row in grid.rows}
    assert (by_rule["slot"][1], by_rule["long_tail"][1]) == ("structured", "raw_log")
    assert by_rule["slot"][5] == by_rule["slot"][2]  # each of them fell back
    assert by_rule["long_tail"][5] == "0"
    assert sum(int(row[3]) for row in grid.rows) == sum(r.judgement.outcome.startswith("correct") for r in own)


def test_write_back_has_a_table_of_its_own() -> None:
    grids = routing_section(View(routed_run(established={"text": HOSTILE, "planted": True}))).grids
    grid = next(g for g in grids if g.title == "Write-back, desk")
    cells = dict(zip(grid.head, grid.rows[0], strict=True))
    assert cells["written back"].startswith("100.0")
    assert cells["written back wrong"].startswith("100.0")
    assert cells["written-back memory used"].startswith("0.0")
    assert any(note.startswith("written-back memory used, wrong: no answer") for note in grid.notes)


def test_when_to_choose_which() -> None:
    run = routed_run()
    trials = [
        t.model_copy(update={"index_mb": float(1 + place), "ingest_s": 2.0}) for place, t in enumerate(run.trials)
    ]
    section = choose_section(View(replace(run, trials=trials)))
    grid = next(g for g in section.grids if g.title.endswith(", desk"))
    assert grid.head == ("criterion", *TRIALS, "who leads")
    rows = {row[0].partition(" (")[0]: row for row in grid.rows}
    everything = rows["All questions"]
    assert everything[0] == "All questions (accuracy,\N{NO-BREAK SPACE}%; 16 questions)"
    assert all("–" in cell for cell in everything[1:4])
    assert everything[4] == "not decidable"
    assert rows["Little to keep: index size"][1:] == ("1.00", "2.00", "3.00", "structured, measured once")


@pytest.mark.parametrize("section", ["When to choose which", "Routing"])
def test_page_and_markdown_show_them_and_escape(tmp_path: Path, section: str) -> None:
    write_report(routed_run(), tmp_path)
    page, text = (tmp_path / "report.html").read_text(), (tmp_path / "report.md").read_text()
    anchor = {"When to choose which": "choose", "Routing": "routing"}[section]
    assert f'<a href="#{anchor}">' in page
    assert f'<section id="{anchor}"><h2>{section}</h2>' in page
    assert f"\n## {section}\n" in text
    assert "<script>" not in page


def test_times_of_earlier_runs_in_taking_in_the_log_are_told() -> None:
    first, second, *_ = make_run(4).trials
    measured = first.model_copy(update={"ingest_s": 70.55, "ingest_replayed_s": 58.7})
    told = replayed([measured, second.model_copy(update={"ingest_s": 3.0, "ingest_replayed_s": 0.0})])
    assert f"{first.trial} 58.7 of 70.5 s" in told or f"{first.trial} 58.7 of 70.6 s" in told
    assert second.trial not in told
    assert replayed([second]) == ""
