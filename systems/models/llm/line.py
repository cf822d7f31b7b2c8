"""One HTTP/1.1 connection, on asyncio alone: a request out in one write, a whole response back.

The HTTP library's own connections take six layers and several task switches for the same; at 300 calls a second on two
cores that decides whether the model or the client is waited for. Only what a model's endpoint needs is here: no
upgrades, no streaming to the caller, no proxy (those go through the library's own connections).
"""

from __future__ import annotations

import asyncio
import re
import time
from dataclasses import dataclass
from ssl import SSLContext

_HEAD_LIMIT = 65_536
_STATUS = re.compile(rb"HTTP/1\.([01]) (\d{3})(?: [^\r\n]*)?")
_CHUNK_SIZE = re.compile(rb"([0-9A-Fa-f]{1,15})[ \t]*(?:;[^\r\n]*)?")


class BrokenOffError(Exception):
    """The connection ended before the response did."""


class NotHttpError(Exception):
    """What came is not an HTTP response."""


@dataclass(frozen=True, slots=True)
class Response:
    """A response, its body as it was sent (perhaps compressed)."""

    code: int
    headers: list[tuple[bytes, bytes]]
    body: bytes


class Line(asyncio.Protocol):
    """A connection; used for one request at a time."""

    def __init__(self) -> None:
        """Start unconnected; see :func:`connect`."""
        self.used_at = time.monotonic()
        self.open = False
        self._transport: asyncio.Transport | None = None
        self._buffer = bytearray()
        self._ended = False
        self._error: Exception | None = None
        self._arrived: asyncio.Future[None] | None = None

    # -- what asyncio calls ----------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        assert isinstance(transport, asyncio.Transport)
        self._transport, self.open = transport, True

    def data_received(self, data: bytes) -> None:
        """Buffer."""
        self._buffer += data
        self._wake()

    def eof_received(self) -> None:
        """Close; nothing is asked on a line that the server has ended."""
        self._end(None)

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell who waits."""
        self._end(exc)

    def _end(self, error: Exception | None) -> None:
        self._ended, self.open = True, False
        self._error = self._error or error
        self._wake()

    def _wake(self) -> None:
        if self._arrived is not None and not self._arrived.done():
            self._arrived.set_result(None)

    # -- what the pool calls ---------------------------------------------------------------------------------------

    def close(self) -> None:
        """Drop the connection at once."""
        self.open = False
        if self._transport is not None:
            self._transport.abort()

    async def ask(self, request: bytes) -> Response:
        """Send a request and read the response to its end.

        Raises:
            BrokenOffError: the connection ended first.
            NotHttpError: the server does not speak HTTP/1.
        """
        assert self._transport is not None
        self._transport.write(request)
        code, minor, headers = await self._read_head()
        while code < 200:  # 100 Continue, 103 Early Hints
            code, minor, headers = await self._read_head()
        named: dict[bytes, bytes] = {}
        for name, value in headers:
            name = name.lower()
            named[name] = named[name] + b"," + value if name in named else value
        keep = minor == b"1"
        tokens = {token.strip().lower() for token in named.get(b"connection", b"").split(b",")}
        keep = (keep or b"keep-alive" in tokens) and b"close" not in tokens
        if code in (204, 304):
            body = b""
        elif b"chunked" in named.get(b"transfer-encoding", b"").lower():
            body = await self._read_chunks()
        elif (told := named.get(b"content-length")) is not None:
            lengths = {length.strip() for length in told.split(b",")}
            length = lengths.pop()
            if lengths or not length.isdigit():
                raise NotHttpError(f"content length {told[:40]!r}")
            body = await self._read(int(length))
        else:
            body, keep = await self._read_to_the_end(), False
        # Bytes after the end would be taken for the next response.
        if not keep or self._buffer:
            self.close()
        self.used_at = time.monotonic()
        return Response(code, headers, body)

    async def _read_head(self) -> tuple[int, bytes, list[tuple[bytes, bytes]]]:
        searched = 0
        while (end := self._buffer.find(b"\r\n\r\n", searched)) < 0:
            if len(self._buffer) > _HEAD_LIMIT:
                raise NotHttpError("headers longer than 64 KiB")
            if not b"HTTP/".startswith(self._buffer[:5]):
                raise NotHttpError(f"the reply begins with {bytes(self._buffer[:20])!r}")
            searched = max(0, len(self._buffer) - 3)
            await self._more()
        first, *lines = bytes(self._buffer[:end]).split(b"\r\n")
        del self._buffer[: end + 4]
        status = _STATUS.fullmatch(first)
        if status is None:
            raise NotHttpError(f"status line {first[:40]!r}")
        headers: list[tuple[bytes, bytes]] = []
        for line in lines:
            name, colon, value = line.partition(b":")
            if line[:1] in b" \t" and headers:  # a value folded over two lines, as very old servers do
                headers[-1] = (headers[-1][0], headers[-1][1] + b" " + line.strip())
            elif colon and name.strip():
                headers.append((name.strip(), value.strip()))
            else:
                raise NotHttpError(f"header line {line[:40]!r}")
        return int(status[2]), status[1], headers

    async def _read_chunks(self) -> bytes:
        parts: list[bytes] = []
        while True:
            line = await self._read_line()
            size = _CHUNK_SIZE.fullmatch(line)
            if size is None:
                raise NotHttpError(f"chunk size {line[:20]!r}")
            length = int(size[1], 16)
            if length == 0:
                break
            parts.append(await self._read(length))
            if await self._read(2) != b"\r\n":
                raise NotHttpError("a chunk longer than its size")
        while await self._read_line():
            pass  # trailers
        return b"".join(parts)

    async def _read_line(self) -> bytes:
        while (end := self._buffer.find(b"\r\n")) < 0:
            if len(self._buffer) > _HEAD_LIMIT:
                raise NotHttpError("a line longer than 64 KiB")
            await self._more()
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 2]
        return line

    async def _read(self, length: int) -> bytes:
        while len(self._buffer) < length:
            await self._more()
        data = bytes(self._buffer[:length])
        del self._buffer[:length]
        return data

    async def _read_to_the_end(self) -> bytes:
        while not self._ended:
            await self._more()
        if self._error is not None:
            raise BrokenOffError(str(self._error))
        data = bytes(self._buffer)
        self._buffer.clear()
        return data

    async def _more(self) -> None:
        if self._ended:
            raise BrokenOffError(str(self._error) if self._error else "the server closed the connection")
        self._arrived = asyncio.get_running_loop().create_future()
        await self._arrived


async def connect(host: str, port: int, trust: SSLContext | None) -> Line:
    """Open a connection, with TLS where certificates are given."""
    loop = asyncio.get_running_loop()
    _, line = await loop.create_connection(
        Line, host, port, ssl=trust, server_hostname=host if trust is not None else None, happy_eyeballs_delay=0.25
    )
    return line
