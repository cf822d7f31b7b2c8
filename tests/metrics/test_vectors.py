from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

from memtrial.metrics.aggregate import aggregate
from memtrial.metrics.records import MetricRow, Record, TrialInfo
from memtrial.metrics.vectors import drift

Make = Callable[..., Record]
INFO = TrialInfo(trial="bm25", unit="bm25", system="bm25", target="bm25", dataset="d", planned=0)


def with_facts(record: Record, log_size: int = 1_000, corpus: str = "c", **facts: Any) -> Record:
    record.result.trace.facts |= facts
    record.result.log_size, record.result.corpus_id = log_size, corpus
    return record


def rows(records: list[Record]) -> dict[str, MetricRow]:
    return {row.metric: row for row in aggregate(records, [INFO], resamples=200) if row.slice == "all"}


@pytest.mark.parametrize(
    ("ranking", "sessions", "evidence", "evidence_sessions", "expected"),
    [
        # Two of four stand before the evidence, one of them in its session.
        (["x", "y", "e", "z"], ["s1", "s2", "s2", "s3"], ["e"], ["s2"], 0.25),
        (["e", "x", "y"], ["s1", "s2", "s3"], ["e"], ["s1"], 0.0),
        # None in reach: all that are of no session of the evidence drifted.
        (["x", "y"], ["s1", "s2"], ["e"], ["s2"], 0.5),
        (["x", "y"], [], ["e"], [], 1.0),
        ([], [], ["e"], [], math.nan),
        (["x"], ["s1"], [], [], math.nan),
        # Evidence at place 11 is out of reach of the first ten.
        ([f"x{n}" for n in range(10)] + ["e"], [f"s{n}" for n in range(11)], ["e"], ["s10"], 1.0),
    ],
)
def test_drift_by_hand(
    record: Make,
    ranking: list[str],
    sessions: list[str],
    evidence: list[str],
    evidence_sessions: list[str],
    expected: float,
) -> None:
    made = record("q", ranking=ranking, sessions=sessions, evidence=evidence, evidence_sessions=evidence_sessions)
    assert drift(made, 10) == pytest.approx(expected, nan_ok=True)


def test_ann_recall_is_averaged_over_questions_for_which_a_graph_was_searched(record: Make) -> None:
    told: list[dict[str, Any]] = [
        {"search": "hnsw", "ann_recall@10": 0.9},
        {"search": "hnsw", "ann_recall@10": 0.5},
        {"search": "exact"},
        {},  # a gate kept this one from searching at all
    ]
    found = rows([with_facts(record(f"q{n}", evidence=["m0"]), **facts) for n, facts in enumerate(told)])
    assert (found["ann_recall@10"].value, found["ann_recall@10"].n) == (pytest.approx(0.7), 2)
    low, high = found["ann_recall@10"].low, found["ann_recall@10"].high
    assert low is not None
    assert high is not None
    assert low < 0.7 < high
    assert (found["exact_search_rate"].value, found["exact_search_rate"].n) == (pytest.approx(1 / 3), 3)


def test_why_there_is_no_ann_recall_is_said(record: Make) -> None:
    exact = rows([with_facts(record("q"), search="exact")])["ann_recall@10"]
    assert (exact.value, exact.status) == (None, "unmeasurable:every search was exact")
    unmeasured = rows([with_facts(record("q"), search="hnsw")])["ann_recall@10"]
    assert "measure_ann" in unmeasured.status
    assert "ann_recall@10" not in rows([record("q")])


def test_counts_are_those_of_the_last_question_added_over_logs(record: Make) -> None:
    found = rows(
        [
            with_facts(record("q1"), 50, "a", vectors=40, vectors_indexed=0, explained_variance=0.5),
            with_facts(record("q2"), 90, "a", vectors=80, vectors_indexed=60, explained_variance=0.8),
            with_facts(record("q3"), 20, "b", vectors=10, vectors_indexed=0, explained_variance=0.6),
        ]
    )
    assert [found[m].value for m in ("vectors", "vectors_indexed", "explained_variance")] == [
        90,
        60,
        pytest.approx(0.7),
    ]


@pytest.mark.parametrize("value", ["much", None, True, -3.0, 7.0])
def test_a_fact_that_is_none_counts_for_nothing(record: Make, value: object) -> None:
    found = rows([with_facts(record("q"), search="hnsw", **{"ann_recall@10": value, "vectors": "many"})])
    assert found["ann_recall@10"].value is None
    assert "vectors" not in found
