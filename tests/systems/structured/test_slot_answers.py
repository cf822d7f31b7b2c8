"""Answers from typed facts over small logs: what is given, what it rests on, and when the reader is left to it."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from memtrial.datasets.schema import Message, Turn
from memtrial.systems.base import Answer, Context, Query, Trace
from memtrial.systems.structured.system import Structured

FAST: dict[str, Any] = {"vectors": {"embedder": "tfidf_svd", "dims": 16}, "gates": {"semantic": {"kind": "off"}}}
AT = datetime(2024, 6, 10, 9, 0, tzinfo=UTC)
ANN, LEIGH, DESK = "s-K20100", "s-K20101", "s-a1"


def message(number: int, day: str, source: str, text: str, sender: str = "", to: str = "") -> Message:
    """A record (no sender), or what a customer or the desk says to the other in the customer's conversation."""
    names = {ANN: "Ann Lee", LEIGH: "Ann Leigh", DESK: "Oona Fisk"}
    customer = next((p for p in (sender, to) if p in (ANN, LEIGH)), "")
    return Message(
        id=f"m{number}",
        conversation_id=customer or f"feed-{source}",
        session_id=f"s{day}",
        tenant_id="t1",
        sender=sender or source,
        extra={"sender_name": names.get(sender, source.upper())},
        recipient=to,
        timestamp=datetime.fromisoformat(f"{day}T10:{number:02d}:00+00:00"),
        content=text,
        source="chat_log" if sender else source,
    )


LOG = [
    message(1, "2024-05-02", "erp", "Order KD-221900: K20100 Ann Lee, Halden 7, total €45.90"),
    message(2, "2024-05-02", "erp", "Order KD-222000: K20101 Ann Leigh, Halden 7, total €99.10"),
    message(3, "2024-05-03", "erp", "Order KD-223000: K20100 Ann Lee, Corbel 2, total €20.20"),
    message(4, "2024-05-04", "crm", "K20100 Ann Lee: account owner Oona Fisk"),
    message(5, "2024-05-04", "crm", "K20101 Ann Leigh: account owner Paul Dent"),
    message(6, "2024-05-05", "erp", "KD-221900 shipped Swiftline/377531924"),
    message(7, "2024-05-05", "erp", "KD-222000 shipped Bluepost/939077430"),
    message(8, "2024-05-06", "erp", "KD-221900 delivery date 14 May 2024"),
    message(9, "2024-05-06", "erp", "KD-222000 delivery date 19 May 2024"),
    message(10, "2024-05-07", "chat", "hi, any news?", ANN, DESK),
    message(11, "2024-05-07", "chat", "hello", LEIGH, DESK),
    message(12, "2024-05-16", "erp", "KD-221900 delivered, signed for on 16 May 2024"),
    message(13, "2024-05-20", "wiki", "Returns policy: items can be returned within 30 days"),
    message(14, "2024-05-21", "forum", "I heard returns are fine for 90 days", "guest1"),
]


def run(context: Context, query: Query, params: dict[str, Any] | None = None) -> tuple[Answer, Trace]:
    async def go() -> tuple[Answer, Trace]:
        system = Structured.create({**FAST, **(params or {})}, context)
        trace = Trace()
        try:
            await system.ingest(LOG, Trace())
            return await system.answer(query, trace), trace
        finally:
            await system.close()

    return asyncio.run(go())


def ask(text: str, asker: str = ANN, *history: tuple[str, str], options: tuple[str, ...] = ()) -> Query:
    return Query("q", "t1", asker, AT, text, tuple(Turn(*turn) for turn in history), options=options)


@pytest.mark.parametrize(
    ("text", "asker", "answer", "cited"),
    [
        ("What is the tracking number of the Halden 7?", ANN, "377531924", {"m6"}),
        ("What is the tracking number of the Halden 7?", LEIGH, "939077430", {"m7"}),
        ("Tracking number of Ann Leigh's Halden 7?", DESK, "939077430", {"m7"}),
        ("Which courier has the Halden 7?", ANN, "Swiftline", {"m6"}),
        ("What did the Halden 7 and the Corbel 2 cost me in total?", ANN, "€66.10", {"m1", "m3"}),
        ("How many orders did I place last month?", ANN, "2", {"m1", "m3"}),
        ("How many days did the Halden 7 take from order to delivery?", ANN, "14 days", {"m1", "m12"}),
        ("Who is the account owner for delayed order KD-222000?", DESK, "Paul Dent", {"m5"}),
        ("How many days do I have to return something?", ANN, "30 days", {"m13"}),
    ],
)
def test_typed_facts_answer_with_their_messages(
    context: Context, text: str, asker: str, answer: str, cited: set[str]
) -> None:
    given, trace = run(context, ask(text, asker))
    assert given.text == answer
    assert cited <= set(given.citations)
    assert trace.facts["slot"]["computed"] is True
    assert given.confidence is not None and 0.5 <= given.confidence <= 1
    assert {id for item in given.context for id in item.message_ids} == set(given.citations)


def test_of_two_peoples_things_none_is_picked(context: Context) -> None:
    given, trace = run(context, ask("What is the tracking number of the Halden 7?", DESK))
    assert trace.facts["slot"]["filled"] == 2
    assert trace.facts["slot"]["computed"] is False
    assert given.context


def test_a_follow_up_takes_the_thing_from_the_turn_before(context: Context) -> None:
    given, _ = run(context, ask("and which courier is it with?", ANN, (ANN, "When does the Halden 7 arrive?")))
    assert given.text == "Swiftline"


def test_a_value_that_was_never_told_is_not_taken_from_another_attribute_or_twin(context: Context) -> None:
    given, trace = run(context, ask("What is the tracking number of the Corbel 2?"))
    assert trace.facts["slot"]["filled"] == 0
    assert given.abstained
    shown = "\n".join(item.text for item in given.context)
    assert "377531924" not in shown and "KD-223000" not in shown


def test_narrowed_the_reader_sees_the_attribute_alone(context: Context) -> None:
    params = {"slots": {"compute": False}, "injection": {"details": False}}
    given, trace = run(context, ask("What is the tracking number of the Halden 7?"), params)
    assert [item.text for item in given.context] == ["Ann Lee – KD-221900/Halden 7, tracking number: 377531924"]
    assert trace.facts["slot"]["left_out"] > 0
    wide, _ = run(
        context, ask("What is the tracking number of the Halden 7?"), {"slots": {"compute": False, "narrow": False}}
    )
    assert len(wide.context) > 1
    assert "shipped Swiftline/377531924" in wide.context[0].text


def test_off_nothing_is_said_of_slots(context: Context) -> None:
    _, trace = run(context, ask("What is the tracking number of the Halden 7?"), {"slots": {"enabled": False}})
    assert "slot" not in trace.facts


def test_an_answer_is_one_of_the_options_or_the_reader_chooses(context: Context) -> None:
    text = "What is the tracking number of the Halden 7?"
    given, _ = run(context, ask(text, options=("939077430", "no. 377531924", "none")))
    assert given.text == "no. 377531924"
    _, trace = run(context, ask(text, options=("939077430", "none")))
    assert trace.facts["slot"]["computed"] is False


def test_facts_that_are_hardly_believed_are_left_to_the_reader(context: Context) -> None:
    _, trace = run(context, ask("What is the tracking number of the Halden 7?"), {"slots": {"least_trust": 1.0}})
    assert trace.facts["slot"]["computed"] is False


def test_a_question_of_another_tenant_finds_none_of_it(context: Context) -> None:
    given, _ = run(context, replace(ask("What is the tracking number of the Halden 7?"), tenant_id="t2"))
    assert given.context == () and given.abstained


KNOWLEDGE = [
    message(20, "2024-05-01", "wiki", "Halden 7 (v1.0) | night mode | not supported"),
    message(21, "2024-05-08", "wiki", "Halden 7 (v1.1) | night mode | supported"),
    message(22, "2024-05-09", "forum", "night mode on a Halden 7? no way", "guest1"),
    message(23, "2024-05-20", "wiki", "Halden 7 (v1.2) | night mode | supported"),
    message(24, "2024-05-21", "crm", "New case TKD-990001: K20100 Ann Lee, Corbel 2: flickering display"),
    message(25, "2024-05-22", "crm", "New case TKD-990002: K20101 Ann Leigh, Corbel 2: humming noise"),
]


@pytest.mark.parametrize(
    ("text", "asker", "answer"),
    [
        ("Since when does the Halden 7 have night mode?", ANN, "8 May 2024"),
        ("Which customers reported that the Corbel 2 has a flickering display?", DESK, "Ann Lee"),
        ("Who bought the Halden 7 and complained about the Corbel 2 within 30 days?", DESK, "Ann Lee, Ann Leigh"),
        ("Who bought the Halden 7 and complained about the Corbel 2 within 19 days?", DESK, "Ann Lee"),
    ],
)
def test_versions_and_joins_are_worked_out(
    context: Context, monkeypatch: pytest.MonkeyPatch, text: str, asker: str, answer: str
) -> None:
    monkeypatch.setattr(f"{__name__}.LOG", sorted([*LOG, *KNOWLEDGE], key=lambda m: m.timestamp))
    given, trace = run(context, ask(text, asker))
    assert ", ".join(sorted(given.text.split(", "))) == answer
    assert trace.facts["slot"]["computed"] is True
