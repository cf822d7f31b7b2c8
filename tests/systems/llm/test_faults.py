from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from memtrial.systems.models.llm.client import Client
from memtrial.systems.models.llm.outcome import Reply, RunStop
from memtrial.systems.models.llm.settings import ModelSettings
from tests.systems.llm.faults import LIMIT, RETRIES, Fault, Verdict, page, rows
from tests.systems.llm.scripted import ScriptedServer

KEY = "sk-test-0123456789abcdef"
PAGE = Path(__file__).parents[3] / "docs" / "llm_faults.md"


async def _ask(fault: Fault, url: str, clock: Any) -> Reply:
    settings = ModelSettings(model="m", base_url=url, max_retries=RETRIES, max_tokens=LIMIT, timeout_s=fault.timeout_s)
    client = Client(settings, clock=clock)
    try:
        return await client.complete(
            "read", [{"role": "user", "content": fault.prompt}], schema=Verdict if fault.schema else None
        )
    except RunStop as stop:
        assert stop.reply.detail in str(stop)
        return stop.reply
    finally:
        await client.aclose()


@pytest.mark.parametrize("fault", [pytest.param(fault, id=fault.does) for _, fault in rows()])
def test_behaviour_has_its_outcome(fault: Fault, clock: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with ScriptedServer(fault.script) as server:
        reply = asyncio.run(_ask(fault, server.url, clock))
        sent = server.requests
    assert (reply.status, len(sent)) == (fault.status, fault.requests), reply
    hops = 2 if any(seen.path == "/login" for seen in sent) else 1
    assert reply.attempts == len(sent) // hops
    assert reply.flags == fault.flags
    assert fault.text is None or reply.text == fault.text
    assert fault.check(reply)
    known = reply.usage.prompt > 0
    assert {"told": known and not reply.usage.estimated, "counted": known and reply.usage.estimated, "none": not known}[
        fault.tokens
    ]
    assert (reply.detail == "") == (reply.status == "ok")
    assert (reply.parsed is not None) == (fault.schema and reply.status == "ok")
    if fault.waits:
        assert fault.waits <= clock.slept[0] <= 1.2 * fault.waits
    assert sent[0].headers["authorization"] == f"Bearer {KEY}"
    assert KEY not in repr(reply)


def test_the_page_lists_these_rows() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "python -m tests.systems.llm.faults > docs/llm_faults.md"


def test_there_are_enough_of_them() -> None:
    assert len({fault.does for _, fault in rows()}) == len(rows()) >= 30
