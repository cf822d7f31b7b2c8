from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from pytest_httpserver import HTTPServer

from memtrial.datasets.errors import UserError
from memtrial.datasets.schema import Message
from memtrial.systems.base import Answer, Context, Query, Trace
from memtrial.systems.registry import resolve


def run(
    server: HTTPServer, reply: Any, context: Context, log: list[Message], query: Query
) -> tuple[Answer, Trace, list[dict[str, Any]]]:
    for path in ("/open", "/ingest", "/close"):
        server.expect_request(path, method="POST").respond_with_json({})
    body = reply if isinstance(reply, str) else json.dumps(reply)
    server.expect_request("/answer", method="POST").respond_with_data(body, content_type="application/json")

    async def go() -> tuple[Answer, Trace]:
        system = resolve(server.url_for("").rstrip("/")).create({"depth": 3}, context)
        trace = Trace()
        try:
            await system.ingest(log, trace)
            await system.ingest(log, trace)
            return await system.answer(query, trace), trace
        finally:
            await system.close()

    answer, trace = asyncio.run(go())
    return answer, trace, [json.loads(request.data) for request, _ in server.log]


def test_a_reply_becomes_an_answer(
    httpserver: HTTPServer, context: Context, say: Callable[..., Message], ask: Callable[..., Query]
) -> None:
    log = [say(1, "The kettle cost 40 euros."), say(2, "谢谢")]
    reply = {
        "text": "40 euros",
        "citations": ["m1"],
        "confidence": 0.5,
        "retrieved": [
            {"message_ids": ["m1"], "score": 2},
            {"message_ids": ["m1", "m2"], "score": 1.0, "text": "both", "tenant_id": "t1", "kind": "summary"},
        ],
        "trace": {
            "llm_calls": [{"role": "read", "model": "x", "prompt_tokens": 10, "completion_tokens": 2}],
            "gates": [{"gate": "semantic", "open": False}],
            "warnings": ["cut"],
        },
    }
    answer, trace, sent = run(httpserver, reply, context, log, ask("What did it cost?"))
    assert answer.text == "40 euros"
    assert answer.retrieved[0].text == "The kettle cost 40 euros."
    assert answer.retrieved[1].kind == "summary"
    assert answer.context == answer.retrieved
    assert (trace.llm_calls[0].prompt_tokens, trace.gates[0].open, trace.warnings) == (10, False, ["cut"])
    assert [set(body) - {"instance"} for body in sent] == [
        {"protocol", "params", "seed", "tenants", "store"},
        {"messages"},
        {"query"},
        set(),
    ]
    assert sent[0]["params"] == {"depth": 3}
    assert sent[1]["messages"][1]["content"] == "谢谢"
    assert sent[1]["messages"][0]["timestamp"] == "2023-05-07T10:01:00+00:00"


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        ([], "reply is list, not a JSON object"),
        ("not json", "what is not JSON"),
        ('{"confidence": NaN}', "NaN is not JSON"),
        ({"txt": "x"}, "unknown field 'txt'; allowed are text"),
        ({"retrieved": "m1"}, "retrieved is str"),
        ({"retrieved": [{"message_ids": ["m9"]}]}, "retrieved[0] needs text and tenant_id"),
        ({"retrieved": [{"message_ids": ["m9"], "text": "x", "tenant_id": "t1"}]}, "names 'm9'"),
        ({"retrieved": [{"message_ids": ["m1"], "score": "high"}]}, "score is 'high'"),
        ({"text": 5}, "Answer.text is int"),
        ({"trace": {"llm_calls": [{"model": "x"}]}}, "reply.trace breaks the protocol"),
    ],
)
def test_a_reply_that_breaks_the_protocol_is_named(
    httpserver: HTTPServer,
    context: Context,
    say: Callable[..., Message],
    ask: Callable[..., Query],
    reply: Any,
    says: str,
) -> None:
    with pytest.raises(ValueError) as caught:
        run(httpserver, reply, context, [say(1, "hello")], ask("x"))
    assert says in str(caught.value)


def test_a_server_that_is_not_there_is_a_user_error(context: Context, ask: Callable[..., Query]) -> None:
    system = resolve("http://127.0.0.1:9").create({}, context)
    with pytest.raises(UserError, match="did not answer /open"):
        asyncio.run(system.answer(ask("x"), Trace()))
