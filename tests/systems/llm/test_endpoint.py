"""What clients of one endpoint share, and how it is warmed before anything is measured."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from memtrial.datasets.errors import UserError
from memtrial.systems.base import Context
from memtrial.systems.models.llm.endpoint import Endpoint, Endpoints
from memtrial.systems.models.llm.factory import client_for
from memtrial.systems.models.llm.outcome import AuthRejected, RunStop
from memtrial.systems.models.llm.settings import ModelSettings
from tests.systems.llm.scripted import ScriptedServer, error, says


async def counted(server: ScriptedServer, connections: int) -> None:
    """Wait until the server's thread has counted so many connections: a client may be ahead of it."""
    for _ in range(200):
        if server.connections == connections:
            return
        await asyncio.sleep(0.01)
    raise AssertionError(f"{server.connections} connections, not {connections}")


def test_warming_asks_nothing_and_the_first_question_takes_the_connection() -> None:
    async def body() -> None:
        endpoints = Endpoints()
        context = Context(Path(), models={"read": {"model": "m", "base_url": server.url}, "_endpoints": endpoints})
        client = client_for("read", context)
        await endpoints.warm()
        await endpoints.warm()
        await counted(server, 1)
        assert server.requests == []
        assert (await client.complete("read", [{"role": "user", "content": "hi"}])).ok
        await client.aclose()
        # The next system of this process goes on with the same connection.
        other = client_for("read", context)
        assert other.limiter is client.limiter
        assert (await other.complete("read", [{"role": "user", "content": "hi"}])).ok
        assert (server.connections, len(server.requests)) == (1, 2)
        await endpoints.of(other.settings).aclose()

    with ScriptedServer([says()]) as server:
        asyncio.run(asyncio.wait_for(body(), 30))


def test_where_nothing_answers_warming_is_silent_and_decides_nothing() -> None:
    with ScriptedServer([]) as server:
        pass
    endpoint = Endpoint(ModelSettings(model="m", base_url=server.url))
    asyncio.run(endpoint.warm())
    assert (endpoint.reached, endpoint.stop) == (False, None)


def test_a_key_that_is_missing_stops_when_it_is_needed_and_not_before() -> None:
    async def body() -> None:
        endpoints = Endpoints()
        client = client_for("read", Context(Path(), models={"read": {"model": "m"}, "_endpoints": endpoints}))
        await endpoints.warm()
        assert endpoints.stop is None
        with pytest.raises(UserError, match="OPENAI_API_KEY"):
            await client.complete("read", [{"role": "user", "content": "hi"}])
        # A system that swallows this must not go on to the next question.
        assert isinstance(endpoints.stop, AuthRejected)

    asyncio.run(body())


def test_what_ends_the_run_is_known_to_every_client() -> None:
    async def body() -> None:
        endpoints = Endpoints()
        context = Context(Path(), models={"default": {"model": "m", "base_url": server.url}, "_endpoints": endpoints})
        one, two = client_for("read", context), client_for("plan", context)
        for client in (one, two):
            with pytest.raises(RunStop):
                await client.complete("read", [{"role": "user", "content": "hi"}])
        await endpoints.of(one.settings).aclose()
        assert len(server.requests) == 1

    with ScriptedServer([error(401)]) as server:
        asyncio.run(asyncio.wait_for(body(), 30))
