"""A system that is open on one corpus, inside the worker: it takes messages in, is asked, and is closed."""

from __future__ import annotations

import asyncio
import sys
import time
import traceback
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from datetime import timedelta
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from memtrial.datasets.errors import MissingExtraError, UnavailableError, UserError
from memtrial.datasets.schema import Message
from memtrial.experiments.redact import redact
from memtrial.experiments.wire import dump_answer, dump_trace, load_query, read_messages, with_usage
from memtrial.systems.base import Context, Query, System, Trace
from memtrial.systems.registry import resolve
from memtrial.systems.validation import validate_answer

if TYPE_CHECKING:
    from memtrial.experiments.asking import Account, Asking

_T = TypeVar("_T")


class Failed(Exception):
    """A step of the system failed; ``kind`` is an error kind of ``Result``."""

    def __init__(self, kind: str, detail: str) -> None:
        """Say what came of the step."""
        super().__init__(detail)
        self.kind = kind
        self.detail = detail


class Stopped(Exception):
    """Every further call would end the same way: the run ends, with this sentence."""


class Held:
    """One system, and how far it is in the messages of its corpus."""

    def __init__(self, request: dict[str, Any], models: dict[str, Any], asking: Asking | None) -> None:
        """Create the system.

        Args:
            request: target, params, folder, seed, tenants, cache_dir and messages.
            models: becomes ``Context.models``.
            asking: what the models of this process share, or None where none is asked.

        Raises:
            Failed: the system could not be created.
            Stopped: and no other will be, in this run.
        """
        self._asking = asking
        self.given = 0
        self._last: Message | None = None
        self._ids: set[str] = set()
        context = Context(
            folder=Path(request["folder"]),
            seed=request["seed"],
            tenants=tuple(request["tenants"]),
            cache_dir=Path(request["cache_dir"]) if request["cache_dir"] else None,
            models=models,
        )
        try:
            self._system: System = resolve(request["target"]).create(request["params"], context)
        except BaseException as error:
            raise self.converted(error, "create") from error
        self._messages = read_messages(Path(request["messages"]))

    async def ingest(self, upto: int) -> dict[str, Any]:
        """Hand over the messages up to a place in the log; returns times, trace and usage.

        Raises:
            Failed, Stopped: as :meth:`converted` says.
        """
        batch = list(islice(self._messages, upto - self.given))
        self.given += len(batch)
        self._last = batch[-1] if batch else self._last
        self._ids.update(m.id for m in batch)
        trace = Trace()
        with self._account() as account:
            ms, _ = await self._timed("ingest", lambda: self._system.ingest(batch, trace))
            reply = {"ms": ms, "replayed_ms": trace.replayed_ms, "trace": dump_trace(trace)}
            return self._counted(reply, account)

    async def ask(self, row: Sequence[Any], revealed: Sequence[str] | None) -> dict[str, Any]:
        """Ask one question; returns the fields of a ``Result`` that a system sets, its failure included.

        Args:
            row: from ``dump_query``.
            revealed: ids of the evidence, for a system that is told them; None for every other.

        Raises:
            Failed: where nobody counts what a failed answer has used.
            Stopped: every further call would end the same way.
        """
        query = load_query(row)
        system: Any = self._system
        if revealed is not None:
            system.reveal(query.id, revealed)
        trace = Trace()
        with self._account() as account:
            try:
                ms, answer = await self._timed("", lambda: system.answer(query, trace))
            except Failed as failure:
                if account is None:
                    raise
                # What a failed answer has used was used all the same.
                told = {"error": failure.kind, "error_detail": failure.detail, "trace": dump_trace(trace)}
                return self._counted(told, account)
            if account is not None and account.ended:
                # The system has caught what ends the run and made an answer of it.
                raise Stopped(self._asking.stopped() if self._asking is not None else "")
            try:
                reply = dump_answer(validate_answer(answer, self._ids), trace, query)
            except ValueError as error:
                raise Failed("invalid", redact(str(error))) from error
            except Exception as error:
                raise Failed("invalid", redact(f"the answer or its trace cannot be stored: {error}")) from error
            reply["latency_ms"] = ms + trace.replayed_ms - trace.instrument_ms
            return self._counted(reply, account)

    async def establish(self, row: Sequence[Any], kept: dict[str, Any]) -> dict[str, Any]:
        """Hand a system back what its stored answer established.

        Args:
            row: from ``dump_query``.
            kept: of the facts in that answer's trace.

        Raises:
            Failed, Stopped: as :meth:`converted` says.
        """
        system: Any = self._system
        with self._account() as account:
            await self._timed("establish", lambda: system.establish(load_query(row), kept))
            return self._counted({}, account)

    async def warm_up(self, count: int) -> None:
        """Ask made-up questions; no model is asked for them. What comes of it decides nothing."""
        last = self._last
        if last is None:
            return
        for number in range(count):
            query = Query(
                id=f"warmup{number}",
                tenant_id=last.tenant_id,
                asker=last.sender,
                asked_at=last.timestamp + timedelta(seconds=1),
                text="When did we last talk about the plan, and what was agreed?"
                if number % 2
                else "上次说的安排是什么？",
                language="en" if number % 2 else "zh",
            )
            try:
                with self._asking.unpaid() if self._asking is not None else nullcontext():
                    await self._timed("warm-up", lambda q=query: self._system.answer(q, Trace()))  # type: ignore[misc]
            except (Failed, Stopped):
                return

    async def close(self) -> None:
        """Close the system.

        Raises:
            Failed, Stopped: as :meth:`converted` says.
        """
        await self._timed("close", self._system.close)

    def converted(self, error: BaseException, step: str) -> Failed | Stopped:
        """Return what an exception of the system means for the question or for the run; it is written to the log."""
        if isinstance(error, (Failed, Stopped)):
            return error
        asking = self._asking
        if asking is None:
            lasting = UserError if step == "create" else (UnavailableError, MissingExtraError)
            if isinstance(error, lasting):
                # A setting or the environment, no question's failure: all that follow would end the same way, and once
                # it is mended the same command must ask what was never asked.
                sys.stderr.write(f"{redact(str(error), 1_000)}\n")
                return Stopped(redact(str(error), 1_000))
            text = traceback.format_exc()
        else:
            found = _of_model(asking, error, step)
            if found is not None:
                return found
            text = asking.scrub(traceback.format_exc())
        sys.stderr.write(redact(text, 20_000) + "\n")
        detail = redact(f"{type(error).__name__}: {error}")
        return Failed("raised", f"{step}: {detail}" if step else detail)

    async def _timed(self, step: str, call: Callable[[], Awaitable[_T]]) -> tuple[float, _T]:
        """Run one coroutine of the system; the clock is read right before and right after it."""
        try:
            start = time.perf_counter()
            value = await call()
            return (time.perf_counter() - start) * 1000.0, value
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task is not None and task.cancelling():  # by whoever keeps the time
                raise
            raise self.converted(error, step) from error
        except BaseException as error:
            raise self.converted(error, step) from error

    @contextmanager
    def _account(self) -> Iterator[Account | None]:
        if self._asking is None:
            yield None
            return
        with self._asking.account() as account:
            yield account

    def _counted(self, reply: dict[str, Any], account: Account | None) -> dict[str, Any]:
        if self._asking is None or account is None:
            return reply
        asked = self._asking.take(account)
        trace = with_usage(reply.get("trace", {}), asked["rows"])
        return {**reply, "asked": asked, **({"trace": trace} if trace else {})}


def _of_model(asking: Asking, error: BaseException, step: str) -> Failed | Stopped | None:
    """Return what a model's failure means; None where the failure is the system's own."""
    from memtrial.experiments.asking import WarmUpOver, model_failure

    if isinstance(error, WarmUpOver):
        return Failed("warm-up", "")
    failure = model_failure(error)
    if failure is not None:
        detail = redact(asking.scrub(failure[1]))
        sys.stderr.write(f"{detail}\n")
        return Failed(failure[0], f"{step}: {detail}" if step else detail)
    sentence = asking.stopped(error)
    return None if sentence is None else Stopped(redact(asking.scrub(sentence), 1_000))
