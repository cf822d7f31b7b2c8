"""The five dimensions, each by hand."""

from __future__ import annotations

import math
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from memtrial.systems.structured.node import Entity, FactType, Node
from memtrial.systems.structured.trust import BindingParams, DecayRule, SourceParams, TrustParams, Voices, bind
from memtrial.systems.structured.trust.binding import binding
from memtrial.systems.structured.trust.consistency import StateParams, consistency
from memtrial.systems.structured.trust.recency import RULES, recency
from memtrial.systems.structured.trust.voices import VoiceParams
from tests.systems.structured.judged import NOW, fact, node


@pytest.mark.parametrize(
    ("fact_type", "days", "left"),
    [
        ("complaint", 0, 1.0),
        ("complaint", 7, 0.5),
        ("complaint", 14, 0.25),
        ("complaint", 70, 0.1),  # the floor
        ("product", 90, 2**-0.5),
        ("product", 180, 0.6),  # the half, but for the floor
        ("promotion", 30, 0.5),
        ("promotion", 90, 0.3),
        ("stock", 1 / 24, 0.5),
        ("stock", 1, 0.05),
        ("complaint", -3, 1.0),
    ],
)
def test_recency_by_type_of_fact(fact_type: FactType, days: float, left: float) -> None:
    assert recency(days, RULES[fact_type], "half_life") == pytest.approx(left)


def test_the_seeds_own_formula_and_no_decay_are_offered() -> None:
    assert recency(7, RULES["complaint"], "exponential") == pytest.approx(1 / math.e)
    assert recency(700, RULES["complaint"], "off") == 1.0
    assert recency(70, RULES["complaint"], "half_life", floor=False) == pytest.approx(2**-10)


def test_every_type_of_fact_has_a_rule() -> None:
    assert set(RULES) == set(get_args(FactType))


@given(
    st.floats(0, 1e5),
    st.floats(0, 1e5),
    st.floats(1e-4, 1e4),
    st.floats(0, 1),
    st.sampled_from(["half_life", "exponential"]),
)
def test_older_is_never_fresher(a: float, b: float, days: float, floor: float, decay: str) -> None:
    rule = DecayRule(days=days, floor=floor)
    young, old = (recency(age, rule, decay) for age in sorted((a, b)))  # type: ignore[arg-type]
    assert 1.0 >= young >= old >= floor


@pytest.mark.parametrize(
    ("source", "fact_type", "worth", "tier"),
    [
        ("crm", "complaint", 0.95, 0),
        ("ERP", "state", 0.95, 0),
        ("wiki", "other", 0.85, 1),
        ("wiki", "policy", 0.95, 0),  # the rule is the wiki's to state
        ("crm", "policy", 0.95, 1),
        ("email", "policy", 0.7, 2),
        ("chat_log", "state", 0.6, 3),
        ("forum", "product", 0.3, 4),
        ("fax", "product", 0.5, 5),
        ("", "product", 0.5, 5),
    ],
)
def test_authority_and_tier(source: str, fact_type: FactType, worth: float, tier: int) -> None:
    sources = SourceParams()
    told = fact(source=source, fact_type=fact_type)
    assert (sources.authority(told), sources.tier(told)) == (worth, tier)


def test_people_are_believed_about_themselves() -> None:
    sources = SourceParams()
    own = fact("Ann likes tea.", source="chat", fact_type="preference", subject="person:ann", speaker="Ann")
    other = fact("Ann likes tea.", source="chat", fact_type="preference", subject="person:ann", speaker="Bob")
    bill = fact("Ann paid.", source="chat", fact_type="state", subject="person:ann", speaker="Ann")
    assert [sources.authority(f) for f in (own, other, bill)] == [0.85, 0.6, 0.6]


def test_sources_are_configurable() -> None:
    sources = SourceParams.model_validate(
        {"authorities": {"Fax": 0.2}, "unknown": 0.1, "orders": {"policy": [["Fax"], ["wiki"]], "": [["chat"]]}}
    )
    assert sources.authority(fact(source="fax", fact_type="event")) == 0.2
    assert sources.authority(fact(source="telex", fact_type="event")) == 0.1
    assert sources.authority(fact(source="crm", fact_type="event")) == 0.95
    assert [sources.tier(fact(source=s, fact_type="policy")) for s in ("fax", "wiki", "crm")] == [0, 1, 2]
    assert [sources.tier(fact(source=s, fact_type="event")) for s in ("chat", "crm")] == [0, 1]
    # a type that has an order of its own keeps it
    assert sources.tier(fact(source="wms", fact_type="stock")) == 0
    for wrong in ({"orders": {"polices": []}}, {"authorities": {"fax": 2}}, {"orderz": {}}):
        with pytest.raises(ValidationError):
            SourceParams.model_validate(wrong)


NOVA = Entity("product:nova 10", "product", "Nova 10", "t1", ("nova",))
ANN = Entity("person:ann lee", "person", "Ann Lee", "t1", ("ann",))


@pytest.mark.parametrize(
    ("question", "tie"),
    [
        ("How heavy is the Nova 10?", 1.0),
        ("How heavy is the ｎｏｖａ 10", 1.0),
        ("Nova 10多重？", 1.0),
        ("How heavy is the Nova 10X?", 0.7),
        ("How heavy is the nova?", 0.7),
    ],
)
def test_a_full_name_binds_and_another_name_nearly_does(question: str, tie: float) -> None:
    assert bind(question, [NOVA], BindingParams()) == {"product:nova 10": tie}


def test_the_asker_is_an_anchor_where_the_question_means_them() -> None:
    assert bind("How heavy is my nova?", [NOVA], BindingParams(), asker="person:ann lee") == {
        "product:nova 10": 0.7,
        "person:ann lee": 1.0,
    }
    assert bind("Did Ann call?", [ANN], BindingParams(), asker="person:ann lee") == {"person:ann lee": 0.7}


@pytest.mark.parametrize(
    ("entities", "owner", "tie"),
    [
        (("product:nova 10",), "person:ann lee", 1.0),
        (("product:nova 10",), "", (1.0 + 0.4) / 2),
        (("product:nova 10",), "person:bob", 0.5),  # another's Nova 10
        (("product:nova 10x",), "person:bob", 0.0),
        ((), "", 0.4),
        (("product:nova 10", "product:case"), "person:ann lee", 1.0),
    ],
)
def test_binding_to_a_thing_and_its_owner(entities: tuple[str, ...], owner: str, tie: float) -> None:
    anchors = {"product:nova 10": 1.0, "person:ann lee": 1.0}
    assert binding(fact(entities=entities, owner=owner), anchors, BindingParams()) == pytest.approx(tie)


def test_two_things_that_a_question_compares_are_no_rivals() -> None:
    anchors = {"product:nova 10": 1.0, "product:nova 10x": 1.0}
    assert binding(fact(subject="product:nova 10"), anchors, BindingParams()) == pytest.approx(0.7)
    assert binding(fact(subject="product:luna"), anchors, BindingParams()) == 0.0


def test_without_anchors_there_is_nothing_to_judge() -> None:
    assert binding(fact(subject="product:nova 10"), {}, BindingParams()) is None


@pytest.mark.parametrize(
    ("state", "wants", "fit"),
    [
        ("active", "current", 1.0),
        ("resolved", "current", 0.8),
        ("resolved", "state", 1.0),
        ("cancelled", "current", 0.6),
        ("cancelled", "state", 1.0),
        ("retracted", "current", 0.0),
        ("retracted", "history", 0.7),
        ("uncertain", "state", 0.4),
        ("injected", "history", 0.0),
    ],
)
def test_state_against_what_is_asked(state: str, wants: str, fit: float) -> None:
    told = fact(state=state)
    assert consistency(told, wants, NOW, StateParams(), superseded=False) == fit  # type: ignore[arg-type]


def test_a_replaced_version_fits_a_question_about_the_past_alone() -> None:
    told = fact(state="active")
    fits = [consistency(told, w, NOW, StateParams(), superseded=True) for w in ("current", "state", "history")]  # type: ignore[arg-type]
    assert fits == [0.2, 0.2, 1.0]


def test_an_open_complaint_of_more_than_48_hours_is_doubtful() -> None:
    params = StateParams()
    young, old = (fact(state="open", fact_type="complaint", days=d) for d in (1.9, 2.1))
    assert consistency(young, "state", NOW, params, superseded=False) == 1.0
    assert consistency(old, "state", NOW, params, superseded=False) == pytest.approx(0.7)
    closed = fact(state="resolved", fact_type="complaint", days=2.1)
    assert consistency(closed, "state", NOW, params, superseded=False) == 1.0
    assert consistency(old, "state", NOW, StateParams(overdue_hours={}), superseded=False) == 1.0


def _due(source: str, value: str, owner: str = "", **more: object) -> Node:
    return node(
        f"due {value} {source}", subject="order:1", attribute="due", value=value, source=source, owner=owner, **more
    )


@pytest.mark.parametrize(
    ("others", "worth"),
    [
        ([], 0.6),
        ([_due("crm", "2024-07-01", days=3)], 0.6),  # the same source again
        ([_due("email", "2024-07-01")], 1.0),
        ([_due("email", "2024-07-02")], 0.2),
        ([_due("email", "2024-07-02"), _due("erp", "2024-07-01")], 1.0),
        ([_due("email", "2024-07-01", "person:bob")], 0.6),  # Bob's is another matter
        ([_due("email", "2024-07-01", tenant="t2")], 0.6),
        ([_due("email", "2024-07-02", state="retracted")], 0.6),
        ([_due("email", "2024-07-01", state="uncertain")], 0.6),
        ([node("anything", source="email", value="2024-07-01")], 0.6),
    ],
)
def test_company(others: list[Node], worth: float) -> None:
    own = _due("crm", "2024-07-01", "person:ann")
    assert Voices([own, *others]).company(own.fact, VoiceParams()) == worth


def test_a_further_part_denies_nothing() -> None:
    first, second = (
        node(f"{v} is missing", subject="order:1", attribute="missing", value=v, source=s, adds=True)
        for v, s in (("stand", "chat"), ("cable", "email"))
    )
    assert Voices([first, second]).company(second.fact, VoiceParams()) == 0.6


def test_rules_given_join_the_built_in_ones() -> None:
    params = TrustParams.model_validate({"half_lives": {"stock": {"days": 0.5, "floor": 0.0}}})
    assert params.rule("stock").days == 0.5
    assert params.rule("complaint").days == 7
    with pytest.raises(ValidationError, match="at least one weight"):
        TrustParams.model_validate(
            {"weights": dict.fromkeys(("authority", "recency", "binding", "state", "voices"), 0)}
        )
    with pytest.raises(ValidationError):
        TrustParams.model_validate({"half_lives": {"stok": {"days": 1}}})
