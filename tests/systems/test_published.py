from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memtrial.datasets.errors import UserError
from memtrial.datasets.schema import Message
from memtrial.systems.base import Answer, Context, Query, Trace
from memtrial.systems.published import PublishedAnswer, read_published
from memtrial.systems.registry import resolve

Ask = Callable[..., Query]


def audit(user: int, index: int, text: str, answer: Any, *verdicts: Any, **more: Any) -> dict[str, Any]:
    return {
        "question_id": f"locomo_{user}_qa{index}",
        "question": text,
        "golden_answer": "SECRET",
        "generated_answer": answer,
        "llm_judgments": {f"j{i}": v for i, v in enumerate(verdicts, 1)},
        "category": "4",
    } | more


def write(path: Path, value: Any) -> Path:
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return path


@pytest.fixture
def file(tmp_path: Path) -> Path:
    rows = {
        "locomo_exp_user_0": [
            audit(0, 5, "Who came?", "Bo", True, True, False),
            audit(0, 2, "Who came?", "Ann", False, None),
            audit(0, 3, "When?", None, False),
        ],
        "locomo_exp_user_1": [audit(1, 0, "When?", "May", True), audit(1, 1, "Where?", "Rome", "CORRECT")],
    }
    return write(tmp_path / "run.json", {"detailed_results": rows})


def answer(file: Path, query: Query, context: Context, **params: Any) -> tuple[Answer, Trace]:
    async def go() -> tuple[Answer, Trace]:
        system = resolve("published").create({"path": str(file), **params}, context)
        trace = Trace()
        said = await system.answer(query, trace)
        await system.close()
        return said, trace

    return asyncio.run(go())


def test_answers_and_verdicts_are_read_and_gold_is_not(file: Path) -> None:
    run = read_published(file)
    assert (run.name, run.judges, run.meta["format"], run.meta["null_answers"]) == (
        "run", ("j1", "j2", "j3"), "locomo_audit", 1,
    )  # fmt: skip
    assert run.answers[1] == PublishedAnswer("conv-26", 2, "Who came?", "Ann", ("wrong", "unscored", "unscored"), "4")
    assert run.answers[4].conversation == "conv-30"
    assert "SECRET" not in repr(run)


def test_grades_of_zep_and_its_answers_without_grades(tmp_path: Path) -> None:
    rows = [{"question": "Who?", "answer": "Ann", "golden_answer": 2022, "grade": True, "category": 2}]
    run = read_published(write(tmp_path / "a.json", {"locomo_experiment_user_9": rows}))
    assert run.answers == (PublishedAnswer("conv-50", None, "Who?", "Ann", ("correct",), "2"),)
    del rows[0]["grade"]
    run = read_published(write(tmp_path / "a.json", {"locomo_experiment_user_9": rows}))
    assert (run.judges, run.answers[0].verdicts) == ((), ())


def test_a_folder_of_backboards_files_is_one_run(tmp_path: Path) -> None:
    for name in ("conv-26", "conv-30"):
        row = {"question": f"Who in {name}?", "ai_response": "Ann", "evaluation": {"is_correct": name == "conv-26"}}
        write(tmp_path / f"{name}.json", {"conversation_id": name, "responses": [row]})
    run = read_published(tmp_path)
    assert [(a.conversation, a.verdicts) for a in run.answers] == [("conv-26", ("correct",)), ("conv-30", ("wrong",))]
    write(tmp_path / "again.json", (tmp_path / "conv-26.json").read_text())
    with pytest.raises(UserError, match=r"is answered in again.json too; .* name a single file"):
        read_published(tmp_path)


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("", "the file is empty"),
        ("{", "not valid JSON"),
        ('{"detailed_results": NaN}', "not valid JSON"),
        ("[" * 100_000, "not valid JSON"),
        ([1], r"found \[1\]; a result file of locomo-audit"),
        ({}, "of no known format"),
        ({"detailed_results": []}, r"found \[\], a JSON object is expected"),
        ({"detailed_results": {}}, "holds no answer"),
        ({"detailed_results": {"someone": []}}, "'someone' names no conversation of LoCoMo"),
        ({"detailed_results": {"exp_user_10": []}}, "'exp_user_10' names no conversation"),
        ({"detailed_results": {"exp_user_0": [7]}}, "found 7, a JSON object is expected"),
        ({"detailed_results": {"exp_user_0": [audit(1, 0, "Q", "A")]}}, "locomo_0_qa and a number is expected"),
        ({"detailed_results": {"exp_user_0": [audit(0, 0, "Q", "A", "maybe")]}}, "'j1' is 'maybe'; true, false"),
        ({"detailed_results": {"exp_user_0": [audit(0, 0, "Q", "A", 1)]}}, "'j1' is 1; true, false"),
        ({"detailed_results": {"exp_user_0": [audit(0, 0, "Q", {"a": 1})]}}, "'generated_answer' is .*a text is"),
        ({"detailed_results": {"exp_user_0": [audit(0, 0, 5, "A")]}}, "'question' is 5; a string is expected"),
        ({"detailed_results": {"exp_user_0": [audit(0, 0, "Q", "A")] * 2}}, "question 0 of conv-26 is answered twice"),
        ({"conversation_id": "c", "responses": [{"question": "Q"}]}, "'ai_response' is missing"),
    ],
)
def test_a_wrong_file_is_refused_in_one_sentence(tmp_path: Path, value: Any, says: str) -> None:
    with pytest.raises(UserError, match=says) as caught:
        read_published(write(tmp_path / "bad.json", value))
    assert "\n" not in str(caught.value) and "bad.json" in str(caught.value)


def test_missing_files_and_empty_folders_are_named(tmp_path: Path, context: Context) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(UserError, match="holds no"):
        read_published(tmp_path / "empty")
    with pytest.raises(UserError, match="does not exist"):
        read_published(tmp_path / "gone.json")
    with pytest.raises(UserError, match="does not exist"):
        resolve("published").validate({"path": str(tmp_path / "gone.json")})
    with pytest.raises(UserError, match="path"):
        resolve("published").validate({})


def test_an_answer_is_found_by_tenant_and_text_with_its_verdicts(file: Path, ask: Ask, context: Context) -> None:
    said, trace = answer(file, ask(" WHERE? ", tenant="conv-30"), context)
    assert (said.text, said.abstained, said.retrieved) == ("Rome", False, ())
    assert trace.facts["published"] == {
        "run": "run", "matched": True, "index": 1, "same_text": 1,
        "judges": ["j1", "j2", "j3"], "verdicts": ["correct", "unscored", "unscored"],
    }  # fmt: skip
    assert trace.warnings == []


def test_a_text_that_stands_twice_gets_the_first_answer_by_place_and_says_so(
    file: Path, ask: Ask, context: Context
) -> None:
    for _ in range(2):
        said, trace = answer(file, ask("Who came?", tenant="conv-26"), context)
        assert said.text == "Ann" and trace.facts["published"]["index"] == 2
        assert "2 answers to questions of the same text" in trace.warnings[0]


@pytest.mark.parametrize(
    ("text", "tenant", "why"),
    [
        ("Why?", "conv-26", "no published answer"),
        ("Where?", "conv-26", "no published answer"),
        ("Where?", "conv-41", "no published answer"),
        ("When?", "pooled", "asked in 2 conversations"),
    ],
)
def test_what_nobody_answered_is_an_abstention_with_a_warning_or_an_error(
    file: Path, ask: Ask, context: Context, text: str, tenant: str, why: str
) -> None:
    said, trace = answer(file, ask(text, tenant=tenant), context)
    assert said.abstained and not said.text
    assert trace.facts["published"] == {"run": "run", "matched": False}
    assert why in trace.warnings[0]
    with pytest.raises(LookupError, match=why):
        answer(file, ask(text, tenant=tenant), context, unmatched="error")


def test_pooled_conversations_are_told_apart_by_the_text(file: Path, ask: Ask, context: Context) -> None:
    assert answer(file, ask("Where?", tenant="pooled"), context)[0].text == "Rome"


def test_a_published_null_is_no_answer(file: Path, ask: Ask, context: Context) -> None:
    said, trace = answer(file, ask("When?", tenant="conv-26"), context)
    assert said.abstained and trace.facts["published"]["matched"]


def test_changed_answers_are_another_trial(file: Path, context: Context) -> None:
    before = resolve("published").validate({"path": str(file)})
    assert resolve("published").validate(before) == before
    file.write_text(file.read_text().replace("Rome", "Oslo"), encoding="utf-8")
    assert resolve("published").validate({"path": str(file)})["sha256"] != before["sha256"]
    with pytest.raises(UserError, match="the file has changed"):
        resolve("published").create(before, context)


def test_taking_in_a_log_changes_nothing(file: Path, say: Callable[..., Message], ask: Ask, context: Context) -> None:
    async def go() -> str:
        system = resolve("published").create({"path": str(file)}, context)
        await system.ingest([say(1, "Rome? No: Oslo.", tenant="conv-30")], Trace())
        return (await system.answer(ask("Where?", tenant="conv-30"), Trace())).text

    assert asyncio.run(go()) == "Rome"
