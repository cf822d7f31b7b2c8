"""Messages and conversations in the project's own JSON terms (also the bare message list of a chat export)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from datetime import datetime, timedelta
from itertools import pairwise
from types import MappingProxyType
from typing import Any

from memtrial.datasets.errors import UserError
from memtrial.datasets.loaders.fields import Row, renamed
from memtrial.datasets.loaders.notes import NoteBook
from memtrial.datasets.schema import Conversation, Message, Participant

DEFAULT_TENANT = "default"
# A pause this long starts a new session where the log names none: longer than a meal, shorter than a night.
SESSION_GAP = timedelta(hours=4)
# No two clocks on Earth differ by more: stamps that run back further mean that the file itself is unsorted.
_WIDEST_ZONES = timedelta(hours=26)

_ALIASES = {
    "id": "message_id",
    "ts": "timestamp",
    "time": "timestamp",
    "datetime": "timestamp",
    "from": "sender",
    "recipient": "receiver",
    "to": "receiver",
    "text": "content",
}
_KNOWN = frozenset(field.name for field in fields(Message)) - {"id", "recipient"} | {"message_id", "receiver"}


class Log:
    """Messages read so far, by conversation in first-seen order; remembers where each id was found."""

    def __init__(self, notes: NoteBook) -> None:
        """Start empty; what is mended goes to ``notes``."""
        self.notes = notes
        self.places: dict[str, str] = {}
        self._messages: dict[str, list[tuple[Message, bool]]] = {}
        self._heads: dict[str, Conversation] = {}

    def add(self, value: Any, where: str, file: str, head: Conversation) -> str:
        """Read one message and return its conversation id; ``head`` gives what the message does not name.

        Raises:
            UserError: a field is wrong, or the id was used before (both places are named).
        """
        row = Row.of(value, where)
        if not row.data.keys() <= _KNOWN:
            row = Row(renamed(row.data, _ALIASES), where)
            row.check_known(_KNOWN, "message", self.notes, file)
        ident = row.ident("message_id")
        if ident in self.places:
            raise UserError(
                f"{where}: message id {ident!r} is used twice, first in {self.places[ident]}; ids must be unique"
            )
        self.places[ident] = where
        timestamp, zoned = row.time("timestamp", self.notes, file)
        conversation = row.ident("conversation_id", head.id)
        message = Message(
            id=ident,
            conversation_id=conversation,
            session_id=row.ident("session_id", ""),
            tenant_id=row.ident("tenant_id", head.tenant_id),
            sender=row.ident("sender"),
            recipient=row.ident("receiver", ""),
            timestamp=timestamp,
            content=row.text("content"),
            source=row.text("source", "chat_log"),
            reply_to=row.ident("reply_to", "") or None,
            extra=_extra(row, head.participants),
        )
        if conversation not in self._heads:
            self._heads[conversation] = replace(head, id=conversation, tenant_id=message.tenant_id)
        elif self._heads[conversation].tenant_id != message.tenant_id:
            other = self._heads[conversation].tenant_id
            raise UserError(
                f"{where}: field 'tenant_id' is {message.tenant_id!r} but conversation {conversation!r} began with "
                f"tenant {other!r}; a conversation belongs to one tenant"
            )
        self._messages.setdefault(conversation, []).append((message, zoned))
        return conversation

    def open(self, head: Conversation) -> None:
        """Register a conversation that may turn out to have no message."""
        self._heads.setdefault(head.id, head)
        self._messages.setdefault(head.id, [])

    def conversations(self) -> tuple[Conversation, ...]:
        """Return the conversations with their messages in time order and every session named."""
        return tuple(
            replace(head, messages=_with_sessions(_in_order(self._messages[ident], ident, self.notes), self.notes))
            for ident, head in self._heads.items()
        )


def read_head(row: Row, default_language: str) -> Conversation:
    """Read the head of a conversation in the project's own format (everything but its messages)."""
    people = tuple(
        Participant(id=p.ident("id"), name=p.text("name", ""), role=p.text("role", ""))
        for p in row.objects("participants")
    )
    return Conversation(
        id=row.ident("id"),
        tenant_id=row.ident("tenant_id", DEFAULT_TENANT),
        messages=(),
        language=row.text("language", default_language),
        title=row.text("title", ""),
        participants=people,
    )


def _extra(row: Row, people: Sequence[Participant]) -> Mapping[str, Any]:
    given = row.data.get("extra")
    if given is not None:
        if not isinstance(given, dict):
            row.fail("extra", "a JSON object")
        return MappingProxyType(given)
    extra: dict[str, Any] = {}
    for person in people:
        if person.id == row.data.get("sender"):
            extra.update({"sender_name": person.name, "sender_role": person.role})
        if person.id == row.data.get("receiver"):
            extra["recipient_name"] = person.name
    return MappingProxyType({key: value for key, value in extra.items() if value})


def _in_order(read: list[tuple[Message, bool]], where: str, notes: NoteBook) -> list[Message]:
    """Put messages in time order, source order breaking ties.

    Zone-less stamps that run backwards by no more than time zones differ say nothing about the order: the source
    order stays, and the stamps that run back are raised to the one before.
    """
    messages = [message for message, _ in read]
    latest, back, naive_back = None, timedelta(0), False
    for message, zoned in read:
        if latest is not None and message.timestamp < latest:
            back = max(back, latest - message.timestamp)
            naive_back = naive_back or not zoned
        latest = message.timestamp if latest is None else max(latest, message.timestamp)
    if not back:
        return messages
    if not naive_back or back > _WIDEST_ZONES or _newest_first(messages):
        notes.count("unsorted", "log", "conversations whose messages were not in time order; sorted")
        # Reversing first keeps the order of equal stamps right in a log that is written newest first.
        return sorted(reversed(messages) if _newest_first(messages) else messages, key=lambda m: m.timestamp)
    return _raised(messages, where, notes)


def _newest_first(messages: Sequence[Message]) -> bool:
    # Two messages alone are more likely two clocks than a log written newest first.
    return len(messages) > 2 and all(a.timestamp >= b.timestamp for a, b in pairwise(messages))


def _raised(messages: Sequence[Message], where: str, notes: NoteBook) -> list[Message]:
    ordered: list[Message] = []
    latest: datetime | None = None
    for message in messages:
        if latest is not None and message.timestamp < latest:
            notes.count("clock_ran_back", where, "zone-less stamps ran backwards; source order kept, stamps raised")
            stated = {"stated_time": message.timestamp.isoformat()}
            message = replace(message, timestamp=latest, extra=MappingProxyType({**message.extra, **stated}))
        latest = message.timestamp
        ordered.append(message)
    return ordered


def _with_sessions(messages: Sequence[Message], notes: NoteBook) -> tuple[Message, ...]:
    missing = sum(not message.session_id for message in messages)
    if not missing:
        return tuple(messages)
    hours = SESSION_GAP // timedelta(hours=1)
    notes.count("session_derived", "log", f"messages without a session, cut at {hours} h of silence", missing)
    done: list[Message] = []
    number, previous = 1, messages[0].timestamp
    for message in messages:
        number += message.timestamp - previous >= SESSION_GAP
        previous = message.timestamp
        done.append(
            message if message.session_id else replace(message, session_id=f"{message.conversation_id}#s{number}")
        )
    return tuple(done)
