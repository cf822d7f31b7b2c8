"""Every call to a model, stored by content in one append-only file per run, so that it is paid for once and can be replayed.

One JSON line per call, written with a single append under a file lock: several processes may write and read the same
file at the same time. A kill can leave a partial last line; readers pass over it and the next writer cuts it off. Only
replies with status ``ok`` are ever served; everything else is kept for the ledger and for telling what happened.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import threading
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memtrial.datasets.errors import UserError
from memtrial.systems.models.llm.calls import DUPLICATE, StoredCall, bare_url, call_key, decode, encode
from memtrial.systems.models.llm.messages import ToolCall
from memtrial.systems.models.llm.redaction import spellings

__all__ = ["CALLS", "CallStore", "StoredCall", "call_key"]

CALLS = "calls.jsonl"
# Nothing was sent, so there is nothing to keep.
NOT_ASKED = frozenset({"budget", "not_recorded"})

_CHUNK = 1 << 20
# A key shorter than this ("EMPTY", "ollama") guards nothing and may be a word of any answer.
_SECRET_CHARS = 12
_HIDDEN = "[key]"


class CallStore:
    """The calls of a run, by key.

    The file is opened where it exists and made by the first call stored, so that a store on a read-only disk replays.
    """

    def __init__(self, path: Path, secrets: Sequence[str] = ()) -> None:
        """Open a store.

        Args:
            path: the file.
            secrets: keys that are replaced wherever they stand in a text to be stored, a server's error message for one,
                also where they are spelt for a URL or in base64.

        Raises:
            UserError: if the file cannot be read.
        """
        self.path = path
        self._secrets = tuple(form for s in secrets if len(s) >= _SECRET_CHARS for form in spellings(s))
        self._good: dict[str, tuple[int, int]] = {}
        self._other: dict[str, tuple[int, int]] = {}
        self._fd: int | None = None
        self._writable = False
        self._scanned = 0
        self._calls = 0
        self._corrupt = 0
        self._pid = os.getpid()
        self._lock = threading.RLock()
        self._flights: dict[tuple[asyncio.AbstractEventLoop, str], asyncio.Future[StoredCall]] = {}
        with self._lock:
            self._refresh()

    key = staticmethod(call_key)

    # -- reading ---------------------------------------------------------------------------------------------------

    def get(self, key: str) -> StoredCall | None:
        """Return the good reply stored under a key; what another process has appended since is looked at on a miss."""
        with self._lock:
            if key not in self._good:
                self._refresh()
            return self._fetch(key, self._good)

    def outcome(self, key: str) -> StoredCall | None:
        """Return the good reply, else the last failure stored under a key with its own status.

        For replaying a run as it went: a call that was refused then is refused again, and never served as an answer.
        """
        with self._lock:
            found = self.get(key)
            return found if found is not None else self._fetch(key, self._other)

    def __len__(self) -> int:
        """Return the number of stored calls, failures included."""
        with self._lock:
            self._refresh()
            return self._calls

    @property
    def corrupt(self) -> int:
        """Whole lines that could not be read; they are passed over."""
        return self._corrupt

    def calls(self) -> Iterator[StoredCall]:
        """Yield every stored call in the order of the file, without loading all of them; a ledger is rebuilt from it."""
        for _, row in self._rows(0):
            if row is not None:
                yield row[1]

    def missing(self, role: str, model: str) -> str:
        """Return the sentence for a request that is not recorded while only recorded ones may be answered."""
        return (
            f"no reply of model {model!r} to this request of the role {role!r} is recorded in {self.path}, and nothing"
            " may be asked with --replay only; --replay prefer asks and records it"
        )

    # -- writing ---------------------------------------------------------------------------------------------------

    def put(self, key: str, call: StoredCall) -> StoredCall:
        """Store a call and return what stands under its key.

        The first good reply to a key stands for ever. If one is there already, this one is stored without its text (it
        was paid for) and the first is returned, so that all askers go on with the same words.

        Args:
            key: from :func:`call_key`.
            call: the call; one that was never sent (``budget``, ``not_recorded``) is not stored.

        Raises:
            UserError: if the disk is full or the file cannot be written; what was written before stays valid.
        """
        call = self._prepared(call)
        if call.status in NOT_ASKED:
            return call
        with self._lock, self._exclusive() as fd:
            self._refresh()
            first = self._fetch(key, self._good)
            if first is not None and call.good:
                self._append(fd, key, replace(call, status=DUPLICATE, text="", tool_calls=()))
                return first
            self._append(fd, key, call)
            self._refresh()
            return call

    async def once(self, key: str, ask: Callable[[], Awaitable[StoredCall]]) -> tuple[StoredCall, bool]:
        """Return the stored reply, or ask and store; several asking for the same at the same time pay once.

        Args:
            key: from :func:`call_key`.
            ask: sends the request and returns its call, failures too.

        Returns:
            The call that stands, and whether this asker paid for nothing (it was stored, or another one's request served).
        """
        name = (asyncio.get_running_loop(), key)
        while True:
            found = self.get(key)
            if found is not None:
                return found, True
            flight = self._flights.get(name)
            if flight is None:
                break
            try:
                return await asyncio.shield(flight), True
            except asyncio.CancelledError:
                task = asyncio.current_task()
                if not flight.cancelled() or (task is not None and task.cancelling()):
                    raise  # it is this asker who was cancelled
                # The other one was, or failed before there was a call: now it is this asker's turn.
        flight = self._flights[name] = name[0].create_future()
        try:
            call = self.put(key, await ask())
            flight.set_result(call)
            return call, False
        finally:
            del self._flights[name]
            flight.cancel()  # changes nothing where there is a result

    def close(self) -> None:
        """Flush to the disk and close; the store can still be read and opens again by itself."""
        with self._lock:
            if self._fd is not None:
                if self._writable:
                    with suppress(OSError):
                        os.fsync(self._fd)
                os.close(self._fd)
                self._fd, self._writable = None, False

    # -- the file --------------------------------------------------------------------------------------------------

    def _refresh(self) -> None:
        """Index whole lines that were appended since the last look."""
        fd = self._open(writable=False)
        if fd is None:
            return
        if os.fstat(fd).st_size < self._scanned:  # somebody put a shorter file there: nothing known holds any more
            self._good.clear()
            self._other.clear()
            self._scanned = self._calls = self._corrupt = 0
        for (start, size), row in self._rows(self._scanned):
            self._scanned = start + size
            if row is None:
                self._corrupt += size > 1
                continue
            key, call = row
            self._calls += 1
            if call.good:
                self._good.setdefault(key, (start, size))
            elif call.status != DUPLICATE:
                self._other[key] = (start, size)

    def _rows(self, start: int) -> Iterator[tuple[tuple[int, int], tuple[str, StoredCall] | None]]:
        """Yield place and content of whole lines; content is None where a line cannot be read."""
        fd = self._open(writable=False)
        rest = b""
        while fd is not None:
            try:
                block = os.pread(fd, _CHUNK, start + len(rest))
            except OSError as error:
                raise UserError(f"cannot read {self.path}: {error.strerror}") from error
            if not block:
                return
            lines = (rest + block).split(b"\n")
            rest = lines.pop()
            for line in lines:
                yield (start, len(line) + 1), decode(line)
                start += len(line) + 1

    def _fetch(self, key: str, index: dict[str, tuple[int, int]]) -> StoredCall | None:
        place, fd = index.get(key), self._open(writable=False)
        if place is None or fd is None:
            return None
        row = decode(os.pread(fd, place[1], place[0]).rstrip(b"\n"))
        return row[1] if row is not None and row[0] == key else None

    def _open(self, *, writable: bool) -> int | None:
        if self._fd is not None and self._pid != os.getpid():  # a fork shares the file's lock with its parent
            os.close(self._fd)
            self._fd, self._writable, self._pid = None, False, os.getpid()
        if self._fd is not None and (self._writable or not writable):
            return self._fd
        flags = (os.O_RDWR | os.O_CREAT | os.O_APPEND) if writable else os.O_RDONLY
        try:
            if writable:
                self.path.parent.mkdir(parents=True, exist_ok=True)
            fd = os.open(self.path, flags | os.O_CLOEXEC, 0o644)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise UserError(f"cannot {'write' if writable else 'read'} {self.path}: {error.strerror}") from error
        if self._fd is not None:
            os.close(self._fd)
        self._fd, self._writable = fd, writable
        return fd

    @contextmanager
    def _exclusive(self) -> Iterator[int]:
        """Hold the file's lock, with a partial last line cut off: nobody else can be in the middle of writing one."""
        fd = self._open(writable=True)
        assert fd is not None  # O_CREAT
        locked = False
        with suppress(OSError):  # some network file systems have no locks; single appends are all that is left then
            fcntl.flock(fd, fcntl.LOCK_EX)
            locked = True
        try:
            if locked:
                _cut_torn_tail(fd)
            yield fd
        finally:
            if locked:
                fcntl.flock(fd, fcntl.LOCK_UN)

    def _append(self, fd: int, key: str, call: StoredCall) -> None:
        line = encode(key, call)
        before = os.fstat(fd).st_size
        if before and os.pread(fd, 1, before - 1) != b"\n":  # only where the file could not be locked
            line = b"\n" + line
        try:
            written = os.write(fd, line)
            while written < len(line):
                written += os.write(fd, line[written:])
        except OSError as error:
            with suppress(OSError):
                os.ftruncate(fd, before)
            raise UserError(
                f"cannot write {self.path}: {error.strerror}; make room and run the same command again to go on"
            ) from error

    def _prepared(self, call: StoredCall) -> StoredCall:
        """Return the call as it will be read back: without secrets, in characters that a file can hold, with its time."""
        texts: dict[str, Any] = {name: self._clean(getattr(call, name)) for name in _TEXTS}
        texts["base_url"] = self._clean(bare_url(call.base_url))
        texts["at"] = texts["at"] or datetime.now(UTC).isoformat(timespec="milliseconds")
        return replace(
            call,
            **texts,
            service_ms=None if call.service_ms is None else round(float(call.service_ms), 3),
            wall_ms=round(float(call.wall_ms), 3),
            flags=tuple(self._clean(flag) for flag in call.flags),
            tool_calls=tuple(
                ToolCall(id=self._clean(c["id"]), name=self._clean(c["name"]), arguments=self._clean(c["arguments"]))
                for c in call.tool_calls
            ),
        )

    def _clean(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, _HIDDEN)
        return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


_TEXTS = (
    "status", "text", "finish_reason", "model", "base_url", "echoed", "role", "phase", "trial", "detail", "at",
)  # fmt: skip


def _cut_torn_tail(fd: int) -> None:
    size = end = os.fstat(fd).st_size
    while end > 0:
        start = max(0, end - 65_536)
        newline = os.pread(fd, end - start, start).rfind(b"\n")
        if newline >= 0:
            end = start + newline + 1
            break
        end = start
    if end < size:
        os.ftruncate(fd, end)
