from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from memtrial.datasets.check import CheckReport, check_dataset, render_check
from memtrial.datasets.schema import Conversation, Corpus, Dataset, Lure, Message, Note, Question

START = datetime(2024, 6, 4, 18, tzinfo=UTC)


def message(ident: str, hours: float = 0, content: str = "we talked about cycling", **more: Any) -> Message:
    fields = {"conversation_id": "c", "session_id": "s", "tenant_id": "t", "sender": "a", "recipient": "b", **more}
    return Message(id=ident, timestamp=START + timedelta(hours=hours), content=content, **fields)


QUESTION = Question(
    id="q", conversation_id="c", tenant_id="t", asker="", asked_at=START + timedelta(days=7), text="What does she rent?",
    category="fact", answerable=True, needs_memory=True, answer_type="span", answers=("cycling",), evidence=("m1",),
    cluster_id="c",
)  # fmt: skip


def dataset(*messages: Message, question: Question = QUESTION, **more: Any) -> Dataset:
    talk = Conversation("c", "t", messages or (message("m1"), message("m2", 1)))
    return Dataset("test", (Corpus("corpus", (talk,), (question,)),), **more)


def found(report: CheckReport) -> set[tuple[str, str, str]]:
    return {(f.severity, f.kind, f.where) for f in report.findings}


def test_a_sound_set_has_no_finding() -> None:
    report = check_dataset(dataset())
    assert report.findings == ()
    assert report.ok
    assert report.totals["messages"] == 2
    assert report.counts["category"] == {"fact": 1}


def cases() -> Iterator[tuple[Dataset, tuple[str, str, str]]]:
    q = QUESTION
    yield dataset(message("m1"), message("m1", 1)), ("error", "duplicate_id", "m1")
    yield dataset(message("m1", 1), message("m2")), ("error", "unsorted", "m2")
    yield dataset(message("m1", tenant_id="x")), ("error", "misplaced", "m1")
    yield dataset(message("m1", reply_to="m0")), ("warning", "dangling_reply", "m1")
    yield dataset(replace(message("m1"), timestamp=datetime(2024, 1, 1))), ("error", "naive_time", "m1")
    yield dataset(question=replace(q, evidence=("m9",))), ("error", "dangling_id", "q")
    yield dataset(question=replace(q, lures=(Lure("stale", ("m9",)),))), ("error", "dangling_id", "q")
    yield dataset(question=replace(q, evidence_sessions=("s9",))), ("error", "dangling_id", "q")
    yield dataset(question=replace(q, conversation_id="c9")), ("error", "dangling_id", "q")
    yield dataset(question=replace(q, tenant_id="t9")), ("error", "evidence_tenant", "q")
    yield dataset(question=replace(q, answers=(" ",))), ("error", "empty_answer", "q")
    yield dataset(question=replace(q, text=" ")), ("error", "empty_question", "q")
    yield dataset(question=replace(q, lures=(Lure("stale", (), ("Cycling.",)),))), ("error", "lure_equals_answer", "q")
    yield dataset(question=replace(q, lures=(Lure("stal"),))), ("error", "unknown_lure", "q")
    yield dataset(question=replace(q, lures=(Lure("other_tenant", ("m2",)),))), ("warning", "lure_tenant", "q")
    yield dataset(question=replace(q, asked_at=START - timedelta(hours=1))), ("error", "evidence_later", "q")
    yield (
        dataset(question=replace(q, asked_at=START - timedelta(hours=1)), clock_usable=False),
        ("info", "evidence_later", "q"),
    )
    yield dataset(question=replace(q, evidence=("m1", "m1"))), ("warning", "duplicate_evidence", "q")
    yield dataset(question=replace(q, needs_memory=False)), ("warning", "evidence_unneeded", "q")
    yield dataset(question=replace(q, evidence=())), ("info", "no_evidence", "q")


@pytest.mark.parametrize(("bad", "finding"), list(cases()))
def test_each_fault_is_found(bad: Dataset, finding: tuple[str, str, str]) -> None:
    assert finding in found(check_dataset(bad))


def test_question_ids_are_unique_over_all_corpora() -> None:
    one = dataset()
    twice = replace(one, corpora=(one.corpora[0], replace(one.corpora[0], id="second")))
    (finding,) = check_dataset(twice).findings
    assert (finding.kind, finding.where) == ("duplicate_id", "q")
    assert "'corpus'" in finding.detail
    assert "'second'" in finding.detail


def test_an_answer_that_stands_elsewhere_is_a_hint() -> None:
    question = replace(QUESTION, answers=("bakery",))
    report = check_dataset(
        dataset(message("m1"), message("m9", 1, "I signed the lease for the Bakery"), question=question)
    )
    (hint,) = report.findings
    assert (hint.severity, hint.kind) == ("info", "contested")
    assert "m9" in hint.detail
    assert report.ok


def test_two_anchors_of_one_relative_day_are_a_hint() -> None:
    question = replace(QUESTION, text="How much did I pay last Thursday?", answers=("60",), answer_type="number")
    report = check_dataset(dataset(message("m1", 0, "I paid 60 for tools last Thursday"), question=question))
    (hint,) = report.findings
    assert hint.kind == "contested"
    assert "2024-05-30" in hint.detail
    assert "2024-06-06" in hint.detail


def test_a_later_other_value_is_a_hint_unless_it_is_a_known_lure() -> None:
    question = replace(QUESTION, answers=("200 Mbps",))
    log = (message("m1", 0, "I have 200 Mbps"), message("m2", 5, "my line is 800 Mbps now"))
    (hint,) = check_dataset(dataset(*log, question=question)).findings
    assert "m2" in hint.detail
    known = replace(question, lures=(Lure("other_entity", ("m2",)),))
    assert check_dataset(dataset(*log, question=known)).findings == ()


def test_rendering_names_everything_and_cuts_long_lists() -> None:
    many = tuple(replace(QUESTION, id=f"q{i}", answers=()) for i in range(12))
    one = dataset(notes=(Note("unsorted", "log", "1 conversations sorted"),))
    text = render_check(check_dataset(replace(one, corpora=(replace(one.corpora[0], questions=many),))))
    for part in (
        "test: 1 corpora", "12 questions", "error: empty_answer (12)", "q9:", "... and 2 more", "1 conversations sorted",
        "12 errors, 0 warnings, 0 hints",
    ):  # fmt: skip
        assert part in text
    assert "q10:" not in text
