"""Reranking without a model, and what all rerankers do alike."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from memtrial.datasets.schema import Message
from memtrial.systems.base import Context, Evidence, Query, Trace
from memtrial.systems.baselines.log import Log, evidence
from memtrial.systems.raw_log.rerank import AnyRerankParams, Reranked, Reranker
from memtrial.systems.raw_log.rerank.ranked import in_range

T0 = datetime(2024, 5, 1, 9, tzinfo=UTC)


def log_of(*turns: tuple[str, str]) -> Log:
    log = Log()
    log.add(
        Message(f"m{n}", "c", "s", "t", who, "", T0 + timedelta(minutes=n), text) for n, (who, text) in enumerate(turns)
    )
    return log


def ranked(
    question: str, log: Log, scores: Sequence[float] | None = None, *, neighbours: bool = False, **params: Any
) -> list[Reranked]:
    query = Query("q", "t", "kim", T0 + timedelta(days=9), question)
    items = [evidence(m, 0.0) for m in log.messages]
    reranker = Reranker(
        TypeAdapter[Any](AnyRerankParams).validate_python(params), Context(Path()), log if neighbours else None
    )
    return asyncio.run(reranker.rerank(query, items, scores or [1.0] * len(items), Trace()))


def first(*args: Any, **params: Any) -> int:
    return ranked(*args, **params)[0].index


def test_off_keeps_the_tier() -> None:
    log = log_of(("kim", "a"), ("kim", "a"), ("jo", "b"))
    rows = ranked("b?", log, [0.2, 0.7, 0.2], kind="off")
    assert [(r.index, r.score, r.merged_into) for r in rows] == [(1, 10.0, None), (0, 0.0, None), (2, 0.0, None)]


@pytest.mark.parametrize(
    ("question", "texts", "best"),
    [
        ("When did Kim buy the tent?", ["The tent is new.", "I got the tent on 3 May."], 1),
        ("How much was the tent?", ["The tent is new.", "The tent was 140 euros."], 1),
        ("Who repaired the boiler?", ["The boiler was repaired.", "The boiler was repaired by Mr. Smith."], 1),
        ("What is the order number of the kettle?", ["The kettle, you know.", "The kettle is AB-12345."], 1),
        ("帐篷花了多少钱？", ["帐篷很新。", "帐篷花了980元。"], 1),
        ("帐篷是哪天买的？", ["帐篷很新。", "帐篷是5月3日买的。"], 1),
    ],
)
def test_a_turn_that_can_answer_is_preferred_among_equals(question: str, texts: list[str], best: int) -> None:
    log = log_of(*(("jo", text) for text in texts))
    assert first(question, log) == best
    # without the signal the first of equals stays, so that the test shows what it does
    assert first(question, log, answer=0, words=0, around=0, values=0) == 0


def test_a_value_that_the_question_states_itself_is_no_answer() -> None:
    log = log_of(("jo", "The tent for 140 euros?"), ("jo", "That tent: 120 euros."))
    assert first("What did I get for the tent of 140 euros, how much money?", log, words=0, around=0, values=0) == 1


def test_stated_values_count_and_those_of_neighbours_by_half() -> None:
    log = log_of(
        ("jo", "The order AB-12345 please."), ("kim", "It left today."), ("jo", "It is late, XY-99999."), ("jo", "hm")
    )
    only: dict[str, Any] = {"tier": 0, "words": 0, "around": 0, "answer": 0, "values": 1}
    scores = {r.index: r.score for r in ranked("Where is AB-12345?", log, neighbours=True, **only)}
    assert scores == {0: 10.0, 1: 5.0, 2: 0.0, 3: 0.0}
    assert {r.index: r.score for r in ranked("Where is AB-12345?", log, **only)} == {0: 10.0, 1: 0.0, 2: 0.0, 3: 0.0}


def test_rare_words_count_more_and_neighbours_lend_theirs() -> None:
    log = log_of(("jo", "the tent and the tarp"), ("jo", "a tent"), ("jo", "the tent, yes"), ("kim", "fine"))
    only: dict[str, Any] = {"tier": 0, "values": 0, "answer": 0}
    rows = ranked("Is the tarp with the tent?", log, around=0, words=1, **only)
    # of four, all but one hold "tent": log(1 + 1.5/3.5) = 0.357; one holds "tarp": log(1 + 3.5/1.5) = 1.204
    assert {r.index: round(r.score, 2) for r in rows} == {0: 10.0, 1: 2.29, 2: 2.29, 3: 0.0}
    rows = ranked("Is the tarp with the tent?", log, neighbours=True, around=1, words=0, **only)
    assert {r.index: round(r.score, 2) for r in rows} == {0: 10.0, 1: 10.0, 2: 2.29, 3: 2.29}


def test_the_tier_decides_what_words_do_not() -> None:
    log = log_of(*(("jo", f"line {chr(97 + n)}") for n in range(4)))
    assert [r.index for r in ranked("xyz?", log, [0.1, 0.4, 0.3, 0.4])] == [1, 3, 2, 0]


def test_the_same_words_of_one_sender_count_once() -> None:
    log = Log()
    day = timedelta(days=1)
    said = [
        ("jo", "The tent leaks!", T0),
        ("jo", "the  TENT leaks", T0 + day / 2),
        ("kim", "The tent leaks!", T0),
        ("jo", "The tent leaks.", T0 + 9 * day),
    ]
    log.add(Message(f"m{n}", "c", "s", "t", who, "", at, text) for n, (who, text, at) in enumerate(said))
    rows = ranked("tent?", log, [1, 2, 1, 1])
    # the better one stands for both; another witness, and the same days later, stand for themselves
    assert {r.index: r.merged_into for r in rows} == {0: 1, 1: None, 2: None, 3: None}
    assert rows[-1].index == 0
    assert all(r.merged_into is None for r in ranked("tent?", log, [1, 2, 1, 1], merge_hours=0))


def test_the_key_sentence_is_the_one_that_can_answer() -> None:
    log = log_of(("jo", "I bought the tent! It was 140 euros. The shop is lovely."))
    assert ranked("How much did the tent cost?", log)[0].key_sentence == "It was 140 euros."


def test_scores_are_brought_to_one_range() -> None:
    assert in_range([3.0, 1.0, 2.0]) == [1.0, 0.0, 0.5]
    assert in_range([2.0, 2.0]) == [1.0, 1.0]
    assert in_range([]) == []


def test_nothing_gives_nothing_and_a_wrong_number_of_scores_is_refused() -> None:
    reranker = Reranker(TypeAdapter[Any](AnyRerankParams).validate_python({}), Context(Path()))
    query = Query("q", "t", "kim", T0, "x")
    trace = Trace()
    assert asyncio.run(reranker.rerank(query, [], [], trace)) == []
    assert trace.facts["rerank"] == {"kind": "lexical", "items": 0}
    with pytest.raises(ValueError, match="1 items come with 2 scores"):
        asyncio.run(reranker.rerank(query, [Evidence("a", 0, ("m",), "t")], [1, 2], trace))


@settings(max_examples=40, deadline=None)
@given(st.text(max_size=30), st.lists(st.tuples(st.text(max_size=30), st.floats(-1e6, 1e6)), min_size=1, max_size=5))
def test_any_texts_are_ranked_once_each_within_0_to_10(question: str, given_: list[tuple[str, float]]) -> None:
    log = log_of(*(("jo", text) for text, _ in given_))
    rows = ranked(question, log, [score for _, score in given_], neighbours=True)
    assert sorted(r.index for r in rows) == list(range(len(given_)))
    assert all(0.0 <= r.score <= 10.0 + 1e-9 and r.key_sentence in given_[r.index][0] for r in rows)
