"""A small HTTP server on 127.0.0.1 that plays any behaviour of a model's endpoint by script.

``ScriptedServer`` runs in a thread. A script is a list of steps, one per request, the last of which repeats; or a function
from the request to a step. A step says what is sent back, byte for byte where needed::

    with ScriptedServer([error(429, headers={"Retry-After": "1"}), says("hello")]) as server:
        settings = ModelSettings(model="m", base_url=server.url)
        ...
        assert len(server.requests) == 2
"""

from __future__ import annotations

import asyncio
import json
import socket
import ssl
import struct
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

USAGE = {"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15}


@dataclass(slots=True)
class Seen:
    """A request as it arrived."""

    path: str
    headers: dict[str, str]
    raw: bytes

    @property
    def body(self) -> dict[str, Any]:
        return dict(json.loads(self.raw)) if self.raw else {}

    @property
    def prompt(self) -> str:
        """The content of the last message."""
        return str(self.body["messages"][-1]["content"])


@dataclass(slots=True)
class Step:
    """What to do with one request.

    Attributes:
        code: HTTP status.
        body: sent as it is if bytes, as JSON otherwise.
        headers: added to the usual ones.
        delay_s: before the first byte.
        act: ``reply``; ``reset`` (RST, nothing sent), ``close`` (FIN, nothing sent), ``hang`` (nothing, for ever),
            ``half`` (headers and half of the body, then FIN), ``half_reset`` (the same, then RST), ``drip`` (a byte of the
            body every ``delay_s``), ``chunk_broken`` (chunked, cut in a chunk), ``chunk_garbage`` (no chunk size).
    """

    code: int = 200
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    delay_s: float = 0.0
    act: str = "reply"


Script = Sequence[Step] | Callable[[Seen], Step]


def completion(content: Any = "hello", *, finish: Any = "stop", usage: Any = USAGE, **more: Any) -> dict[str, Any]:
    """Return a chat completion; ``message=`` and ``choice=`` add to those, ``top=`` to the whole."""
    message = {"role": "assistant", "content": content, **more.pop("message", {})}
    choice = {"index": 0, "message": message, "finish_reason": finish, **more.pop("choice", {})}
    top = more.pop("top", {})
    assert not more, more
    return {
        "id": "c1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [choice],
        "usage": usage,
        **top,
    }


def says(content: Any = "hello", **more: Any) -> Step:
    """A good reply, or one that is a little off."""
    step = {name: more.pop(name) for name in ("headers", "delay_s", "act") if name in more}
    return Step(body=completion(content, **more), **step)


def error(status: int, message: str = "no", *, headers: Mapping[str, str] | None = None, **named: Any) -> Step:
    """An error in OpenAI's shape; ``code=``, ``type=`` and ``param=`` go into the body."""
    told = {"message": message, "type": None, "param": None, "code": None, **named}
    return Step(status, {"error": told}, headers or {})


class ScriptedServer:
    """Plays a script; ``url`` is the base URL to hand to a client, ``requests`` what came."""

    def __init__(self, script: Script, *, port: int = 0, tls: ssl.SSLContext | None = None) -> None:
        self._script = script
        self.requests: list[Seen] = []
        self.connections = 0
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self.port = 0
        self._wanted, self._tls = port, tls

    @property
    def url(self) -> str:
        return f"http{'' if self._tls is None else 's'}://127.0.0.1:{self.port}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(10)
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._main())
        self._loop.close()

    async def _main(self) -> None:
        self._stop = asyncio.Event()
        server = await asyncio.start_server(self._connection, "127.0.0.1", self._wanted, ssl=self._tls)
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stop.wait()
        server.close()
        others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while (seen := await _read(reader)) is not None:
                self.requests.append(seen)
                step = self._script(seen) if callable(self._script) else self._next()
                if not await _play(step, writer):
                    break
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # the client went away, or the test is over
        finally:
            writer.close()

    def _next(self) -> Step:
        assert not callable(self._script)
        return self._script[min(len(self.requests), len(self._script)) - 1]


async def _read(reader: asyncio.StreamReader) -> Seen | None:
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    except asyncio.IncompleteReadError:
        return None
    pairs = (line.partition(":") for line in head[1:] if line)
    headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
    raw = await reader.readexactly(int(headers.get("content-length", 0)))
    return Seen(head[0].split(" ")[1], headers, raw)


async def _play(step: Step, writer: asyncio.StreamWriter) -> bool:
    """Play a step; return whether the connection stays open."""
    if step.act == "hang":
        await asyncio.Event().wait()
    if step.act != "drip":
        await asyncio.sleep(step.delay_s)
    if step.act == "reset":
        return _reset(writer)
    if step.act == "close":
        return False
    body = step.body if isinstance(step.body, bytes) else b"" if step.body is None else json.dumps(step.body).encode()
    chunked = step.act.startswith("chunk")
    length = {"Transfer-Encoding": "chunked"} if chunked else {"Content-Length": str(len(body))}
    headers = {"Content-Type": "application/json", **length, **step.headers}
    head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    writer.write(f"HTTP/1.1 {step.code} X\r\n{head}\r\n".encode("latin-1"))
    half = body[: len(body) // 2]
    if step.act == "chunk_broken":
        writer.write(b"%x\r\n%s" % (len(body), half))
    elif step.act == "chunk_garbage":
        writer.write(b"zz\r\n" + half)
    elif step.act.startswith("half"):
        writer.write(half)
    elif step.act == "drip":
        for place in range(len(body)):
            writer.write(body[place : place + 1])
            await writer.drain()
            await asyncio.sleep(step.delay_s)
    else:
        writer.write(body)
    await writer.drain()
    if step.act == "half_reset":
        await asyncio.sleep(0.02)
        return _reset(writer)
    return step.act in ("reply", "drip")


def _reset(writer: asyncio.StreamWriter) -> bool:
    sock: socket.socket = writer.get_extra_info("socket")
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
    return False
