"""Tools offered to a model: sent, read back, recorded by content, counted."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from memtrial.systems.models.llm.budget import worst_prompt_tokens
from memtrial.systems.models.llm.client import Client
from memtrial.systems.models.llm.ledger import Ledger
from memtrial.systems.models.llm.messages import ChatMessage, Tool, ToolCall
from memtrial.systems.models.llm.outcome import Reply
from memtrial.systems.models.llm.settings import ModelSettings
from memtrial.systems.models.llm.store import CallStore
from tests.systems.llm.scripted import ScriptedServer, Seen, Step, completion, says

SEARCH = Tool("search", "Search the log.", {"type": "object", "properties": {"text": {"type": "string"}}})
ASK: list[ChatMessage] = [{"role": "user", "content": "what did the tent cost?"}]


def calls(*told: Any, content: Any = None, finish: str = "tool_calls", **more: Any) -> Step:
    return says(content, finish=finish, message={"tool_calls": list(told)}, **more)


def call(name: Any = "search", arguments: Any = '{"text": "tent"}', id: Any = "call_1") -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def of(server: ScriptedServer, messages: list[ChatMessage], tools: tuple[Tool, ...], **client: Any) -> Reply:
    asked = Client(ModelSettings(model="m", base_url=server.url, max_retries=0), **client)

    async def once() -> Reply:
        try:
            return await asked.complete("agent", messages, tools=tools)
        finally:
            await asked.aclose()

    return asyncio.run(once())


def ask(
    script: Any, messages: list[ChatMessage] = ASK, tools: tuple[Tool, ...] = (SEARCH,), **client: Any
) -> tuple[Reply, list[Seen]]:
    with ScriptedServer(script) as server:
        return of(server, messages, tools, **client), server.requests


def test_a_call_comes_back_and_the_tool_was_sent() -> None:
    reply, (seen,) = ask([calls(call())])
    assert reply.status == "ok" and reply.text == ""
    assert reply.tool_calls == ({"id": "call_1", "name": "search", "arguments": '{"text": "tent"}'},)
    assert seen.body["tools"] == [
        {
            "type": "function",
            "function": {
                "name": "search",
                "description": "Search the log.",
                "parameters": {"type": "object", "properties": {"text": {"type": "string"}}},
            },
        }
    ]


def test_without_an_offer_a_call_is_still_no_answer() -> None:
    reply, (seen,) = ask([calls(call())], tools=())
    assert (reply.status, reply.tool_calls) == ("tool_call", ())
    assert "tools" not in seen.body


def test_a_dialogue_with_calls_is_sent_in_the_form_of_the_interface() -> None:
    called: ToolCall = {"id": "call00001", "name": "search", "arguments": '{"text": "te\0nt"}'}
    talk: list[ChatMessage] = [
        *ASK,
        {"role": "assistant", "content": "", "tool_calls": [called]},
        {"role": "tool", "content": "nothing", "tool_call_id": "call00001"},
    ]
    _, (seen,) = ask([says("done")], talk)
    _, said, told = seen.body["messages"]
    assert said["content"] is None
    assert said["tool_calls"][0]["function"] == {"name": "search", "arguments": '{"text": "te\ufffdnt"}'}
    assert told == {"role": "tool", "content": "nothing", "tool_call_id": "call00001"}


@pytest.mark.parametrize(
    ("message", "found"),
    [
        ({"tool_calls": [call(arguments={"text": "tent"})]}, [("search", '{"text": "tent"}')]),
        ({"tool_calls": [call(arguments=None, id=None)]}, [("search", "")]),
        ({"tool_calls": [call(), call(" other ")]}, [("search", '{"text": "tent"}'), ("other", '{"text": "tent"}')]),
        ({"function_call": {"name": "search", "arguments": "{}"}}, [("search", "{}")]),
        (
            {"tool_calls": [call(name=None), call(name=""), "x", {"function": 3}, call()]},
            [("search", '{"text": "tent"}')],
        ),
    ],
    ids=["arguments as an object", "none and no id", "two", "older form", "what has no name"],
)
def test_calls_as_servers_write_them(message: dict[str, Any], found: list[tuple[str, str]]) -> None:
    reply, _ = ask([says(None, finish="stop", message=message)])
    assert reply.status == "ok"
    assert [(c["name"], c["arguments"]) for c in reply.tool_calls] == found


def test_a_call_that_cannot_be_read_is_invalid() -> None:
    reply, _ = ask([calls({"function": {"arguments": "{}"}})])
    assert (reply.status, reply.tool_calls) == ("invalid", ())


def test_a_streamed_call_is_put_together() -> None:
    def event(delta: dict[str, Any], finish: str | None = None) -> str:
        return "data: " + json.dumps({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})

    def part(**function: str) -> dict[str, Any]:
        return {"tool_calls": [{"index": 0, "function": function}]}

    events = [
        event({"tool_calls": [{"index": 0, "id": "call_7", "function": {"name": "search", "arguments": ""}}]}),
        event(part(arguments='{"text":')),
        event(part(arguments=' "tent"}')),
        event({}, "tool_calls"),
        "data: [DONE]",
    ]
    reply, _ = ask([Step(body="\n\n".join(events).encode())])
    assert reply.tool_calls == ({"id": "call_7", "name": "search", "arguments": '{"text": "tent"}'},)


def test_a_cut_call_is_asked_for_once_more_with_more_room() -> None:
    reply, seen = ask([calls(call(arguments='{"te'), finish="length"), calls(call())])
    assert reply.status == "ok" and "enlarged" in reply.flags
    assert [s.body["max_tokens"] for s in seen] == [1024, 2048]
    reply, seen = ask([calls(call(arguments='{"te'), finish="length")])
    assert (reply.status, reply.tool_calls, len(seen)) == ("truncated", (), 2)


def test_calls_are_recorded_by_content_with_the_tools(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    with ScriptedServer([calls(call(), content="let me look")]) as server:
        first = of(server, ASK, (SEARCH,), store=CallStore(path), replay="prefer")
        again = of(server, ASK, (SEARCH,), store=CallStore(path), replay="only")
        other = of(server, ASK, (SEARCH, Tool("more", "", {})), store=CallStore(path), replay="only")
        without = of(server, ASK, (), store=CallStore(path), replay="only")
        assert len(server.requests) == 1
    assert again.replayed and (again.status, again.text) == ("ok", "let me look")
    assert (again.tool_calls, again.usage) == (first.tool_calls, first.usage)
    assert other.status == without.status == "not_recorded"


def test_keys_without_tools_are_what_they_were() -> None:
    identity = ModelSettings(model="m").identity()
    assert CallStore.key(identity, ASK, None, 0) == CallStore.key(identity, ASK, None, 0, [])
    assert CallStore.key(identity, ASK, None, 0) != CallStore.key(identity, ASK, None, 0, [SEARCH.wire()])


def test_a_secret_in_the_arguments_is_not_kept(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    ask([calls(call(arguments='{"text": "sk-secretsecretsecret"}'))], store=CallStore(path, ["sk-secretsecretsecret"]))
    assert b"sk-secret" not in path.read_bytes() and b"[key]" in path.read_bytes()


def test_calls_count_for_ledger_and_budget() -> None:
    ledger = Ledger()
    reply, _ = ask(
        [Step(body=completion(None, finish="tool_calls", usage=None, message={"tool_calls": [call()]}))], ledger=ledger
    )
    assert reply.usage.estimated and reply.usage.completion > 3  # name and arguments are tokens that the model wrote
    (row,) = ledger.rows()
    assert (row["role"], row["calls"]) == ("agent", 1)
    bare: list[ChatMessage] = [{"role": "assistant", "content": ""}]
    called: list[ChatMessage] = [
        {"role": "assistant", "content": "", "tool_calls": [{"id": "c", "name": "search", "arguments": "x" * 500}]}
    ]
    assert worst_prompt_tokens(called) - worst_prompt_tokens(bare) >= 506
