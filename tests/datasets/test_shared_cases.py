"""Faults that others met, on the inputs of ../shared/cases."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from memtrial.datasets.check import check_dataset
from memtrial.datasets.errors import UserError
from memtrial.datasets.registry import load_dataset


@pytest.fixture
def inputs(shared_dir: Path) -> Path:
    return shared_dir / "cases" / "inputs"


def expected(inputs: Path, name: str) -> Any:
    return json.loads((inputs / f"{name}.expected.json").read_text(encoding="utf-8"))


def test_lone_surrogate(inputs: Path) -> None:
    want = expected(inputs, "lone_surrogate.json")
    (corpus,) = load_dataset({"name": "json", "path": str(inputs / "lone_surrogate.json")}).corpora
    assert [m.content for m in corpus.messages()] == want["texts"]
    assert corpus.messages()[0].timestamp.isoformat() == want["first_timestamp"]


def test_questions_with_bom_and_a_duplicate_id(inputs: Path, tmp_path: Path) -> None:
    log = tmp_path / "log.json"
    row = {"message_id": 1, "timestamp": 0, "sender": "a", "content": "x"}
    log.write_text(json.dumps([row]), encoding="utf-8")
    with pytest.raises(UserError) as caught:
        load_dataset({"name": "json", "path": str(log), "questions": str(inputs / "qa_bom_crlf.jsonl")})
    for part in ("'q1'", "line 1", "line 4"):
        assert part in str(caught.value)


def test_invalid_escape_names_file_and_line(inputs: Path) -> None:
    with pytest.raises(UserError) as caught:
        load_dataset({"name": "json", "path": str(inputs / "telegram_bad_escape.json")})
    for part in expected(inputs, "telegram_bad_escape.json")["error_must_name"]:
        assert part in str(caught.value)


def test_longmemeval_oddities(inputs: Path) -> None:
    want = expected(inputs, "lme_mini.json")
    dataset = load_dataset({"name": "longmemeval", "path": str(inputs / "lme_mini.json")})
    questions = {q.id: (c, q) for c, q in dataset.questions()}
    assert len(questions) == want["n_questions"]
    assert sum(q.answerable for _, q in questions.values()) == want["n_answerable"]
    for ident, text in want["answers_as_text"].items():
        assert questions[ident][1].answers == (text,)
    corpus, question = questions["syn0001"]
    assert [m.content[:10] for m in corpus.messages()] == ["Last physi", "I ran the ", "Congratula"]
    assert question.asked_at.isoformat() == want["question_time"]["syn0001"] + "+00:00"
    with_evidence = [q for _, q in questions.values() if q.evidence]
    assert len(with_evidence) == want["retrieval_recall_denominator"]["turn_level_all_turns"]
    (lint,) = [f for f in check_dataset(dataset).findings if f.kind == "contested"]
    assert lint.where == want["label_lint"][0]["question_id"]
    assert questions["syn0003"][0].messages()[-1].id in lint.detail
