from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from memtrial.systems.models.llm.line import BrokenOffError, Line, NotHttpError, Response, connect

OK = b"HTTP/1.1 200 OK\r\n"


async def play(pieces: Sequence[bytes], asked: int = 1) -> tuple[list[Response], Line]:
    """Let a server answer every request with the same pieces, then end the connection after the last one."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for _ in range(asked):
            await reader.readuntil(b"\r\n\r\n")
            for piece in pieces:
                writer.write(piece)
                await writer.drain()
                await asyncio.sleep(0.002)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    line = await connect("127.0.0.1", server.sockets[0].getsockname()[1], None)
    try:
        return [await line.ask(b"GET / HTTP/1.1\r\n\r\n") for _ in range(asked)], line
    finally:
        server.close()


def answer(*pieces: bytes) -> Response:
    return asyncio.run(asyncio.wait_for(play(pieces), 10))[0][0]


@pytest.mark.parametrize(
    ("pieces", "body"),
    [
        ([OK + b"Content-Length: 5\r\n\r\nhello"], b"hello"),
        ([OK + b"CONTENT-LENGTH:5\r\n\r\n", b"he", b"llo"], b"hello"),
        ([bytes([byte]) for byte in OK + b"Content-Length: 2\r\n\r\nhi"], b"hi"),
        ([b"HTTP/1.1 100 Continue\r\n\r\n" + OK + b"Content-Length: 2\r\n\r\nhi"], b"hi"),
        ([b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n", OK + b"Content-Length: 2\r\n\r\nhi"], b"hi"),
        ([OK + b"Transfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n", b"3;x=y\r\nllo\r\n0\r\n\r\n"], b"hello"),
        ([OK + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nTrailer: x\r\n\r\n"], b"hello"),
        ([OK + b"Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n5\r\nhello\r\n0\r\n\r\n"], b"hello"),
        ([b"HTTP/1.0 200 OK\r\n\r\nto the ", b"end"], b"to the end"),
        ([b"HTTP/1.1 204 No Content\r\n\r\n"], b""),
        ([b"HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n"], b""),
        ([OK + b"Content-Length: 2, 2\r\n\r\nhi"], b"hi"),
        ([OK + b"X: a\r\n b\r\nContent-Length: 2\r\n\r\nhi"], b"hi"),
    ],
)
def test_bodies(pieces: list[bytes], body: bytes) -> None:
    assert answer(*pieces).body == body


@pytest.mark.parametrize(
    "reply",
    [
        b"hello there\r\n\r\n",
        b"HTTP/2 200 OK\r\n\r\n",
        b"HTTP/1.1 abc\r\n\r\n",
        b"\x15\x03\x01\x00\x02\x02\x46",
        OK + b"no colon here\r\n\r\n",
        OK + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\nhi!",
        OK + b"Content-Length: -2\r\n\r\nhi",
        OK + b"Content-Length: many\r\n\r\nhi",
        OK + b"Transfer-Encoding: chunked\r\n\r\nzz\r\nhi\r\n0\r\n\r\n",
        OK + b"Transfer-Encoding: chunked\r\n\r\n1\r\nhi\r\n0\r\n\r\n",
        OK + b"X: " + b"x" * 100_000,
    ],
)
def test_what_is_not_http(reply: bytes) -> None:
    with pytest.raises(NotHttpError):
        answer(reply)


@pytest.mark.parametrize(
    "reply",
    [b"", b"HTT", OK, OK + b"Content-Length: 5\r\n\r\nhell", OK + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhel"],
)
def test_what_ends_too_early(reply: bytes) -> None:
    with pytest.raises(BrokenOffError):
        answer(reply)


@pytest.mark.parametrize(
    ("extra", "body", "stays"),
    [
        (b"", b"hi", True),
        (b"Connection: close\r\n", b"hi", False),
        (b"Connection: Keep-Alive, CLOSE\r\n", b"hi", False),
        (b"", b"hi and more than was announced", False),
    ],
)
def test_a_line_is_used_again_only_where_the_next_reply_is_sure_to_be_its_own(
    extra: bytes, body: bytes, stays: bool
) -> None:
    async def body_() -> None:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(OK + extra + b"Content-Length: 2\r\n\r\n" + body)
            await reader.read()
            writer.close()

        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        line = await connect("127.0.0.1", server.sockets[0].getsockname()[1], None)
        assert (await line.ask(b"GET / HTTP/1.1\r\n\r\n")).body == b"hi"
        assert line.open is stays
        line.close()
        server.close()

    asyncio.run(asyncio.wait_for(body_(), 10))


def test_several_on_one_line() -> None:
    replies, _ = asyncio.run(play([OK + b"Content-Length: 2\r\n\r\nhi"], asked=3))
    assert [reply.body for reply in replies] == [b"hi"] * 3


def test_headers_are_kept_as_they_came() -> None:
    reply = answer(OK + b"Retry-After: 7\r\nX:  a:b \r\nContent-Length: 0\r\n\r\n")
    assert reply.headers[:2] == [(b"Retry-After", b"7"), (b"X", b"a:b")]
