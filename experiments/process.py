"""The runner's end of a worker: start, ask with a time limit, end for certain."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from multiprocessing import Pipe
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

import orjson

from memtrial.experiments.wire import dumps

_START_LIMIT_S = 300.0
_GRACE_S = 5.0


class WorkerTimeout(Exception):
    """No reply within the limit; the worker has been ended."""


class WorkerDied(Exception):
    """The worker ended by itself; the message says how."""


class WorkerProcess:
    """A worker in a session of its own, so that ending it ends whatever the system started."""

    def __init__(self, log: Path) -> None:
        """Start the process.

        Args:
            log: file to which everything that the system prints is appended.

        Raises:
            WorkerTimeout, WorkerDied: if it does not come up.
        """
        log.parent.mkdir(parents=True, exist_ok=True)
        self._channel, theirs = Pipe()
        with log.open("ab") as out:
            self._process = subprocess.Popen(
                [
                    sys.executable,
                    "-P",
                    "-u",
                    "-m",
                    "memtrial.experiments.worker",
                    str(theirs.fileno()),
                    str(os.getpid()),
                ],
                # Sums over a set of words differ in the last bits with the order of its hashes.
                env={"PYTHONHASHSEED": "0", **os.environ},
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )
        theirs.close()
        self._pidfd = os.pidfd_open(self._process.pid) if hasattr(os, "pidfd_open") else None
        try:
            self.call({"op": "hello", "sys_path": [entry or os.getcwd() for entry in sys.path]}, _START_LIMIT_S)
        except BaseException:
            self.kill()
            raise

    def call(self, request: dict[str, Any], limit_s: float) -> dict[str, Any]:
        """Send a request and wait for its reply.

        Raises:
            WorkerTimeout: after ``limit_s`` seconds without a reply.
            WorkerDied: if the process ended first.
        """
        self.send(request)
        return self.receive(limit_s)

    def send(self, request: dict[str, Any]) -> None:
        """Send a request; a worker that has ended is found out by :meth:`receive`."""
        with suppress(OSError):
            self._channel.send_bytes(dumps(request))

    def receive(self, limit_s: float) -> dict[str, Any]:
        """Wait for what the worker sends.

        Raises:
            WorkerTimeout: after ``limit_s`` seconds without anything.
            WorkerDied: if the process ended first.
        """
        try:
            watched: list[Any] = [self._channel] if self._pidfd is None else [self._channel, self._pidfd]
            ready = wait(watched, limit_s)
            if not ready:
                self.kill()
                raise WorkerTimeout
            if self._channel in ready or self._channel.poll(0):
                reply: dict[str, Any] = orjson.loads(self._channel.recv_bytes())
                return reply
        except (EOFError, OSError, orjson.JSONDecodeError):
            pass
        raise WorkerDied(self._obituary())

    def kill(self) -> None:
        """End the process and everything in its session. Safe to call again."""
        if self._process.returncode is None:
            # Not yet reaped, so the group id cannot have been given to somebody else.
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        self._channel.close()
        if self._pidfd is not None:
            os.close(self._pidfd)
            self._pidfd = None

    def _obituary(self) -> str:
        deadline = time.monotonic() + _GRACE_S
        ended = None
        while ended is None and time.monotonic() < deadline:
            ended = os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG)
            if ended is None:
                time.sleep(0.01)
        self.kill()
        code = self._process.returncode
        if ended is None:
            return "the worker closed its channel"
        if code < 0:
            try:
                return f"the worker was ended by {signal.Signals(-code).name}"
            except ValueError:
                return f"the worker was ended by signal {-code}"
        return f"the worker ended with exit code {code}"
