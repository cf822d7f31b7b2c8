from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from memtrial.datasets.schema import Message
from memtrial.systems.base import Answer, Context, Query, Trace
from memtrial.systems.hybrid.system import Hybrid

SMALL = {"embedder": "tfidf_svd", "dims": 16}
FAST: dict[str, Any] = {"structured": {"vectors": SMALL}, "raw_log": {"meaning": SMALL}}
Asked = list[tuple[Answer, Trace]]
Run = Callable[..., Asked]


@pytest.fixture
def log(say: Callable[..., Message]) -> list[Message]:
    """Orders on record in both languages, and small talk that no schema knows."""
    erp = [
        say(1, "New order KD-2219: K20100 Ann Lee, Halden 7, total €45.90", sender="ERP"),
        say(3, "KD-2219 delivery date 14 May 2023", sender="ERP"),
        say(5, "KD-2219 rescheduled, new delivery date 16 May 2023", sender="ERP"),
        say(7, "新订单 KD-3301：K20110 张敏，Halden 7，合计 ¥459.00", sender="ERP"),
        say(8, "KD-3301 送达日期 2023年5月18日", sender="ERP"),
    ]
    talk = [
        say(9, "My sister Carol lives in Lisbon now."),
        say(10, "The choir sings in the town hall on Thursdays."),
        say(11, "The rent of the garage is 90 euros a month."),
    ]
    return [*(replace(message, source="erp") for message in erp), *talk]


@pytest.fixture
def run(context: Context) -> Run:
    """Ingest, then ask; what answers establish is handed back where ``establish``, as the runner does."""

    def go(
        messages: Sequence[Message], *queries: Query, establish: bool = True, made: Context = context, **params: Any
    ) -> Asked:
        async def ask() -> Asked:
            system = Hybrid.create({**FAST, **params}, made)
            try:
                await system.ingest(messages, Trace())
                said = []
                for query in queries:
                    trace = Trace()
                    said.append((await system.answer(query, trace), trace))
                    if establish and "established" in trace.facts:
                        await system.establish(query, trace.facts["established"])
                return said
            finally:
                await system.close()

        return asyncio.run(ask())

    return go
