"""A router against one that knows; what was written back. Every figure by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from memtrial.metrics.aggregate import aggregate
from memtrial.metrics.records import MetricRow, Record, TrialInfo

Make = Callable[..., Record]
Trial = Callable[..., TrialInfo]
Find = Callable[..., MetricRow]

#: question: (structured is right, raw_log is right, sent to, answered by, hybrid is right)
WAYS = {
    "q0": (True, True, "structured", "structured", True),
    "q1": (True, False, "structured", "structured", True),
    "q2": (False, True, "structured", "raw_log", True),  # wrong way, mended by falling back
    "q3": (False, True, "raw_log", "raw_log", True),
    "q4": (True, False, "raw_log", "raw_log", False),  # wrong way
    "q5": (False, False, "none", "none", False),
}


def said(make: Make, question: str, trial: str, right: bool, **facts: Any) -> Record:
    record = make(question, trial=trial, outcome="correct" if right else "wrong_other")
    record.result.trace.facts.update(facts)
    return record


def side_by_side(make: Make) -> list[Record]:
    records = []
    for question, (structured, raw_log, to, by, right) in WAYS.items():
        records += [said(make, question, "structured", structured), said(make, question, "raw_log", raw_log)]
        route = {"to": to, "rule": "slot", "reason": "said"}
        records.append(
            said(make, question, "hybrid", right, route=route, answered_by=by, fell_back=to not in (by, "none"))
        )
    return records


def infos(trial: Trial) -> list[TrialInfo]:
    params = {"structured": {"k": 1}, "raw_log": {"k": 2}}
    return [
        trial("structured", params={"k": 1}, planned=6),
        trial("raw_log", params={"k": 2}, planned=6),
        trial("hybrid", params=params, planned=6),
    ]


def test_router_against_an_oracle(record: Make, trial: Trial, row: Find) -> None:
    rows = aggregate(side_by_side(record), infos(trial), resamples=200)

    def of(metric: str) -> MetricRow:
        return row(rows, metric, trial="hybrid")

    assert of("accuracy").value == pytest.approx(4 / 6)
    assert of("oracle_router_accuracy").value == pytest.approx(5 / 6)  # all but q5
    assert (of("router_accuracy").value, of("router_accuracy").n) == (0.5, 4)  # of q1 to q4: q1, q3
    assert of("router_accuracy_after_fallback").value == 0.75  # q2 too
    assert of("routed_to_structured").value == 0.5
    assert of("fallback_rate").value == pytest.approx(1 / 6)
    low, high = of("router_accuracy").low, of("router_accuracy").high
    assert low is not None and high is not None and low < 0.5 < high


def test_other_systems_have_no_such_figures(record: Make, trial: Trial) -> None:
    rows = aggregate(side_by_side(record), infos(trial), resamples=100)
    assert {r.trial for r in rows if "rout" in r.metric or r.metric == "fallback_rate"} == {"hybrid"}


def test_without_both_parts_nobody_knows_the_better_one(record: Make, trial: Trial, row: Find) -> None:
    records = [r for r in side_by_side(record) if r.trial != "raw_log"]
    some = [info for info in infos(trial) if info.trial != "raw_log"]
    found = row(aggregate(records, some, resamples=100), "router_accuracy", trial="hybrid")
    assert found.value is None
    assert "both parts" in found.status


def test_a_part_with_the_hybrid_s_own_settings_comes_first(record: Make, trial: Trial, row: Find) -> None:
    """Another variant of a part, which is always right, would make the oracle router perfect."""
    other = trial(
        "structured[k=9]", system="structured", target="structured", params={"k": 9}, axes={"k": 9}, planned=6
    )
    records = side_by_side(record) + [said(record, q, "structured[k=9]", True) for q in WAYS]
    rows = aggregate(records, [other, *infos(trial)], resamples=100)
    assert row(rows, "oracle_router_accuracy", trial="hybrid").value == pytest.approx(5 / 6)


def test_where_the_parts_never_differ_there_is_no_better_way(record: Make, trial: Trial, row: Find) -> None:
    records = [r for r in side_by_side(record) if r.result.question_id in ("q0", "q5")]
    some = [info.model_copy(update={"planned": 2}) for info in infos(trial)]
    found = row(aggregate(records, some, resamples=100), "router_accuracy", trial="hybrid")
    assert found.value is None
    assert "same questions" in found.status


def test_an_answer_that_failed_went_nowhere(record: Make, trial: Trial, row: Find) -> None:
    route = {"to": "structured", "rule": "slot", "reason": "said"}
    records = [said(record, "q0", "hybrid", True, route=route, answered_by="structured", fell_back=False)]
    records.append(record("q1", trial="hybrid", error="timeout"))
    rows = aggregate(records, [trial("hybrid", planned=2)], resamples=100)
    found = row(rows, "routed_to_structured", trial="hybrid")
    assert (found.value, found.n) == (1.0, 1)


def test_write_back(record: Make, trial: Trial, row: Find) -> None:
    route = {"route": {"to": "raw_log", "rule": "long_tail", "reason": "said"}, "answered_by": "raw_log"}
    kept = {"text": "x", "planted": False}
    records = [
        said(record, "q0", "hybrid", True, established=kept, **route),
        said(record, "q1", "hybrid", False, established=kept, **route),
        said(record, "q2", "hybrid", True, established={**kept, "planted": True}, **route),
        said(record, "q3", "hybrid", True, derived={"shown": 2, "used": True}, **route),
        said(record, "q4", "hybrid", False, derived={"shown": 1, "used": True}, **route),
        said(record, "q5", "hybrid", False, derived={"shown": 1, "used": False}, **route),
        said(record, "q6", "hybrid", True, **route),
        said(record, "q7", "hybrid", True, **route),
    ]
    rows = aggregate(records, [trial("hybrid", planned=8)], resamples=100)
    expected = {
        "write_back_rate": 3 / 8, "write_back_wrong_rate": 2 / 3, "derived_shown_rate": 3 / 8,
        "derived_used_rate": 2 / 8, "derived_wrong_rate": 1 / 2,
    }  # fmt: skip
    for metric, value in expected.items():
        assert row(rows, metric, trial="hybrid").value == pytest.approx(value), metric


@pytest.mark.parametrize("hostile", [[], "structured", 3, None, {"to": 5}])
def test_odd_facts_crash_nothing(record: Make, trial: Trial, hostile: Any) -> None:
    odd = said(record, "q0", "hybrid", True, route=hostile, answered_by=hostile, derived=hostile, established=hostile)
    assert aggregate([odd], [trial("hybrid", planned=1)], resamples=50)


def test_evidence_cited(record: Make, trial: Trial, row: Find) -> None:
    records = [record(f"q{n}", evidence=["m1"]) for n in range(4)] + [record("q4")]
    records[0].result.citations = ["m1", "m2"]
    records[1].result.citations = ["m2"]
    records[3].judgement.abstained = True
    rows = aggregate(records, [trial(planned=5)], resamples=100)
    found = row(rows, "evidence_cited_rate")
    assert (found.value, found.n) == (pytest.approx(1 / 3), 3)  # q3 abstains, q4 has no evidence
