"""How close the model client comes to the ideal: 1,000 questions of 4 calls each, one after the other, 64 connections.

    python tools/llm_bench.py                      # both series
    python tools/llm_bench.py --questions 200      # shorter

The server runs in a process of its own and answers after 200 ms. The ideal is calls / connections × 200 ms: every
connection busy all the time. The second series refuses 5 % of the requests (429) and resets 1 % of the connections;
there it is checked that nothing is lost and that nothing is asked again once it was answered.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import random
import socket
import struct
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from importlib import import_module
from multiprocessing.connection import Connection
from pathlib import Path

from memtrial.systems.models.llm.client import Client
from memtrial.systems.models.llm.ledger import Ledger
from memtrial.systems.models.llm.settings import ModelSettings
from memtrial.systems.models.llm.store import CallStore

CALLS = 4
LATENCY_S = 0.2
CONNECTIONS = 64
CONTEXT = "2024-05-07 10:00 Ann: the meeting moved to Thursday, room 4, and Ben brings the projector. " * 20


@dataclass(frozen=True, slots=True)
class Figures:
    """What one series measured.

    Attributes:
        seconds: wall time.
        ideal_s: calls / connections × latency.
        calls: replies wanted.
        ok: replies with an answer.
        requests: that reached the server.
        again: requests for something that had been answered before.
        refused: requests refused by the server.
        resets: connections reset by the server.
        cpu_ms: CPU time of the client's process per call.
    """

    seconds: float
    ideal_s: float
    calls: int
    ok: int
    requests: int
    again: int
    refused: int
    resets: int
    cpu_ms: float

    @property
    def ratio(self) -> float:
        """Wall time over the ideal."""
        return self.seconds / self.ideal_s

    def line(self) -> str:
        """Return one line for people."""
        return (
            f"{self.seconds:.2f} s, {self.ratio:.3f} of the ideal {self.ideal_s:.2f} s; {self.ok:,} of {self.calls:,} calls"
            f" answered with {self.requests:,} requests ({self.refused} refused, {self.resets} reset), {self.again} asked"
            f" again after an answer; {self.cpu_ms:.2f} ms CPU a call"
        )


class Line(asyncio.Protocol):
    """One connection of the server: reads a request, answers after the latency, or misbehaves."""

    def __init__(self, faults: bool, seen: Counter[str], answered: set[str], dice: random.Random) -> None:
        """Share with the other connections what was seen and answered."""
        self._faults, self._seen, self._answered, self._dice = faults, seen, answered, dice
        self._buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Read a request and decide what becomes of it."""
        self._buffer += data
        head = self._buffer.find(b"\r\n\r\n")
        if head < 0:
            return
        size = int(self._buffer[:head].lower().partition(b"content-length:")[2].partition(b"\r\n")[0])
        if len(self._buffer) < head + 4 + size:
            return
        body, self._buffer = self._buffer[head + 4 : head + 4 + size], self._buffer[head + 4 + size :]
        name = self._name(body)
        self._seen["requests"] += 1
        self._seen["again"] += name in self._answered
        luck = self._dice.random() if self._faults else 1.0
        if luck < 0.01:
            self._seen["resets"] += 1
            sock: socket.socket = self._transport.get_extra_info("socket")
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self._transport.abort()
        elif luck < 0.06:
            self._seen["refused"] += 1
            self._transport.write(_response(b"429 Too Many Requests", {"error": {"message": "slow down"}}))
        else:
            asyncio.get_running_loop().call_later(LATENCY_S, self._answer, name)

    def _name(self, body: bytes) -> str:
        return body[body.index(b"<<") + 2 : body.index(b">>")].decode()

    def _text(self, name: str) -> str:
        return f"answer to {name}"

    def _answer(self, name: str) -> None:
        if self._transport.is_closing():
            return
        self._answered.add(name)
        message = {"role": "assistant", "content": self._text(name)}
        usage = {"prompt_tokens": 500, "completion_tokens": 5, "total_tokens": 505}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        self._transport.write(_response(b"200 OK", {"model": "bench", "choices": [choice], "usage": usage}))


def _response(status: bytes, told: object) -> bytes:
    body = json.dumps(told).encode()
    head = b"HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
    return head % (status, len(body)) + body


def serve(pipe: Connection, faults: bool, line: type[Line] = Line) -> None:
    """Serve until something comes through the pipe; sends the port first, and what was seen last."""

    async def main() -> None:
        seen: Counter[str] = Counter()
        answered: set[str] = set()
        dice = random.Random(7)
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: line(faults, seen, answered, dice), "127.0.0.1", 0, backlog=1024)
        pipe.send(server.sockets[0].getsockname()[1])
        await loop.run_in_executor(None, pipe.recv)
        server.close()
        pipe.send(dict(seen))

    asyncio.run(main())


async def _question(client: Client, number: int) -> int:
    """Ask the calls of one question one after the other; return how many were answered."""
    ok = 0
    for step in range(CALLS):
        name = f"{number}.{step}"
        reply = await client.complete("read", [{"role": "user", "content": f"<<{name}>> {CONTEXT}"}])
        ok += reply.ok and reply.text == f"answer to {name}"
    return ok


def measure(questions: int, *, faults: bool) -> Figures:
    """Run one series; calls are recorded and counted, as in a real run.

    Args:
        questions: how many, 4 calls each.
        faults: whether the server refuses and resets.
    """
    spawn = multiprocessing.get_context("spawn")
    mine, theirs = spawn.Pipe()
    server = spawn.Process(target=serve, args=(theirs, faults), daemon=True)
    server.start()
    try:
        settings = ModelSettings(
            model="bench", base_url=f"http://127.0.0.1:{mine.recv()}/v1", max_concurrency=CONNECTIONS
        )
        with tempfile.TemporaryDirectory() as folder:
            ok, seconds, cpu = asyncio.run(_run(settings, questions, CallStore(Path(folder) / "calls.jsonl")))
        mine.send("done")
        seen = mine.recv()
    finally:
        server.join(10)
    calls = questions * CALLS
    counts = (seen.get(name, 0) for name in ("requests", "again", "refused", "resets"))
    return Figures(seconds, calls / CONNECTIONS * LATENCY_S, calls, ok, *counts, cpu_ms=1000 * cpu / calls)


async def _run(settings: ModelSettings, questions: int, store: CallStore) -> tuple[int, float, float]:
    client = Client(settings, store=store, ledger=Ledger(), replay="prefer")
    import_module("openai")  # half a second once, whatever is asked then
    start, cpu = time.perf_counter(), time.process_time()
    ok = await asyncio.gather(*(_question(client, number) for number in range(questions)))
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    await client.aclose()
    store.close()
    return sum(ok), seconds, cpu


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=1000)
    questions = parser.parse_args().questions
    print("clean:      ", measure(questions, faults=False).line(), flush=True)
    print("with faults:", measure(questions, faults=True).line())


if __name__ == "__main__":
    main()
