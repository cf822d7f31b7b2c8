from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from memtrial.datasets.errors import UserError
from memtrial.datasets.registry import load_dataset
from memtrial.datasets.schema import Dataset, Lure, Question


def turn(dia_id: str, speaker: str = "Ann", **more: Any) -> dict[str, Any]:
    return {"speaker": speaker, "dia_id": dia_id, "text": f"said {dia_id}", **more}


def sample(ident: str = "conv-1", qa: list[dict[str, Any]] | None = None, **talk: Any) -> dict[str, Any]:
    conversation = {
        "speaker_a": "Ann",
        "speaker_b": "Bo",
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [
            turn("D1:1"),
            turn("D1:2", "Bo", img_url=["u"], blip_caption="a photo of a cat", query="cat pic"),
        ],
        "session_2_date_time": "11:59 pm on 9 May, 2023",
        "session_2": [turn(f"D2:{i}") for i in range(1, 31)],
        "session_3_date_time": "1:00 pm on 10 May, 2023",
        **talk,
    }
    return {"sample_id": ident, "conversation": conversation, "qa": qa or [], "event_summary": {}}


def qa(category: int = 4, answer: Any = "a cat", evidence: Any = ("D1:2",), **more: Any) -> dict[str, Any]:
    return {"question": "What?", "answer": answer, "evidence": list(evidence), "category": category, **more}


def load(tmp_path: Path, *samples: dict[str, Any], **options: Any) -> Dataset:
    path = tmp_path / "locomo.json"
    path.write_text(json.dumps(list(samples)), encoding="utf-8")
    return load_dataset({"name": "locomo", "path": str(path), **options})


def only(dataset: Dataset) -> Question:
    ((_, question),) = dataset.questions()
    return question


def kinds(dataset: Dataset) -> set[str]:
    return {n.kind for n in dataset.notes}


def test_turns_get_unique_ids_and_times_that_keep_order_and_date(tmp_path: Path) -> None:
    dataset = load(tmp_path, sample(), sample("conv-2"))
    ids = [m.id for c in dataset.corpora for m in c.messages()]
    assert ids[:3] == ["conv-1:D1:1", "conv-1:D1:2", "conv-1:D2:1"]
    assert len(set(ids)) == len(ids) == 64
    times = [m.timestamp for m in dataset.corpora[0].messages()]
    assert times[:2] == [datetime(2023, 5, 8, 13, 56, s, tzinfo=UTC) for s in (0, 5)]
    assert times == sorted(times)
    assert len(set(times)) == 32
    assert {t.date().day for t in times[2:]} == {9}


def test_captions_are_derived_text_and_search_text_is_gone(tmp_path: Path) -> None:
    with_caption = load(tmp_path, sample()).corpora[0].messages()[1]
    assert with_caption.content == "said D1:2"
    assert dict(with_caption.extra) == {"dia_id": "D1:2", "caption": "a photo of a cat", "caption_source": "derived"}
    assert dict(load(tmp_path, sample(), captions=False).corpora[0].messages()[1].extra) == {"dia_id": "D1:2"}


@pytest.mark.parametrize(
    ("raw", "turns", "note"),
    [
        (["D1:1; D2:3"], ["D1:1", "D2:3"], "evidence_repaired"),
        (["D1:1 D2:3 D2:4"], ["D1:1", "D2:3", "D2:4"], "evidence_repaired"),
        (["D:1:2"], ["D1:2"], "evidence_repaired"),
        (["D2:05"], ["D2:5"], "evidence_repaired"),
        (["D"], [], "evidence_unreadable"),
        (["D9:9", "D1:1"], ["D1:1"], "evidence_dangling"),
        (["D1:1", "D1:1"], ["D1:1"], "evidence_repeated"),
        ([], [], "evidence_empty"),
    ],
)
def test_evidence_is_mended_and_noted(tmp_path: Path, raw: list[str], turns: list[str], note: str) -> None:
    dataset = load(tmp_path, sample(qa=[qa(evidence=raw)]))
    assert only(dataset).evidence == tuple(f"conv-1:{t}" for t in turns)
    assert note in kinds(dataset)


def test_adversarial_questions_become_a_lure_that_calls_for_abstaining(tmp_path: Path) -> None:
    row = {"question": "What?", "adversarial_answer": "a dog", "evidence": ["D1:2"], "category": 5}
    question = only(load(tmp_path, sample(qa=[row])))
    assert (question.answerable, question.answers, question.evidence) == (False, (), ())
    assert question.official_evidence == ("conv-1:D1:2",)
    assert question.lures == (Lure("other_person", ("conv-1:D1:2",), ("a dog",), "asked about the wrong speaker"),)
    both = load(tmp_path, sample(qa=[{**row, "answer": "No"}]))
    assert only(both).answers == ()
    assert "adversarial_with_answer" in kinds(both)


@pytest.mark.parametrize(
    ("category", "answer", "kind", "answers"),
    [
        (2, "7 May 2023", "date", ("7 May 2023",)),
        (2, 2022, "date", ("2022",)),
        (2, "The week before 9 June, 2023", "span", ("The week before 9 June, 2023",)),
        (2, "4 years", "duration", ("4 years",)),
        (1, "Rome, Oslo, and Lima", "list", ("Rome", "Oslo", "Lima")),
        (3, "Yes, since she collects classic books", "free", ("Yes, since she collects classic books",)),
        (3, "LIkely no, as this one went badly", "free", ("LIkely no, as this one went badly",)),
        (1, "Nothing, Rome", "list", ("Nothing", "Rome")),
        (4, 3, "number", ("3",)),
        (3, "Yes", "boolean", ("Yes",)),
        (4, "a cat", "span", ("a cat",)),
    ],
)
def test_answer_types_are_read_off_the_gold(
    tmp_path: Path, category: int, answer: Any, kind: str, answers: tuple[str, ...]
) -> None:
    question = only(load(tmp_path, sample(qa=[qa(category, answer)])))
    assert (question.answer_type, question.answers) == (kind, answers)


def test_questions_of_chosen_categories_keep_their_place_in_the_file(tmp_path: Path) -> None:
    rows = [qa(5, adversarial_answer="a dog"), qa(2, "7 May 2023"), qa(4)]
    dataset = load(tmp_path, sample(qa=rows), categories=[4, 2, 2])
    assert [q.id for _, q in dataset.questions()] == ["conv-1:qa1", "conv-1:qa2"]
    assert "1 questions of the categories multi-hop, open-domain, adversarial (option categories)" in {
        n.detail for n in dataset.notes
    }
    whole = load(tmp_path, sample(qa=rows))
    assert len(dataset.corpora[0].messages()) == len(whole.corpora[0].messages())
    for bad in ([], [6], ["temporal"], 4):
        with pytest.raises(UserError, match="categories"):
            load(tmp_path, sample(qa=rows), categories=bad)


def test_questions_are_asked_a_day_after_the_end(tmp_path: Path) -> None:
    dataset = load(tmp_path, sample(qa=[qa()]))
    assert only(dataset).asked_at - dataset.corpora[0].messages()[-1].timestamp == timedelta(days=1)


def test_pooled_puts_all_into_one_memory_of_one_tenant(tmp_path: Path) -> None:
    late = sample("conv-2", [qa()], session_4=[turn("D4:1")], session_4_date_time="9:00 am on 1 June, 2024")
    (corpus,) = load(tmp_path, sample(qa=[qa()]), late, pooled=True).corpora
    assert corpus.tenants == ("locomo",)
    assert {q.cluster_id for q in corpus.questions} == {"conv-1", "conv-2"}
    assert {q.asked_at for q in corpus.questions} == {datetime(2024, 6, 2, 9, 0, tzinfo=UTC)}


def test_an_audit_marks_what_it_doubts(tmp_path: Path) -> None:
    audit = tmp_path / "errors.json"
    rows = [
        {"question": "What?", "error_type": "TEMPORAL_ERROR", "reasoning": "May", "sample_id": "conv-1", "qa_index": 1},
        {"question": "Who?", "error_type": "WRONG_CITATION", "reasoning": "D1:1"},
        {"question": "Never asked?", "error_type": "AMBIGUOUS"},
    ]
    audit.write_text(json.dumps(rows), encoding="utf-8")
    who = {**qa(), "question": "Who?"}
    dataset = load(tmp_path, sample(qa=[qa(), qa(), who]), audit=str(audit))
    assert [q.contested for _, q in dataset.questions()] == [
        "", "answer: TEMPORAL_ERROR: May", "evidence: WRONG_CITATION: D1:1"
    ]  # fmt: skip
    assert "audit_unmatched" in kinds(dataset)


@pytest.mark.parametrize(
    ("bad", "sentence_parts"),
    [
        (sample(session_2_date_time="yesterday"), ["session_2_date_time", "'yesterday'", "1:56 pm on 8 May, 2023"]),
        (sample(qa=[qa(category=6)]), ["qa[0]", "'category' is 6", "1 to 5"]),
        (sample(qa=[qa(answer=None)]), ["qa[0]", "'answer' is None"]),
        ({**sample(), "conversation": {"speaker_a": "x"}}, ["no session with turns", "session_1"]),
        (sample(session_1=["hello"]), ["session_1[0]", "'hello'"]),
        ({"qa": []}, ["no LoCoMo conversation found"]),
    ],
)
def test_wrong_files_get_a_sentence(tmp_path: Path, bad: dict[str, Any], sentence_parts: list[str]) -> None:
    with pytest.raises(UserError) as caught:
        load(tmp_path, bad)
    for part in ["locomo.json", *sentence_parts]:
        assert part in str(caught.value)


def test_a_conversation_twice_names_both_places(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"\[1\]: conversation 'conv-1' is there twice, first in .*\[0\]"):
        load(tmp_path, sample(), sample())


def test_the_real_file_and_every_oddity_of_its_data_sheet(shared_dir: Path) -> None:
    folder = shared_dir / "data" / "locomo"
    dataset = load_dataset({"name": "locomo", "path": str(folder), "audit": str(folder / "audit_errors_dev6.json")})
    questions = {q.id: q for _, q in dataset.questions()}
    assert len(questions) == 1192
    assert sum(bool(q.evidence) for q in questions.values()) == 914
    assert sum(bool(q.official_evidence) for q in questions.values()) == 1190
    places = Counter((n.kind, n.where) for n in dataset.notes)
    for kind, indices in {
        "number_answer": {"conv-26": [1, 26, 40, 49, 72, 75]},
        "evidence_empty": {"conv-26": [30, 46]},
        "evidence_repaired": {"conv-26": [37], "conv-43": [18], "conv-49": [31, 38, 46]},
        "evidence_unreadable": {"conv-42": [88]},
        "evidence_dangling": {"conv-42": [58], "conv-47": [38]},
        "adversarial_with_answer": {"conv-26": [167, 178]},
    }.items():
        want = {(kind, f"{conv} qa {i}") for conv, numbers in indices.items() for i in numbers}
        assert {place for place in places if place[0] == kind} == want
    assert ("question_repeated", "conv-30:qa95") in places
    details = {n.detail for n in dataset.notes}
    assert "16 session dates without a session" in details
    assert any(d.startswith("473 turns whose annotators' search text") for d in details)
    assert questions["conv-49:qa46"].evidence == tuple(f"conv-49:{d}" for d in ("D21:18", "D21:22", "D11:15", "D11:19"))
    assert sum(q.contested != "" for q in questions.values()) == 104
    assert "query" not in {key for c in dataset.corpora for m in c.messages() for key in m.extra}
