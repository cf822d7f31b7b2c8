"""What goes wrong around the whole system: one sentence each, and nothing is lost once the fault is mended."""

from __future__ import annotations

import asyncio
import errno
import sqlite3
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from memtrial.datasets.errors import UnavailableError, UserError
from memtrial.datasets.schema import Message
from memtrial.systems.base import Context, Query, Trace
from memtrial.systems.stores.records import MemoryRecords
from memtrial.systems.structured.needs import POSTGRES
from memtrial.systems.structured.system import Structured

Say = Callable[..., Message]
Ask = Callable[..., Query]
FAST: dict[str, Any] = {"vectors": {"embedder": "tfidf_svd", "dims": 16}, "outbox": {"pause_s": 0}}


def orders(say: Say, first: int, count: int = 6) -> list[Message]:
    return [
        say(n, f"New order KD-{2000 + n}: K{20000 + n} Ann Lee, Halden {n}, total €{n}.90", sender="ERP")
        for n in range(first, first + count)
    ]


def with_system(context: Context, act: Callable[[Structured], Awaitable[Any]], **params: Any) -> Any:
    """Open the system of the folder, do something, close it."""

    async def go() -> Any:
        system = Structured.create({**FAST, **params}, context)
        try:
            return await act(system)
        finally:
            await system.close()

    return asyncio.run(go())


def told(failure: pytest.ExceptionInfo[UserError]) -> str:
    text = str(failure.value)
    assert "\n" not in text and "Traceback" not in text
    return text


async def check(system: Structured, say: Say, ask: Ask) -> None:
    """Hand over everything again: each message has its memory, in SQL and in both indexes, and is found."""
    trace = Trace()
    await system.ingest(orders(say, 1, 12), trace)
    assert trace.warnings == []
    ids = sorted(id for _, some in system._records.ids() for id in some)
    assert ids and sorted(system._words.ids) == ids == sorted(system._meaning.ids)
    assert system._records.known([f"m{n}" for n in range(1, 13)]) == {f"m{n}" for n in range(1, 13)}
    for number in (2, 9):
        answer = await system.answer(ask(f"What is the total of order KD-{2000 + number}?"), Trace())
        assert any(item.message_ids == (f"m{number}",) for item in answer.retrieved)


def test_a_folder_of_another_schema_version(context: Context, say: Say, ask: Ask) -> None:
    with_system(context, lambda s: s.ingest(orders(say, 1), Trace()))
    file = context.folder / "records" / "records.sqlite"

    def stamp(version: int) -> int:
        with sqlite3.connect(file) as database:
            (before,) = database.execute("SELECT schema_version FROM stamp").fetchone()
            database.execute("UPDATE stamp SET schema_version = ?", (version,))
        database.close()
        return int(before)

    made = stamp(99)
    with pytest.raises(UserError, match="use another folder and ingest again, or the memtrial that made it") as failure:
        with_system(context, lambda s: s.ingest([], Trace()))
    assert f"{file} has schema version 99, this memtrial reads and writes {made}" in told(failure)
    stamp(made)
    with_system(context, lambda s: check(s, say, ask))


def test_another_embedders_dimensions(context: Context, say: Say, ask: Ask) -> None:
    with_system(context, lambda s: s.ingest(orders(say, 1), Trace()))
    with pytest.raises(UserError) as failure:
        with_system(context, lambda s: s.ingest([], Trace()), vectors={"embedder": "tfidf_svd", "dims": 20})
    assert "was made for vectors of 16 dimensions, but the embedder's have 20; use another folder" in told(failure)
    with_system(context, lambda s: check(s, say, ask))


def test_a_folder_that_is_open_elsewhere(context: Context, say: Say, ask: Ask) -> None:
    async def act(system: Structured) -> None:
        await system.ingest(orders(say, 1), Trace())
        with pytest.raises(UserError, match=r"(full-text index|vector store) .* is already open") as failure:
            Structured.create(FAST, context)
        told(failure)
        await check(system, say, ask)  # who came first is not disturbed

    with_system(context, act)
    with_system(context, lambda s: check(s, say, ask))


def test_a_locked_shard(context: Context, say: Say, ask: Ask) -> None:
    import fcntl

    with_system(context, lambda s: s.ingest(orders(say, 1), Trace()))
    (lock,) = context.folder.glob("vectors/*.lock")
    with lock.open("w") as holder:
        fcntl.flock(holder, fcntl.LOCK_EX)
        with pytest.raises(UserError, match=r"vector store .* is already open, here or in another process"):
            Structured.create(FAST, context)
    # What had been opened by then was let go of.
    with_system(context, lambda s: check(s, say, ask))


def test_a_locked_database(context: Context, say: Say, ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(MemoryRecords.__init__.__kwdefaults__, "patience_s", 0.05)

    async def act(system: Structured) -> None:
        await system.ingest(orders(say, 1), Trace())
        holder = sqlite3.connect(context.folder / "records" / "records.sqlite", isolation_level=None)
        holder.execute("BEGIN IMMEDIATE")
        with pytest.raises(UnavailableError, match=r"records\.sqlite is locked by another process") as failure:
            await system.ingest(orders(say, 7), Trace())
        told(failure)
        # What was written before can still be asked for.
        answer = await system.answer(ask("What is the total of order KD-2002?"), Trace())
        assert any(item.message_ids == ("m2",) for item in answer.retrieved)
        holder.execute("ROLLBACK")
        holder.close()
        await check(system, say, ask)  # the same system takes the same messages

    with_system(context, act)


def test_a_full_disk_under_the_records(context: Context, say: Say, ask: Ask) -> None:
    async def act(system: Structured) -> None:
        await system.ingest(orders(say, 1), Trace())
        with system._records._database.write("limiting") as connection:
            pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
            connection.exec_driver_sql(f"PRAGMA max_page_count={pages}")
        with pytest.raises(UnavailableError, match="is full while writing") as failure:
            await system.ingest(orders(say, 7, 400), Trace())
        assert "nothing of this step was kept, everything before it was; free some space and run the same" in told(
            failure
        )

    with_system(context, act)
    with_system(context, lambda s: check(s, say, ask))


@pytest.mark.parametrize(
    "error",
    [OSError(errno.ENOSPC, "No space left on device"), Exception("Service error: No space left on device (28)")],
)
@pytest.mark.parametrize(
    ("name", "of"),
    [("words", lambda s: s._words), ("vectors", lambda s: s._meaning.vectors._store)],
    ids=["words", "vectors"],
)
@pytest.mark.parametrize("step", ["add", "commit"])
def test_a_full_disk_under_an_index(
    context: Context,
    say: Say,
    ask: Ask,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    of: Callable[[Structured], Any],
    step: str,
    error: Exception,
) -> None:
    """No answer without the memories that the index could not take: the work stops, and they wait."""

    def full(*given: Any) -> Any:
        raise error

    async def act(system: Structured) -> None:
        await system.ingest(orders(say, 1), Trace())
        with monkeypatch.context() as patch:
            patch.setattr(of(system), step, full)
            with pytest.raises(UnavailableError, match=f"the disk is full while the {name} index takes in") as failure:
                await system.ingest(orders(say, 7), Trace())
        assert "of them wait to be indexed and none is lost; free some space and run the same command again" in told(
            failure
        )
        assert system._records.waiting() > 0
        await check(system, say, ask)

    with_system(context, act)
    with_system(context, lambda s: check(s, say, ask))


def test_a_server_of_records_that_goes_away(
    context: Context, say: Say, ask: Ask, mortal_server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(POSTGRES, mortal_server.url())
    server = {"records": {"backend": "postgres"}}

    async def act(system: Structured) -> None:
        await system.ingest(orders(say, 1), Trace())
        mortal_server.stop()
        for step in (
            lambda: system.ingest(orders(say, 7), Trace()),
            lambda: system.answer(ask("What is the total of order KD-2002?"), Trace()),
        ):
            with pytest.raises(UnavailableError, match=r"PostgreSQL at .* cannot be reached while") as failure:
                await step()
            assert mortal_server.password not in told(failure)
        mortal_server.start()
        await check(system, say, ask)  # with a new connection

    with_system(context, act, **server)
    with_system(context, lambda s: check(s, say, ask), **server)


def test_no_address_of_a_server(context: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(POSTGRES, raising=False)
    with pytest.raises(UnavailableError, match=f"records.backend is 'postgres', but .* {POSTGRES} is not set"):
        Structured.create({"records": {"backend": "postgres"}}, context)


def test_the_folder_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="for the memory records cannot be made: Not a directory"):
        Structured.create(FAST, Context(tmp_path / "file" / "home"))
