"""Connections kept open below the HTTP library that the ``openai`` package speaks through."""

from __future__ import annotations

import asyncio
import ipaddress
import time
from importlib import import_module
from ssl import SSLContext
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from memtrial.systems.models.llm.line import BrokenOffError, Line, NotHttpError, connect

_KEEP_OPEN_S = 30.0


def http_library() -> Any:
    """Return the library the installed ``openai`` speaks through: ``httpx`` up to 2, ``httpx2`` from 3 on."""
    openai: Any = import_module("openai")
    bases = (base.__module__.partition(".")[0] for base in openai.DefaultAsyncHttpxClient.__mro__)
    return import_module(next(name for name in bases if name.startswith("httpx")))


def http_client(base_url: str, connections: int, timeout: Any) -> Any:
    """Return an HTTP client that keeps up to ``connections`` open.

    Args:
        base_url: decides whether the environment's proxies are to be used; never for this machine itself.
        connections: most of them at a time.
        timeout: the library's own time-out object.
    """
    openai: Any = import_module("openai")
    library = http_library()
    parts = urlsplit(base_url)
    host = parts.hostname or ""
    if not _is_this_machine(host) and getproxies() and not proxy_bypass(host):
        limits = library.Limits(
            max_connections=connections, max_keepalive_connections=connections, keepalive_expiry=_KEEP_OPEN_S
        )
        return openai.DefaultAsyncHttpxClient(timeout=timeout, limits=limits)
    return openai.DefaultAsyncHttpxClient(
        timeout=timeout, transport=_pool(library, parts.scheme == "https"), trust_env=False
    )


def _is_this_machine(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _pool(library: Any, secure: bool) -> Any:
    """Return the library's kind of transport, with our lines behind it."""

    class Pool(library.AsyncBaseTransport):  # type: ignore[misc]
        def __init__(self) -> None:
            self._lines = Lines(library, secure)

        async def handle_async_request(self, request: Any) -> Any:
            return await self._lines.handle(request)

        async def connect(self, url: Any) -> None:
            await self._lines.open(url)

        async def aclose(self) -> None:
            self._lines.close()

    return Pool()


class Lines:
    """Open connections by place, handed out last in first out; how many is the limiter's to say.

    Args:
        library: whose requests are taken, and whose responses and errors are given.
        secure: load the certificates now.
    """

    def __init__(self, library: Any, secure: bool = False) -> None:
        """Open nothing yet."""
        self._library = library
        self._idle: dict[tuple[bool, str, int], list[Line]] = {}
        self._trust: SSLContext | None = library.create_ssl_context() if secure else None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def handle(self, request: Any) -> Any:
        """Send a request of the library and return a response of the library, read to its end."""
        library = self._library
        content = _head(library, request) + await request.aread()
        place = _place(request.url)
        idle = self._idle_at(place)
        line = self._take(idle) or await self._connect(place, request.extensions.get("timeout") or {})
        try:
            response = await line.ask(content)
        except BrokenOffError as error:
            raise library.ReadError(f"connection closed: {error}") from None
        except NotHttpError as error:
            line.close()
            raise library.RemoteProtocolError(str(error)) from None
        except BaseException:  # cancelled in the middle: what still comes belongs to nobody
            line.close()
            raise
        finally:
            if line.open:
                idle.append(line)
        return library.Response(response.code, headers=response.headers, content=response.body)

    async def open(self, url: Any) -> None:
        """Open a connection to where a URL of the library leads, unless one is idle there; the next request takes it."""
        place = _place(url)
        idle = self._idle_at(place)
        if not any(line.open for line in idle):
            idle.append(await self._connect(place, {}))

    def _idle_at(self, place: tuple[bool, str, int]) -> list[Line]:
        if self._loop is not (loop := asyncio.get_running_loop()):  # lines of a loop that has ended cannot be used
            self._idle.clear()
            self._loop = loop
        return self._idle.setdefault(place, [])

    def close(self) -> None:
        """Close what is idle; what is under way closes when its task is cancelled."""
        if self._loop is asyncio.get_running_loop():
            for idle in self._idle.values():
                while idle:
                    idle.pop().close()
        self._idle.clear()

    @staticmethod
    def _take(idle: list[Line]) -> Line | None:
        oldest = time.monotonic() - _KEEP_OPEN_S
        while idle:
            line = idle.pop()
            if line.open and line.used_at >= oldest:
                return line
            line.close()
        return None

    async def _connect(self, place: tuple[bool, str, int], timeout: dict[str, float | None]) -> Line:
        library = self._library
        secure, host, port = place
        if secure and self._trust is None:  # a redirect
            self._trust = library.create_ssl_context()
        try:
            async with asyncio.timeout(timeout.get("connect")):
                return await connect(host, port, self._trust if secure else None)
        except TimeoutError:
            raise library.ConnectTimeout("") from None
        except OSError as error:
            raise library.ConnectError(str(error)) from None


def _place(url: Any) -> tuple[bool, str, int]:
    secure = url.scheme == "https"
    return secure, url.raw_host.decode("ascii"), int(url.port or (443 if secure else 80))


def _head(library: Any, request: Any) -> bytes:
    lines = [b"%s %s HTTP/1.1" % (request.method.encode("ascii"), request.url.raw_path)]
    for name, value in request.headers.raw:
        if b"\n" in value or b"\r" in value or b"\0" in value:
            raise library.LocalProtocolError(f"the header {name.decode('latin-1')} holds a line break")
        lines.append(name + b": " + value)
    return b"\r\n".join(lines) + b"\r\n\r\n"
