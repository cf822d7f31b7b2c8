from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType

from hypothesis import given
from hypothesis import strategies as st

from memtrial.datasets.schema import Message, Turn
from memtrial.experiments.wire import (
    CONTEXT_ITEMS,
    RANKING_DEPTH,
    TEXT_LIMIT,
    count_items,
    dump_answer,
    dump_messages,
    dump_query,
    dumps,
    folded,
    load_query,
    read_messages,
    without_texts,
)
from memtrial.systems.base import Answer, Evidence, LlmCall, Query, Trace
from memtrial.systems.models.tokens import count_tokens

NOW = datetime(2024, 5, 1, 12, 30, 15, 123456, tzinfo=UTC)
QUERY = Query("q", "t1", "ana", NOW, "什么？", (Turn("ana", "hi"),), "zh", ("a", "b"))


def message(number: int, content: str = "hello", tenant: str = "t1") -> Message:
    extra = MappingProxyType({"sender_name": "Ana", "tags": ["x"], "n": 1})
    return Message(f"m{number}", "c", "s", tenant, "ana", "bob", NOW, content, "wiki", None, extra)


def test_messages_come_back_as_they_went(tmp_path: Path) -> None:
    given = [message(1), message(2, "两行\n和引号\"'\u2028"), message(3, "")]
    dump_messages(given, tmp_path / "m")
    assert list(read_messages(tmp_path / "m")) == given


def test_lone_surrogates_become_replacement_characters(tmp_path: Path) -> None:
    dump_messages([message(1, "half \ud83d"), message(2)], tmp_path / "m")
    assert [m.content for m in read_messages(tmp_path / "m")] == ["half ?", "hello"]


def test_a_query_comes_back_as_it_went() -> None:
    import orjson

    assert load_query(orjson.loads(dumps(dump_query(QUERY)))) == QUERY


@given(st.text(max_size=30))
def test_any_text_can_be_sent(text: str) -> None:
    import orjson

    assert isinstance(orjson.loads(dumps({"t": text}))["t"], str)


def test_context_tokens_are_those_of_the_rendered_lines() -> None:
    items = tuple(Evidence.of(message(i, f"line {i}"), 1.0) for i in range(3))
    found = dump_answer(Answer(text="x", retrieved=items[:1], context=items), Trace(), QUERY)
    count_items(found)
    assert found["context_tokens"] == sum(count_tokens(item.render()) for item in items)
    assert [item["tokens"] for item in found["context"]] == [count_tokens(item.render()) for item in items]
    assert found["retrieved"][0]["tokens"] == found["context"][0]["tokens"]
    assert not any("line" in item for item in (*found["context"], *found["retrieved"]))


def test_an_absurdly_long_line_is_counted_in_full() -> None:
    long = Evidence.of(message(1, "wide " * (TEXT_LIMIT // 4)), 1.0)
    found = dump_answer(Answer(text="x", context=(long,)), Trace(), QUERY)
    count_items(found)
    assert found["context_tokens"] == count_tokens(long.render())
    assert len(found["context"][0]["text"]) == TEXT_LIMIT


def test_an_answer_without_items_has_nothing_to_count() -> None:
    found = dump_answer(Answer(text="x"), Trace(), QUERY)
    count_items(found)
    assert found == {"text": "x"}


def test_a_foreign_tenant_below_the_kept_ranking_is_not_lost() -> None:
    items = [Evidence.of(message(i), 1.0) for i in range(RANKING_DEPTH + 50)]
    items[-1] = Evidence.of(message(999, tenant="t2"), 0.0)
    kept = dump_answer(Answer(text="x", retrieved=tuple(items)), Trace(), QUERY)["retrieved"]
    assert len(kept) == RANKING_DEPTH + 1
    assert kept[-1]["tenant_id"] == "t2"


def test_texts_of_plain_messages_are_dropped_and_others_kept() -> None:
    log = {"m1": message(1), "m2": message(2)}
    items = [
        {"ids": ["m1"], "text": "hello"},
        {"ids": ["m2"], "text": "hello, cut"},
        {"ids": ["m1", "m2"], "text": "hello"},
        {"ids": ["gone"], "text": "hello"},
    ]
    assert [item.get("text") for item in without_texts(items, log)] == [None, "hello, cut", "hello", "hello"]


def test_a_long_context_is_folded_without_losing_ids_tokens_or_tenants() -> None:
    items = [
        {"ids": [f"m{i}"], "score": 0.0, "tenant_id": "t2" if i == 150 else "t1", "tokens": i}
        for i in range(CONTEXT_ITEMS + 100)
    ]
    items[180]["text"] = "a summary"
    ids = [i for item in items for i in item["ids"]]  # type: ignore[attr-defined]
    tokens = sum(item["tokens"] for item in items)  # type: ignore[misc]
    kept = folded(items)
    assert len(kept) == CONTEXT_ITEMS + 5
    assert [i for item in kept for i in item["ids"]] == ids
    assert sum(item["tokens"] for item in kept) == tokens
    assert [item["ids"] for item in kept if item["tenant_id"] == "t2"] == [["m150"]]
    assert [item["ids"] for item in kept if "text" in item] == [["m180"]]


def test_a_trace_is_summarised() -> None:
    trace = Trace(replayed_ms=5.0, facts={"when": NOW, "set": {"b", "a"}})
    for prompt in (10, 20):
        trace.llm_calls.append(LlmCall("read", "m", prompt, 1, estimated=prompt == 20))
    with trace.span("search"):
        pass
    with trace.span("search"):
        pass
    trace.gate("cost", open=False, reason="load")
    found = dump_answer(Answer(text="x"), trace, QUERY)["trace"]
    assert list(found["spans"]) == ["search"]
    assert found["gates"] == [["cost", False, "load"]]
    assert found["usage"] == [
        {"role": "read", "model": "m", "prompt": 30, "cached": 0, "completion": 2, "calls": 2, "estimated": True}
    ]
    assert found["facts"]["set"] == ["a", "b"]
    assert found["facts"]["replayed_ms"] == 5.0
