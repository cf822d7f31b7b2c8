from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memtrial.datasets.schema import Lure, Message, Question, Turn
from memtrial.metrics.matching import judge
from memtrial.metrics.records import Item, Judgement, Result

ASKED = datetime(2024, 6, 20, 10, tzinfo=UTC)


def message(name: str, content: str, day: int = 3) -> Message:
    return Message(
        id=name,
        conversation_id="c",
        session_id="s",
        tenant_id="t",
        sender="ann",
        recipient="bob",
        timestamp=datetime(2024, 6, day, 9, 30, tzinfo=UTC),
        content=content,
    )


LOG = {
    m.id: m
    for m in (
        message("m1", "The tickets were €32, lunch was €14.50."),
        message("m2", "We met Petra yesterday, she needs 3 weeks.", day=12),
        message("m3", "订了3间房，每间480元，押金200元"),
        message("m4", "The claim number is DP-5521."),
    )
}


def question(kind: str = "money", **changes: object) -> Question:
    fields: dict[str, object] = {
        "id": "q",
        "conversation_id": "c",
        "tenant_id": "t",
        "asker": "ann",
        "asked_at": ASKED,
        "text": "What did the boat cost for our 7 guests?",
        "category": "x",
        "answerable": True,
        "needs_memory": True,
        "answer_type": kind,
        "answers": ("€999",) if kind == "money" else ("1 January 2020",),
        "evidence": (),
        "cluster_id": "c",
        "history": (Turn("ann", "They quoted 85 euros at first."),),
    }
    return Question(**(fields | changes))  # type: ignore[arg-type]


def put(text: str, asked: Question | None = None, shown: tuple[str, ...] = ("m1", "m2", "m3", "m4")) -> Judgement:
    result = Result(
        key="k",
        unit="u",
        dataset="d",
        corpus_id="c",
        question_id="q",
        text=text,
        context=[Item(ids=[i]) for i in shown],
    )
    return judge(asked or question(), result, LOG)


@pytest.mark.parametrize(
    "text",
    [
        "€32", "€46.50", "€17.50", "85 euros", "It was for 7 people: €85.", "1440元", "1,640元", "680元", "DP-5521", "€4.57", "three rooms",
    ],
)  # fmt: skip
def test_values_seen_or_computed_from_what_was_seen_are_wrong_but_no_hallucination(text: str) -> None:
    judgement = put(text)
    assert judgement.outcome == "wrong_other"
    assert judgement.unsupported == []


@pytest.mark.parametrize("text", ["€517", "It cost 2,381 euros.", "DP-5529", "The fee was 61%.", "917元"])
def test_values_that_nothing_shown_supports_are_hallucinated(text: str) -> None:
    judgement = put(text)
    assert judgement.outcome == "hallucination"
    assert len(judgement.unsupported) == 1


@pytest.mark.parametrize(
    ("text", "supported"),
    [
        ("11 June 2024", True),  # "yesterday", said on the 12th
        ("on 12 June", True),  # the day of the message
        ("3 July 2024", True),  # three weeks after the 12th
        ("9 days", True),  # from the 3rd to the 12th
        ("17 March 2021", False),
        ("at 22:45", False),
        ("41 days", False),
    ],
)
def test_dates_and_day_counts_follow_from_the_messages_own_dates(text: str, supported: bool) -> None:
    judgement = put(text, question("date", text="When did we meet?"))
    assert (judgement.outcome != "hallucination") is supported


def test_what_was_not_shown_supports_nothing() -> None:
    assert put("€32", shown=()).outcome == "hallucination"
    assert put("€32", shown=("m4",)).outcome == "hallucination"


def test_the_text_of_an_item_stands_for_it_where_it_has_one() -> None:
    result = Result(
        key="k",
        unit="u",
        dataset="d",
        corpus_id="c",
        question_id="q",
        text="€517",
        context=[Item(ids=["m1"], text="boat: 517 euros")],
    )
    assert judge(question(), result, LOG).outcome == "wrong_other"


def test_names_and_booleans_are_not_judged_for_support() -> None:
    named = question("span", answers=("Elin",), text="Who came?")
    assert put("Rosalind came.", named).outcome == "wrong_other"
    polar = question("boolean", answers=("yes",), text="Did it rain?")
    assert put("No.", polar).outcome == "wrong_other"


def test_a_correct_answer_with_an_unsupported_aside_stays_correct() -> None:
    assert put("€999, ordered at 17:23 on 4 May 2011.").outcome == "correct"


def test_wrong_memory_comes_before_hallucination() -> None:
    lured = question(lures=(Lure("stale", (), ("€517",)),))
    assert put("€517", lured).outcome == "wrong_memory"
