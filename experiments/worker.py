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
from collections.abc import Callable, Coroutine
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any, TypeVar

import orjson

from memtrial.experiments.held import Failed, Held, Stopped
from memtrial.experiments.neighbours import Neighbours
from memtrial.experiments.wire import dumps

if TYPE_CHECKING:
    from memtrial.experiments.asking import Asking

_T = TypeVar("_T")
_PR_SET_PDEATHSIG = 1


class Worker:
    """Holds one system at a time and answers requests until the channel closes; ``crowd`` alone holds several."""

    def __init__(self, channel: Connection) -> None:
        """Serve requests that come on ``channel``."""
        self._channel = channel
        self._loop = asyncio.new_event_loop()
        asyncio.set_event_loop(self._loop)
        self._held: Held | None = None
        self._neighbours = Neighbours()
        self._asking: Asking | None = None
        self._crowded = False
        self._ops: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
            "hello": self._hello,
            "open": self._open,
            "ingest": lambda request: self._run("ingest", lambda held: held.ingest(request["upto"])),
            "warmup": self._warmup,
            "ask": lambda request: self._run("", lambda held: held.ask(request["query"], request.get("reveal"))),
            "establish": lambda request: self._run(
                "establish", lambda held: held.establish(request["query"], request["kept"])
            ),
            "close": self._close,
            "crowd": self._crowd,
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
            except Failed as failure:
                reply = {"error": failure.kind, "error_detail": failure.detail}
            except Stopped as stop:
                reply = {"stop": str(stop)}
            self._tell(reply)

    def hold(self, request: dict[str, Any]) -> Held:
        """Create a system.

        Raises:
            Failed, Stopped: it could not be.
        """
        return Held(request, self._models(request["models"]), self._asking)

    def emit(self, event: dict[str, Any]) -> None:
        """Send an event of a crowd; nothing is read before the last one."""
        self._channel.send_bytes(dumps(event) if self._asking is None else self._asking.scrub_bytes(dumps(event)))

    def asked(self) -> dict[str, Any] | None:
        """Return what models were asked outside of any question since the last time, and what the run has paid."""
        return None if self._asking is None else self._asking.take()

    async def warm(self) -> None:
        """Open the connections to models, outside of every measured time; nothing is asked."""
        if self._asking is not None:
            await self._asking.warm()

    def stop_sentence(self) -> str | None:
        """Return the sentence that ends the run, or None where it goes on."""
        return None if self._asking is None else self._asking.stopped()

    def _tell(self, reply: dict[str, Any]) -> None:
        """Send a reply, with what models were asked for it, and that the run has to end."""
        asking = self._asking
        if asking is not None:
            sentence = asking.stopped()
            if sentence is not None and "stop" not in reply:
                reply = {"stop": sentence, **({"asked": reply["asked"]} if "asked" in reply else {})}
            if "asked" not in reply:
                reply["asked"] = asking.take()
        self.emit(reply)

    def _hello(self, request: dict[str, Any]) -> dict[str, Any]:
        sys.path += [entry for entry in request["sys_path"] if entry not in sys.path]
        return {}

    def _open(self, request: dict[str, Any]) -> dict[str, Any]:
        if self._held is not None:
            self._close({})
        self._neighbours = Neighbours()
        self._held = self.hold(request)
        self._loop.run_until_complete(self.warm())
        return {}

    def _models(self, told: dict[str, Any]) -> dict[str, Any]:
        if not told:
            return {}
        if self._asking is None:
            from memtrial.experiments.asking import Asking  # a keyless run loads none of it

            self._asking = Asking(told)
            self._asking.crowded = self._crowded
        return self._asking.context()

    def _warmup(self, request: dict[str, Any]) -> dict[str, Any]:
        held = self._open_one()
        self._guarded("warm-up", lambda: held.warm_up(request["count"]))
        return {}

    def _close(self, request: dict[str, Any]) -> dict[str, Any]:
        held, self._held = self._held, None
        reply: dict[str, Any] = {"peak_rss_mb": peak_rss_mb(), "other_work_cores": self._neighbours.cores()}
        if held is not None:
            try:
                self._guarded("close", held.close, held)
            except Failed as failure:
                reply |= {"error": failure.kind, "error_detail": failure.detail}
        return reply

    def _crowd(self, request: dict[str, Any]) -> dict[str, Any]:
        from memtrial.experiments.crowd import Crowd  # a serial run loads none of it

        self._crowded = True
        crowd = Crowd(self, request)
        self._loop.run_until_complete(crowd.run())
        return {"event": "done", **({"stop": crowd.stopping} if crowd.stopping else {})}

    def _run(self, step: str, call: Callable[[Held], Coroutine[Any, Any, dict[str, Any]]]) -> dict[str, Any]:
        held = self._open_one()
        return self._guarded(step, lambda: call(held))

    def _guarded(self, step: str, call: Callable[[], Coroutine[Any, Any, _T]], held: Held | None = None) -> _T:
        """Run to the end; what a task of the system's own throws out of the loop is the system's failure too."""
        held = held or self._open_one()
        try:
            return self._loop.run_until_complete(call())
        except (Failed, Stopped):
            raise
        except BaseException as error:
            raise held.converted(error, step) from error

    def _open_one(self) -> Held:
        if self._held is None:
            raise Failed("crashed", "there is no system")
        return self._held


def peak_rss_mb() -> float:
    """Peak resident memory of this process in MB (1e6 bytes).

    Read from /proc where there is one: ``ru_maxrss`` would start at the size of the process that started this one.
    """
    try:
        with open("/proc/self/status", encoding="ascii", errors="replace") as lines:
            for line in lines:
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
