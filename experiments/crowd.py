"""The worker's side of a pass with many questions under way: a system for each corpus, all in one event loop.

Questions overlap where nothing is handed over between them: those at one place of a log, and those of different corpora.
Everything is known when the pass begins, so the runner sends nothing while it goes on; what happens comes as events.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from memtrial.experiments.held import Failed, Held, Stopped

if TYPE_CHECKING:
    from memtrial.experiments.worker import Worker

_T = TypeVar("_T")
BEAT_S = 0.5


class _Late(Exception):
    """Not done within the limit, and cancelled."""


class _Stuck(Exception):
    """Not done within the limit, and not to be cancelled: the process must go."""


class Crowd:
    """One pass over some corpora.

    Attributes:
        stopping: the sentence that ends the run, or "".
    """

    def __init__(self, worker: Worker, request: dict[str, Any]) -> None:
        """Prepare.

        Args:
            worker: makes systems and sends events.
            request: at_once, answer_s, ingest_s, grace_s (for what was cancelled to go), and corpora with open (as for
                ``Held``) and steps: places in the log, each with the questions that are asked there.
        """
        self.stopping = ""
        self._worker = worker
        self._answer_s, self._ingest_s = float(request["answer_s"]), float(request["ingest_s"])
        self._grace_s = float(request["grace_s"])
        self._most = int(request["at_once"])
        self._places = asyncio.Semaphore(self._most)
        self._corpora: list[dict[str, Any]] = request["corpora"]
        self._demand = 0
        self._less = asyncio.Event()
        self._stall_s = 0.0

    async def run(self) -> None:
        """Go through the corpora; a corpus is opened when the questions of those before leave a place."""
        beat = asyncio.create_task(self._beat())
        lanes: list[asyncio.Task[None]] = []
        warmed = False
        for number, corpus in enumerate(self._corpora):
            while self._demand >= self._most:
                self._less.clear()
                await self._less.wait()
            if self.stopping:
                break
            self._demand += 1  # until it is known how many questions this corpus puts up
            lanes.append(asyncio.create_task(self._lane(number, corpus)))
            await asyncio.sleep(0)
            if not warmed:
                warmed = True
                await self._worker.warm()
        await asyncio.gather(*lanes)
        beat.cancel()
        with suppress(asyncio.CancelledError):
            await beat

    async def _beat(self) -> None:
        """Say that the loop turns, and measure how long it did not."""
        while True:
            before = time.monotonic()
            await asyncio.sleep(BEAT_S)
            self._stall_s += max(0.0, time.monotonic() - before - BEAT_S)
            self._worker.emit({"event": "beat"})

    def _want(self, more: int) -> None:
        self._demand += more
        if more < 0:
            self._less.set()

    async def _lane(self, number: int, corpus: dict[str, Any]) -> None:
        held: Held | None = None
        step, pending = "create", 1
        try:
            self._begin(number, step)
            held = self._worker.hold(corpus["open"])
            for upto, asked in corpus["steps"]:
                if self.stopping:
                    return
                if upto > held.given:
                    step = "ingest"
                    self._begin(number, step, count=upto - held.given)
                    reply = await self._within(held.ingest(upto), self._ingest_s)
                    self._emit("ingested", number, upto=upto, reply=reply)
                else:
                    self._emit("ready", number)
                self._want(len(asked) - pending)
                pending = len(asked)
                await asyncio.gather(*(self._question(number, held, *one) for one in asked))
                # The next place of this log will put up at least one.
                pending = 1
                self._want(1)
            if self.stopping:
                return
            step = "close"
            self._begin(number, step)
            closing, held = held, None
            told: dict[str, Any] = {}
            try:
                await self._within(closing.close(), self._ingest_s)
            except Failed as failure:
                told = {"error": failure.kind, "error_detail": failure.detail}
            self._emit("closed", number, reply=told)
        except _Late:
            self._fail(number, Failed("timeout", f"{step}: not done within {self._ingest_s:g} s"))
        except _Stuck:
            self._emit("stuck", number)
        except Failed as failure:
            self._fail(number, failure)
        except Stopped as stop:
            self.stopping = str(stop)
        finally:
            self._want(-pending)
            if held is not None:
                with suppress(Failed, Stopped, _Late, _Stuck):
                    await self._within(held.close(), self._ingest_s)

    async def _question(self, number: int, held: Held, index: int, row: list[Any], revealed: list[str] | None) -> None:
        try:
            async with self._places:
                if self.stopping:
                    return
                self._emit("asking", number, index=index)
                try:
                    reply = await self._within(held.ask(row, revealed), self._answer_s)
                except (_Late, _Stuck) as late:
                    reply = {"error": "timeout", "error_detail": f"no answer within {self._answer_s:g} s"}
                    if isinstance(late, _Stuck):
                        self._emit("answered", number, index=index, reply=reply)
                        self._emit("stuck", number)
                        return
                except Failed as failure:
                    reply = {"error": failure.kind, "error_detail": failure.detail}
                except Stopped as stop:
                    self.stopping = self.stopping or str(stop)
                    self._emit("unanswered", number, index=index)
                    return
                self._emit("answered", number, index=index, reply=reply)
                self.stopping = self.stopping or self._worker.stop_sentence() or ""
        finally:
            self._want(-1)

    async def _within(self, work: Coroutine[Any, Any, _T], limit_s: float) -> _T:
        """Await something for so long; time in which the loop stood still for another's sake does not count.

        Raises:
            _Late, _Stuck: it took longer.
        """
        task = asyncio.ensure_future(work)
        start, stalled = time.monotonic(), self._stall_s
        while not task.done():
            left = limit_s + (self._stall_s - stalled) - (time.monotonic() - start)
            if left <= 0:
                task.cancel()
                await asyncio.wait({task}, timeout=self._grace_s)
                if not task.done():
                    raise _Stuck
                if not task.cancelled():
                    task.exception()  # it was late whatever it was
                raise _Late
            await asyncio.wait({task}, timeout=left)
        return task.result()

    def _begin(self, number: int, what: str, **more: Any) -> None:
        self._emit("begin", number, what=what, **more)

    def _fail(self, number: int, failure: Failed) -> None:
        self._emit("failed", number, error=failure.kind, error_detail=failure.detail)

    def _emit(self, event: str, number: int, **more: Any) -> None:
        asked = self._worker.asked()
        told = {"asked_beside": asked} if asked is not None else {}
        self._worker.emit({"event": event, "lane": number, **more, **told})
