"""From dimensions to trust."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtrial.systems.structured.node import FactType, State
from memtrial.systems.structured.trust import TrustContext, TrustModel, TrustParams, by_trust, told
from tests.systems.structured.judged import NOW, candidate, node


def trust(source: str = "crm", *, context: dict[str, Any] | None = None, params: Any = None, **more: Any) -> float:
    named = TrustContext(**{"now": NOW, "anchors": {"order:1": 1.0}, **(context or {})})
    model = TrustModel(TrustParams.model_validate(params or {}))
    return model.score(node(source=source, subject="order:1", **more), named).score


@pytest.mark.parametrize(
    ("source", "more", "score"),
    [
        # 0.4 × authority + 0.15 × recency + 0.2 × binding + 0.15 × state + 0.1 × voices (0.6 alone)
        ("crm", {}, 0.4 * 0.95 + 0.15 + 0.2 + 0.15 + 0.06),
        ("chat", {}, 0.4 * 0.6 + 0.15 + 0.2 + 0.15 + 0.06),
        ("forum", {}, 0.4 * 0.3 + 0.15 + 0.2 + 0.15 + 0.06),
        ("crm", {"fact_type": "complaint", "days": 7}, 0.4 * 0.95 + 0.075 + 0.2 + 0.15 + 0.06),
        ("chat", {"state": "retracted"}, 0.4 * 0.6 + 0.15 + 0.2 + 0.0 + 0.06),
        ("crm", {"state": "injected"}, 0.0),
    ],
)
def test_the_weighted_mean_by_hand(source: str, more: dict[str, Any], score: float) -> None:
    assert trust(source, **more) == pytest.approx(score)


def test_the_defaults_stand_on_the_right_side_of_the_readers_bounds() -> None:
    assert trust("crm") > 0.85 > trust("chat") > 0.7 > trust("forum")
    assert trust("chat", state="retracted") < 0.7
    assert trust("chat", fact_type="complaint", days=30) < 0.7


def test_what_cannot_be_judged_does_not_count() -> None:
    named = trust("crm")
    assert trust("crm", context={"anchors": {}}) == pytest.approx((0.4 * 0.95 + 0.15 + 0.15 + 0.06) / 0.8)
    assert trust("crm", params={"decay": "off"}, days=500) == pytest.approx((named - 0.15) / 0.85)
    assert trust("crm", params={"weights": {"recency": 0, "binding": 0, "state": 0, "voices": 0}}) == pytest.approx(
        0.95
    )


def test_decay_can_wait_for_a_question_that_asks_for_the_last() -> None:
    asked = {"decay_when": "asked"}
    assert trust(params=asked, days=3) == trust(params=asked, days=900)
    assert trust(params=asked, days=3, context={"last": True}) > trust(params=asked, days=900, context={"last": True})
    # and then no floor holds up what is old
    assert trust(fact_type="product", days=1800, context={"last": True}) < trust(fact_type="product", days=1800)


def test_decay_runs_to_the_time_that_is_asked_about() -> None:
    past = {"now": NOW - timedelta(days=7)}
    assert trust(fact_type="complaint", days=14, context=past) == pytest.approx(trust(fact_type="complaint", days=7))


def test_candidates_confirm_each_other_and_keep_their_order() -> None:
    due: dict[str, Any] = {"subject": "order:1", "attribute": "due", "value": "2024-07-01"}
    alone, crm, mail = (
        candidate("Order 2", source="crm"),
        candidate("Due 1 July", source="crm", **due),
        candidate("due 1/7", source="email", **due),
    )
    context = TrustContext(NOW)
    weighed = TrustModel(TrustParams()).weigh([alone, crm, mail], context)
    assert [w.node for w in weighed] == [alone.node, crm.node, mail.node]
    assert [w.trust.by_dimension["voices"] for w in weighed if w.trust] == [0.6, 1.0, 1.0]
    assert told(weighed)[crm.node.id] == {
        "score": 0.975,
        "authority": 0.95,
        "recency": 1.0,
        "state": 1.0,
        "voices": 1.0,
    }
    replaced = TrustContext(NOW, superseded=frozenset({mail.node.id}))
    assert [
        w.trust.by_dimension["voices"] for w in TrustModel(TrustParams()).weigh([crm, mail], replaced) if w.trust
    ] == [0.6, 1.0]
    off = TrustModel(TrustParams(enabled=False)).weigh([alone], context)
    assert off == [alone]
    assert told(off) == {}


def test_fit_and_trust_are_mixed() -> None:
    near, sure = candidate("near", score=2.0, trust=0.3), candidate("sure", score=1.6, trust=0.95)
    assert [w.node for w in by_trust([near, sure], 0.0)] == [near.node, sure.node]
    mixed = by_trust([near, sure], 0.3)
    assert [w.node for w in mixed] == [sure.node, near.node]
    assert [w.score for w in mixed] == pytest.approx([0.7 * 0.8 + 0.3 * 0.95, 0.7 + 0.3 * 0.3])
    assert by_trust([], 0.5) == []
    assert [w.score for w in by_trust([candidate(score=0.0), candidate(score=0.0, trust=0.5)], 1.0)] == [1.0, 0.5]


@given(
    st.sampled_from(["crm", "wiki", "chat", "forum", "", "x"]),
    st.sampled_from(get_args(FactType)),
    st.sampled_from(get_args(State)),
    st.sampled_from(["current", "state", "history"]),
    st.floats(-10, 5000),
    st.floats(0, 5000),
    st.booleans(),
    st.dictionaries(st.sampled_from(["order:1", "order:2", "person:a"]), st.floats(0, 1)),
    st.fixed_dictionaries({n: st.floats(0, 5) for n in ("authority", "recency", "binding", "voices")}),
)
def test_trust_is_a_share_and_age_never_adds_to_it(
    source: str,
    fact_type: Any,
    state: Any,
    wants: Any,
    days: float,
    more: float,
    last: bool,
    anchors: Any,
    weights: Any,
) -> None:
    model = TrustModel(TrustParams.model_validate({"weights": {**weights, "state": 0.2}}))
    context = TrustContext(NOW, anchors, wants, last)
    young, old = (
        model.score(node(source=source, fact_type=fact_type, state=state, subject="order:1", days=d), context)
        for d in (days, days + more)
    )
    for found in (young, old):
        assert 0.0 <= found.score <= 1.0
        assert all(0.0 <= v <= 1.0 for v in found.by_dimension.values())
    assert old.score <= young.score + 1e-12
