from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from memtrial.systems.stores.records import MemoryRecords
from memtrial.systems.structured.node import Fact

START = datetime(2024, 3, 1, 9, 0, tzinfo=UTC)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Any]:
    """A real server, one for the whole session; it listens on a socket in its own folder."""
    pgserver = pytest.importorskip("pgserver")
    # Not below pytest's folder, which the server's own user may not enter and whose path may be too long for a socket.
    folder = tempfile.mkdtemp(prefix="memtrial-pg-")
    try:
        server = pgserver.get_server(folder, cleanup_mode="delete")
    except Exception as error:  # noqa: BLE001 - whatever keeps it from starting
        pytest.skip(f"PostgreSQL cannot start here: {error!r:.200}")
    yield server
    server.cleanup()


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest) -> str:
    """Either engine: "" is SQLite."""
    return str(request.getfixturevalue("postgres_server").get_uri()) if request.param == "postgres" else ""


@pytest.fixture
def open_records(tmp_path: Path, url: str) -> Iterator[Callable[..., MemoryRecords]]:
    """Opens records of either engine, in one folder unless another is named; the schemas are dropped at the end."""
    opened: list[MemoryRecords] = []

    def open_one(folder: str = "r", settings: dict[str, Any] | None = None) -> MemoryRecords:
        opened.append(MemoryRecords(tmp_path / folder, settings, url=url))
        return opened[-1]

    yield open_one
    for records in opened:
        records.drop()


@pytest.fixture
def claim() -> Callable[..., Fact]:
    """Makes versions of one memory (does the Nova 10 support USB-C?), a day apart by number."""

    def make(number: int, value: str = "", **more: Any) -> Fact:
        text = more.pop("text", f"claim {number}: {value}")
        more = {"subject": "product:nova 10", "attribute": "usb_c", "tenant_id": "t1", "value_kind": "boolean"} | more
        more.setdefault("message_ids", (f"m{number}",))
        more.setdefault("recorded_at", START + timedelta(days=number))
        more.setdefault("entities", tuple(filter(None, (more["subject"],))))
        return Fact(text=text, value=value, **more)

    return make
