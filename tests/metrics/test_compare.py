from __future__ import annotations

import numpy as np
import pytest

from memtrial.metrics.aggregate import aggregate
from memtrial.metrics.compare import Comparison, against, compare, contenders
from memtrial.metrics.records import Record, TrialInfo
from memtrial.metrics.verdicts import reading_bottlenecks, reference_lines, verdicts

from .conftest import build_record, build_trial

FEW = 2000


def two_trials(
    clusters: int, per_cluster: int, right_a: float, right_b: float, seed: int = 0, *, ms: tuple[float, float] = (5, 5)
) -> tuple[list[Record], list[TrialInfo]]:
    rng = np.random.default_rng(seed)
    records = []
    for trial, share, scale in (("a", right_a, ms[0]), ("b", right_b, ms[1])):
        for i in range(clusters * per_cluster):
            records.append(
                build_record(
                    f"q{i:04}",
                    trial=trial,
                    cluster=f"k{i % clusters:03}",
                    outcome="correct" if rng.random() < share else "wrong_other",
                    ranking=["m1"],
                    evidence=["m1"],
                    latency_ms=float(rng.exponential(scale)),
                )
            )
    planned = clusters * per_cluster
    return records, [build_trial("a", planned=planned), build_trial("b", planned=planned)]


def one(records: list[Record], infos: list[TrialInfo], metric: str = "accuracy") -> Comparison:
    (found,) = compare(records, infos, metrics=[metric], resamples=FEW)
    return found


def test_a_clear_difference_is_better_and_a_small_one_tied() -> None:
    clear = one(*two_trials(20, 10, 0.8, 0.4))
    assert clear.status == "better"
    assert clear.reversed().status == "worse"
    assert clear.low is not None and clear.low > 0
    even = one(*two_trials(20, 10, 0.6, 0.6, seed=1))
    assert even.status == "tied"
    assert even.low is not None and even.high is not None and even.low <= 0 <= even.high


def test_too_few_clusters_cannot_decide_whatever_the_difference() -> None:
    found = one(*two_trials(5, 100, 1.0, 0.0))
    assert found.smallest_p == found.p == 2 / 32
    assert found.status == "not_decidable"
    assert found.few_clusters
    assert one(*two_trials(6, 100, 1.0, 0.0)).status == "better"


def test_a_family_of_comparisons_raises_the_bar() -> None:
    records, infos = two_trials(6, 20, 1.0, 0.0)
    extra = [r.model_copy(update={"trial": "c"}) for r in records if r.trial == "b"]
    infos = [*infos, build_trial("c", planned=120)]
    found = compare(records + extra, infos, metrics=["accuracy"], resamples=FEW)
    assert {c.status for c in found} == {"not_decidable"}  # 3 comparisons x 1/32 > 0.05
    assert {c.family for c in found} == {3}
    against = compare(records + extra, infos, metrics=["accuracy"], baseline="a", resamples=FEW)
    assert [(c.a, c.b) for c in against] == [("a", "b"), ("a", "c")]


def test_paired_interval_equals_the_normal_one_and_is_narrower_than_unpaired() -> None:
    rng = np.random.default_rng(1)
    hard = rng.random(400) < 0.5
    records = []
    for trial, slip in (("a", 0.0), ("b", 0.1)):
        for i in range(400):
            right = (not hard[i]) and rng.random() >= slip
            records.append(build_record(f"q{i:04}", trial=trial, outcome="correct" if right else "wrong_other"))
    found = one(records, [build_trial("a", planned=400), build_trial("b", planned=400)])
    by_trial = {t: np.array([r.judgement.outcome == "correct" for r in records if r.trial == t], float) for t in "ab"}
    d = by_trial["a"] - by_trial["b"]
    error = d.std() / 20
    assert found.difference == pytest.approx(d.mean())
    assert (found.low, found.high) == pytest.approx((d.mean() - 1.96 * error, d.mean() + 1.96 * error), abs=0.006)
    assert found.detectable == pytest.approx(2.8016 * error, rel=0.06)
    unpaired = 1.96 * np.sqrt(2 * 0.25 / 400)
    assert found.high is not None and found.low is not None
    assert (found.high - found.low) / 2 < 0.5 * unpaired


def test_equal_answers_are_tied_with_an_interval_of_some_width() -> None:
    records, infos = two_trials(20, 5, 1.0, 1.0)
    found = one(records, infos)
    assert (found.status, found.difference, found.p) == ("tied", 0.0, 1.0)
    assert found.high == pytest.approx(0.037, abs=0.001)  # Wilson's upper end of 0 of 100
    assert found.low == -found.high
    assert found.detectable is not None and found.detectable > 0


def test_only_questions_that_count_in_both_are_compared() -> None:
    records, infos = two_trials(10, 2, 0.7, 0.7)
    failed = [
        build_record(r.result.question_id, trial="b", cluster=r.labels.cluster_id, error="raised", evidence=["m1"])
        if r.trial == "b" and r.labels.cluster_id == "k000"
        else r
        for r in records
    ]
    assert one(failed, infos, "context_tokens").n == 18
    assert one(failed, infos, "accuracy").n == 20
    recall = one(failed, infos, "recall@10")
    assert (recall.value_a, recall.value_b) == (1.0, 0.9)


def test_lower_is_better_for_latency_and_its_p95_is_that_of_the_rows() -> None:
    records, infos = two_trials(30, 4, 0.5, 0.5, ms=(1.0, 50.0))
    found = one(records, infos, "latency_p95_ms")
    assert found.status == "better"
    assert found.high is not None and found.high < 0
    rows = {r.trial: r.value for r in aggregate(records, infos, resamples=100) if r.metric == "latency_p95_ms"}
    assert (found.value_a, found.value_b) == pytest.approx((rows["a"], rows["b"]), rel=1e-11)
    same = one(*two_trials(30, 4, 0.5, 0.5), "latency_p95_ms")
    assert same.status == "tied"


def test_what_a_system_does_not_have_is_not_comparable() -> None:
    records, infos = two_trials(10, 2, 0.5, 0.5)
    assert one(records, infos, "wrong_memory_rate").status == "not_comparable"
    bare = [r if r.trial == "a" else r.model_copy(update={"ranking": []}) for r in records]
    assert one(bare, infos, "recall@10").status == "not_comparable"
    assert one(bare[:5], infos, "latency_p95_ms").status == "not_comparable"


def test_unknown_names_are_refused() -> None:
    records, infos = two_trials(3, 1, 0.5, 0.5)
    with pytest.raises(ValueError, match="baseline 'x' is no trial"):
        compare(records, infos, baseline="x")
    with pytest.raises(ValueError, match="acuracy"):
        compare(records, infos, metrics=["acuracy"])


def test_comparisons_repeat_exactly() -> None:
    records, infos = two_trials(20, 3, 0.6, 0.5)
    assert compare(records, infos, resamples=FEW) == compare(records[::-1], infos, resamples=FEW)


def test_reference_lines_by_hand() -> None:
    records = [
        build_record("q0", answer_type="boolean"),
        build_record("q1", options=["a", "b", "c", "d"]),
        build_record("q2"),
        build_record("q3", answerable=False, outcome="correct_abstention"),
        build_record("q3", trial="other", answerable=False, outcome="correct_abstention"),
    ]
    abstain, guess = reference_lines(records)
    assert (abstain.accuracy, abstain.accuracy_answerable, abstain.abstention_recall, abstain.n) == (0.25, 0.0, 1.0, 4)
    assert guess.accuracy == (0.5 + 0.25) / 4
    assert guess.accuracy_answerable == 0.25
    assert guess.abstention_precision is None


def trials_with_floor_and_oracle(oracle_right: float = 1.0) -> tuple[list[Record], list[TrialInfo]]:
    shares = {"oracle": oracle_right, "good": 0.7, "near": 0.68, "bad": 0.1, "no_memory": 0.0}
    records = []
    for trial, share in shares.items():
        for i in range(200):
            outcome = "correct" if i % 100 < 100 * share else "wrong_memory"
            records.append(
                build_record(
                    f"q{i:03}",
                    trial=trial,
                    cluster=f"k{i % 40}",
                    outcome="needless_abstention"
                    if trial in ("no_memory", "bad") and outcome != "correct"
                    else outcome,
                    ranking=[] if trial == "no_memory" else ["m1"],
                    evidence=["m1"],
                    lures=[("stale", ["m9"], ["12"])],
                    used=["stale"] if outcome == "wrong_memory" else [],
                    latency_ms={"no_memory": 0.1, "bad": 0.2}.get(trial, 5.0 + i / 100),
                )
            )
    return records, [build_trial(t, planned=200) for t in shares]


def test_oracle_and_floor_never_win() -> None:
    records, infos = trials_with_floor_and_oracle()
    rows = aggregate(records, infos, resamples=FEW)
    found = {v.need.key: v for v in verdicts(rows, compare(records, infos, resamples=FEW), infos)}
    accuracy = found["accuracy"]
    assert (accuracy.leader, accuracy.tied, accuracy.behind) == ("good", ("near",), ("bad",))
    assert [group[0].trial for group in accuracy.figures] == ["good", "near", "bad"]
    wrong = found["wrong_memory"]
    assert wrong.leader == "good"  # "bad" only abstains
    assert [r.metric for r in wrong.figures[0]] == ["wrong_memory_rate", "accuracy", "abstention_rate"]
    assert any("bad" in caveat for caveat in wrong.caveats)
    assert any("abstains on" in caveat for caveat in wrong.caveats)
    assert found["latency"].leader != "bad"
    assert found["latency"].tied


def test_a_weak_oracle_puts_retrieval_first() -> None:
    records, infos = trials_with_floor_and_oracle(oracle_right=0.5)
    rows = aggregate(records, infos, resamples=FEW)
    assert reading_bottlenecks(rows, infos) == {"d": 0.5}
    found = verdicts(rows, compare(records, infos, resamples=FEW), infos, reference_lines(records))
    assert [v.need.key for v in found][:2] == ["retrieval", "exposure"]
    (accuracy,) = [v for v in found if v.need.key == "accuracy"]
    assert any("Reading is the bottleneck" in caveat for caveat in accuracy.caveats)
    strong, infos = trials_with_floor_and_oracle()
    assert reading_bottlenecks(aggregate(strong, infos, resamples=100), infos) == {}


def test_a_suspect_adapter_never_wins() -> None:
    records = [
        build_record(f"q{i:02}", trial=t, ranking=["m1"] if t == "b" else [], outcome="correct" if t == "a" or i % 2 else "wrong_other")
        for t in "ab"
        for i in range(30)
    ]  # fmt: skip
    infos = [build_trial("a", planned=30), build_trial("b", planned=30)]
    rows = aggregate(records, infos, resamples=100)
    found = verdicts(rows, compare(records, infos, resamples=100), infos)
    assert next(v for v in found if v.need.key == "accuracy").leader == "b"


def test_only_choices_are_compared_and_variants_among_themselves() -> None:
    names = ["no_memory", "oracle", "x", "y", "x[k=1]", "x[k=2]"]
    systems = ["no_memory", "oracle", "x", "y", "x", "x"]
    records = [
        build_record(f"q{i}", trial=name, cluster=f"k{i}", ranking=["m1"], evidence=["m1"])
        for name in names
        for i in range(8)
    ]
    infos = [
        build_trial(name, planned=8).model_copy(update={"system": system, "target": system})
        for name, system in zip(names, systems, strict=True)
    ]
    assert contenders(infos) == ["x", "y"]
    found = compare(records, infos, metrics=["accuracy"], resamples=FEW)
    assert [(c.a, c.b, c.family) for c in found] == [
        ("x", "y", 1),
        ("x", "x[k=1]", 3),
        ("x", "x[k=2]", 3),
        ("x[k=1]", "x[k=2]", 3),
    ]


def test_the_variants_of_the_only_system_contend() -> None:
    names = ["oracle", "x", "x[k=1]"]
    infos = [
        build_trial(name, planned=1).model_copy(update={"system": system, "target": system})
        for name, system in zip(names, ["oracle", "x", "x"], strict=True)
    ]
    assert contenders(infos) == ["x", "x[k=1]"]


def test_a_system_without_a_plain_trial_contends_with_its_variants() -> None:
    infos = [
        build_trial(name, planned=1).model_copy(update={"system": "x", "target": "x"}) for name in ("x[k=1]", "x[k=2]")
    ]
    assert contenders(infos) == ["x[k=1]", "x[k=2]"]


def test_the_best_is_compared_with_the_rest_alone() -> None:
    """Eight clusters give p = 2/256 at least: ten pairs cannot be decided after Holm, four against the best can."""
    names = "abcde"
    rng = np.random.default_rng(3)
    records = [
        build_record(
            f"q{i:03}",
            trial=name,
            cluster=f"k{i % 8}",
            outcome="correct" if name == "a" or rng.random() < 0.2 else "wrong_other",
            ranking=["m1"],
            evidence=["m1"],
        )
        for name in names
        for i in range(160)
    ]
    infos = [build_trial(name, planned=160) for name in names]
    pairs = compare(records, infos, metrics=["accuracy"], resamples=FEW)
    assert {c.status for c in pairs} == {"not_decidable"}
    found = against("a", pairs)
    assert [(c.b, c.family, c.status) for c in found] == [(name, 4, "better") for name in "bcde"]
    assert found[0].p_holm == pytest.approx(4 * 2 / 256)
    rows = aggregate(records, infos, resamples=FEW)
    (best,) = [v for v in verdicts(rows, pairs, infos) if v.need.key == "accuracy"]
    assert (best.leader, set(best.behind), best.undecided) == ("a", set("bcde"), ())
