"""Who leads by which criterion, from records alone."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from memtrial.metrics.choosing import Choice, architectures, choices
from memtrial.metrics.records import Record, TrialInfo

Make = Callable[..., Record]
Trial = Callable[..., TrialInfo]
COUNT = 40


def run(make: Make, right: dict[str, float], **more: float) -> list[Record]:
    """Make 40 fixed-pattern and 40 long-tail questions; ``right`` is the share of fixed-pattern ones that is right."""
    return [
        make(
            f"{category}{n}",
            trial=name,
            category=category,
            outcome="correct" if n < share * COUNT else "wrong_other",
            latency_ms=more.get(name, 10.0) + n / 100,
        )
        for name, share in right.items()
        for category in ("lookup", "no_schema")
        for n in range(COUNT)
    ]


def of(found: list[Choice], metric: str, title: str = "") -> Choice:
    return next(c for c in found if c.criterion.metric == metric and title in c.criterion.title)


def test_one_of_each_architecture_and_never_one_alone(trial: Trial) -> None:
    swept = trial("raw_log[k=2]", system="raw_log", target="raw_log", axes={"raw_log.k": 2})
    infos = [trial("bm25"), swept, trial("raw_log"), trial("mine", target="structured"), trial("raw_log", "other")]
    assert [t.trial for t in architectures(infos, "d")] == ["mine", "raw_log"]
    assert architectures(infos, "other") == []
    assert architectures([trial("bm25"), trial("structured")], "d") == []


def test_who_leads_is_decided_by_a_paired_test(record: Make, trial: Trial) -> None:
    infos = [trial(n, planned=2 * COUNT) for n in ("structured", "raw_log", "hybrid")]
    found = choices(run(record, {"structured": 0.9, "raw_log": 0.3, "hybrid": 0.875}), infos, resamples=500)
    fixed = of(found, "accuracy", "fixed pattern")
    assert (fixed.leader, fixed.behind, fixed.open) == ("structured", ("raw_log",), ("hybrid",))
    cell = fixed.cells["structured"]
    assert cell is not None
    assert (cell.value, cell.n) == (pytest.approx(0.9), COUNT)
    assert cell.low is not None and cell.high is not None and cell.low < 0.9 < cell.high
    everything = of(found, "accuracy", "All").cells["raw_log"]
    assert everything is not None and everything.n == 2 * COUNT


def test_no_difference_no_leader(record: Make, trial: Trial) -> None:
    infos = [trial(n, planned=2 * COUNT) for n in ("structured", "raw_log")]
    found = choices(run(record, {"structured": 0.5, "raw_log": 0.5}), infos, resamples=200)
    assert of(found, "accuracy", "fixed").behind == ()


def test_the_faster_one_leads_where_less_is_better(record: Make, trial: Trial) -> None:
    infos = [trial(n, planned=2 * COUNT) for n in ("structured", "raw_log")]
    found = choices(run(record, {"structured": 0.5, "raw_log": 0.5}, raw_log=50.0), infos, resamples=300)
    fast = of(found, "latency_p95_ms")
    assert (fast.leader, fast.behind) == ("structured", ("raw_log",))


def test_what_is_measured_once_has_no_interval_and_says_so(record: Make, trial: Trial) -> None:
    infos = [trial("structured", planned=2 * COUNT, index_mb=9.0), trial("raw_log", planned=2 * COUNT, index_mb=4.0)]
    found = choices(run(record, {"structured": 0.5, "raw_log": 0.5}), infos, resamples=100)
    size = of(found, "index_mb")
    assert (size.leader, size.once) == ("raw_log", True)
    assert size.cells["raw_log"] is not None and size.cells["raw_log"].low is None


def test_what_nobody_has_a_figure_for_is_left_out(record: Make, trial: Trial) -> None:
    infos = [trial(n, planned=2 * COUNT) for n in ("structured", "raw_log")]
    titles = [c.criterion.title for c in choices(run(record, {"structured": 1, "raw_log": 1}), infos, resamples=50)]
    assert not any("Joins" in title or "index" in title or "Wrong memory" in title for title in titles)
    assert any("Long-tail" in title for title in titles)


def test_a_question_that_was_never_answered_counts_as_wrong(record: Make, trial: Trial) -> None:
    records = run(record, {"structured": 1.0, "raw_log": 1.0})
    kept = [r for r in records if not (r.trial == "raw_log" and r.result.question_id.startswith("lookup1"))]
    infos = [trial(n, planned=2 * COUNT) for n in ("structured", "raw_log")]
    fixed = of(choices(kept, infos, resamples=50), "accuracy", "fixed").cells["raw_log"]
    assert fixed is not None and fixed.value == pytest.approx(29 / 40)  # 1 and 10 to 19 are missing
