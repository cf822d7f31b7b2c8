"""Conflicts and who gives way."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtrial.systems.base import Trace
from memtrial.systems.structured.arbiter import Arbiter, ArbiterParams, Verdict
from memtrial.systems.structured.trust import SourceParams, Weighed
from tests.systems.structured.judged import candidate


def settle(*candidates: Weighed, history: bool = False, **params: Any) -> Verdict:
    return Arbiter(ArbiterParams(**params), SourceParams()).settle(candidates, history=history)


def due(value: str, source: str = "erp", **more: Any) -> Weighed:
    return candidate(
        f"Order 1 arrives {value} ({source})",
        source=source,
        **{
            "subject": "order:1",
            "attribute": "due",
            "value": value,
            "value_kind": "date",
            "owner": "person:ann",
            **more,
        },
    )


def test_of_two_versions_the_newer_stays_and_the_loser_is_named() -> None:
    old, new = due("2024-05-05", days=9), due("2024-05-09", days=2)
    verdict = settle(old, new)
    assert verdict.kept == (new,)
    verdict.record(trace := Trace())
    assert trace.facts["arbiter"] == [
        {"lost": old.node.id, "to": new.node.id, "reason": "order:1 due: recorded 2024-06-21, the other 2024-06-28"}
    ]


def test_the_source_order_stands_before_time() -> None:
    record, hearsay = due("2024-05-05", "erp", days=9), due("2024-05-09", "chat", days=2)
    verdict = settle(hearsay, record)
    assert verdict.kept == (record,)
    assert verdict.losers[0].reason == "order:1 due: for other facts erp stands before chat"


@pytest.mark.parametrize(
    ("fact_type", "winner"), [("policy", "wiki"), ("product", "wiki"), ("state", "crm"), ("stock", "erp")]
)
def test_the_order_follows_the_type_of_fact(fact_type: str, winner: str) -> None:
    told = [
        due(f"2024-05-0{i + 1}", s, fact_type=fact_type, days=i) for i, s in enumerate(("forum", "crm", "wiki", "erp"))
    ]
    kept = settle(*told).kept
    assert [k.node.fact.source for k in kept] == [winner]


def test_what_was_taken_back_or_is_in_doubt_gives_way_to_any_source() -> None:
    gone, said = due("2024-05-05", "erp", state="retracted"), due("2024-05-09", "chat", days=30)
    verdict = settle(gone, said)
    assert verdict.kept == (said,)
    assert verdict.losers[0].reason == "order:1 due: it is retracted"


def test_that_an_order_was_cancelled_is_the_newest_version_of_it() -> None:
    planned, cancelled = due("2024-05-05", days=9), due("none", days=1, state="cancelled")
    assert settle(planned, cancelled).kept == (cancelled,)


@pytest.mark.parametrize(
    "other",
    [
        due("2024-05-05", "chat", days=3),  # the same value
        due("2024-05-09", subject="order:2"),
        due("2024-05-09", owner="person:bob"),
        due("2024-05-09", tenant="t2"),
        due("2024-05-09", attribute="paid"),
        due("2024-05-09", adds=True),
    ],
)
def test_what_can_hold_beside_it_is_kept(other: Weighed) -> None:
    own = due("2024-05-05")
    assert settle(own, other).kept == (own, other)


def test_a_rule_for_everybody_and_what_somebody_tells_of_it() -> None:
    rule = due("30 days", "wiki", owner="", fact_type="policy", attribute="window")
    ann = due("60 days", "chat", fact_type="policy", attribute="window")
    bob = due("60 days", "chat", fact_type="policy", attribute="window", owner="person:bob")
    assert settle(ann, rule, bob).kept == (rule,)
    assert settle(ann, rule, bob, sources=False).kept == (ann, rule, bob)


def test_history_keeps_all_versions() -> None:
    versions = (due("2024-05-05", days=9), due("2024-05-09", days=2))
    assert settle(*versions, history=True).kept == versions
    assert settle(*versions, versions=False).kept == versions
    assert settle(*versions, enabled=False).kept == versions


def plain(text: str, value: str, kind: str = "quantity", **more: Any) -> Weighed:
    return candidate(
        text, **{"subject": "product:lamp", "value": value, "value_kind": kind, "fact_type": "product", **more}
    )


def test_plain_statements_that_differ_in_the_value_alone() -> None:
    forum = plain("The lamp has a warranty of 5 years.", "5 years", source="forum")
    wiki = plain("The lamp has a warranty of 2 years.", "2 years", source="wiki", days=99)
    assert settle(forum, wiki).kept == (wiki,)
    assert settle(forum, wiki, statements=False).kept == (forum, wiki)
    yes = plain("The lamp supports fast charging.", "yes", "boolean", source="forum")
    no = plain("The lamp does not support fast charging.", "no", "boolean", source="wiki")
    assert settle(yes, no).kept == (no,)


@pytest.mark.parametrize(
    "other",
    [
        plain("The lamp has a cable of 5 metres.", "5 metres"),
        plain("The lamp has a warranty of 5 years.", "5 years", subject="product:kettle"),
        plain("The lamp has a warranty of 5 years.", "5 years", subject=""),
        plain("The lamp has a warranty of 5 years.", "5 years", fact_type="event"),
        plain("The lamp has a warranty of 5 years.", "", "text"),
    ],
)
def test_plain_statements_of_other_things_stand_beside_each_other(other: Weighed) -> None:
    own = plain("The lamp has a warranty of 2 years.", "2 years")
    assert settle(own, other).kept == (own, other)


def test_that_somebody_bought_twice_is_no_contradiction() -> None:
    told = [
        plain(f"Ann paid €{n} for a lamp.", f"{n} EUR", "money", fact_type="event", subject="person:ann")
        for n in (5, 9)
    ]
    assert settle(*told).kept == tuple(told)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["erp", "crm", "chat", "forum"]),
            st.sampled_from(["1", "2", "3"]),
            st.sampled_from(["", "person:ann", "person:bob"]),
            st.sampled_from(["active", "retracted", "uncertain"]),
            st.sampled_from(["due", ""]),
            st.integers(0, 5),
        ),
        max_size=12,
    )
)
def test_one_side_of_each_conflict_is_left(rows: list[tuple[Any, ...]]) -> None:
    told = [
        due(value, source, owner=owner, state=state, attribute=attribute, days=days, message_ids=(f"m{i}",))
        for i, (source, value, owner, state, attribute, days) in enumerate(rows)
    ]
    verdict = settle(*told)
    kept = {k.node.id for k in verdict.kept}
    assert bool(kept) == bool(told)
    assert len(verdict.kept) + len(verdict.losers) == len(told)
    assert all(loser.to in kept and loser.candidate.node.id not in kept for loser in verdict.losers)
    assert settle(*verdict.kept).losers == ()
