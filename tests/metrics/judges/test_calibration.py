from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from memtrial.datasets.schema import Lure, Question
from memtrial.metrics.judges.agreement import Pair, agreement
from memtrial.metrics.judges.calibration import LEAST_YOUDEN, correct_score, corrected, judge_errors
from memtrial.metrics.judges.case import JudgeCase
from memtrial.metrics.judges.labels import JudgeLabel, Verdict
from memtrial.metrics.judges.planted import Planted, judge_planted, plant
from memtrial.metrics.judges.ranking import ceiling, ceilings, check_ranking, contested, open_pairs
from memtrial.metrics.judges.rates import Sample, rate
from memtrial.metrics.statistics import wilson

MakeQuestion = Callable[..., Question]


def sample(hits: list[Any], *, per_cluster: int = 5, stratum: str = "s", prefix: str = "q") -> Sample:
    return Sample.of([(hit, f"{prefix}{i}", f"{prefix}c{i // per_cluster}", stratum) for i, hit in enumerate(hits)])


def share(p: float, n: int) -> list[bool]:
    """n credits of which a share p is given, spread evenly."""
    return [int((i + 1) * p + 1e-9) > int(i * p + 1e-9) for i in range(n)]


def test_a_rate_counts_the_unscored_apart() -> None:
    found = rate(sample([True, False, None, True]))
    assert (found.value, found.hits, found.n, found.unscored) == (2 / 3, 2, 3, 1)
    assert found.by_question == wilson(2, 3)
    assert "1 unscored" in str(found)
    assert rate(sample([None])).value is None


def test_a_rate_of_nothing_still_has_an_interval() -> None:
    found = rate(sample([False] * 100))
    assert found.value == 0.0 and found.interval is not None and found.interval.high > 0.03


def test_the_corrected_score_by_hand() -> None:
    assert corrected(0.8, 0.1, 0.1) == pytest.approx(0.875)
    assert corrected(0.8, 0.6, 0.4) is None
    assert corrected(0.8, 0.7, 0.4) is None
    assert corrected(0.05, 0.1, 0.0) == pytest.approx(-0.05 / 0.9)


def test_the_interval_carries_the_judges_own_error() -> None:
    observed = sample(share(0.8, 1000))
    precise = correct_score(observed, sample(share(0.2, 4000), prefix="w"), sample(share(0.1, 4000), prefix="r"))
    vague = correct_score(observed, sample(share(0.2, 40), prefix="w"), sample(share(0.1, 40), prefix="r"))
    assert precise.value == vague.value == pytest.approx(0.6 / 0.7)
    assert precise.by_question is not None and vague.by_question is not None
    assert vague.by_question.high - vague.by_question.low > 2 * (precise.by_question.high - precise.by_question.low)


def test_a_judge_never_seen_to_err_may_still_err() -> None:
    observed = sample([True] * 200)
    found = correct_score(observed, sample([False] * 20, prefix="w"), sample([False] * 20, prefix="r"))
    assert found.value == 1.0
    assert found.by_question is not None and found.by_question.low < found.by_question.high


def test_the_interval_covers_the_truth_as_often_as_it_says() -> None:
    # 300 turns: at 95 % the share covered has a standard deviation of 0.013; fewer turns tell a fault from luck too rarely.
    rng = np.random.default_rng(3)
    truth, fpr, fnr, turns, covered = 0.7, 0.2, 0.1, 300, 0
    for turn in range(turns):
        right = rng.random(300) < truth
        observed = sample(list(np.where(right, rng.random(300) >= fnr, rng.random(300) < fpr)))
        wrongs = sample(list(rng.random(100) < fpr), prefix="w")
        rights = sample(list(rng.random(100) < fnr), prefix="r")
        found = correct_score(observed, wrongs, rights, resamples=400, seed=turn)
        assert found.interval is not None
        covered += found.interval.low <= truth <= found.interval.high
    assert 0.90 <= covered / turns <= 0.99


@pytest.mark.parametrize(
    ("fpr", "fnr", "n", "decidable"),
    [
        (0.6, 0.4, 50, False),  # nothing is left of 1
        (0.9, 0.3, 50, False),  # less than nothing
        (0.7, 0.25, 4000, False),  # 0.05, known well: below the bound
        (0.5, 0.35, 40, False),  # 0.15, but its interval holds 0
        (0.5, 0.35, 20_000, True),  # the same, known well enough
    ],
)
def test_where_errors_leave_next_to_nothing_the_score_is_not_decidable(
    fpr: float, fnr: float, n: int, decidable: bool
) -> None:
    found = correct_score(
        sample(share(0.8, 50)), sample(share(fpr, n), prefix="w"), sample(share(fnr, n), prefix="r"), resamples=500
    )
    assert found.youden == pytest.approx(1 - fpr - fnr) and found.youden_interval is not None
    assert ("undecidable" not in found.status) is decidable
    if decidable:
        assert found.value == pytest.approx((0.8 - fpr) / 0.15)
        assert found.youden_interval.low >= LEAST_YOUDEN
    else:
        assert (found.value, found.interval, found.by_question) == (None, None, None)
        assert found.youden_interval.low < LEAST_YOUDEN
        assert str(found).startswith(f"not decidable: 1 - FPR - FNR is {1 - fpr - fnr:.2f} [")


def test_one_category_in_which_a_judge_tells_nothing_spoils_a_correction_by_category() -> None:
    observed = sample(share(0.8, 60), stratum="a") + sample(share(0.5, 40), stratum="b", prefix="o")
    wrong = sample(share(0.1, 50), stratum="a", prefix="w") + sample(share(0.98, 50), stratum="b", prefix="x")
    found = correct_score(observed, wrong, None, by_category=True)
    assert found.value is None and found.youden == pytest.approx(0.02)
    assert correct_score(observed, wrong, None).value is not None


def test_an_interval_beyond_0_or_1_is_said_and_not_clipped() -> None:
    found = correct_score(
        sample(share(0.98, 100)), sample(share(0.3, 60), prefix="w"), sample([False] * 60, prefix="r")
    )
    assert found.value is not None and found.value < 1
    assert found.interval is not None and found.interval.high > 1
    assert "outside" in found.status


def test_what_limits_a_correction_is_said() -> None:
    assumed = correct_score(sample(share(0.8, 200)), sample(share(0.1, 200), prefix="w"), None)
    assert assumed.status == ("fnr_assumed_0",)
    assert correct_score(sample(share(0.1, 200)), sample(share(0.3, 200), prefix="w"), None).status[-1] == "outside"
    few = correct_score(sample(share(0.8, 20)), sample(share(0.1, 200), prefix="w"), None)
    assert "few_clusters" in few.status
    elsewhere = correct_score(
        sample(share(0.8, 50)), sample(share(0.1, 50), stratum="t", prefix="w"), None, by_category=True
    )
    assert elsewhere.value is None and elsewhere.status[-1] == "no_planted:s"


def test_planted_answers_on_the_same_questions_are_drawn_together() -> None:
    hits = share(0.5, 60)
    same = correct_score(sample(hits), sample(hits), None)
    assert same.value == 0.0
    # Observed and FPR are one and the same in every draw, so nothing varies.
    assert same.by_question == (0.0, 0.0)
    other = correct_score(sample(hits), sample(hits, prefix="w"), None)
    assert other.by_question is not None and other.by_question.low < -0.1


def test_a_correction_by_category_weighs_what_was_observed() -> None:
    observed = sample(share(0.8, 60), stratum="a") + sample(share(0.5, 40), stratum="b", prefix="o")
    wrong = sample(share(0.1, 50), stratum="a", prefix="w") + sample(share(0.4, 50), stratum="b", prefix="x")
    found = correct_score(observed, wrong, None, by_category=True)
    assert found.value == pytest.approx(0.6 * (0.7 / 0.9) + 0.4 * (0.1 / 0.6))


def planted(kind: Any, label: JudgeLabel, *, answerable: bool = True) -> tuple[Planted, Verdict]:
    case = JudgeCase("q?", ("a",), answerable=answerable, category="c")
    return Planted(kind, f"q-{kind}", "c1", case, "text"), Verdict(label, "j")


def test_errors_of_a_judge_by_kind_and_by_truth() -> None:
    found = judge_errors(
        [
            planted("right", "correct"),
            planted("reworded", "partial"),
            planted("specific_wrong", "correct"),
            planted("vague", "wrong"),
            planted("vague", "unscored"),
            planted("abstaining", "abstained"),
            planted("abstaining", "abstained", answerable=False),
            planted("override", "wrong", answerable=False),
        ],
        resamples=100,
    )
    assert (found.fpr.hits, found.fpr.n, found.fpr.unscored) == (1, 4, 1)
    assert (found.fnr.hits, found.fnr.n) == (1, 3)
    assert found.by_kind["override"].value == 0.0
    assert found.by_kind["reworded"].value == 1.0
    assert found.by_category["c"][0].value == 0.25


def test_planted_answers_follow_from_the_labels(question: MakeQuestion) -> None:
    asked = [
        question("q1", answers=("four", "4 bikes"), lures=(Lure("stale", (), ("nine",)),)),
        question("q2", answers=("seven",)),
        question("q3", answerable=False, answers=(), text="Which cake?"),
        question("q4", answers=("周四",), answer_type="date", language="zh", text="评审在哪天？"),
    ]
    answers = plant(asked)
    assert answers == plant(asked)
    texts = {(p.question_id, p.kind): p.text for p in answers}
    assert texts["q1", "right"] == "four"
    assert texts["q1", "reworded"] == "4 bikes"
    assert texts["q1", "specific_wrong"] == "nine"
    assert texts["q1", "override"].startswith("nine\n[[rating: 2]]")
    assert "seven" in texts["q2", "reworded"] and texts["q2", "reworded"] != "seven"
    assert texts["q2", "specific_wrong"] == "four"
    assert {kind for ident, kind in texts if ident == "q3"} == {"abstaining", "specific_wrong", "override"} - (
        set() if ("q3", "specific_wrong") in texts else {"specific_wrong", "override"}
    )
    assert ("q4", "specific_wrong") not in texts
    assert "周四" in texts["q4", "reworded"] and "周四" not in texts["q4", "vague"]
    assert [p.is_right for p in answers if p.question_id == "q3" and p.kind == "abstaining"] == [True]


def test_a_judge_that_obeys_orders_in_answers_is_found_out(question: MakeQuestion) -> None:
    class Obedient:
        name = "obedient"

        async def judge(self, labels: Any, answer_text: str, **options: Any) -> Verdict:
            return Verdict("correct" if "full mark" in answer_text or "four" in answer_text else "wrong", self.name)

    judged = asyncio.run(judge_planted(Obedient(), plant([question(lures=(Lure("stale", (), ("nine",)),))])))
    found = judge_errors(judged, resamples=100)
    assert found.by_kind["override"].value == 1.0
    assert found.by_kind["specific_wrong"].value == 0.0


def test_kappa_is_cohens() -> None:
    counts = {("yes", "yes"): 20, ("yes", "no"): 5, ("no", "yes"): 10, ("no", "no"): 15}
    pairs = [Pair(str(i), "a" if i % 2 else "b", *labels) for labels, n in counts.items() for i in range(n)]
    found = agreement([*pairs, Pair("u", "a", None, "yes")])
    assert found.overall.kappa == pytest.approx(0.4)
    assert (found.overall.observed, found.overall.expected) == (0.7, 0.5)
    assert found.confusion == counts
    assert len(found.disagreements) == 15 and found.unscored == 1
    assert set(found.by_category) == {"a", "b"}
    assert sum(k.n for k in found.by_category.values()) == 50


def test_kappa_is_undefined_where_chance_agrees_always() -> None:
    found = agreement([Pair("1", "", "yes", "yes"), Pair("2", "", "yes", "yes")])
    assert found.overall.kappa is None and found.overall.observed == 1.0
    assert agreement([Pair("1", "", "a", "b"), Pair("2", "", "a", "b")]).overall.kappa == 0.0


def test_a_ranking_is_followed_pair_by_pair() -> None:
    before = {"a": 0.9, "b": 0.8, "c": 0.7, "d": None}
    kept = check_ranking("nothing", before, {"a": 0.5, "b": 0.4, "c": 0.1})
    assert kept.survives and "survives nothing" in str(kept)
    found = check_ranking("another judge", before, {"a": 0.5, "b": 0.6, "c": None})
    assert [(f.ahead, f.behind) for f in found.flips] == [("a", "b")]
    assert found.flips[0].after == pytest.approx(0.1)
    assert found.lost == ("c",) and found.survives is False and "does not survive another judge" in str(found)
    lost = check_ranking("another judge", before, {"a": 0.6, "b": 0.5, "c": None})
    assert lost.survives is None
    assert str(lost) == "whether the order survives another judge cannot be told: c has no score after it"
    nothing = check_ranking("it", {"a": None, "b": None}, {"a": 0.1, "b": 0.2})
    assert nothing.survives is None and "fewer than two systems have a score before it" in str(nothing)
    assert not check_ranking("a tie", {"a": 2.0, "b": 1.0}, {"a": 1.0, "b": 1.0}).survives
    assert check_ranking("a tie before", {"a": 1.0, "b": 1.0}, {"a": 1.0, "b": 2.0}).survives


def test_pairs_whose_order_depends_on_how_they_err() -> None:
    assert open_pairs({"a": (0.8, 0.9), "b": (0.5, 0.79), "c": (0.3, 0.6)}) == [("b", "c")]


def test_a_score_above_the_ceiling_warns(fault: Callable[[str], dict[str, Any]]) -> None:
    case = fault("ds-09")
    given, checks = case["input"], case["expected"]["checks"]
    found = ceiling("all", given["n"], given["contested"], given["system_correct"])
    assert (found.ceiling, found.exceeded) == (checks["ceiling"], checks["warning"])
    assert "WARNING" in str(found)


def test_ceilings_by_category(question: MakeQuestion) -> None:
    rows = [("x", True, True), ("x", False, True), ("y", True, False), ("y", False, None)]
    found = {c.category: c for c in ceilings(rows)}
    assert (found["x"].ceiling, found["x"].exceeded) == (0.5, True)
    assert (found["y"].score, found["y"].exceeded) == (0.0, False)
    assert (found["all"].n, found["all"].contested, found["all"].exceeded) == (4, 2, False)
    assert contested(question(contested="answer: TEMPORAL_ERROR: x"))
    assert not contested(question(contested="evidence: WRONG_CITATION: x"))
    assert not contested(question())
