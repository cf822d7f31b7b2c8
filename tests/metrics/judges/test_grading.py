from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from memtrial.metrics.judges.grading import grade, matcher_label, published_verdict, rejudged, tally
from memtrial.metrics.judges.labels import JudgeLabel, Verdict
from memtrial.metrics.records import OUTCOMES, Record

MakeRecord = Callable[..., Record]
STALE = [("stale", ["m1"], ["nine"])]


@pytest.mark.parametrize(
    ("label", "lure", "fields", "outcome"),
    [
        ("correct", "", {"outcome": "wrong_other"}, "correct"),
        ("partial", "", {"outcome": "correct"}, "incomplete"),
        ("abstained", "", {"outcome": "hallucination"}, "needless_abstention"),
        ("abstained", "", {"outcome": "hallucination", "answerable": False}, "correct_abstention"),
        ("wrong", "stale", {"outcome": "correct", "lures": STALE}, "wrong_memory"),
        ("wrong", "", {"outcome": "wrong_memory", "used": ["stale"]}, "wrong_memory"),
        ("wrong", "", {"outcome": "hallucination"}, "hallucination"),
        ("wrong", "", {"outcome": "correct"}, "wrong_other"),
        ("wrong", "", {"outcome": "correct_abstention", "answerable": False}, "hallucination"),
        ("correct", "", {"outcome": "wrong_memory", "answerable": False, "used": ["stale"]}, "wrong_memory"),
    ],
)
def test_a_verdict_becomes_an_outcome(
    record: MakeRecord, label: JudgeLabel, lure: str, fields: dict[str, Any], outcome: str
) -> None:
    before = record("q", exposed=["stale"], leaks=2, **fields)
    after = rejudged(before, Verdict(label, "model/ours", "why", lure=lure))
    assert after is not None
    assert (after.judgement.outcome, after.judgement.judge, after.judgement.note) == (outcome, "model/ours", "why")
    assert (after.judgement.lures_exposed, after.judgement.leaks) == (["stale"], 2)
    assert bool(after.judgement.lures_used) == (outcome == "wrong_memory")
    assert after.result == before.result and before.judgement.judge == "matcher"


def test_what_no_judge_scored_has_no_outcome_and_errors_stay(record: MakeRecord) -> None:
    assert rejudged(record("q"), Verdict("unscored", "j")) is None
    assert rejudged(record("q"), None) is None
    failed = record("q", error="timeout")
    assert rejudged(failed, None) is failed


def test_every_outcome_has_a_label(record: MakeRecord) -> None:
    assert [matcher_label(record("q", outcome=o).judgement) for o in OUTCOMES] == [
        "correct", "abstained", "abstained", "wrong", "wrong", "partial", "wrong", "wrong",
    ]  # fmt: skip


def test_stored_answers_are_graded_without_their_errors(record: MakeRecord) -> None:
    class Echo:
        name = "echo"
        asked = 0

        async def judge(self, labels: Any, answer_text: str, *, abstained: bool = False, trial: str = "") -> Verdict:
            self.asked += 1
            return Verdict("correct" if labels.text == "q1" else "unscored", f"echo {trial}")

    judge = Echo()
    records = [record("q1"), record("q2"), record("q3", error="crashed")]
    verdicts = asyncio.run(grade(records, judge, concurrency=1))
    assert judge.asked == 2 and len(verdicts) == 2
    scored = tally(records, verdicts)
    assert (scored.credit, scored.scored, scored.total) == (1.0, 2, 3)
    assert scored.value == 0.5


@pytest.mark.parametrize(
    ("fact", "label"),
    [
        ({"run": "zep", "verdicts": ["correct", "wrong", "correct"]}, "correct"),
        ({"run": "zep", "verdicts": ["correct", "wrong"]}, "unscored"),
        ({"run": "zep", "verdicts": ["splendid", 5, None]}, "unscored"),
        ({"run": "zep", "matched": False}, None),
        ({"verdicts": "correct"}, None),
        ("correct", None),
        (None, None),
    ],
)
def test_published_verdicts_travel_in_the_trace(record: MakeRecord, fact: Any, label: str | None) -> None:
    made = record("q")
    made.result.trace.facts = {"published": fact} if fact is not None else {}
    found = published_verdict(made)
    assert (found.label if found else None) == label
    if found and isinstance(fact, dict):
        assert found.judge == "published:zep"
