from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from memtrial.datasets.schema import Message, Turn
from memtrial.systems.base import Answer, Context, Query, Trace
from memtrial.systems.baselines.fusion import added_scores, reciprocal_rank
from memtrial.systems.baselines.oracle import Oracle
from memtrial.systems.registry import resolve

Say = Callable[..., Message]
Ask = Callable[..., Query]
PLAIN = {"index": {"speaker": False, "date": False}}


def answer(name: str, params: dict[str, Any], context: Context, log: list[Message], query: Query) -> Answer:
    async def go() -> Answer:
        system = resolve(name).create(params, context)
        await system.ingest(log, Trace())
        said = await system.answer(query, Trace())
        await system.close()
        return said

    return asyncio.run(go())


def ids(said: Answer) -> list[str]:
    return [item.message_ids[0] for item in said.retrieved]


def test_bm25_score_is_the_formula(say: Say, ask: Ask, context: Context) -> None:
    log = [say(1, "red kettle"), say(2, "blue kettle lid"), say(3, "green tea")]
    params = {**PLAIN, "units": {"turn": 1, "window": 0, "session": 0}}
    said = answer("bm25", params, context, log, ask("red kettle?"))
    mean = 7 / 3
    idf = {"kettl": math.log(1 + 1.5 / 2.5), "red": math.log(1 + 2.5 / 1.5)}
    first = sum(idf[t] * 2.2 / (1 + 1.2 * (0.25 + 0.75 * 2 / mean)) for t in idf)
    second = idf["kettl"] * 2.2 / (1 + 1.2 * (0.25 + 0.75 * 3 / mean))
    assert ids(said) == ["m1", "m2"]
    assert [item.score for item in said.retrieved] == pytest.approx([first, second])


def test_a_turn_is_found_through_its_neighbour_and_a_later_one_widens_the_window(
    say: Say, ask: Ask, context: Context
) -> None:
    async def go() -> tuple[list[str], list[str]]:
        system = resolve("bm25").create(PLAIN, context)
        await system.ingest([say(1, "hello"), say(2, "When does the kettle arrive?")], Trace())
        before = ids(await system.answer(ask("kettle"), Trace()))
        await system.ingest([say(3, "On Tuesday."), say(4, "Fine.")], Trace())
        after = ids(await system.answer(ask("kettle"), Trace()))
        await system.close()
        return before, after

    before, after = asyncio.run(go())
    assert before == ["m2", "m1"]
    assert after[0] == "m2"
    assert set(after) == {"m1", "m2", "m3"}


def test_a_session_about_the_matter_lifts_its_turns(say: Say, ask: Ask, context: Context) -> None:
    log = [
        say(1, "kettle arrived", session="s1"),
        say(2, "the walrus kettle is here", session="s2"),
        say(3, "something else", session="s2"),
        say(4, "kettle arrived", session="s2"),
    ]
    said = answer("bm25", {**PLAIN, "units": {"window": 0}}, context, log, ask("walrus kettle"))
    assert ids(said) == ["m2", "m4", "m1"]


def test_speaker_date_caption_and_history_are_words_to_search_by(say: Say, ask: Ask, context: Context) -> None:
    log = [say(1, "one", sender="Zoe"), say(2, "two", caption="a walrus"), say(3, "three")]
    alone = {"units": {"window": 0, "session": 0}}
    assert ids(answer("bm25", alone, context, log, ask("Zoe")))[0] == "m1"
    shown = answer("bm25", alone, context, log, ask("walrus"))
    assert shown.retrieved[0].text == "two [image: a walrus]"
    assert set(ids(answer("bm25", alone, context, log, ask("in May 2023")))) == {"m1", "m2", "m3"}
    follow_up = ask("And then?", history=(Turn("Ann", "Tell me of the walrus"),))
    assert ids(answer("bm25", alone, context, log, follow_up)) == ["m2"]
    assert ids(answer("bm25", {**alone, "history": 0}, context, log, follow_up)) == []
    assert ids(answer("bm25", {**alone, "captions": False}, context, log, ask("walrus"))) == []


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("bm25", {}),
        ("vector", {"embedder": "tfidf_svd"}),
        ("bm25_vector", {"vector": {"embedder": "tfidf_svd"}}),
        ("recent", {}),
        ("full_context", {}),
    ],
)
def test_tenants_are_apart_unless_the_filter_is_off(
    say: Say, ask: Ask, context: Context, name: str, params: dict[str, Any]
) -> None:
    log = [say(n, f"kettle number {n}", tenant=f"t{n % 2 + 1}") for n in range(6)]
    for tenant in ("t1", "t2"):
        said = answer(name, params, context, log, ask("kettle", tenant=tenant))
        assert {item.tenant_id for item in said.retrieved} == {tenant}
        assert len(said.retrieved) == 3
    both = answer(name, {**params, "tenant_filter": False}, context, log, ask("kettle"))
    assert len(both.retrieved) == 6


def test_the_ranking_is_cut_at_k_and_the_reader_sees_the_first_of_it(say: Say, ask: Ask, context: Context) -> None:
    log = [say(n, f"kettle {n}") for n in range(90)]
    said = answer("bm25", {}, context, log, ask("kettle"))
    assert len(said.retrieved) == 50
    assert said.context == said.retrieved[:8]


def test_recent_shows_the_last_messages_in_time_order(say: Say, ask: Ask, context: Context) -> None:
    log = [say(n, f"line {n}") for n in range(60)]
    said = answer("recent", {"context_items": 2}, context, log, ask("line?"))
    assert ids(said)[:2] == ["m59", "m58"]
    assert len(said.retrieved) == 50
    assert [item.message_ids[0] for item in said.context] == ["m58", "m59"]


def test_full_context_keeps_to_its_budget_and_says_what_it_cut(say: Say, ask: Ask, context: Context) -> None:
    from memtrial.systems.models.tokens import count_tokens

    log = [say(n, f"line {n}") for n in range(60)]

    async def go() -> tuple[Answer, Trace]:
        system = resolve("full_context").create({"tokens": 100}, context)
        await system.ingest(log, Trace())
        trace = Trace()
        return await system.answer(ask("line?"), trace), trace

    said, trace = asyncio.run(go())
    used = sum(count_tokens(item.render()) for item in said.context)
    one = count_tokens(said.context[0].render())
    assert used <= 100 < used + 2 * one
    assert said.context[-1].message_ids == ("m59",)
    assert f"newest {len(said.context)} of 60" in trace.warnings[0]


def test_the_oracle_reads_what_was_revealed_for_this_query_in_time_order(say: Say, ask: Ask, context: Context) -> None:
    async def go() -> tuple[Answer, Answer]:
        system = Oracle.create({}, context)
        await system.ingest([say(n, f"line {n}") for n in range(5)], Trace())
        system.reveal("q", ["m3", "m1", "not there"])
        first = await system.answer(ask("line?"), Trace())
        return first, await system.answer(replace(ask("line?"), id="other"), Trace())

    first, other = asyncio.run(go())
    assert [item.message_ids[0] for item in first.context] == ["m1", "m3"]
    assert other.context == ()
    assert other.abstained


def test_no_memory_abstains_and_shows_nothing(say: Say, ask: Ask, context: Context) -> None:
    said = answer("no_memory", {}, context, [say(1, "The kettle cost 40 euros.")], ask("What did the kettle cost?"))
    assert said.abstained
    assert said.context == said.retrieved == ()


def test_a_folder_ahead_of_its_log_does_not_tell_the_future(say: Say, ask: Ask, context: Context) -> None:
    log = [say(n, f"kettle {n}") for n in range(6)]
    for name, params in (("bm25", {}), ("vector", {"embedder": "e5"})):
        assert len(answer(name, params, context, log, ask("kettle")).retrieved) == 6
        assert ids(answer(name, params, context, log[:3], ask("kettle 5"))) != []
        assert set(ids(answer(name, params, context, log[:3], ask("kettle 5")))) == {"m0", "m1", "m2"}
        assert len(answer(name, params, context, log, ask("kettle")).retrieved) == 6


def test_vector_says_whether_its_search_was_exact(say: Say, ask: Ask, context: Context) -> None:
    log = [say(n, f"kettle {n} {'tea' * (n % 3)}") for n in range(30)]

    async def facts(params: dict[str, Any]) -> dict[str, Any]:
        system = resolve("vector").create({"embedder": "tfidf_svd", **params}, context)
        await system.ingest(log, Trace())
        trace = Trace()
        await system.answer(ask("kettle"), trace)
        await system.close()
        assert trace.warnings == []
        return {k: trace.facts[k] for k in ("vectors", "vectors_indexed", "search")}

    assert asyncio.run(facts({})) == {"vectors": 30, "vectors_indexed": 0, "search": "exact"}
    graph = asyncio.run(facts({"hnsw": {"build_from": 1}}))
    assert graph["vectors_indexed"] > 0
    assert graph["search"] == "hnsw"


def test_reciprocal_ranks_by_hand() -> None:
    fused = reciprocal_rank([([(1, 9.0), (2, 8.0)], 1.0), ([(2, 0.3)], 2.0)], constant=60)
    assert fused == [(2, pytest.approx(1 / 62 + 2 / 61)), (1, pytest.approx(1 / 61))]


def test_added_scores_by_hand() -> None:
    # First ranking: 3 and 1 (deviation 1). Second: 5, and 5 again for what it lacks: it tells nothing apart.
    assert added_scores([([(1, 3.0), (2, 1.0)], 1.0), ([(2, 5.0)], 1.0)]) == [(1, 2.0), (2, 0.0)]
    assert added_scores([([], 1.0)]) == []
