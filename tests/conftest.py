from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest


def pytest_configure() -> None:
    """Keep what Python compiles, even where the environment says not to.

    The suite starts hundreds of processes, and each would compile the package anew, which is a third of their start.
    """
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False


@pytest.fixture(scope="session")
def shared_dir() -> Path:
    """Real data beside the repository; tests that need it skip where it is absent."""
    folder = Path(__file__).resolve().parents[2] / "shared"
    if not (folder / "data").is_dir():
        pytest.skip("real data folder ../shared/data is not here")
    return folder


class MortalServer:
    """A PostgreSQL server that a test may stop and start again; its address holds a password that must show up nowhere."""

    password = "hunt@r/2:%x"

    def __init__(self, pgserver: Any, folder: str) -> None:
        self._pgserver, self._folder = pgserver, folder
        self._server: Any = None
        self.start()

    def url(self) -> str:
        from sqlalchemy.engine import make_url

        return make_url(self._server.get_uri()).set(password=self.password).render_as_string(hide_password=False)

    def start(self) -> None:
        self._server = self._server or self._pgserver.get_server(self._folder, cleanup_mode="stop")

    def stop(self) -> None:
        self._server.cleanup()
        self._server = None

    def remove(self) -> None:
        self.start()
        self._server.cleanup_mode = "delete"
        self._server.cleanup()


@pytest.fixture
def mortal_server() -> Iterator[MortalServer]:
    pgserver = pytest.importorskip("pgserver")
    # Not below pytest's folder, which the server's own user may not enter and whose path may be too long for a socket.
    folder = tempfile.mkdtemp(prefix="memtrial-pg-")
    try:
        server = MortalServer(pgserver, folder)
    except Exception as error:  # noqa: BLE001 - whatever keeps it from starting
        pytest.skip(f"PostgreSQL cannot start here: {error!r:.200}")
    yield server
    server.remove()
