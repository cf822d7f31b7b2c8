from __future__ import annotations

from collections.abc import Callable
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
