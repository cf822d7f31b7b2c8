"""The messages a system was given: each once, by id, by tenant and with their neighbours."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from memtrial.datasets.schema import Message
from memtrial.systems.base import Evidence


class Log:
    """Messages in the order they were given; a position in this list names a message everywhere else."""

    def __init__(self) -> None:
        """Start empty."""
        self.messages: list[Message] = []
        self.position: dict[str, int] = {}
        self.previous: list[int] = []
        self.next: list[int] = []
        self.session: list[int] = []
        self.by_tenant: dict[str, list[int]] = {}
        self._sessions: dict[tuple[str, str, str], int] = {}
        self._last: dict[int, int] = {}

    def __len__(self) -> int:
        """Return how many different messages were given."""
        return len(self.messages)

    def add(self, messages: Iterable[Message]) -> list[int]:
        """Take in messages and return the positions of those not seen before.

        Neighbours are those of the same session of the same conversation; -1 stands for none.
        """
        new: list[int] = []
        for message in messages:
            if message.id in self.position:
                continue
            here = len(self.messages)
            self.messages.append(message)
            self.position[message.id] = here
            self.by_tenant.setdefault(message.tenant_id, []).append(here)
            key = (message.tenant_id, message.conversation_id, message.session_id)
            session = self._sessions.setdefault(key, len(self._sessions))
            before = self._last.get(session, -1)
            if before >= 0:
                self.next[before] = here
            self._last[session] = here
            self.session.append(session)
            self.previous.append(before)
            self.next.append(-1)
            new.append(here)
        return new

    def of(self, tenant: str | None) -> list[int]:
        """Return the positions of a tenant's messages in time order; of all messages for None."""
        return list(range(len(self.messages))) if tenant is None else self.by_tenant.get(tenant, [])

    def around(self, position: int, reach: int) -> list[int]:
        """Return a message and up to ``reach`` neighbours on either side, in time order."""
        found = [position]
        before = after = position
        for _ in range(reach):
            before = self.previous[before] if before >= 0 else -1
            after = self.next[after] if after >= 0 else -1
            if before >= 0:
                found.insert(0, before)
            if after >= 0:
                found.append(after)
        return found


def caption(message: Message) -> str:
    """Return the text derived from an attached picture, or ""."""
    return str(message.extra.get("caption") or "")


def evidence(message: Message, score: float, *, captions: bool = True) -> Evidence:
    """Wrap a message for a ranking; its picture's caption is appended and labelled as one."""
    item = Evidence.of(message, score)
    seen = caption(message) if captions else ""
    if not seen:
        return item
    return replace(item, text=f"{item.text} [image: {seen}]".lstrip())
