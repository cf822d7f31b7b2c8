from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator

import pytest

from memtrial.systems.models.llm import dialect


class QuickClock:
    """Pauses take no time and are remembered; ``now`` counts them as if they had been waited."""

    def __init__(self) -> None:
        self.slept: list[float] = []

    def now(self) -> float:
        return time.perf_counter() + sum(self.slept)

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        await asyncio.sleep(0)


@pytest.fixture
def clock() -> QuickClock:
    return QuickClock()


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No key, and nothing learnt from another test's server (ports come again)."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    dialect.forget()
    yield
    dialect.forget()
