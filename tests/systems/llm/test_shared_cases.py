"""Faults of model clients that others met, each from its own words: kind ``llm-client-cost`` (``lc-06`` is in test_client)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from memtrial.systems.models.llm.client import Client
from memtrial.systems.models.llm.ledger import Ledger
from memtrial.systems.models.llm.outcome import Reply, Usage
from memtrial.systems.models.llm.prices import PriceTable, by_cost, cost_of, price_of, show_usd
from memtrial.systems.models.llm.settings import ModelSettings
from memtrial.systems.models.tokens import count_tokens
from tests.systems.llm.scripted import ScriptedServer, Seen, Step, says

Fault = Callable[[str], dict[str, Any]]


@pytest.fixture
def fault(shared_dir: Path) -> Fault:
    lines = (shared_dir / "cases" / "cases.jsonl").read_text(encoding="utf-8").splitlines()
    return {case["id"]: case for case in map(json.loads, lines)}.__getitem__


def asked(script: Any, text: str = "hi", ledger: Ledger | None = None, **more: Any) -> tuple[Reply, list[Seen]]:
    """Ask one question of a server that plays a script."""
    with ScriptedServer(script) as server:
        client = Client(ModelSettings(model="m", base_url=server.url, max_retries=2), ledger=ledger)

        async def ask() -> Reply:
            try:
                return await client.complete("read", [{"role": "user", "content": text}], **more)
            finally:
                await client.aclose()

        return asyncio.run(ask()), server.requests


def test_lc_01_a_special_token_in_a_chat_is_plain_text(fault: Fault) -> None:
    text = fault("lc-01")["input"]["text"]
    assert count_tokens(text) > 4
    reply, seen = asked([says("ok", usage=None)], text)
    assert reply.ok and reply.usage.prompt > 4 and reply.usage.estimated
    assert seen[0].body["messages"][0]["content"] == text


def test_lc_03_an_estimate_knows_chinese_and_says_that_it_is_one(fault: Fault) -> None:
    case = fault("lc-03")
    text, checks = case["input"]["text"], case["expected"]["checks"]
    # This tokenizer knows many Chinese words whole, so it counts fewer tokens than characters, and more than a quarter of them.
    assert count_tokens(text) >= checks["min_reasonable"] > checks["len4_estimate"]
    counted, _ = asked([says("ok", usage=None)], text)
    assert counted.usage.prompt >= checks["min_reasonable"] and counted.usage.estimated
    told, _ = asked([says("ok", usage={"prompt_tokens": 21, "completion_tokens": 1})], text)
    assert told.usage == Usage(prompt=21, completion=1)


def test_lc_04_a_stream_without_usage_is_marked_and_never_counts_as_nothing(fault: Fault) -> None:
    given = fault("lc-04")["input"]
    piece = '{"choices":[{"index":0,"delta":{"content":"hello "},"finish_reason":null}],"usage":null}'
    last = '{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":null}'
    body = "".join(f"data: {line}\n\n" for line in [*[piece] * given["chunks"], last, "[DONE]"]).encode()
    ledger = Ledger()
    reply, _ = asked([Step(body=body, headers={"Content-Type": "text/event-stream"})], ledger=ledger)
    assert reply.ok and "usage_missing" in reply.flags
    assert reply.usage.estimated and reply.usage.prompt > 0 and reply.usage.completion > 0
    assert ledger.total().show_usage() == "1 of 1 calls without usage"
    cut, _ = asked([Step(body=f"data: {piece}\n\n".encode(), headers={"Content-Type": "text/event-stream"})])
    assert not cut.ok


def test_lc_07_null_content_is_one_of_four_states_and_asked_once(fault: Fault) -> None:
    case = fault("lc-07")
    states = []
    for given in case["input"]:
        message = {"refusal": given["refusal"]} if "refusal" in given else {}
        reply, seen = asked([says(given["content"], finish=given["finish_reason"], message=message)])
        states.append(reply.status)
        assert len(seen) == 1
    assert states == case["expected"]["checks"]["states"]


def test_lc_09_a_model_without_a_price_costs_an_unknown_sum(fault: Fault) -> None:
    given, checks = fault("lc-09")["input"], fault("lc-09")["expected"]["checks"]
    table = PriceTable.model_validate({"as_of": "2026-01-01", "source": "mine", "prices": given["prices"]})
    usd = cost_of(Usage(prompt=given["tokens"]), price_of(given["model"], None, table))
    assert usd is checks["usd"] and show_usd(usd) == checks["display"]
    assert by_cost({"cheap": 0.1, given["model"]: usd}) == ["cheap"]
    ledger = Ledger()
    ledger.add("read", "query", "t", given["model"], Usage(prompt=given["tokens"]), usd)
    assert ledger.total().tokens == given["tokens"] and "cost unknown" in ledger.line()


def test_lc_10_a_prompt_that_the_server_cut_is_flagged(fault: Fault) -> None:
    given = fault("lc-10")["input"]
    text = ("a line of the log that says something; " * (given["sent_chars"] // 39 + 1))[: given["sent_chars"]]
    usage = {"prompt_tokens": given["reported_prompt_tokens"], "completion_tokens": 1}
    reply, _ = asked([says("ok", usage=usage)], text)
    assert fault("lc-10")["expected"]["checks"]["flag"] in reply.flags
    whole, _ = asked([says("ok", usage={"prompt_tokens": count_tokens(text) + 8, "completion_tokens": 1})], text)
    assert whole.flags == ()


class Verdicts(BaseModel):
    verdicts: list[dict[str, Any]]


def test_jd_05_a_judgement_cut_at_its_limit_is_asked_for_once_more_and_both_are_paid(fault: Fault) -> None:
    given = fault("jd-05")["input"]
    cut = says(given["content"], finish=given["finish_reason"], usage={"prompt_tokens": 10, "completion_tokens": 5})
    reply, seen = asked([cut], schema=Verdicts)
    assert (reply.status, reply.parsed) == (fault("jd-05")["expected"]["checks"]["state"], None)
    assert len(seen) == 2 and (reply.usage.prompt, reply.usage.completion) == (20, 10)
    limits = [next(v for k, v in s.body.items() if k.startswith("max_")) for s in seen]
    assert limits[1] == 2 * limits[0]
