from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from memtrial.datasets.schema import Lure, Question
from memtrial.metrics.matching import judge
from memtrial.metrics.records import Judgement, Result

GROUPS: list[dict[str, Any]] = [
    group
    for name in ("golden.yaml", "golden_sentences.yaml")
    for group in yaml.safe_load((Path(__file__).parent / name).read_text(encoding="utf-8"))
]
EXPECTED = {
    "C": {"correct"},
    "W": {"wrong_memory"},
    "M": {"wrong_memory"},
    "I": {"incomplete"},
    "O": {"wrong_other", "hallucination"},
    "H": {"hallucination"},
}


def build(group: dict[str, Any]) -> Question:
    asked = datetime.fromisoformat(group.get("asked", "2025-01-15T10:00:00")).replace(tzinfo=UTC)
    return Question(
        id=group["q"],
        conversation_id="c",
        tenant_id="t",
        asker="ann",
        asked_at=asked,
        text=group["q"],
        category="made_up",
        answerable=not group.get("unanswerable", False),
        needs_memory=True,
        answer_type=group["type"],
        answers=tuple(group.get("gold", ())),
        evidence=(),
        cluster_id="c",
        lures=tuple(Lure(kind, (), tuple(values)) for kind, values in group.get("lures", {}).items()),
        options=tuple(group.get("options", ())),
    )


def put(question: Question, text: str) -> Judgement:
    return judge(question, Result(key="", unit="", dataset="", corpus_id="", question_id=question.id, text=text), {})


def cases() -> Iterator[Any]:
    for group in GROUPS:
        question = build(group)
        for mark, answers in group["answers"].items():
            for answer in answers:
                yield pytest.param(question, answer, mark, id=f"{group['q']}|{answer[:40]}|{mark}")


@pytest.mark.parametrize(("question", "answer", "mark"), list(cases()))
def test_made_up_answers_get_the_outcome_a_careful_person_gives(question: Question, answer: str, mark: str) -> None:
    judgement = put(question, answer)
    if mark == "A":
        assert judgement.abstained
        assert judgement.outcome == ("needless_abstention" if question.answerable else "correct_abstention")
        return
    assert judgement.outcome in EXPECTED[mark]
    assert judgement.mixed == (mark == "M") or mark == "W"
    assert bool(judgement.lures_used) == (mark in "WM")
