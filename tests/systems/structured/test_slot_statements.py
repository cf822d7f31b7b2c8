from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memtrial.systems.base import Query
from memtrial.systems.structured.node import Fact
from memtrial.systems.structured.slot_statements import may_fill
from memtrial.systems.structured.slots import Slot

AT = datetime(2024, 5, 2, 9, 0, tzinfo=UTC)
ANN, THING = "person:ann lee", "product:halden 7"


def fact(text: str, **more: str) -> Fact:
    return Fact(text, "t1", ("m1",), AT, subject=THING, entities=(ANN, THING), owner=more.pop("owner", ANN), **more)  # type: ignore[arg-type]


def fits(text: str, wanted: str, question: str, speaker: str = ANN, **more: str) -> bool:
    return may_fill(
        fact(text, **more),
        Slot((wanted,), things=(THING,), owner=ANN),
        Query("q", "t1", "ann", AT, question),
        speaker,
    )


@pytest.mark.parametrize(
    ("text", "attribute", "question", "fitting"),
    [
        ("Ann Lee: so when can I expect the Halden 7", "address", "Where is the Halden 7 going?", False),
        ("Ann Lee: the Halden 7 goes to 12 Mill Road, York", "address", "Where is the Halden 7 going?", True),
        ("Ann Lee: I paid €45 for the Halden 7", "refund", "How much was refunded for the Halden 7?", True),
        ("Ann Lee: it is nice", "refund", "How much was refunded for the Halden 7?", False),
        ("Ann Lee：Halden 7是给我妈买的", "occasion", "Halden 7是给谁买的", True),
        ("Ann Lee：收到了", "occasion", "Halden 7是给谁买的", False),
        ("Ann Lee: the Halden 7 is here", "serial", "What is the serial of the Halden 7?", False),
    ],
)  # fmt: skip
def test_a_statement_holds_what_is_asked_for(text: str, attribute: str, question: str, fitting: bool) -> None:
    assert fits(text, attribute, question) is fitting


def test_a_value_that_the_question_names_is_no_answer() -> None:
    question = "Is 12 May 2024 the delivery date of the Halden 7?"
    assert not fits("Ann Lee: I asked about 12 May 2024", "delivery_date", question)
    assert fits("Ann Lee: they said 14 May 2024", "delivery_date", question)


def test_a_typed_fact_of_another_attribute_is_no_answer() -> None:
    question = "When is the Halden 7 due?"
    assert not fits("Ann Lee – Halden 7, arrived on: 14 May 2024", "delivery_date", question, attribute="arrival_date")


def test_what_only_the_customer_tells_is_theirs() -> None:
    said = ("Ann Lee: the Halden 7 is a present for my mother", "occasion", "Whom is the Halden 7 for?")
    assert fits(*said)
    assert not fits(*said, speaker="person:oona fisk")


def test_somebody_elses_matter_is_no_answer() -> None:
    other = Fact(
        "x: it goes to 12 Mill Road, York",
        "t1",
        ("m1",),
        AT,
        subject=THING,
        entities=(THING,),
        owner="person:ann leigh",
    )
    slot = Slot(("address",), things=(THING,), owner=ANN)
    assert not may_fill(other, slot, Query("q", "t1", "ann", AT, "Where does it go?"), "")
