"""Facts, nodes and candidates for tests of judgement, made in one line."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from memtrial.systems.structured.node import Fact, Node, memory_key, node_id
from memtrial.systems.structured.trust import Trust, Weighed

NOW = datetime(2024, 6, 30, 12, 0, tzinfo=UTC)


def fact(text: str = "The kettle costs €40.", *, days: float = 0.0, tenant: str = "t1", **more: Any) -> Fact:
    """A fact recorded some days before NOW."""
    more.setdefault("message_ids", (f"m-{text[:12]}-{days}",))
    return Fact(text, tenant, recorded_at=NOW - timedelta(days=days), **more)


def node(text: str = "The kettle costs €40.", *, version: int = 1, **more: Any) -> Node:
    """One version of a memory."""
    made = fact(text, **more)
    return Node(node_id(made), memory_key(made), version, None, made)


def candidate(
    text: str = "The kettle costs €40.", *, score: float = 1.0, trust: float | None = None, **more: Any
) -> Weighed:
    """A candidate with or without a trust."""
    return Weighed(node(text, **more), score, None if trust is None else Trust(trust, {}))
