from __future__ import annotations

import socket
import subprocess
import sysconfig
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from memtrial.datasets.schema import Message
from memtrial.systems.base import Context, Query

START = datetime(2023, 5, 7, 10, 0, tzinfo=UTC)


@pytest.fixture
def say() -> Callable[..., Message]:
    """Makes messages, one minute apart."""

    def make(number: int, content: str, tenant: str = "t1", session: str = "s1", **extra: Any) -> Message:
        return Message(
            id=f"m{number}",
            conversation_id=f"c-{tenant}",
            session_id=session,
            tenant_id=tenant,
            sender=extra.pop("sender", "Ann"),
            recipient="Ben",
            timestamp=START + timedelta(minutes=number),
            content=content,
            extra=extra,
        )

    return make


@pytest.fixture
def ask() -> Callable[..., Query]:
    def make(text: str, tenant: str = "t1", **more: Any) -> Query:
        return Query("q", tenant, "Ann", START + timedelta(days=1), text, **more)

    return make


@pytest.fixture
def context(tmp_path: Path) -> Context:
    (tmp_path / "home").mkdir()
    return Context(tmp_path / "home", tenants=("t1", "t2"), cache_dir=tmp_path / "cache")


@pytest.fixture(scope="session")
def noida(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """An engine that speaks Elasticsearch's interface, one for the session; its address."""
    pytest.importorskip("elasticsearch")
    binary = Path(sysconfig.get_path("purelib")) / "noida_db" / "noida-db"
    if not binary.is_file():
        pytest.skip("noida-db is not installed")
    binary.chmod(0o755)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    data = tmp_path_factory.mktemp("noida")
    command = [
        str(binary), "start", "--only", "elasticsearch", "--elasticsearch-port", str(port), "--data-dir", str(data)
    ]  # fmt: skip
    with (data / "log").open("wb") as log, subprocess.Popen(command, stdout=log, stderr=log) as process:
        try:
            _wait(process, port, data / "log")
            yield f"http://127.0.0.1:{port}"
        finally:
            process.kill()


def _wait(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    until = time.monotonic() + 30
    while time.monotonic() < until:
        if process.poll() is not None:
            pytest.skip(f"noida-db cannot start here: {log.read_text(encoding='utf-8')[:300]}")
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.05)
    pytest.fail("noida-db did not listen within 30 s")
