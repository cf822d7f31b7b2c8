"""Connections kept open, one transport each, handed out last in first out.

The HTTP library's own pool looks at every connection it has, several times per request: with 64 of them that alone is a
third of what a request costs.
"""

from __future__ import annotations

import ipaddress
from collections.abc import AsyncIterator
from importlib import import_module
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

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
    host = urlsplit(base_url).hostname or ""
    if not _is_this_machine(host) and getproxies() and not proxy_bypass(host):
        limits = library.Limits(
            max_connections=connections, max_keepalive_connections=connections, keepalive_expiry=_KEEP_OPEN_S
        )
        return openai.DefaultAsyncHttpxClient(timeout=timeout, limits=limits)
    return openai.DefaultAsyncHttpxClient(timeout=timeout, transport=_pool(library), trust_env=False)


def _is_this_machine(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _pool(library: Any) -> Any:
    class Body(library.AsyncByteStream):  # type: ignore[misc]
        """A response's body; puts its connection back when it is closed."""

        _line: Any

        def __init__(self, inner: Any, pool: Pool, line: Any) -> None:
            self._inner, self._pool = inner, pool
            self._line = line

        async def __aiter__(self) -> AsyncIterator[bytes]:
            async for chunk in self._inner:
                yield chunk

        async def aclose(self) -> None:
            line = self._line
            self._line = None
            await self._inner.aclose()
            if line is not None:
                self._pool.idle.append(line)

    class Pool(library.AsyncBaseTransport):  # type: ignore[misc]
        def __init__(self) -> None:
            self.idle: list[Any] = []
            self._lines: set[Any] = set()
            self._trust: Any = None

        async def handle_async_request(self, request: Any) -> Any:
            line = self.idle.pop() if self.idle else self._connect()
            try:
                response = await line.handle_async_request(request)
            except BaseException:
                # What state it is in nobody knows: a new one costs little.
                self._lines.discard(line)
                await line.aclose()
                raise
            response.stream = Body(response.stream, self, line)
            return response

        def _connect(self) -> Any:
            if self._trust is None:  # reading the certificates takes longer than a request
                self._trust = library.create_ssl_context()
            limits = library.Limits(max_connections=1, max_keepalive_connections=1, keepalive_expiry=_KEEP_OPEN_S)
            line = library.AsyncHTTPTransport(verify=self._trust, limits=limits)
            self._lines.add(line)
            return line

        async def aclose(self) -> None:
            lines, self._lines, self.idle = self._lines, set(), []
            for line in lines:
                await line.aclose()

    return Pool()
