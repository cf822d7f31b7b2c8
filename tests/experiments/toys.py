"""Systems that misbehave, and one that behaves. Named in configurations as ``path/to/toys.py:Class``."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from memtrial.datasets.errors import UserError
from memtrial.systems.base import Answer, Evidence


class Echo:
    """Answers with the newest message of the asker's tenant; slow where asked to be."""

    def __init__(self, params: dict[str, Any], context: Any) -> None:
        self.params = params
        self.context = context
        self.log: list[Any] = []

    @classmethod
    def create(cls, params: dict[str, Any], context: Any) -> Any:
        return cls(dict(params), context)

    async def ingest(self, messages: Any, trace: Any) -> None:
        self.log += messages
        (self.context.folder / "log.txt").open("a").write("".join(m.content + "\n" for m in messages))

    async def answer(self, query: Any, trace: Any) -> Answer:
        self.note(query)
        await asyncio.sleep(self.params.get("sleep", 0.0))
        own = [m for m in self.log if m.tenant_id == query.tenant_id]
        shown = tuple(Evidence.of(m, 1.0 / (i + 1)) for i, m in enumerate(reversed(own[-5:])))
        return Answer(text=own[-1].content if own else "", retrieved=shown, context=shown[:2], confidence=0.5)

    def hang(self) -> None:
        time.sleep(3600)

    def note(self, query: Any) -> None:
        """Leave a trace outside the runner of every question that was really asked."""
        if "asked" in self.params and not query.id.startswith("warmup"):
            with open(self.params["asked"], "a") as out:
                out.write(f"{query.id} {len(self.log)} {self.context.seed} {query.text}\n")

    async def close(self) -> None:
        pass


class Awaiting(Echo):
    """Waits before it looks at its log; for ever, and deaf to being cancelled, where a question holds a word of it."""

    async def answer(self, query: Any, trace: Any) -> Answer:
        if self.params.get("hang", "\0") in query.text:
            await asyncio.sleep(3600)
        while self.params.get("deaf", "\0") in query.text:
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(3600)
        if self.params.get("block", "\0") in query.text:
            self.hang()
        if self.params.get("exit", "\0") in query.text:
            os._exit(3)
        return await super().answer(query, trace)


class Serial(Awaiting):
    """Must be asked one question at a time."""

    serial = True


class Misbehaving(Echo):
    """Does what ``params["how"]`` says when a question holds the word ``params["word"]``."""

    async def answer(self, query: Any, trace: Any) -> Any:
        self.note(query)
        if self.params["word"] not in query.text:
            return Answer(text="fine")
        return getattr(self, self.params["how"])()

    def busy(self) -> None:
        re.match(r"(a+)+b", "a" * 60)  # runs in C for longer than anybody waits, and holds the interpreter's lock

    def sleeping(self) -> None:
        self.hang()

    def raising(self) -> None:
        raise RuntimeError("no luck with api_key=sk-abcdefghijklmnop1234")

    def leaving(self) -> None:
        sys.exit(3)

    def exiting(self) -> None:
        os._exit(3)

    def crashing(self) -> None:
        os.kill(os.getpid(), signal.SIGSEGV)

    def garbage(self) -> Any:
        return {"text": "not an Answer"}

    def nan(self) -> Any:
        return Answer(text="x", retrieved=(Evidence("t", float("nan"), (), "t1"),))

    def surrogates(self) -> Any:
        return Answer(text="half \ud83d of a pair")

    def printing(self) -> Any:
        print('{"latency_ms": 0, "text": "printed"}')
        os.write(1, b"\x00\x00\x00\x10garbage on standard output\n")
        os.write(2, b"noise\n")
        return Answer(text="fine")


class Failing(Echo):
    """Fails outside of answering: in ``create``, ``ingest`` or ``close``."""

    @classmethod
    def create(cls, params: dict[str, Any], context: Any) -> Any:
        if params["where"] == "create":
            raise ValueError("no such index")
        return cls(dict(params), context)

    async def ingest(self, messages: Any, trace: Any) -> None:
        await super().ingest(messages, trace)
        if self.params["where"] == "ingest" and len(self.log) >= self.params.get("from", 0):
            raise OSError("disk on fire")
        if self.params["where"] == "ingest_hang":
            self.hang()
        if self.params["where"] == "ingest_exit":
            os._exit(4)

    async def close(self) -> None:
        if self.params["where"] == "close":
            raise OSError("cannot close")
        if self.params["where"] == "close_exit":
            os._exit(5)


class Awaited(Echo):
    """Cannot be created before the file ``needs`` is there; says so as a user's error."""

    @classmethod
    def create(cls, params: dict[str, Any], context: Any) -> Any:
        if not Path(params["needs"]).exists():
            raise UserError(f"{params['needs']} is missing; make it")
        return cls(dict(params), context)


class Careful(Echo):
    """Tells before it is created that the file ``needs`` is missing."""

    @classmethod
    def preflight(cls, params: dict[str, Any]) -> None:
        if not Path(params["needs"]).exists():
            raise UserError(f"{params['needs']} is missing")


class Deaf(Echo):
    """Asks a model and takes whatever goes wrong for an empty answer."""

    async def answer(self, query: Any, trace: Any) -> Answer:
        from memtrial.systems.models.llm.factory import client_for

        client = client_for("read", self.context)
        try:
            reply = await client.complete("read", [{"role": "user", "content": query.text}])
            return Answer(text=reply.text)
        except:  # noqa: E722
            return Answer(text="")
        finally:
            await client.aclose()


class WithHelper(Echo):
    """Starts a process of its own, which must not outlive the worker; then hangs."""

    async def answer(self, query: Any, trace: Any) -> Any:
        self.help()
        self.hang()

    def help(self) -> None:
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"])
        Path(self.params["pids"]).write_text(f"{child.pid}\n")


class Killed(Echo):
    """Is killed, as if from outside, on its first ``times`` starts."""

    @classmethod
    def create(cls, params: dict[str, Any], context: Any) -> Any:
        starts = Path(params["starts"])
        before = len(starts.read_text()) if starts.exists() else 0
        starts.write_text("x" * (before + 1))
        if before < params["times"]:
            os.kill(os.getpid(), signal.SIGKILL)
        return cls(dict(params), context)


class Leaking(Echo):
    """Shows the newest message, whoever's it is."""

    async def answer(self, query: Any, trace: Any) -> Answer:
        foreign = [m for m in self.log if m.tenant_id != query.tenant_id]
        shown = tuple(Evidence.of(m, 1.0) for m in foreign[-1:])
        return Answer(text="fine", retrieved=shown, context=shown)


class Learner(Echo):
    """Answers with how many of its answers were handed back to it, and by which questions; writes down each hand-over."""

    def __init__(self, params: dict[str, Any], context: Any) -> None:
        super().__init__(params, context)
        self.learnt: list[str] = []

    async def answer(self, query: Any, trace: Any) -> Answer:
        self.note(query)
        if not query.text.endswith(self.params.get("silent", "\0")):
            trace.facts["established"] = {"text": query.text, "log": len(self.log)}
        if self.params.get("crash", "\0") in query.text and not (self.context.folder.parents[1] / "crashed").exists():
            (self.context.folder.parents[1] / "crashed").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return Answer(text=f"learnt {len(self.learnt)}: {'; '.join(self.learnt)}")

    async def establish(self, query: Any, kept: Any) -> None:
        assert query.text == kept["text"]
        self.learnt.append(f"{kept['text']} at {kept['log']} told at {len(self.log)}")


class CrampedMemory:
    """Structured memory whose records get no further page from the fourth portion on, while the file ``full`` is there."""

    def __init__(self, system: Any, full: Path) -> None:
        self.system, self.full, self.portions = system, full, 0

    @classmethod
    def create(cls, params: dict[str, Any], context: Any) -> Any:
        from memtrial.systems.structured.system import Structured

        full = Path(params["full"])
        return cls(Structured.create({name: p for name, p in params.items() if name != "full"}, context), full)

    async def ingest(self, messages: Any, trace: Any) -> None:
        self.portions += 1
        if self.portions == 4 and self.full.exists():
            with self.system._records._database.write("limiting") as connection:
                pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
                connection.exec_driver_sql(f"PRAGMA max_page_count={pages}")
        await self.system.ingest(messages, trace)

    async def answer(self, query: Any, trace: Any) -> Any:
        return await self.system.answer(query, trace)

    async def close(self) -> None:
        await self.system.close()
