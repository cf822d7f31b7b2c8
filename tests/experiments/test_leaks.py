from __future__ import annotations

import textwrap
import unicodedata
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memtrial.datasets.errors import UserError
from memtrial.experiments.leaks import LeakReport, probe_leaks
from memtrial.experiments.leaks_world import PATHS, build_world, codes_in, draw_probes, query_of

NOW = datetime(2025, 1, 1, tzinfo=UTC)
TOY = '''
from memtrial.systems.base import Answer, Evidence


class Toy:
    """Keeps tenants apart, but for one fault."""

    def __init__(self, fault):
        self.fault, self.messages, self.cache, self.last = fault, [], {}, None

    @classmethod
    def create(cls, params, context):
        return cls(params.get("fault", ""))

    async def ingest(self, messages, trace):
        self.messages += messages

    async def answer(self, query, trace):
        if self.fault == "raises":
            raise RuntimeError("out of order")
        if self.fault == "cache" and query.text in self.cache:
            return self.cache[query.text]
        own = [m for m in self.messages if self.same(m.tenant_id, query.tenant_id)]
        hits = tuple(Evidence.of(m, 1.0) for m in own)
        stolen = next((m for m in self.messages if m.tenant_id != query.tenant_id and m.id[0] != "t"), None)
        answer = Answer(
            text=stolen.content if self.fault == "answer" else "",
            citations=(stolen.id,) if self.fault == "citation" else (),
            retrieved=hits,
            context=(Evidence(stolen.content, 1.0, (), query.tenant_id),) if self.fault == "relabelled" else hits[:3],
        )
        self.cache[query.text] = answer
        if self.fault == "at_once":
            import asyncio

            self.last = answer
            await asyncio.sleep(0)
            return self.last
        return answer

    def same(self, one, other):
        return one.casefold() == other.casefold() if self.fault == "folded" else one == other

    async def close(self):
        pass
'''


@pytest.fixture
def toy(tmp_path: Path) -> str:
    file = tmp_path / "toy.py"
    file.write_text(textwrap.dedent(TOY), encoding="utf-8")
    return f"{file}:Toy"


def test_twins_share_people_and_things_and_no_code() -> None:
    world = build_world(10, seed=3)
    assert len(world.tenants) == 20
    assert all(world.twins[world.twins[tenant]] == tenant != world.twins[tenant] for tenant in world.tenants)
    alike = {unicodedata.normalize("NFKC", t).casefold().replace("_", "-") for t in world.tenants}
    assert len(alike) < 20  # some differ in case, width or punctuation alone
    assert len({message.id for message in world.messages}) == len(world.messages)
    times = [message.timestamp for message in world.messages]
    assert times == sorted(times)
    assert max(Counter(codes_in(" ".join(m.content for m in world.messages))).values()) == 1
    by_code = {code: m.tenant_id for m in world.messages for code in codes_in(m.content)}
    assert by_code == {secret.code: secret.tenant for secret in world.secrets}
    assert build_world(10, seed=3) == world != build_world(10, seed=4)


def test_probes_hold_no_code_and_use_every_path_and_language() -> None:
    world = build_world(2, seed=0)
    drawn = draw_probes(world, 2_000, seed=0)
    assert {probe.path for probe in drawn} == set(PATHS)
    assert {probe.secret.chinese for probe in drawn} == {True, False}
    assert all(probe.twin != probe.secret.tenant for probe in drawn)
    for probe in drawn[:300]:
        query = query_of(probe, probe.twin, 1, NOW)
        assert not codes_in(query.text + "".join(turn.text for turn in query.history))
        assert query.tenant_id == probe.twin
    assert len(set(draw_probes(world, 300, seed=0))) == 300


def test_a_code_is_found_between_chinese_characters_and_not_inside_a_longer_word() -> None:
    assert codes_in("我的取件码是KV482193。") == {"KV482193"}
    assert codes_in("XKV482193 KV4821930 kv482193") == set()


def test_a_system_that_keeps_tenants_apart_leaks_nothing(toy: str) -> None:
    report = probe_leaks(toy, probes=200)
    assert (report.probes, report.leaked.total(), report.items.total()) == (200, 0, 0)
    assert report.upper == pytest.approx(1 - 0.05 ** (1 / 200))
    assert report.own
    assert all(report.own)
    assert "0 of 200 probes leaked" in report.render()
    assert "says less" not in report.render()


@pytest.mark.parametrize(
    ("fault", "where", "paths"),
    [
        ("answer", {"answer"}, set(PATHS)),
        ("citation", {"citation"}, set(PATHS)),
        ("relabelled", {"context"}, set(PATHS)),
        ("folded", {"ranking", "context"}, set(PATHS)),
        ("cache", {"ranking", "context"}, {"repeated"}),
        ("at_once", {"ranking", "context"}, {"together"}),
    ],
)
def test_each_way_out_is_found(toy: str, fault: str, where: set[str], paths: set[str]) -> None:
    report = probe_leaks(toy, {"fault": fault}, probes=300)
    assert {name for name, count in report.items.items() if count} == where
    assert set(report.leaked) >= paths
    assert "for example" in report.render()
    if fault == "at_once":
        assert set(report.leaked) == {"together"}


def test_probes_that_fail_prove_nothing(toy: str) -> None:
    with pytest.raises(UserError, match=r"answered none of 20 probes; the first error: RuntimeError: out of order"):
        probe_leaks(toy, {"fault": "raises"}, probes=20)


def test_a_system_that_finds_nothing_is_said_to_prove_little() -> None:
    assert "says less than it seems to" in probe_leaks("no_memory", probes=40).render()


def test_bounds_by_hand() -> None:
    none = LeakReport("s", 2, 10, asked=Counter(plain=10_000))
    assert none.upper == pytest.approx(3 / 10_000, rel=2e-3)  # the rule of three
    some = LeakReport("s", 2, 10, asked=Counter(plain=100), leaked=Counter(plain=5))
    assert some.upper == pytest.approx(0.1118, abs=1e-4)  # Wilson
    assert LeakReport("s", 2, 10).upper == 1.0


@pytest.mark.parametrize(
    ("target", "params", "leaks"),
    [
        ("bm25", {}, False),
        ("bm25", {"tenant_filter": False}, True),
        ("vector", {"embedder": "tfidf_svd"}, False),
        ("vector", {"embedder": "tfidf_svd", "tenant_filter": False}, True),
        ("structured", {"vectors": {"embedder": "tfidf_svd"}}, False),
        ("structured", {"vectors": {"embedder": "tfidf_svd", "tenancy": "shared"}}, False),
    ],
)
def test_built_in_systems(target: str, params: dict[str, object], leaks: bool) -> None:
    report = probe_leaks(target, params, probes=60)
    assert bool(report.leaked) is leaks
    assert report.errors == 0
    assert sum(report.own) > 0.7 * len(report.own)
