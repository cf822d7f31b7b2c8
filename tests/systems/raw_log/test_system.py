"""The whole of raw-log search over small logs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memtrial.datasets.schema import Message, Turn
from memtrial.systems.base import Answer, Context, Query, Trace
from memtrial.systems.raw_log.system import RawLog

FAST: dict[str, Any] = {"meaning": {"embedder": "tfidf_svd", "dims": 16}}
Say = Callable[..., Message]
Ask = Callable[..., Query]


def run(
    context: Context, messages: list[Message], *queries: Query, params: dict[str, Any] | None = None
) -> list[tuple[Answer, Trace]]:
    """Ingest, ask, close."""

    async def go() -> list[tuple[Answer, Trace]]:
        system = RawLog.create({**FAST, **(params or {})}, context)
        try:
            await system.ingest(messages, Trace())
            said = []
            for query in queries:
                trace = Trace()
                said.append((await system.answer(query, trace), trace))
            return said
        finally:
            await system.close()

    return asyncio.run(go())


def chat(say: Say) -> list[Message]:
    """Two people over two weeks."""
    log = [
        say(1, "The budget for Q3 goes up by 10 percent", sender="Ann"),
        say(2, "Then research has to shrink a little", sender="Ben"),
        say(3, "I love the blue lamp in the kitchen", sender="Ann"),
        say(4, "My sister Eva moved to Lisbon", sender="Ben"),
        say(5, "Lisbon must be lovely in spring", sender="Ann"),
        say(6, "The budget meeting is off", sender="Cleo"),
    ]
    days = (0, 0, 1, 3, 3, 9)
    return [replace(m, timestamp=m.timestamp + timedelta(days=d)) for m, d in zip(log, days, strict=True)]


def ids(answer: Answer) -> list[str]:
    return [id for item in answer.retrieved for id in item.message_ids]


def later(query: Query, days: int = 14) -> Query:
    return replace(query, asked_at=query.asked_at + timedelta(days=days))


def test_what_fits_stands_first_and_is_shown_with_its_id(context: Context, say: Say, ask: Ask) -> None:
    [(answer, trace)] = run(context, chat(say), later(ask("Where does Eva live now?")))
    assert ids(answer)[0] in {"m4", "m5"}
    assert "m4" in [id for item in answer.context for id in item.message_ids]
    assert trace.facts["candidates"]
    assert trace.facts["tiers"]["joined"] >= 1


def test_a_certain_time_filters_and_gives_way_where_nothing_is_left(context: Context, say: Say, ask: Ask) -> None:
    said = later(ask("What did Ann say on 8 May 2023 about the lamp?"))
    never = later(ask("What did Ann say on 1 February 2020 about the lamp?"))
    (found, _), (relaxed, trace) = run(context, chat(say), said, never)
    assert ids(found)[0] == "m3"
    assert "m3" in ids(relaxed)
    assert trace.facts["plan"]["relaxed"]


def test_who_is_named_speaks_for_a_turn(context: Context, say: Say, ask: Ask) -> None:
    log = [say(1, "I would like tea", sender="Ann"), say(2, "I would like tea", sender="Ben")]
    question = later(ask("What would Ben like?"))
    [(with_it, _)] = run(context, log, question)
    assert ids(with_it)[0] == "m2"


def test_neighbours_come_along_in_time_order_and_do_not_enter_the_ranking(
    context: Context, say: Say, ask: Ask, tmp_path: Path
) -> None:
    question = later(ask("Where does Eva live now?"))
    shown = {"items": 1, "neighbours": 1}
    log = [replace(m, session_id="s1") for m in chat(say)]
    [(answer, _)] = run(context, log, question, params={"shown": shown})
    assert len(answer.context) == 3
    times = [item.timestamp for item in answer.context if item.timestamp]
    assert times == sorted(times)


def test_a_budget_of_tokens_is_kept_and_said(context: Context, say: Say, ask: Ask) -> None:
    long = [say(n, f"Eva lives in Lisbon, street number {n}. " + "word " * 200, sender="Ann") for n in range(1, 9)]
    shown = {"items": 8, "max_item_tokens": 50, "max_tokens": 150}
    [(answer, trace)] = run(context, long, later(ask("Where does Eva live?")), params={"shown": shown})
    assert 1 <= len(answer.context) <= 3
    assert any("max_item_tokens" in warning for warning in trace.warnings)
    assert any("max_tokens is 150" in warning for warning in trace.warnings)


def test_thin_evidence_makes_it_abstain(context: Context, say: Say, ask: Ask, tmp_path: Path) -> None:
    question = later(ask("Which telescope did Zoe buy for 300 euros in the blue kitchen?"))
    [(kept, _)] = run(context, chat(say), question)
    best = kept.retrieved[0].score
    assert 0 < best < 9.9
    (tmp_path / "thin").mkdir()
    params = {"shown": {"least_score": best + 0.1}}
    [(answer, trace)] = run(replace(context, folder=tmp_path / "thin"), chat(say), question, params=params)
    assert answer.abstained
    assert answer.context == ()
    assert answer.retrieved
    assert trace.facts["thin"] == round(best, 3)


def test_caches_hit_for_the_same_question_at_the_same_time_alone(context: Context, say: Say, ask: Ask) -> None:
    question = later(ask("Where does Eva live now?"))
    other = replace(question, asked_at=question.asked_at + timedelta(seconds=1))
    asker = replace(question, asker="Ben")
    tenant = replace(question, tenant_id="t2")
    (first, a), (again, b), (_, c), (_, d), (_, e) = run(context, chat(say), question, question, other, asker, tenant)
    assert again == first
    assert b.cache_hits == {"answers": 1}
    assert not any("answers" in t.cache_hits or "candidates" in t.cache_hits for t in (a, c, d, e))


@pytest.mark.parametrize("kept", ["plans", "candidates", "answers"])
def test_each_cache_serves_alone(context: Context, say: Say, ask: Ask, kept: str) -> None:
    cache = {name: name == kept for name in ("plans", "candidates", "answers")}
    question = later(ask("Where does Eva live now?"))
    (first, a), (again, b) = run(context, chat(say), question, question, params={"cache": cache})
    assert (a.cache_hits, b.cache_hits) == ({}, {kept: 1})
    assert again == first
    assert b.facts["plan"] == a.facts["plan"]  # a hit is explained like the first time


def test_tags_put_first_what_a_plan_says_of_the_mood(context: Context, say: Say, ask: Ask, tmp_path: Path) -> None:
    log = [say(1, "About the lamp: it came, lamp and all", sender="Ann"), say(2, "The lamp is terrible", sender="Ann")]
    question = later(ask("What did Ann complain about the lamp?"))
    found = []
    for name, sentiment in (("off", "off"), ("on", "lexicon")):
        (tmp_path / name).mkdir()
        params = {"tags": {"sentiment": sentiment, "least": 1}, "rerank": {"kind": "off"}}
        found += run(replace(context, folder=tmp_path / name), log, question, params=params)
    (_, plain), (tagged, trace) = found
    assert "tags" not in plain.facts
    assert trace.facts["tags"] == {"asked": 1, "kept": ["cue"], "first": 1}
    assert ids(tagged) == ["m2", "m1"]


def test_tenants_stay_apart(context: Context, say: Say, ask: Ask) -> None:
    log = [*chat(say), say(30, "My sister Eva moved to Oslo", tenant="t2", sender="Ben")]
    (mine, _), (theirs, _) = run(
        context,
        sorted(log, key=lambda m: m.timestamp),
        later(ask("Where does Eva live now?")),
        later(ask("Where does Eva live now?", tenant="t2")),
    )
    assert {item.tenant_id for item in (*mine.retrieved, *mine.context)} == {"t1"}
    assert {item.tenant_id for item in (*theirs.retrieved, *theirs.context)} == {"t2"}


def test_a_follow_up_is_searched_with_its_dialogue(context: Context, say: Say, ask: Ask) -> None:
    question = later(ask("and where is that?", history=(Turn("Ann", "Did Eva move?"), Turn("assistant", "Yes."))))
    [(answer, _)] = run(context, chat(say), question)
    assert ids(answer)[0] in {"m4", "m5"}


def test_every_step_can_be_switched_off(context: Context, say: Say, ask: Ask, tmp_path: Path) -> None:
    for number, params in enumerate(
        (
            {"planning": False},
            {"tiers": {"meaning": False}},
            {"rerank": {"kind": "off"}},
            {"cache": {"enabled": False}},
            {"signals": {"speaker": 0, "time": 0, "near": 0}},
        )
    ):
        home = tmp_path / f"home{number}"
        home.mkdir()
        [(answer, _)] = run(replace(context, folder=home), chat(say), later(ask("Where does Eva live?")), params=params)
        assert "m4" in ids(answer)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    text=st.one_of(
        st.text(max_size=80), st.sampled_from(["content:* OR 1=1", '"', "tenant:t2 AND *", "+ - && || !(){}[]^~"])
    )
)
def test_no_text_of_a_user_is_query_syntax(context: Context, say: Say, ask: Ask, text: str) -> None:
    log = [*chat(say), say(40, text or "x", sender="Ann"), say(41, "secret of t2", tenant="t2", sender="Ben")]
    ordered = sorted(log, key=lambda m: m.timestamp)
    [(answer, _)] = run(context, ordered, later(ask(text)), params={"tiers": {"meaning": False}})
    assert all(item.tenant_id == "t1" for item in answer.retrieved)
