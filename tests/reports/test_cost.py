"""Tokens and money by system, role and phase; what is unknown stays unknown."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from memtrial.metrics.records import TraceSummary, Usage
from memtrial.reports.cost import cost_section
from memtrial.reports.view import View


def test_what_a_system_used_by_role_and_phase(make_run: Callable[..., Any]) -> None:
    run = make_run(trials=("bm25", "oracle"))
    read = Usage(role="read", model="m", prompt=100, cached=40, completion=10, calls=2, replayed=1, usd=0.01)
    judge = Usage(role="judge", model="m", prompt=999, completion=9, calls=1, phase="evaluation", usd=None)
    own = [r for r in run.records if r.trial == "bm25"]
    for record in own:
        record.result.trace = TraceSummary(usage=[read, judge])
    own[0].result.trace.usage.append(Usage(role="plan", model="unpriced", prompt=5, completion=1, calls=1, usd=None))
    run.trials[0].facts["ingest_usage"] = [
        Usage(role="summarise", model="m", prompt=7, completion=1, calls=1, phase="ingest", usd=0.5).model_dump()
    ]
    section = cost_section(View(run))
    grid = section.grids[0]
    assert grid.title == "Tokens and money by system, role and phase"
    rows = {(row[1], row[2]): dict(zip(grid.head, row, strict=True)) for row in grid.rows}
    assert set(rows) == {("read", "query"), ("plan", "query"), ("summarise", "ingest")}
    n = len(own)
    reading = rows["read", "query"]
    assert (reading["calls"], reading["replayed"], reading["prompt"]) == (f"{2 * n}", "50%", f"{100 * n:,}")
    assert reading["cost"] == f"${0.01 * n:.4f}"
    assert rows["plan", "query"]["cost"] == "unknown"
    assert rows["summarise", "ingest"]["cost"] == "$0.5000"


def test_only_systems_without_a_model_are_projected(make_run: Callable[..., Any]) -> None:
    run = make_run(trials=("bm25", "oracle"))
    for record in run.records:
        if record.trial == "bm25":
            record.result.trace = TraceSummary(usage=[Usage(role="read", model="m", calls=1, usd=0.0)])
    projected = [g for g in cost_section(View(run)).grids if g.title.startswith("Projected")]
    assert len(projected) == 2
    assert all([row[0] for row in grid.rows] == ["oracle"] for grid in projected)
