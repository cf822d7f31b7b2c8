from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memtrial.datasets.errors import UserError
from memtrial.datasets.registry import load_dataset
from memtrial.datasets.schema import Dataset, Message, ScorePoint

DAY = "2025-03-10"
RECORDS: dict[str, list[dict[str, Any]]] = {
    "sms": [
        {"phone_id": 2, "event_id": 1, "message_content": "See you at 8", "contactName": "Kai", "phoneNumber": "+86 1",
         "datetime": f"{DAY} 09:00:00", "message_type": "Receive"},
        {"phone_id": "1", "event_id": 1, "message_content": "Fine", "contactName": "Kai", "contact_phone_number": "+86 1",
         "datetime": f"{DAY} 08:00:00", "message_type": "接收与发送"},
    ],
    "agent_chat": [
        {"phone_id": 1, "event_id": 2, "date": DAY, "conversation": {
            "turn 1": {"user": {"action": "a", "content": "How?"}, "assistant": {"action": "b", "content": "So."}},
            "talk": {"action": "c", "content": "Stray."}}},
    ],
    "call": [
        {"phone_id": 1, "event_id": 3, "contactName": "Kai", "contact_phone_number": "+86 1", "datetime": f"{DAY} 10:00:00",
         "call_type": "Dial", "summarized_info": "secret summary"},
    ],
    "note": [{"phone_id": 1, "event_id": 4, "title": "Plan", "content": "Buy milk", "datetime": f"{DAY} 11:00:00"}],
    "calendar": [
        {"phone_id": 1, "event_id": 5, "title": "Tea", "description": "With Kai", "start_time": "a", "end_time": "b",
         "datetime": f"{DAY} 12:00:00", "recurrence": "weekly"},
    ],
    "push": [
        {"phone_id": 1, "event_id": 6, "title": "Steps", "content": "8,000", "source": "Health",
         "datetime": f"{DAY} 13:00:00"},
    ],
    "photo": [
        {"phone_id": 1, "event_id": 7, "caption": "A jar", "datetime": f"{DAY} 14:00:00",
         "location": {"city": "Oslo", "poi": "Home"}, "faceRecognition": ["Kai"], "imageTag": ["jar"], "ocrText": "None"},
    ],
}  # fmt: skip
QUESTION = {"question": "When?", "answer": "At 8", "question_type": "Information Extraction", "ask_time": "2025-03",
            "evidence": [{"type": "sms", "id": "2"}], "score_points": [{"description": "says 8", "score": 10}]}  # fmt: skip


def load(tmp_path: Path, questions: list[dict[str, Any]] | None = None, **records: list[dict[str, Any]]) -> Dataset:
    person = tmp_path / "en" / "kim"
    person.mkdir(parents=True, exist_ok=True)
    for kind, rows in {**RECORDS, **records}.items():
        (person / f"{kind}.json").write_text(json.dumps(rows), encoding="utf-8")
    (person / "QA_clean.json").write_text(json.dumps(questions or []), encoding="utf-8")
    return load_dataset({"name": "lifebench", "path": str(tmp_path), "language": "en"})


def by_id(dataset: Dataset) -> dict[str, Message]:
    return {m.id: m for corpus in dataset.corpora for m in corpus.messages()}


def kinds(dataset: Dataset) -> set[str]:
    return {n.kind for n in dataset.notes}


def test_every_kind_of_record_becomes_a_message_of_its_source(tmp_path: Path) -> None:
    found = by_id(load(tmp_path))
    assert {ident: (m.source, m.sender, m.recipient, m.content) for ident, m in found.items()} == {
        "kim:sms:1": ("sms", "kim", "Kai", "Fine"),
        "kim:sms:2": ("sms", "Kai", "kim", "See you at 8"),
        "kim:call:1": ("call", "kim", "Kai", f"Call: Kai (+86 1), Dial, {DAY} 10:00:00"),
        "kim:note:1": ("note", "kim", "", "Plan\nBuy milk"),
        "kim:agent_chat:1": ("agent_chat", "kim", "assistant", "User: How?\nAssistant: So.\nStray."),
        "kim:calendar:1": ("calendar", "kim", "", "Tea\nWith Kai\nTime: a to b\nRepeats: weekly"),
        "kim:push:1": ("push", "Health", "kim", "Steps\n8,000"),
        "kim:photo:1": ("photo", "kim", "", "Photo: A jar\nPlace: Oslo, Home\nPeople: Kai\nTags: jar"),
    }


def test_messages_are_in_time_order_and_bare_dates_stand_at_noon(tmp_path: Path) -> None:
    messages = load(tmp_path).corpora[0].messages()
    assert [m.source for m in messages] == ["sms", "sms", "call", "note", "agent_chat", "calendar", "push", "photo"]
    assert messages[4].timestamp == datetime(2025, 3, 10, 12, tzinfo=UTC)
    assert {m.session_id for m in messages} == {"kim:2025-03-10"}


def test_open_questions_keep_score_points_and_are_asked_at_the_end_of_the_month(tmp_path: Path) -> None:
    ((_, question),) = load(tmp_path, [QUESTION]).questions()
    assert question.evidence == ("kim:sms:2",)
    assert question.score_points == (ScorePoint("says 8", 10.0),)
    assert question.asked_at == datetime(2025, 3, 31, 23, 59, 59, tzinfo=UTC)
    assert (question.asker, question.cluster_id, question.answers) == ("kim", "kim", ("At 8",))


def test_multiple_choice_accepts_letter_and_text(tmp_path: Path) -> None:
    options = [{"option": letter, "content": text} for letter, text in (("A", "Oslo"), ("B", "Rome"), ("C", "Lima"))]
    one = {**QUESTION, "answer": "B", "options": options}
    two = {**QUESTION, "answer": "A, C", "options": options}
    dataset = load(tmp_path, [one, two])
    first, second = (q for _, q in dataset.questions())
    assert first.options == ("A: Oslo", "B: Rome", "C: Lima")
    assert (first.answer_type, first.answers) == ("choice", ("B", "B: Rome", "Rome"))
    assert (second.answer_type, second.answers) == ("list", ("Oslo", "Lima"))
    assert "several_choices" in kinds(dataset)


def test_unanswerable_has_no_accepted_answer(tmp_path: Path) -> None:
    row = {k: v for k, v in QUESTION.items() if k != "evidence"} | {
        "question_type": "Unanswerable",
        "answer": "无法回答",
    }
    dataset = load(tmp_path, [row])
    ((_, question),) = dataset.questions()
    assert (question.answerable, question.answers, question.evidence) == (False, (), ())
    assert "evidence_empty" not in kinds(dataset)


def test_evidence_oddities_are_survived_and_noted(tmp_path: Path) -> None:
    evidence = [
        {"type": "sms", "id": 2},
        {"type": "sms", "id": "2"},
        {"type": "note", "phone_id": 1, "title": "Plan"},
        {"type": "push", "id": 99},
    ]
    dataset = load(tmp_path, [{**QUESTION, "evidence": evidence}, {**QUESTION, "evidence": []}])
    first, _ = (q for _, q in dataset.questions())
    assert first.evidence == ("kim:sms:2", "kim:note:1")
    assert {"evidence_repeated", "evidence_record", "evidence_dangling", "evidence_empty"} <= kinds(dataset)


def test_a_record_twice_is_kept_once_and_two_records_of_one_id_are_told_apart(tmp_path: Path) -> None:
    note = RECORDS["note"][0]
    other = {**note, "event_id": 44, "content": "Buy tea"}
    question = {**QUESTION, "evidence": [{"type": "note", "id": 1}], "required_events_id": ["44"]}
    dataset = load(tmp_path, [question], note=[note, note, other])
    assert [i for i in by_id(dataset) if ":note:" in i] == ["kim:note:1", "kim:note:1~2"]
    ((_, found),) = dataset.questions()
    assert found.evidence == ("kim:note:1~2",)
    assert {"record_repeated", "phone_id_repeated", "evidence_ambiguous"} <= kinds(dataset)


def test_a_question_dated_before_its_evidence_moves_rather_than_losing_it(tmp_path: Path) -> None:
    dataset = load(tmp_path, [{**QUESTION, "ask_time": "2025-01"}])
    ((_, question),) = dataset.questions()
    assert question.asked_at == datetime(2025, 3, 10, 9, 0, 1, tzinfo=UTC)
    assert "asked_at_moved" in kinds(dataset)
    assert dataset.clock_usable


def test_a_translators_prompt_is_taken_off(tmp_path: Path) -> None:
    prompt = "Please translate the following Chinese text into English, as follows:\n\n{}\n\nTranslation requirements:\n1. Exact."
    photo = {**RECORDS["photo"][0], "ocrText": prompt.format("None"), "caption": prompt.format("A red jar")}
    dataset = load(tmp_path, photo=[photo])
    assert by_id(dataset)["kim:photo:1"].content.startswith("Photo: A red jar\nPlace")
    assert "Translation" not in by_id(dataset)["kim:photo:1"].content
    assert "translation_prompt" in kinds(dataset)


def test_layout_of_the_original_repository(tmp_path: Path) -> None:
    person = tmp_path / "data_en" / "kim"
    (person / "QA").mkdir(parents=True)
    (person / "phone_data").mkdir()
    (person / "QA" / "QA_clean.json").write_text(json.dumps([QUESTION]), encoding="utf-8")
    (person / "phone_data" / "sms.json").write_text(json.dumps(RECORDS["sms"]), encoding="utf-8")
    dataset = load_dataset({"name": "lifebench", "path": str(tmp_path), "language": "en"})
    assert [len(c.messages()) for c in dataset.corpora] == [2]
    assert "file_missing" in kinds(dataset)


@pytest.mark.parametrize(
    ("question", "records", "sentence_parts"),
    [
        ({"ask_time": "soon"}, {}, ["QA_clean.json, [0]", "'ask_time' is 'soon'", "2025-01"]),
        ({"ask_time": "2025-13"}, {}, ["'ask_time' is '2025-13'"]),
        ({"answer": "E", "options": [{"option": "A", "content": "x"}]}, {}, ["'answer' is 'E'", "(A)"]),
        ({"score_points": [{"description": "x", "score": "ten"}]}, {}, ["score_points[0]", "'score' is 'ten'"]),
        ({"question_type": None}, {}, ["'question_type' is None"]),
        (
            {},
            {"sms": [{**RECORDS["sms"][0], "datetime": "2025-02-30 10:00:00"}]},
            ["sms.json, [0]", "2025-02-30 10:00:00"],
        ),
        ({}, {"sms": [{k: v for k, v in RECORDS["sms"][0].items() if k != "phone_id"}]}, ["'phone_id' is missing"]),
        ({}, {"sms": {"a": 1}}, ["sms.json", "JSON list of records"]),
    ],
)
def test_wrong_files_get_a_sentence(
    tmp_path: Path, question: dict[str, Any], records: dict[str, Any], sentence_parts: list[str]
) -> None:
    with pytest.raises(UserError) as caught:
        load(tmp_path, [{**QUESTION, **question}], **records)
    for part in sentence_parts:
        assert part in str(caught.value)


def test_a_folder_without_people_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no folder of a person"):
        load_dataset({"name": "lifebench", "path": str(tmp_path)})


@pytest.mark.parametrize("language", ["zh", "en"])
def test_the_real_files(shared_dir: Path, language: str) -> None:
    dataset = load_dataset({"name": "lifebench", "path": str(shared_dir / "data" / "lifebench"), "language": language})
    assert [(c.id, len(c.questions)) for c in dataset.corpora] == [("leimingxuan", 228), ("lumingqiang", 158)]
    # Figures of the data sheet beside the files: 380 questions whose evidence exists, 99 of multiple choice.
    assert sum(bool(q.evidence) for _, q in dataset.questions()) == 380
    assert sum(bool(q.options) for _, q in dataset.questions()) == 37 + 62
    assert sum(not q.answerable for _, q in dataset.questions()) == 6
    contents = [m.content.lower() for c in dataset.corpora for m in c.messages()]
    assert not any("please translate the following" in c or "translation requirements" in c for c in contents)
