"""Where questions go, by rules on what structured memory knows of them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from memtrial.datasets.schema import Message
from memtrial.systems.base import Query
from memtrial.systems.hybrid.params import RouterParams
from memtrial.systems.hybrid.router import Known, choose
from memtrial.systems.structured.policy import Policy
from memtrial.systems.structured.slots import Slot

from .conftest import Run

ORDER = ("order:kd-2219",)
DATE = Slot(("delivery_date",), "value", ORDER)


@pytest.mark.parametrize(
    ("known", "to", "rule"),
    [
        (Known(DATE, 2, Policy()), "structured", "slot"),
        (Known(DATE, 0, Policy()), "raw_log", "slot_empty"),
        (Known(DATE, 0, Policy(), ORDER, 3), "raw_log", "slot_silent"),
        (Known(DATE, 0, Policy(), ORDER, 3, established=True), "structured", "established"),
        (Known(DATE, 0, Policy(), established=True), "structured", "established"),
        (Known(DATE, 1, Policy(), established=True), "structured", "slot"),  # what sources state comes first
        (Known(None, 0, Policy()), "raw_log", "long_tail"),
        (Known(None, 0, Policy(), established=True), "structured", "established"),
        (Known(None, 0, Policy(min_authority=0.9)), "structured", "authority"),
        (Known(None, 0, Policy(wants="state"), ORDER, 3), "structured", "state"),
        (Known(None, 0, Policy(wants="state"), ORDER, 0), "raw_log", "long_tail"),
        (Known(None, 0, Policy(wants="state")), "raw_log", "long_tail"),
        (Known(None, 0, Policy(reading="history"), ORDER, 3), "structured", "versions"),
        (Known(None, 0, Policy(reading="first"), ORDER, 3), "structured", "versions"),
        (Known(None, 0, Policy(as_of=datetime(2023, 5, 1, tzinfo=UTC)), ORDER, 3), "structured", "versions"),
        (Known(None, 0, Policy(), ORDER, 3), "raw_log", "long_tail"),
    ],
)
def test_rules(known: Known, to: str, rule: str) -> None:
    route = choose(known, RouterParams())
    assert (route.to, route.rule) == (to, rule)
    assert route.reason


def test_the_reason_names_what_is_asked_and_what_there_is() -> None:
    route = choose(Known(DATE, 2, Policy()), RouterParams())
    assert route.reason == "asks for delivery_date (value) of order:kd-2219: 2 facts on record"


def test_silence_demands_confidence_only_where_facts_about_the_thing_stand() -> None:
    known, unknown = Known(DATE, 0, Policy(), ORDER, 3), Known(DATE, 0, Policy(), ORDER, 0)
    assert choose(known, RouterParams()).least == 0.9
    assert choose(known, RouterParams(silence=0.5)).least == 0.5
    assert choose(known, RouterParams(silence=0)) == choose(unknown, RouterParams())
    assert choose(unknown, RouterParams()).least == 0


@pytest.mark.parametrize(
    ("kind", "to"),
    [
        ("structured_first", "structured"), ("always_structured", "structured"),
        ("raw_first", "raw_log"), ("always_raw", "raw_log"),
    ],
)  # fmt: skip
def test_other_routers_look_at_no_question(kind: str, to: str) -> None:
    for known in (Known(DATE, 2, Policy()), Known(None, 0, Policy())):
        assert choose(known, RouterParams.model_validate({"kind": kind})).to == to


@pytest.mark.parametrize(
    ("text", "language", "to", "rule"),
    [
        ("What is the delivery date of order KD-2219?", "en", "structured", "slot"),
        ("订单 KD-3301 哪天送到？", "zh", "structured", "slot"),
        ("What was the original delivery date of KD-2219?", "en", "structured", "slot"),
        ("What is the serial number on KD-2219?", "en", "raw_log", "slot_silent"),
        ("KD-3301 的序列号是多少？", "zh", "raw_log", "slot_silent"),
        ("订单 KD-3301 进展怎么样了？", "zh", "structured", "state"),
        ("What is the status of order KD-2219?", "en", "structured", "state"),
        ("Where does Carol live?", "en", "raw_log", "long_tail"),
        ("合唱团星期几在哪里唱歌？", "zh", "raw_log", "long_tail"),
        ("What do the contract terms say about returns?", "en", "structured", "authority"),
        ("合同条款怎么规定退货的？", "zh", "structured", "authority"),
        ("Thank you!", "en", "none", "gate"),
        ("谢谢！", "zh", "none", "gate"),
    ],
)
def test_questions_over_a_log(
    run: Run, ask: Callable[..., Query], log: list[Message], text: str, language: str, to: str, rule: str
) -> None:
    [(_, trace)] = run(log, ask(text, language=language))
    assert (trace.facts["route"]["to"], trace.facts["route"]["rule"]) == (to, rule)


def test_a_fact_of_later_than_the_question_is_not_on_record(
    run: Run, ask: Callable[..., Query], say: Callable[..., Message], log: list[Message]
) -> None:
    query = ask("What is the delivery date of order KD-2219?")
    later = [m for m in log if m.id == "m1"]
    [(_, trace)] = run(later, query)
    assert trace.facts["route"]["rule"] == "slot_silent"
