"""A client that answers by script and remembers what it was asked."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from pydantic import BaseModel

from memtrial.systems.models.llm.messages import ChatMessage
from memtrial.systems.models.llm.outcome import Reply, Usage

Script = Callable[[str], Any]


def block(prompt: str, tag: str) -> list[Any]:
    """Return the rows of a block, read strictly: its tags stand once and everything between them is JSON."""
    lines = prompt.split("\n")
    assert lines.count(f"<{tag}>") == lines.count(f"</{tag}>") == 1, prompt
    return [json.loads(line) for line in lines[lines.index(f"<{tag}>") + 1 : lines.index(f"</{tag}>")]]


@dataclass
class FakeClient:
    """Replies with what ``script`` makes of the last message: a mapping (validated by the schema) or a whole Reply."""

    script: Script
    calls: list[dict[str, Any]] = field(default_factory=list)
    closed: bool = False
    settings: Any = field(default_factory=lambda: SimpleNamespace(model="fake-1"))

    async def complete(
        self,
        role: str,
        messages: Sequence[ChatMessage],
        *,
        schema: type[BaseModel] | None = None,
        repeat: int = 0,
        phase: str = "query",
        trial: str = "",
    ) -> Reply:
        self.calls.append({"role": role, "messages": messages, "repeat": repeat, "phase": phase, "trial": trial})
        said = self.script(messages[-1]["content"])
        if isinstance(said, Reply):
            return said
        assert schema is not None
        usage = Usage(prompt=100, cached=40, completion=7)
        return Reply("ok", json.dumps(said), schema.model_validate(said), usage, service_ms=20.0, wall_ms=30.0)

    async def aclose(self) -> None:
        self.closed = True
