from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from memtrial.datasets.errors import UserError
from memtrial.datasets.registry import load_dataset
from memtrial.datasets.schema import Dataset


def row(ident: str = "q1", **more: Any) -> dict[str, Any]:
    return {
        "question_id": ident,
        "question_type": "knowledge-update",
        "question": "How many bikes?",
        "answer": 3,
        "question_date": "2023/05/30 (Tue) 10:00",
        "haystack_session_ids": ["answer_new", "noise", "answer_old"],
        "haystack_dates": ["2023/05/20 (Sat) 10:00", "2023/05/15 (Mon) 10:00", "2023/05/10 (Wed) 10:00"],
        "haystack_sessions": [
            [{"role": "user", "content": "three now", "has_answer": True}],
            [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "hi"}],
            [{"role": "user", "content": "two bikes", "has_answer": True}],
        ],
        "answer_session_ids": ["answer_old", "answer_new"],
        **more,
    }


def load(tmp_path: Path, *rows: dict[str, Any]) -> Dataset:
    path = tmp_path / "lme.json"
    path.write_text(json.dumps(list(rows)), encoding="utf-8")
    return load_dataset({"name": "longmemeval", "path": str(path)})


def test_an_update_makes_the_earlier_session_a_stale_lure(tmp_path: Path) -> None:
    dataset = load(tmp_path, row())
    ((corpus, question),) = dataset.questions()
    content = {m.id: m.content for m in corpus.messages()}
    assert list(content.values()) == ["two bikes", "hello", "hi", "three now"]
    assert [content[i] for i in question.evidence] == ["three now"]
    ((kind, ids),) = [(lure.kind, lure.message_ids) for lure in question.lures]
    assert (kind, [content[i] for i in ids]) == ("stale", ["two bikes"])
    assert question.answers == ("3",)
    assert dataset.clock_usable


def test_nothing_a_system_sees_tells_the_label(tmp_path: Path) -> None:
    dataset = load(tmp_path, row(), row("q2_abs"))
    for corpus in dataset.corpora:
        seen = [corpus.id, *corpus.tenants, *(text for m in corpus.messages() for text in (m.id, m.session_id))]
        assert not any("answer" in text or "abs" in text for text in seen)
        assert all(not m.extra for m in corpus.messages())


def test_abs_is_not_answerable(tmp_path: Path) -> None:
    ((_, question),) = load(tmp_path, row("q1_abs")).questions()
    assert (question.answerable, question.answers, question.evidence, question.lures) == (False, (), (), ())


def test_sessions_are_the_evidence_where_no_turn_is_marked(tmp_path: Path) -> None:
    sessions = [[{"role": "user", "content": "x"}] for _ in range(3)]
    ((corpus, question),) = load(tmp_path, row(question_type="multi-session", haystack_sessions=sessions)).questions()
    assert question.evidence == ()
    assert question.evidence_sessions == tuple(corpus.messages()[i].session_id for i in (0, 2))


def test_evidence_after_the_question_makes_the_clock_unusable(tmp_path: Path) -> None:
    dataset = load(tmp_path, row(question_date="2023/05/12 (Fri) 10:00"))
    assert not dataset.clock_usable
    assert any(n.kind == "clock" and n.detail.startswith("1 questions") for n in dataset.notes)


@pytest.mark.parametrize(
    ("bad", "sentence_parts"),
    [
        (row(haystack_dates=["2022/07/O5 (Tue) 09:20"] * 3), ["[0]", "haystack_dates", "2022/07/O5 (Tue) 09:20"]),
        (row(question_date="2023/02/30 (Thu) 10:00"), ["question_date", "2023/02/30"]),
        (row(question_date=None), ["question_date", "None"]),
        (row(haystack_dates=[]), ["3, 0 and 3 entries", "one length"]),
        (row(haystack_sessions=[["hello"], [], []]), ["session 'answer_new', turn 0", "'hello'"]),
        (
            row(haystack_sessions=[[{"role": "usr", "content": "x"}], [], []]),
            ["'role' is 'usr'", "did you mean 'user'?"],
        ),
    ],
)
def test_wrong_files_get_a_sentence(tmp_path: Path, bad: dict[str, Any], sentence_parts: list[str]) -> None:
    with pytest.raises(UserError) as caught:
        load(tmp_path, bad)
    for part in ["lme.json", *sentence_parts]:
        assert part in str(caught.value)


def test_a_question_twice_names_both_places(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"\[1\]: question id 'q1' is used twice, first in .*\[0\]"):
        load(tmp_path, row(), row())


def test_the_real_files(shared_dir: Path) -> None:
    dataset = load_dataset({"name": "longmemeval", "path": str(shared_dir / "data" / "longmemeval")})
    assert len(dataset.corpora) == 324 + 17
    assert not dataset.clock_usable
    assert {n.kind: n.detail.split()[0] for n in dataset.notes}["haystack_empty"] == "17"
