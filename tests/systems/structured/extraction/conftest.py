import asyncio
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from memtrial.datasets.schema import Message
from memtrial.systems.base import Context, Trace
from memtrial.systems.structured.extraction import ExtractionParams, Extractor
from memtrial.systems.structured.node import Extraction, Fact

START = datetime(2024, 5, 6, 9, 0, tzinfo=UTC)
ROLES = {"c": "customer", "a": "agent"}
NAMES = {"c": "Dana Roth", "a": "Ivo Hartl", "c2": "Dana Rothe"}

Line = tuple[str, str]


def message(number: int, who: str, text: str, *, tenant: str = "t", at: datetime | None = None, **more: Any) -> Message:
    """A chat turn of the customer ``c``, the agent ``a`` or a person; or a record of a system such as ``erp``."""
    record = who in ("erp", "crm", "wiki", "forum", "email")
    customer = more.pop("customer", "c")
    name = more.pop("name", NAMES.get(who, who))
    role = ROLES.get(who[:1], "") if who in NAMES else ""
    return Message(
        f"{tenant}-{number}",
        who if record else customer,
        f"s{more.pop('session', 1)}",
        tenant,
        f"{tenant}:{who}",
        tenant if record else f"{tenant}:{customer if who == 'a' else 'a'}",
        at or START + timedelta(minutes=number),
        text,
        who if record else "chat_log",
        None,
        {"sender_name": name} | ({"sender_role": role} if role else {}),
    )


def log(*lines: Line, tenant: str = "t") -> list[Message]:
    return [message(n, who, text, tenant=tenant) for n, (who, text) in enumerate(lines, 1)]


Extract = Callable[..., Extraction]


@pytest.fixture
def extract() -> Extract:
    """Extract keyless from lines or messages; ``portion`` hands them over that many at a time."""

    def run(*lines: Line | Message, portion: int = 10_000, **params: Any) -> Extraction:
        messages = [line if isinstance(line, Message) else message(n, *line) for n, line in enumerate(lines, 1)]
        extractor = Extractor(ExtractionParams(**params), Context(Path(".")))
        return extract_all(extractor, messages, portion)

    return run


def extract_all(extractor: Extractor, messages: Sequence[Message], portion: int = 10_000) -> Extraction:
    out = Extraction()
    for start in range(0, len(messages), portion):
        part = asyncio.run(extractor.extract(messages[start : start + portion], Trace()))
        out.facts += part.facts
        out.entities += part.entities
        out.edges += part.edges
        out.skipped |= part.skipped
        out.flagged |= part.flagged
    return out


def typed(out: Extraction, attribute: str) -> list[Fact]:
    return [f for f in out.facts if f.attribute == attribute]
