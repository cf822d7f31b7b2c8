"""Scores by another judge: masks, orders that flip, answers that nobody scored, errors of another judge."""

from __future__ import annotations

from typing import Any

import pytest

from memtrial.metrics.judges.labels import Verdict
from memtrial.metrics.judges.persisted import ErrorsFile, Rejudged, rows_of, sample_of
from memtrial.metrics.judges.rates import Sample
from memtrial.metrics.judges.scoring import score_judge
from memtrial.metrics.panel import Panel, make_panels
from memtrial.metrics.records import Judgement, Labels, Record, Result, TraceSummary, TrialInfo

N = 20


def panels(
    own: dict[str, int], *, contested: int = 0, planned: int = N, errors: int = 0, facts: dict[str, Any] | None = None
) -> list[Panel]:
    """Trials whose first ``own[trial]`` answers the run's own judge counts as right; the last gold labels are in doubt."""
    records, infos = [], []
    for trial, right in own.items():
        infos.append(TrialInfo(trial=trial, unit=trial, system=trial, target=trial, dataset="d", planned=planned))
        for i in range(N):
            outcome: Any = "error" if i < errors else "correct" if i < right else "wrong_other"
            records.append(
                Record(
                    trial=trial,
                    result=Result(
                        key=f"{trial}/{i}", unit=trial, dataset="d", corpus_id="c", question_id=f"q{i}", text="x",
                        error="raised" if i < errors else None, trace=TraceSummary(facts=facts or {}),
                    ),
                    labels=Labels(
                        text="?", cluster_id=f"k{i % 10}", category="a", answers=["x"],
                        contested="answer: wrong" if i >= N - contested else "",
                    ),
                    judgement=Judgement(outcome=outcome),
                )
            )  # fmt: skip
    return make_panels(records, infos)


def verdicts(**right: int) -> dict[str, Verdict]:
    return {f"{t}/{i}": Verdict("correct" if i < n else "wrong", "j") for t, n in right.items() for i in range(N)}


def score(*args: Any, **more: Any) -> tuple[list[Any], dict[str, Any]]:
    scores, ranks = score_judge(*args, resamples=200, **more)
    return scores, {rank.what: rank for rank in ranks}


def test_a_judge_that_turns_the_order_round_is_shown_as_such() -> None:
    scores, ranks = score(panels({"a": 12, "b": 10}), verdicts(a=8, b=14))
    assert [(s.trial, s.own, s.accuracy.value) for s in scores] == [("a", 0.6, 0.4), ("b", 0.5, 0.7)]
    (rank,) = ranks.values()
    assert rank.flips == [("a", "b")] and "b passes a" in rank.text


def test_the_mask_leaves_doubted_gold_out_and_says_whether_the_order_holds() -> None:
    made = panels({"a": 10, "b": 10}, contested=5)
    given = verdicts(a=14, b=13) | {f"b/{i}": Verdict("correct", "j") for i in range(16, 20)}
    scores, ranks = score(made, given)
    assert [(s.total, s.credit) for s in scores] == [(20, 14), (20, 17)]
    assert ranks["leaving contested gold out"].flips == [("b", "a")]
    assert any("above the ceiling" in line for line in scores[1].ceiling) and not scores[0].ceiling
    masked, _ = score(made, given, mask="contested")
    assert [(s.total, s.credit) for s in masked] == [(15, 14), (15, 13)]


def test_errors_and_missing_answers_have_no_credit_and_stay() -> None:
    (one,), _ = score(panels({"a": 10}, planned=N + 5, errors=2), verdicts(a=10))
    assert (one.total, one.scored, one.credit) == (25, 25, 8)
    assert one.own == pytest.approx(8 / 25)


def test_unscored_answers_are_bounds_and_too_many_of_them_no_rank() -> None:
    given = verdicts(a=10, b=5)
    for i in range(4):
        given[f"b/{i}"] = Verdict("unscored", "j")
    scores, ranks = score(panels({"a": 10, "b": 5}), given)
    b = scores[1]
    assert (b.scored, b.low, b.high, b.usable) == (16, 0.05, 0.25, False)
    rank = ranks["this judge in place of the run's own"]
    assert rank.survives is None and "cannot be told: b has no score after it" in rank.text


def test_errors_of_a_published_judge_hold_for_its_own_answers_alone() -> None:
    wrong = {"vague": rows_of(Sample.of([(i < 3, f"q{i}", f"k{i % 10}", "a") for i in range(N)]))}
    errors = ErrorsFile(judge="published", judges=["j1", "j2"], wrong=wrong)
    for judges, known in ((["j1", "j2"], True), (["grade"], False)):
        facts = {"published": {"run": "r", "judges": judges, "verdicts": ["correct"]}}
        (one,), _ = score(panels({"a": 10}, facts=facts), verdicts(a=10), errors=errors)
        assert bool(one.corrected) is known
        if known:
            (corrected,) = one.corrected
            assert corrected.value == pytest.approx((0.5 - 0.15) / 0.85)
            assert "fnr_assumed_0" in corrected.status


def test_a_judge_that_hardly_tells_right_from_wrong_gives_no_corrected_score_and_no_order() -> None:
    wrong = {"vague": rows_of(Sample.of([(i < 18, f"q{i}", f"k{i % 10}", "a") for i in range(N)]))}
    errors = ErrorsFile(judge="j", wrong=wrong)
    scores, ranks = score(panels({"a": 12, "b": 10}), verdicts(a=8, b=14), errors=errors)
    for one in scores:
        (row,) = one.corrected
        assert (row.value, row.low, row.high, row.low_by_question) == (None, None, None, None)
        assert "undecidable" in row.status and "1 - FPR - FNR is 0.10 [" in row.undecidable
    rank = ranks["correction by errors on vague answers"]
    assert rank.survives is None and "cannot be told: no system has a score after it" in rank.text


def test_a_trial_that_a_judge_did_not_look_at_has_no_score() -> None:
    scores, ranks = score(panels({"a": 10, "b": 5}), verdicts(a=10))
    assert [s.trial for s in scores] == ["a"]
    assert ranks == {}


def test_what_is_written_is_read_back() -> None:
    scores, ranks = score_judge(panels({"a": 12, "b": 10}), verdicts(a=8, b=14), resamples=200)
    one = Rejudged(judge="j", scores=scores, ranks=ranks)
    assert Rejudged.model_validate_json(one.model_dump_json()) == one
    sample = Sample.of([(None, "q", "c", "s"), (True, "r", "c", "s")])
    assert rows_of(sample_of(rows_of(sample))) == [(None, "q", "c", "s"), (1, "r", "c", "s")]
