from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memtrial.metrics.aggregate import BY_QUESTION, aggregate, outcome_counts
from memtrial.metrics.definitions import DEFINITIONS, define, family
from memtrial.metrics.records import OUTCOMES, Item, MetricRow, Record

from .conftest import build_record, build_trial

FEW = 300
CONTRACT = [
    "recall@K",
    "all_recall@K",
    "hit@K",
    "precision@K",
    "ndcg@K",
    "mrr",
    "session_recall@K",
    "accuracy",
    "wrong_memory_rate",
    "wrong_memory_exposure",
    "wrong_memory_susceptibility",
    "hallucination_rate",
    "abstention_precision",
    "abstention_recall",
    "invalid_lookup_rate",
    "missed_lookup_rate",
    "tenant_leaks",
    "error_rate",
    "accuracy_answerable",
    "lure_cited_rate",
    "gate_balanced_accuracy",
    "lookups_avoided",
    "latency_p50_ms",
    "latency_p95_ms",
    "latency_p95_with_timeouts_ms",
    "latency_p99_ms",
    "write_p95_ms",
    "ingest_s",
    "index_mb",
    "peak_rss_mb",
    "other_work_cores",
    "context_tokens",
    "prompt_tokens",
    "completion_tokens",
    "cost_per_1k_questions_usd",
    "official_recall@K",
]

STALE = ("stale", ["m9"], ["12"])


def small_run() -> list[Record]:
    """Ten questions, each its own cluster; every figure below is worked out from this table by hand."""
    return [
        build_record("q0", ranking=["m1", "m2"], evidence=["m1"], lures=[STALE], category="a", language="en"),
        build_record("q1", ranking=["x", "m1"], evidence=["m1", "m3"], category="a", language="en"),
        build_record("q2", outcome="wrong_memory", ranking=["m9", "m1"], evidence=["m1"], lures=[STALE],
                     used=["stale"], exposed=["stale"], cited=True, category="a", language="zh"),
        build_record("q3", outcome="wrong_other", ranking=["m9"], evidence=["m1"], lures=[STALE], exposed=["stale"]),
        build_record("q4", error="timeout", evidence=["m1"], lures=[("closed", ["m8"], [])]),
        build_record("q5", outcome="needless_abstention", ranking=["y"], evidence=["m1"]),
        build_record("q6", outcome="correct_abstention", answerable=False),
        build_record("q7", outcome="hallucination", answerable=False, ranking=["m1"]),
        build_record("q8", outcome="incomplete", ranking=["m1"], evidence=["m1"], leaks=2),
        build_record("q9", outcome="correct", needs_memory=False),
    ]  # fmt: skip


@pytest.fixture(scope="module")
def rows() -> list[MetricRow]:
    info = build_trial(planned=10, ingest_s=1.5, write_ms=[1.0] * 80, index_mb=0.0)
    return aggregate(small_run(), [info], resamples=FEW)


@pytest.mark.parametrize(
    ("metric", "value", "n"),
    [
        ("accuracy", 4 / 10, 10),
        ("accuracy_answerable", 3 / 8, 8),
        ("error_rate", 1 / 10, 10),
        ("wrong_memory_rate", 1 / 3, 3),
        ("wrong_memory_of_all", 1 / 10, 10),
        ("wrong_memory_exposure", 2 / 4, 4),
        ("wrong_memory_susceptibility", 1 / 2, 2),
        ("lure_cited_rate", 1 / 4, 4),
        ("hallucination_rate", 1 / 10, 10),
        ("hallucination_rate_given_answered", 1 / 7, 7),
        ("abstention_precision", 1 / 2, 2),
        ("abstention_recall", 1 / 2, 2),
        ("abstention_rate", 2 / 10, 10),
        ("tenant_leaks", 2, 10),
        ("tenant_leak_rate", 1 / 10, 10),
        ("recall@1", 2 / 7, 7),
        ("recall@5", 3.5 / 7, 7),
        ("all_recall@5", 3 / 7, 7),
        ("hit@5", 4 / 7, 7),
        ("precision@5", 4 / 5 / 7, 7),
        ("mrr", 3 / 7, 7),
        ("tokens@1", 7, 6),
        ("questions_without_evidence", 3, 10),
        ("context_tokens", 100, 9),
        ("outcome_rate:error", 1 / 10, 10),
        ("prompt_tokens", 0, 10),
        ("write_p95_ms", 1.0, 80),
        ("ingest_s", 1.5, 1),
        ("index_mb", 0.0, 1),
    ],
)
def test_golden_by_hand(rows: list[MetricRow], row: Any, metric: str, value: float, n: int) -> None:
    found = row(rows, metric)
    assert found.value == pytest.approx(value, abs=1e-12)
    assert found.n == n


@pytest.mark.parametrize(
    ("slice", "metric", "value", "n"),
    [
        ("category=a", "accuracy", 2 / 3, 3),
        ("language=zh", "accuracy", 0.0, 1),
        ("language=en", "recall@5", 3 / 4, 2),
        ("lure=stale", "wrong_memory_rate", 1 / 3, 3),
        ("lure=stale", "wrong_memory_exposure", 2 / 3, 3),
        ("lure=closed", "wrong_memory_exposure", 0.0, 1),
    ],
)
def test_slices_by_hand(rows: list[MetricRow], row: Any, slice: str, metric: str, value: float, n: int) -> None:
    found = row(rows, metric, slice)
    assert found.value == pytest.approx(value, abs=1e-12)
    assert found.n == n


def test_every_name_of_the_contract_has_a_row_and_every_row_a_definition(rows: list[MetricRow]) -> None:
    found = {family(r.metric) for r in rows if r.slice == "all"}
    assert set(CONTRACT) - found == {"official_recall@K"}
    assert {k for r in rows if (k := r.metric).startswith("recall@")} == {f"recall@{k}" for k in (1, 5, 10, 20, 50)}
    for r in rows:
        assert define(r.metric).sentence.endswith(".")
    assert set(CONTRACT) <= set(DEFINITIONS)


def test_unmeasurable_is_null_with_a_reason(rows: list[MetricRow], row: Any) -> None:
    expected = {
        "gate_balanced_accuracy": "unmeasurable:system has no gate",
        "missed_lookup_rate": "unmeasurable:system has no gate",
        "cost_per_1k_questions_usd": "unmeasurable:no model was called",
        "peak_rss_mb": "unmeasurable:not measured",
        "other_work_cores": "unmeasurable:not measured",
        "session_recall@5": "unmeasurable:no question has evidence labelled by session",
    }
    for metric, status in expected.items():
        found = row(rows, metric)
        assert (found.value, found.low, found.high, found.status) == (None, None, None, status)
    assert row(rows, "latency_p95_ms").value is None
    json.loads(json.dumps([r.model_dump() for r in rows], allow_nan=False))


def test_every_rate_has_an_interval_of_some_width_around_it(rows: list[MetricRow]) -> None:
    for r in rows:
        if define(r.metric).unit == "%" and r.value is not None:
            assert r.low is not None and r.high is not None, r
            assert 0.0 <= r.low <= r.value <= r.high <= 1.0, r
            assert r.low < r.high, r


def test_outcomes_sum_to_the_planned_questions() -> None:
    counts = outcome_counts(small_run(), [build_trial(planned=12)])["bm25", "d"]
    assert set(counts) == set(OUTCOMES)
    assert sum(counts.values()) == 12
    assert counts["error"] == 3


def test_an_error_stays_in_the_denominator(fault: Callable[[str], dict[str, Any]], row: Any) -> None:
    scores = fault("jd-06")["input"]["scores"]
    records = [build_record(f"q{i}", error=None if s else "raised") for i, s in enumerate(scores)]
    rows = aggregate(records, [build_trial(planned=len(scores))], resamples=FEW)
    assert row(rows, "accuracy").value == 0.25
    assert row(rows, "error_rate").value == 0.75


def test_a_question_never_answered_stays_in_the_denominator(fault: Callable[[str], dict[str, Any]], row: Any) -> None:
    case = fault("rm-06")
    given_, checks = case["input"], case["expected"]["checks"]
    records = [build_record(f"q{i}") for i in range(given_["answers_submitted"])]
    rows = aggregate(records, [build_trial(planned=given_["questions"])], resamples=FEW)
    found = row(rows, "accuracy")
    assert (found.value, found.n) == (checks["accuracy"], given_["questions"])
    assert found.status == f"incomplete:{checks['unanswered']}"


def test_labels_of_a_missing_question_come_from_another_trial(row: Any) -> None:
    full = [build_record(f"q{i}", evidence=["m1"], ranking=["m1"], category=f"c{i % 2}") for i in range(4)]
    part = [r.model_copy(update={"trial": "vector"}) for r in full[:3]]
    infos = [build_trial(planned=4), build_trial("vector", planned=4)]
    rows = aggregate(full + part, infos, resamples=FEW)
    assert row(rows, "recall@5", trial="vector").value == 0.75
    assert row(rows, "accuracy", "category=c1", trial="vector").value == 0.5
    assert "incomplete:1" in row(rows, "accuracy", trial="vector").status
    assert "incomplete" not in row(rows, "accuracy").status


def test_a_trial_not_yet_run_has_rows_without_values(row: Any) -> None:
    rows = aggregate([build_record("q0")], [build_trial(planned=1), build_trial("later", planned=1)], resamples=FEW)
    assert row(rows, "accuracy", trial="later").value is None
    assert row(rows, "accuracy", trial="later").status == "unmeasurable:no question was asked"


def test_a_question_recorded_twice_counts_once(row: Any) -> None:
    records = [build_record("q0"), build_record("q0", outcome="wrong_other"), build_record("q1")]
    found = row(aggregate(records, [build_trial(planned=2)], resamples=FEW), "accuracy")
    assert (found.value, found.n) == (1.0, 2)


def test_repeats_do_not_add_questions(row: Any) -> None:
    outcomes = [["correct", "wrong_other"], ["correct", "correct"], ["wrong_other", "needless_abstention"]]
    once = [build_record(f"q{i}", repeat=r, outcome=o) for i, os in enumerate(outcomes) for r, o in enumerate(os)]
    found = row(aggregate(once, [build_trial(planned=3, repeats=2)], resamples=2000), "accuracy")
    assert (found.value, found.n) == (0.5, 3)
    again = [r.model_copy(update={"result": r.result.model_copy(update={"repeat": r.result.repeat + 2})}) for r in once]
    twice = row(aggregate(once + again, [build_trial(planned=3, repeats=4)], resamples=2000), "accuracy")
    assert (twice.low, twice.high) == (found.low, found.high)


def test_few_clusters_show_the_interval_by_question_beside(row: Any) -> None:
    records = [
        build_record(f"q{i}", cluster=f"k{i % 4}", outcome="correct" if i % 4 else "wrong_other") for i in range(80)
    ]
    rows = aggregate(records, [build_trial(planned=80)], resamples=2000)
    wide, narrow = row(rows, "accuracy"), row(rows, "accuracy", BY_QUESTION)
    assert wide.status == narrow.status == "few_clusters"
    assert wide.value == narrow.value == 0.75
    assert wide.high - wide.low > 2 * (narrow.high - narrow.low)
    many = [build_record(f"q{i}", cluster=f"k{i % 8}") for i in range(80)]
    assert row(aggregate(many, [build_trial(planned=80)], resamples=FEW), "accuracy").status == "ok"


def test_one_cluster_falls_back_on_questions(row: Any) -> None:
    records = [build_record(f"q{i}", cluster="k", outcome=o) for i, o in enumerate(["correct", "wrong_other"] * 20)]
    found = row(aggregate(records, [build_trial(planned=40)], resamples=FEW), "accuracy")
    assert found.status == "few_clusters"
    assert found.low == pytest.approx(0.352, abs=0.001)  # Wilson for 20 of 40
    assert found.high == pytest.approx(0.648, abs=0.001)


def test_clusters_must_be_named_for_all_or_none(row: Any) -> None:
    half = [build_record("q0", cluster="k"), build_record("q1", cluster="")]
    with pytest.raises(ValueError, match="cluster_id"):
        aggregate(half, [build_trial(planned=2)], resamples=FEW)
    none = [build_record(f"q{i}", cluster="") for i in range(10)]
    assert row(aggregate(none, [build_trial(planned=10)], resamples=FEW), "accuracy").status == "ok"


def test_retrieval_is_unmeasurable_only_where_nothing_was_ever_retrieved(row: Any) -> None:
    silent = [build_record(f"q{i}", ranking=[], evidence=["m1"], outcome="needless_abstention") for i in range(4)]
    rows = aggregate(silent, [build_trial(target="no_memory", planned=4)], resamples=FEW)
    assert row(rows, "recall@5").status == "unmeasurable:system retrieves nothing"
    once = [*silent[:3], build_record("q3", evidence=["m1"], ranking=["m1"])]
    found = row(aggregate(once, [build_trial(planned=4)], resamples=FEW), "recall@5")
    assert (found.value, found.n) == (0.25, 4)


def test_rewritten_facts_without_provenance_have_no_recall(row: Any) -> None:
    record = build_record("q0", evidence=["m1"], ranking=["m1"])
    bare = record.model_copy(
        update={
            "ranking": [],
            "result": record.result.model_copy(update={"retrieved": [Item(ids=[])], "context": []}),
        }
    )
    rows = aggregate([bare], [build_trial(planned=1)], resamples=FEW)
    assert row(rows, "recall@5").status == "unmeasurable:no provenance"


def test_a_k_that_reaches_the_log_is_flagged(row: Any) -> None:
    ranking = [f"m{i}" for i in range(20)]
    records = [build_record(f"q{i}", evidence=["m1"], ranking=ranking, log_size=20) for i in range(10)]
    rows = aggregate(records, [build_trial(planned=10)], resamples=FEW)
    assert row(rows, "recall@10").status == "ok"
    assert row(rows, "recall@20").status == "saturated"


def test_a_shortfall_of_returned_items_is_flagged(fault: Callable[[str], dict[str, Any]], row: Any) -> None:
    case = fault("rm-05")
    given_, checks = case["input"], case["expected"]["checks"]
    ranking = [f"m{i}" for i in range(given_["returned"])]
    records = [
        build_record(f"q{i}", evidence=["m1"], ranking=ranking, log_size=given_["store_size"]) for i in range(10)
    ]
    rows = aggregate(records, [build_trial(planned=10)], resamples=FEW)
    assert row(rows, "recall@50").status == "short_ranking"
    assert row(rows, "recall@10").status == "ok"
    assert row(rows, "ranking_depth").value == checks["effective_k"]


def test_a_system_that_finds_nothing_is_suspect(fault: Callable[[str], dict[str, Any]], row: Any) -> None:
    case = fault("mb-17")
    records = [
        build_record(f"q{i}", outcome="needless_abstention", ranking=[], evidence=["m1"])
        for i in range(case["input"]["n"])
    ]
    rows = aggregate(records, [build_trial(planned=380)], resamples=FEW)
    assert case["expected"]["checks"]["state"] in row(rows, "accuracy").status
    floor = aggregate(records, [build_trial(target="no_memory", planned=380)], resamples=FEW)
    assert row(floor, "accuracy").status == "ok"


@pytest.mark.parametrize(("floor_right", "status"), [("correct", "adapter_suspect"), ("needless_abstention", "ok")])
def test_a_system_below_no_memory_on_what_has_an_answer_is_suspect(row: Any, floor_right: str, status: str) -> None:
    """Answering where nothing is to be answered is a fault of the memory, not of how it is connected."""
    floor = [
        build_record(
            f"q{i}", trial="floor", answerable=i % 2 == 0, outcome=floor_right if i % 2 == 0 else "correct_abstention"
        )
        for i in range(60)
    ]
    bad = [build_record(f"q{i}", answerable=i % 2 == 0, outcome="hallucination", ranking=["x"]) for i in range(60)]
    infos = [build_trial("floor", target="no_memory", planned=60), build_trial(planned=60)]
    rows = aggregate(floor + bad, infos, resamples=FEW)
    assert row(rows, "accuracy").status == status
    assert row(rows, "accuracy", trial="floor").status == "ok"


@pytest.mark.parametrize(
    ("opened", "errors", "status"),
    [
        (0, 0, "ok"),  # its gates kept memory closed throughout, as they were set to
        (0, 3, "ok"),  # what ended in an error was not looked up for either
        (1, 0, "adapter_suspect"),  # once looked up, and nothing was found
    ],
)
def test_closed_gates_are_no_fault_of_the_adapter(row: Any, opened: int, errors: int, status: str) -> None:
    floor = [build_record(f"q{i}", trial="floor") for i in range(60)]
    gated = [
        build_record(f"q{i}", outcome="needless_abstention", ranking=[], gates=[("cost", i < opened, "load")])
        for i in range(60 - errors)
    ]
    failed = [build_record(f"q{60 - 1 - i}", outcome="error", error="timeout") for i in range(errors)]
    infos = [build_trial("floor", target="no_memory", planned=60), build_trial(planned=60)]
    found = row(aggregate([*floor, *gated, *failed], infos, resamples=FEW), "accuracy_answerable").status
    assert ("adapter_suspect" in found) == (status == "adapter_suspect")


def test_sessions_and_official_recall(row: Any) -> None:
    records = [
        build_record(
            "q0", ranking=["a", "b", "c"], sessions=["s1", "s1", "s2"], evidence=["c"], evidence_sessions=["s2"]
        ),
        build_record("q1", ranking=["a"], sessions=["s1"], answerable=False, official=["a"]),
    ]
    rows = aggregate(records, [build_trial(planned=2)], resamples=FEW)
    assert row(rows, "session_recall@1").value == 0.0
    assert row(rows, "session_recall@5").value == 1.0
    assert (row(rows, "recall@1").value, row(rows, "recall@1").n) == (0.0, 1)
    assert (row(rows, "official_recall@1").value, row(rows, "official_recall@1").n) == (0.5, 2)


def test_contested_labels_have_a_slice_without_them(row: Any) -> None:
    records = [build_record("q0"), build_record("q1", outcome="wrong_other", contested="two dates in the log")]
    rows = aggregate(records, [build_trial(planned=2)], resamples=FEW)
    assert row(rows, "accuracy").value == 0.5
    assert row(rows, "accuracy", "contested=no").value == 1.0


def test_a_record_without_a_trial_is_refused() -> None:
    with pytest.raises(ValueError, match="belongs to no trial"):
        aggregate([build_record("q0", trial="who")], [build_trial()], resamples=FEW)


@settings(max_examples=15, deadline=None)
@given(st.randoms(use_true_random=False))
def test_order_of_records_does_not_matter_and_bytes_repeat(rng: random.Random) -> None:
    records = small_run()
    info = build_trial(planned=10)
    first = [r.model_dump_json() for r in aggregate(records, [info], resamples=50)]
    rng.shuffle(records)
    assert [r.model_dump_json() for r in aggregate(records, [info], resamples=50)] == first


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(OUTCOMES), st.integers(0, 9), st.booleans()), min_size=1, max_size=40))
def test_outcome_rates_sum_to_one_and_rates_stay_in_bounds(drawn: list[tuple[str, int, bool]]) -> None:
    records = [
        build_record(f"q{i}", cluster=f"k{k}", outcome=o, error="raised" if o == "error" else None, answerable=a)
        for i, (o, k, a) in enumerate(drawn)
    ]
    rows = aggregate(records, [build_trial(planned=len(drawn))], resamples=100)
    shares = [r.value for r in rows if r.metric.startswith("outcome_rate:") and r.slice == "all"]
    assert sum(v for v in shares if v is not None) == pytest.approx(1.0)
    for r in rows:
        if define(r.metric).unit == "%" and r.value is not None:
            assert r.low is not None and r.high is not None
            assert -1e-12 <= r.low <= r.value <= r.high <= 1 + 1e-12
