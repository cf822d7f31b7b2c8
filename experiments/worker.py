"""The process in which a system lives: ``python -P -m memtrial.experiments.worker FD``.

It is given messages and queries, never a question's labels. Standard output and error of the system go to a log file;
replies travel on a socket of their own, so nothing a system prints can be taken for an answer.
"""

from __future__ import annotations

import asyncio
import ctypes
import os
import signal
import sys
import time
import traceback
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from itertools import islice
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import orjson

from memtrial.datasets.schema import Message
from memtrial.experiments.redact import redact
from memtrial.experiments.wire import dump_answer, dump_trace, dumps, load_query, read_messages, with_usage
from memtrial.systems.base import Context, Query, System, Trace
from memtrial.systems.registry import resolve
from memtrial.systems.validation import validate_answer

if TYPE_CHECKING:
    from memtrial.experiments.asking import Asking

_T = TypeVar("_T")
_PR_SET_PDEATHSIG = 1


class _Failed(Exception):
    """A step of the system failed; ``kind`` is an error kind of ``Result``."""

    def __init__(self, kind: str, detail: str) -> None:
        super().__init__(detail)
        self.kind = kind
        self.detail = detail


class _Stopped(Exception):
    """Every further call would end the same way: the run ends, with this sentence."""


class Worker:
    """Holds one system at a time and answers requests until the channel closes."""

    def __init__(self, channel: Connection) -> None:
        """Serve requests that come on ``channel``."""
        self._channel = channel
        self._loop = asyncio.new_event_loop()
        asyncio.set_event_loop(self._loop)
        self._system: System | None = None
        self._messages: Iterator[Message] = iter(())
        self._last: Message | None = None
        self._given = 0
        self._ids: set[str] = set()
        self._asking: Asking | None = None
        self._ops: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
            "hello": self._hello,
            "open": self._open,
            "ingest": self._ingest,
            "warmup": self._warmup,
            "ask": self._ask,
            "close": self._close,
        }

    def serve(self) -> None:
        """Answer requests one after another; returns when the runner closes the channel."""
        while True:
            try:
                request = orjson.loads(self._channel.recv_bytes())
            except (EOFError, OSError):
                return
            try:
                reply = self._ops[request["op"]](request)
            except _Failed as failure:
                reply = {"error": failure.kind, "error_detail": failure.detail}
            except _Stopped as stop:
                reply = {"stop": str(stop)}
            self._channel.send_bytes(dumps(reply) if self._asking is None else self._told(reply))

    def _told(self, reply: dict[str, Any]) -> bytes:
        """Put to a reply what models were asked for it, and that the run has to end."""
        asking = self._asking
        assert asking is not None
        sentence = asking.stopped()
        if sentence is not None and "stop" not in reply:
            reply = {"stop": sentence}
        reply.setdefault("asked", asking.take())
        return asking.scrub_bytes(dumps(reply))

    def _hello(self, request: dict[str, Any]) -> dict[str, Any]:
        sys.path += [entry for entry in request["sys_path"] if entry not in sys.path]
        return {}

    def _open(self, request: dict[str, Any]) -> dict[str, Any]:
        self._discard()
        context = Context(
            folder=Path(request["folder"]),
            seed=request["seed"],
            tenants=tuple(request["tenants"]),
            cache_dir=Path(request["cache_dir"]) if request["cache_dir"] else None,
            models=self._models(request["models"]),
        )

        def create() -> System:
            return resolve(request["target"]).create(request["params"], context)

        self._system = self._guard("create", create)
        self._messages = read_messages(Path(request["messages"]))
        self._given, self._last = 0, None
        self._ids.clear()
        return {}

    def _models(self, told: dict[str, Any]) -> dict[str, Any]:
        if not told:
            return {}
        if self._asking is None:
            from memtrial.experiments.asking import Asking  # a keyless run loads none of it

            self._asking = Asking(told)
        return self._asking.context()

    def _ingest(self, request: dict[str, Any]) -> dict[str, Any]:
        batch = list(islice(self._messages, request["upto"] - self._given))
        self._given += len(batch)
        self._last = batch[-1] if batch else self._last
        self._ids.update(m.id for m in batch)
        trace = Trace()
        ms, _ = self._timed("ingest", lambda: self._held().ingest(batch, trace))
        reply = {"ms": ms, "replayed_ms": trace.replayed_ms, "trace": dump_trace(trace)}
        return reply if self._asking is None else self._counted(reply)

    def _warmup(self, request: dict[str, Any]) -> dict[str, Any]:
        last = self._last
        if last is None:
            return {}
        for number in range(request["count"]):
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
                with self._unpaid():
                    self._timed("warm-up", lambda q=query: self._held().answer(q, Trace()))  # type: ignore[misc]
            except (_Failed, _Stopped):
                # The planned questions will show whether it can answer; a made-up one decides nothing.
                return {}
        return {}

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        query = load_query(request["query"])
        system: Any = self._held()
        if "reveal" in request:
            system.reveal(query.id, request["reveal"])
        trace = Trace()
        try:
            ms, answer = self._timed("", lambda: system.answer(query, trace))
        except _Failed as failure:
            if self._asking is None:
                raise
            # What a failed answer has used was used all the same.
            return self._counted({"error": failure.kind, "error_detail": failure.detail, "trace": dump_trace(trace)})
        try:
            reply = dump_answer(validate_answer(answer, self._ids), trace, query)
        except ValueError as error:
            raise _Failed("invalid", redact(str(error))) from error
        except Exception as error:
            raise _Failed("invalid", redact(f"the answer or its trace cannot be stored: {error}")) from error
        reply["latency_ms"] = ms + trace.replayed_ms
        return reply if self._asking is None else self._counted(reply)

    def _counted(self, reply: dict[str, Any]) -> dict[str, Any]:
        assert self._asking is not None
        asked = self._asking.take()
        trace = with_usage(reply.get("trace", {}), asked["rows"])
        return {**reply, "asked": asked, **({"trace": trace} if trace else {})}

    @contextmanager
    def _unpaid(self) -> Iterator[None]:
        """Ask no model until the block ends."""
        if self._asking is None:
            yield
            return
        self._asking.store.warming = True
        try:
            yield
        finally:
            self._asking.store.warming = False

    def _close(self, request: dict[str, Any]) -> dict[str, Any]:
        system, self._system = self._system, None
        reply: dict[str, Any] = {"peak_rss_mb": peak_rss_mb()}
        if system is not None:
            try:
                self._timed("close", system.close)
            except _Failed as failure:
                reply |= {"error": failure.kind, "error_detail": failure.detail}
        return reply

    def _discard(self) -> None:
        if self._system is not None:
            self._close({})

    def _held(self) -> System:
        if self._system is None:
            raise _Failed("crashed", "there is no system")
        return self._system

    def _timed(self, step: str, call: Callable[[], Awaitable[_T]]) -> tuple[float, _T]:
        """Run one coroutine of the system; the clock is read right before and right after it."""

        async def measured() -> tuple[float, _T]:
            start = time.perf_counter()
            value = await call()
            return (time.perf_counter() - start) * 1000.0, value

        return self._guard(step, lambda: self._loop.run_until_complete(measured()))

    def _guard(self, step: str, call: Callable[[], _T]) -> _T:
        try:
            return call()
        except (_Failed, _Stopped):
            raise
        except BaseException as error:
            if self._asking is not None:
                self._of_model(error, step)
            text = traceback.format_exc()
            if self._asking is not None:
                text = self._asking.scrub(text)
            sys.stderr.write(redact(text, 20_000) + "\n")
            detail = redact(f"{type(error).__name__}: {error}")
            raise _Failed("raised", f"{step}: {detail}" if step else detail) from error

    def _of_model(self, error: BaseException, step: str) -> None:
        """Raise what a model's failure means for the question or for the run; return where it is the system's own."""
        from memtrial.experiments.asking import WarmUpOver, model_failure

        asking = self._asking
        assert asking is not None
        if isinstance(error, WarmUpOver):
            raise _Failed("warm-up", "") from None
        failure = model_failure(error)
        if failure is not None:
            detail = redact(asking.scrub(failure[1]))
            sys.stderr.write(f"{detail}\n")
            raise _Failed(failure[0], f"{step}: {detail}" if step else detail) from None
        sentence = asking.stopped(error)
        if sentence is not None:
            raise _Stopped(redact(asking.scrub(sentence), 1_000)) from None


def peak_rss_mb() -> float:
    """Peak resident memory of this process in MB (1e6 bytes).

    Read from /proc where there is one: ``ru_maxrss`` would start at the size of the process that started this one.
    """
    try:
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024 / 1e6
    except OSError:
        pass
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


def _die_with(parent: int) -> None:
    """End this process when the runner ends, even inside a system that never returns."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


def main() -> None:
    """Entry point: ``worker FD PARENT_PID``."""
    descriptor, parent = int(sys.argv[1]), int(sys.argv[2])
    _die_with(parent)
    os.set_inheritable(descriptor, False)
    Worker(Connection(descriptor)).serve()
    # Threads or exit hooks of a system must not keep the process alive once nobody listens.
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
