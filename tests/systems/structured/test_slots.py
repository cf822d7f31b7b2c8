from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtrial.datasets.schema import Turn
from memtrial.systems.base import Query
from memtrial.systems.structured.node import Entity, EntityKind, Fact
from memtrial.systems.structured.slots import Slot, find_slot

AT = datetime(2024, 5, 2, 9, 0, tzinfo=UTC)
ME = "person:ann lee"


def entity(kind: EntityKind, name: str) -> Entity:
    return Entity(f"{kind}:{name}", kind, name, "t1")


HALDEN, CORBEL = entity("product", "halden 7"), entity("product", "corbel 2")
ORDER = entity("order", "kd-2219")
FEATURE, PLAN = entity("topic", "usb-c"), entity("topic", "care plan")


def query(text: str, *history: str) -> Query:
    turns = tuple(Turn("ann", said) for said in history)
    return Query("q", "t1", "ann", AT, text, turns)


@pytest.mark.parametrize(
    ("text", "named", "attribute", "shape"),
    [
        ("Could you give me the consignment code of the Halden 7?", [HALDEN], "tracking", "value"),
        ("Halden 7的快递单号发我一下", [HALDEN], "tracking", "value"),
        ("To which address does the Halden 7 go?", [HALDEN], "address", "value"),
        ("Halden 7会送到哪里", [HALDEN], "address", "value"),
        ("When is the Halden 7 due?", [HALDEN], "delivery_date", "value"),
        ("Halden 7何时能送到", [HALDEN], "delivery_date", "value"),
        ("Which day was the Halden 7 received?", [HALDEN], "arrival_date", "value"),
        ("Halden 7是几号签收的", [HALDEN], "arrival_date", "value"),
        ("Halden 7的退款有多少", [HALDEN], "refund", "value"),
        ("How much of a refund is there for the Halden 7?", [HALDEN], "refund", "value"),
        ("For what reason did the Halden 7 go back?", [HALDEN], "return_reason", "value"),
        ("Until when can I return things?", [], "return_window", "value"),
        ("退货期限有多久", [], "return_window", "value"),
        ("Is there a fee for returning something?", [], "return_fee", "value"),
        ("退货要收费用吗", [], "return_fee", "value"),
        ("哪个邮箱受理退货", [], "return_contact", "value"),
        ("Does the Halden 7 have USB-C?", [HALDEN, FEATURE], "supports:", "value"),
        ("Halden 7从几号起有USB-C", [HALDEN, FEATURE], "supports:", "since"),
        ("What worried me about the care plan?", [PLAN], "doubt", "value"),
        ("Did I agree to the care plan?", [PLAN], "agreed", "yes_no"),
        ("Is the Halden 7 ticket still open?", [HALDEN], "ticket_state", "yes_no"),
        ("Has the coupon been approved?", [], "voucher_granted", "yes_no"),
        ("How much is the coupon worth?", [], "voucher", "value"),
        ("Halden 7里缺了什么零件", [HALDEN], "missing", "list"),
        ("How many orders did I make in March?", [], "price", "count"),
        ("Halden 7和Corbel 2一共多少钱", [HALDEN, CORBEL], "price", "sum"),
        ("From order to delivery, how many days did the Halden 7 take?", [HALDEN], "arrival_date", "days"),
    ],
)
def test_words_tell_the_attribute(text: str, named: list[Entity], attribute: str, shape: str) -> None:
    slot = find_slot(query(text), named, ME)
    assert slot is not None
    assert (slot.attributes[0], slot.shape) == (attribute, shape)


@pytest.mark.parametrize(
    "text",
    [
        "Which warehouse did the Halden 7 leave from?",
        "Halden 7的外箱尺寸",
        "What is the driver of the Halden 7 called?",
    ],
)
def test_what_no_attribute_tells_is_no_slot(text: str) -> None:
    assert find_slot(query(text), [HALDEN], ME) is None


@pytest.mark.parametrize("text", ["Thanks a lot!", "你好", "What is 12 times 11?", ""])
def test_talk_is_no_slot(text: str) -> None:
    assert find_slot(query(text), [], ME) is None


@pytest.mark.parametrize(
    ("text", "before", "attribute"),
    [
        ("and what do I pay?", "How many days may I keep it and still return it?", "return_fee"),
        ("那运费呢", "退货期限是几天", "return_fee"),
        ("what about the Corbel 2", "When is the Halden 7 due?", "delivery_date"),
        ("那Corbel 2呢", "Halden 7哪天送到", "delivery_date"),
        ("and which courier?", "When is the Halden 7 due?", "carrier"),
    ],
)
def test_a_follow_up_takes_from_the_turn_before_what_it_does_not_say(text: str, before: str, attribute: str) -> None:
    named = [] if attribute == "return_fee" else [CORBEL]
    slot = find_slot(query(text, before), named, ME)
    assert slot is not None and slot.attributes == (attribute,)
    assert slot.things == (("topic:returns",) if attribute == "return_fee" else (CORBEL.key,))


def test_a_question_for_people_asks_for_no_attribute_whatever_the_complaint_is() -> None:
    slot = find_slot(query("Who reported that the Halden 7 has no address label and lacks colour?"), [HALDEN], "")
    assert slot is not None and (slot.attributes, slot.shape, slot.owner) == (("symptom",), "people", "")


def fact(attribute: str, *entities: str, owner: str = ME) -> Fact:
    return Fact("x", "t1", ("m1",), AT, attribute=attribute, subject=entities[0], owner=owner, entities=entities)


def test_a_slot_holds_facts_of_its_attribute_thing_and_person_only() -> None:
    slot = Slot(("address",), things=(HALDEN.key,), owner=ME)
    assert slot.fits(fact("address", ORDER.key, HALDEN.key))
    assert not slot.fits(fact("tracking", ORDER.key, HALDEN.key))
    assert not slot.fits(fact("address", ORDER.key, CORBEL.key))
    assert not slot.fits(fact("address", ORDER.key, HALDEN.key, owner="person:ann leigh"))


def test_a_feature_needs_both_product_and_feature() -> None:
    slot = Slot(("supports:",), things=(HALDEN.key, FEATURE.key))
    assert slot.fits(fact("supports:usb-c", HALDEN.key, FEATURE.key, owner=""))
    assert not slot.fits(fact("supports:usb-c", CORBEL.key, FEATURE.key, owner=""))
    assert not slot.fits(fact("supports:nfc", HALDEN.key, "topic:nfc", owner=""))


@given(st.text(max_size=300), st.text(max_size=80))
def test_any_text_is_read(text: str, before: str) -> None:
    slot = find_slot(query(text, before), [HALDEN, FEATURE], ME)
    assert slot is None or slot.attributes
