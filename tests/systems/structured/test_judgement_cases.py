"""Faults that others met in memories, as far as judging candidates can commit them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memtrial.systems.base import Query, Trace
from memtrial.systems.stores.graph import GraphStore
from memtrial.systems.structured.arbiter import Arbiter, ArbiterParams
from memtrial.systems.structured.cache import CacheKey, CacheParams, ResultCache
from memtrial.systems.structured.node import Edge, Entity
from memtrial.systems.structured.policy import PolicyParams, make_policy
from memtrial.systems.structured.trust import SourceParams, TrustContext, TrustModel, TrustParams, by_trust
from tests.systems.structured.judged import NOW, candidate


@pytest.fixture(scope="session")
def case(shared_dir: Path) -> Callable[[str], dict[str, Any]]:
    lines = (shared_dir / "cases" / "cases.jsonl").read_text(encoding="utf-8").splitlines()
    return {found["id"]: found for found in map(json.loads, lines)}.__getitem__


def test_mb_01_one_users_facts_of_a_name_never_come_back_to_another(case: Callable[[str], dict[str, Any]]) -> None:
    given = case("mb-01")["input"]
    graph, cache = GraphStore(), ResultCache[str](CacheParams())
    for number, write in enumerate(given["writes"]):
        text = write["text"]
        likes = text.rpartition(" ")[2]
        rex = Entity("person:rex", "person", "Rex", write["user"])
        graph.add([rex], [Edge(write["user"], rex.key, "related", f"topic:{likes}", (f"m{number}",), NOW)])
        query = Query("q", write["user"], write["user"], NOW, given["query"]["q"])
        cache.put(CacheKey.of(query, version=1), NOW, likes)
    asker = given["query"]["user"]
    found = graph.neighbours(asker, {"person:rex": 1.0})
    assert [r.key for r in found] == ["topic:pears"]
    assert [s.message_ids for r in found for s in r.path] == [("m0",)]
    query = Query("q", asker, asker, NOW, given["query"]["q"])
    assert (
        cache.get(CacheKey.of(query, version=1), NOW, Trace()) == case("mb-01")["expected"]["checks"]["answer_contains"]
    )
    # near-identical names of two tenants neither contradict nor confirm each other
    told = [
        candidate(w["text"], tenant=w["user"], subject="person:rex", attribute="likes", value=w["text"], source=s)
        for w, s in zip(given["writes"], ("chat", "crm"), strict=True)
    ]
    assert Arbiter(ArbiterParams(), SourceParams()).settle(told).losers == ()
    weighed = TrustModel(TrustParams()).weigh(told, TrustContext(NOW))
    assert [w.trust.by_dimension["voices"] for w in weighed if w.trust] == [0.6, 0.6]


@pytest.mark.parametrize("attributes", [("", ""), ("employer", "administers"), ("employer", "")])
@pytest.mark.parametrize("kind", ["name", "text", ""])
def test_mb_12_a_fact_that_only_mentions_a_person_retires_nothing(
    case: Callable[[str], dict[str, Any]], attributes: tuple[str, str], kind: str
) -> None:
    given = case("mb-12")["input"]
    old, new = (
        candidate(
            text,
            subject="person:lena",
            attribute=attribute,
            value=value,
            value_kind=kind,
            fact_type="profile",
            days=days,
        )
        for text, attribute, value, days in (
            (given["facts"][0], attributes[0], "Orbit Ltd", 9),
            (given["new"], attributes[1], "the Orbit wiki", 1),
        )
    )
    verdict = Arbiter(ArbiterParams(), SourceParams()).settle([old, new])
    assert verdict.kept == (old, new)
    assert len(verdict.losers) == case("mb-12")["expected"]["checks"]["collateral"]


def test_mb_14_an_entity_named_in_three_episodes_and_two_runs_is_one(case: Callable[[str], dict[str, Any]]) -> None:
    given = case("mb-14")["input"]
    graph = GraphStore()
    for _ in range(given["runs"]):
        for number, text in enumerate(given["episodes"]):
            graph.add(
                [Entity("organisation:qrz", "organisation", text.split()[0], "t1")],
                [Edge("t1", "organisation:qrz", "related", f"topic:{text.split()[-1]}", (f"m{number}",), NOW)],
            )
    qrz = [key for key in ("organisation:qrz", "organisation:QRZ") if graph.entity("t1", key)]
    assert len(qrz) == case("mb-14")["expected"]["checks"]["entities"]
    assert graph.size("t1") == (3, 2)


def test_the_seeds_headset_of_last_week_comes_before_that_of_three_years_ago() -> None:
    """The closer match of three years ago (0.87) gives way to last week's (0.83) when asked for the last one."""
    old = candidate("Looked at the Jabra Elite 75t, no noise cancelling", score=0.87, days=3 * 365, fact_type="event")
    new = candidate("Looked at the Sony WH-1000XM5, noise cancelling", score=0.83, days=7, fact_type="event")
    policy = make_policy(Query("q", "t1", "ann", NOW, "上次看的蓝牙耳机有降噪吗"), PolicyParams())
    params = TrustParams()
    weighed = TrustModel(params).weigh([old, new], TrustContext(NOW, last=policy.last))
    assert [w.node for w in by_trust(weighed, params.share)] == [new.node, old.node]
