from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from memtrial.systems.models.llm.limiter import Limiter


def run(make: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(asyncio.wait_for(make(), 10))


async def round_of(limiter: Limiter, refusals: int = 0, wait_s: float | None = None) -> int:
    """Fill the house once and answer everybody, some with a refusal; return how many it held."""
    held = limiter.limit
    slots = [limiter.slot() for _ in range(held)]
    generations = [await slot.__aenter__() for slot in slots]
    for place, generation in enumerate(generations):
        if place < refusals:
            limiter.refused(generation, wait_s)
        else:
            limiter.succeeded(generation)
    for slot in slots:
        await slot.__aexit__(None, None, None)
    return held


def test_doubles_while_rounds_are_clean() -> None:
    async def body() -> None:
        limiter = Limiter(64)
        assert [await round_of(limiter) for _ in range(5)] == [8, 16, 32, 64, 64]

    run(body)


def test_creeps_after_the_first_cut() -> None:
    async def body() -> None:
        limiter = Limiter(64, start=32)
        await round_of(limiter, refusals=16)
        assert (limiter.limit, limiter.cuts) == (16, 1)
        for _ in range(4):
            await round_of(limiter)
        assert limiter.limit == 20

    run(body)


def test_one_episode_is_cut_once() -> None:
    async def body() -> None:
        limiter = Limiter(64, start=64)
        await round_of(limiter, refusals=64)
        assert (limiter.limit, limiter.cuts) == (32, 1)
        await round_of(limiter, refusals=32)
        assert (limiter.limit, limiter.cuts) == (16, 2)

    run(body)


def test_a_single_refusal_among_many_cuts_nothing() -> None:
    async def body() -> None:
        limiter = Limiter(64, start=64)
        for _ in range(20):
            await round_of(limiter, refusals=3)
        assert (limiter.limit, limiter.cuts) == (64, 0)

    run(body)


def test_never_below_one() -> None:
    async def body() -> None:
        limiter = Limiter(64, start=2)
        for _ in range(5):
            await round_of(limiter, refusals=2)
        assert limiter.limit == 1

    run(body)


def test_does_not_grow_where_the_house_was_never_full() -> None:
    async def body() -> None:
        limiter = Limiter(64)
        for _ in range(50):
            async with limiter.slot() as generation:
                limiter.succeeded(generation)
        assert limiter.limit == 8

    run(body)


def test_an_episode_with_a_wish_pauses_everybody(clock: Any) -> None:
    async def body() -> None:
        limiter = Limiter(64, start=8, clock=clock)
        await round_of(limiter, refusals=8, wait_s=12.0)
        async with limiter.slot():
            pass
        assert len(clock.slept) == 1
        assert clock.slept[0] == pytest.approx(12.0, abs=1.0)

    run(body)


def test_never_more_than_the_limit_and_nobody_is_forgotten() -> None:
    async def body() -> None:
        limiter = Limiter(16)
        most = 0

        async def one() -> None:
            nonlocal most
            async with limiter.slot() as generation:
                most = max(most, limiter.active)
                assert limiter.active <= limiter.limit
                await asyncio.sleep(0)
                limiter.succeeded(generation)

        await asyncio.gather(*(one() for _ in range(500)))
        assert most == 16
        assert limiter.active == 0

    run(body)


def test_places_of_the_cancelled_are_given_on() -> None:
    async def body() -> None:
        limiter = Limiter(1, start=1)
        done: list[int] = []

        async def one(number: int) -> None:
            async with limiter.slot():
                await asyncio.sleep(0.001)
                done.append(number)

        tasks = [asyncio.create_task(one(number)) for number in range(20)]
        await asyncio.sleep(0)
        for number in range(0, 20, 3):
            tasks[number].cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert sorted(done) == [number for number in range(20) if number % 3]
        assert limiter.active == 0

    run(body)
