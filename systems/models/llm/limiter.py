"""How many requests may be under way at a time: found out by asking, as the service's limits are told nowhere.

The number doubles while rounds are clean and creeps once the service has complained. A round is as many successes as
requests may be under way. One refusal among many is that one call's affair (it waits and is asked again); only when
refusals are a good part of a round does everybody slow down, once per episode: requests that were under way when it
began say nothing about the new number.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Protocol

START = 8
# An isolated refusal costs one retry; halving for it would cost half the throughput for many rounds. Above this share
# the retries cost more than the cut, and five of them in a row could all be refused.
_REFUSALS_BORNE = 0.15
_REFUSALS_CLEAN = 0.10
_CUT = 0.5


class Clock(Protocol):
    """Time, so that tests need not wait for it."""

    def now(self) -> float:
        """Return seconds on a monotonic clock."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        ...


class MonotonicClock:
    """The real one."""

    def now(self) -> float:
        """Return ``time.perf_counter``."""
        return time.perf_counter()

    async def sleep(self, seconds: float) -> None:
        """Wait on the running loop."""
        await asyncio.sleep(seconds)


class Limiter:
    """Adaptive concurrency for one endpoint; belongs to one event loop.

    Args:
        maximum: never more than this.
        start: how many at first.
        clock: for pauses.
    """

    def __init__(self, maximum: int, start: int = START, clock: Clock | None = None) -> None:
        """Start small."""
        self.maximum = maximum
        self.limit = min(start, maximum)
        self.active = 0
        self.cuts = 0
        self._clock: Clock = clock or MonotonicClock()
        self._waiters: deque[asyncio.Future[None]] = deque()
        self._generation = 0
        self._doubling = True
        self._clean = self._refused = 0
        self._full = False
        self._paused_until = 0.0

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[int]:
        """Wait for a place; yields the episode in which the request starts, to be handed to the reports below."""
        await self._acquire()
        try:
            yield self._generation
        finally:
            self._release()

    def succeeded(self, generation: int) -> None:
        """Report an answer; one to a request from before the last cut says nothing."""
        if generation != self._generation:
            return
        self._clean += 1
        if self._clean >= self.limit:
            # Without a full house there is no telling whether more would have been borne.
            if self._full and self._refused <= max(1.0, _REFUSALS_CLEAN * self.limit):
                self.limit = min(self.maximum, self.limit * 2 if self._doubling else self.limit + 1)
                self._wake()
            self._new_round()

    def refused(self, generation: int, wait_s: float | None = None) -> bool:
        """Report "too many requests".

        Args:
            generation: from :meth:`slot`.
            wait_s: how long the service asked to be left alone; everybody heeds it once an episode has begun.

        Returns:
            Whether this refusal began an episode and the limit was cut.
        """
        if generation != self._generation:
            return False
        self._refused += 1
        # Where only one is let through at a time there is nothing left to cut, and the wait is everybody's.
        if self._refused <= 1 + _REFUSALS_BORNE * self.limit and self.limit > 1:
            return False
        self.limit = max(1, int(self.limit * _CUT))
        self.cuts += 1
        self._generation += 1
        self._doubling = False
        self._new_round()
        if wait_s:
            self._paused_until = max(self._paused_until, self._clock.now() + wait_s)
        return True

    def _new_round(self) -> None:
        self._clean = self._refused = 0
        self._full = self.active >= self.limit or bool(self._waiters)

    async def _acquire(self) -> None:
        while True:
            if (pause := self._paused_until - self._clock.now()) > 0:
                await self._clock.sleep(pause)
                continue
            if self.active < self.limit and not self._waiters:
                break
            turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiters.append(turn)
            self._full = True
            try:
                await turn
            except asyncio.CancelledError:
                if turn.done() and not turn.cancelled():  # the place was given in the same moment
                    self._release()
                else:
                    self._waiters.remove(turn)
                raise
            if self._paused_until <= self._clock.now():
                return  # ``_wake`` has counted this one in
            self.active -= 1
        self.active += 1
        self._full = self._full or self.active >= self.limit

    def _release(self) -> None:
        self.active -= 1
        self._wake()

    def _wake(self) -> None:
        while self._waiters and self.active < self.limit:
            turn = self._waiters.popleft()
            if not turn.done():
                self.active += 1
                turn.set_result(None)
