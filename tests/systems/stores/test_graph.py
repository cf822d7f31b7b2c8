"""Neighbours, chains of relations, and that no path leaves a tenant."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtrial.systems.stores.graph import GraphParams, GraphStore
from memtrial.systems.structured.node import Edge, Entity

START = datetime(2024, 1, 1, tzinfo=UTC)
PLAIN: dict[str, Any] = {"damping": 0.0}


def edge(
    source: str, relation: str, target: str, *, tenant: str = "t1", day: int = 0, ids: tuple[str, ...] = ("m1",)
) -> Edge:
    return Edge(tenant, source, relation, target, ids, START + timedelta(days=day))


def graph(*edges: Edge, **params: Any) -> GraphStore:
    store = GraphStore(GraphParams(**params))
    store.add(edges=edges)
    return store


def test_neighbours_fade_with_every_hop() -> None:
    store = graph(
        edge("person:ann", "ordered", "order:1"),
        edge("order:1", "about", "product:lamp"),
        edge("product:lamp", "part_of", "topic:light"),
        **PLAIN,
    )
    found = store.neighbours("t1", {"person:ann": 1.0})
    assert [(r.key, r.score) for r in found] == [("order:1", 0.5), ("product:lamp", 0.25)]
    assert [s.tell() for s in found[1].path] == ["person:ann -ordered-> order:1", "order:1 -about-> product:lamp"]
    assert [r.key for r in store.neighbours("t1", {"person:ann": 1.0}, hops=1)] == ["order:1"]
    assert [r.key for r in store.neighbours("t1", {"person:ann": 1.0}, kind="product")] == ["product:lamp"]
    back = store.neighbours("t1", {"product:lamp": 0.8}, hops=1)
    assert [(r.key, r.score) for r in back] == [("order:1", 0.4), ("topic:light", 0.4)]
    assert back[0].path[0].tell() == "product:lamp <-about- order:1"
    assert store.neighbours("t1", {"person:nobody": 1.0}) == store.neighbours("t9", {"person:ann": 1.0}) == []


def test_the_owner_of_the_project_that_the_delayed_order_belonged_to() -> None:
    store = graph(
        edge("order:1", "part_of", "topic:apollo", ids=("m1",)),
        edge("order:2", "part_of", "topic:borealis"),
        edge("topic:apollo", "assigned_to", "person:ann", day=1, ids=("m2",)),
        edge("topic:apollo", "assigned_to", "person:bob", day=9, ids=("m7",)),
        edge("topic:borealis", "assigned_to", "person:cem"),
        edge("topic:apollo", "about", "product:lamp"),
        **PLAIN,
    )
    found = store.follow("t1", {"order:1": 1.0}, ("part_of", "assigned_to"))
    # Bob took over from Ann
    assert [(r.key, r.score) for r in found] == [("person:bob", 0.25), ("person:ann", 0.125)]
    assert [s.message_ids for s in found[0].path] == [("m1",), ("m7",)]
    before = store.follow("t1", {"order:1": 1.0}, ("part_of", "assigned_to"), until=START + timedelta(days=3))
    assert [(r.key, r.score) for r in before] == [("person:ann", 0.25)]
    assert {r.key for r in store.follow("t1", {"order:1": 1.0}, ("part_of", ""))} == {
        "person:ann",
        "person:bob",
        "product:lamp",
    }
    assert store.follow("t1", {"order:1": 1.0}, ()) == []
    assert store.follow("t1", {"order:1": 1.0}, ("owns",)) == []


def test_a_hub_joins_nobody() -> None:
    crowd = [edge(f"person:{n}", "ordered", "product:lamp", day=n) for n in range(100)]
    store = graph(*crowd, edge("person:0", "ordered", "order:1"), edge("order:1", "owns", "person:twin"), fan_out=10)
    found = {r.key: r.score for r in store.neighbours("t1", {"person:0": 1.0})}
    twin = 0.5 / (1 + 0.5 * math.log(2)) * 0.5 / (1 + 0.5 * math.log(2))
    stranger = 0.5 / (1 + 0.5 * math.log(2)) * 0.5 / (1 + 0.5 * math.log(100))
    assert found["person:twin"] == pytest.approx(twin)
    assert found["person:99"] == pytest.approx(stranger)
    # no more than the newest of a hub's edges are followed
    assert sum(key.startswith("person:") and key != "person:twin" for key in found) == 10
    # but a chain that names its relation finds what is older
    assert len(store.follow("t1", {"product:lamp": 1.0}, ("ordered",))) == 100


def test_the_best_of_several_ways_counts() -> None:
    store = graph(
        edge("order:1", "about", "product:lamp"),
        edge("person:ann", "ordered", "order:1"),
        edge("person:ann", "owns", "product:lamp"),
        **PLAIN,
    )
    found = {r.key: r for r in store.neighbours("t1", {"person:ann": 1.0, "order:1": 0.2})}
    assert found["product:lamp"].score == 0.5
    assert len(found["product:lamp"].path) == 1
    assert "order:1" not in found


def test_as_of_a_time_later_edges_are_unknown() -> None:
    store = graph(edge("a:1", "knows", "a:2", day=1), edge("a:1", "knows", "a:3", day=5))
    assert [r.key for r in store.neighbours("t1", {"a:1": 1.0}, until=START + timedelta(days=2))] == ["a:2"]


def test_handing_over_again_changes_nothing() -> None:
    qrz = Entity("organisation:qrz", "organisation", "QRZ", "t1")
    said = [edge("organisation:qrz", "located_in", "place:ghent", day=d, ids=(f"m{d}",)) for d in (1, 2)]
    store = GraphStore()
    for _ in range(2):
        store.add([qrz, qrz], said)
    assert store.size("t1") == (2, 1)
    assert store.size("t2") == (0, 0)
    (found,) = store.neighbours("t1", {"organisation:qrz": 1.0})
    assert found.path[0].message_ids == ("m1", "m2")
    assert store.entity("t1", "organisation:qrz") == qrz
    assert store.entity("t2", "organisation:qrz") is None


keys = st.sampled_from([f"person:{n}" for n in range(5)])
edges = st.lists(
    st.builds(
        edge,
        keys,
        st.sampled_from(["knows", "assigned_to"]),
        keys,
        tenant=st.sampled_from(["t1", "t2"]),
        day=st.integers(0, 5),
    ),
    max_size=20,
)


@given(edges, st.dictionaries(keys, st.floats(0, 1)), st.randoms(use_true_random=False))
def test_scores_are_shares_paths_are_real_and_the_order_of_arrival_is_all_one(
    told: list[Edge], start: dict[str, float], random: Any
) -> None:
    store = graph(*told)
    found = store.neighbours("t1", start)
    own = {(e.source, e.relation, e.target) for e in told if e.tenant_id == "t1"}
    for reached in found:
        assert 0.0 < reached.score <= 0.5 * max(start.values())
        assert reached.path[0].source in start
        assert reached.path[-1].target == reached.key not in start
        for s in reached.path:
            assert (*((s.source, s.relation, s.target) if s.forward else (s.target, s.relation, s.source)),) in own
    shuffled = list(told)
    random.shuffle(shuffled)
    assert graph(*shuffled).neighbours("t1", start) == found
