"""Messages, queries and answers as JSON, for systems in another process. docs/http_protocol.md describes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from memtrial.datasets.schema import Message
from memtrial.systems.base import Answer, Evidence, Query
from memtrial.systems.validation import InvalidAnswerError

PROTOCOL = 1


def message_out(message: Message) -> dict[str, Any]:
    """Return a message as the server gets it."""
    return {
        "id": message.id,
        "conversation_id": message.conversation_id,
        "session_id": message.session_id,
        "tenant_id": message.tenant_id,
        "sender": message.sender,
        "recipient": message.recipient,
        "timestamp": message.timestamp.isoformat(),
        "content": message.content,
        "source": message.source,
        "reply_to": message.reply_to,
        "extra": {key: _plain(value) for key, value in message.extra.items()},
    }


def query_out(query: Query) -> dict[str, Any]:
    """Return a query as the server gets it."""
    return {
        "id": query.id,
        "tenant_id": query.tenant_id,
        "asker": query.asker,
        "asked_at": query.asked_at.isoformat(),
        "text": query.text,
        "history": [{"speaker": turn.speaker, "text": turn.text} for turn in query.history],
        "language": query.language,
        "options": list(query.options),
    }


def answer_in(reply: object, messages: Mapping[str, Message]) -> Answer:
    """Build the answer from a server's reply; what an item leaves out is taken from the message it names.

    Args:
        reply: decoded JSON, untrusted.
        messages: messages handed over so far, by id.

    Raises:
        InvalidAnswerError: one sentence that says what is wrong with the reply.
    """
    fields = _known(reply, "reply", ("text", "abstained", "citations", "confidence", "retrieved", "context"))
    retrieved = _items(fields.get("retrieved", []), "retrieved", messages)
    return Answer(
        text=fields.get("text", ""),
        abstained=fields.get("abstained", False),
        citations=tuple(_list(fields.get("citations", []), "citations")),
        confidence=fields.get("confidence"),
        retrieved=retrieved,
        context=_items(fields["context"], "context", messages) if "context" in fields else retrieved,
    )


def _items(value: object, where: str, messages: Mapping[str, Message]) -> tuple[Evidence, ...]:
    return tuple(_item(item, f"{where}[{n}]", messages) for n, item in enumerate(_list(value, where)))


def _item(value: object, where: str, messages: Mapping[str, Message]) -> Evidence:
    item = _known(value, where, ("message_ids", "text", "score", "kind", "tenant_id", "timestamp", "sender", "source"))
    ids = tuple(_list(item.get("message_ids", []), f"{where}.message_ids"))
    single = messages.get(ids[0]) if len(ids) == 1 and isinstance(ids[0], str) else None
    base = Evidence.of(single, 0.0) if single is not None else None
    if base is None and ("text" not in item or "tenant_id" not in item):
        raise InvalidAnswerError(f"{where} needs text and tenant_id, since it does not name exactly one known message")
    return Evidence(
        text=item.get("text", base.text if base else ""),
        score=item.get("score", 0.0),
        message_ids=ids,
        tenant_id=item.get("tenant_id", base.tenant_id if base else ""),
        kind=item.get("kind", "message"),
        timestamp=_time(item["timestamp"], where) if item.get("timestamp") else base.timestamp if base else None,
        sender=item.get("sender", base.sender if base else ""),
        source=item.get("source", base.source if base else ""),
        sender_id=base.sender_id if base else "",
        recipient_id=base.recipient_id if base else "",
        conversation_id=base.conversation_id if base else "",
    )


def _time(value: object, where: str) -> datetime:
    try:
        when = datetime.fromisoformat(str(value))
    except ValueError:
        raise InvalidAnswerError(f"{where}.timestamp is {value!r}, not an ISO 8601 time") from None
    return when if when.tzinfo else when.replace(tzinfo=UTC)


def _known(value: object, where: str, allowed: Sequence[str]) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise InvalidAnswerError(f"{where} is {type(value).__name__}, not a JSON object")
    if unknown := [name for name in value if name not in allowed]:
        raise InvalidAnswerError(f"{where} has unknown field {unknown[0]!r}; allowed are {', '.join(allowed)}")
    return value


def _list(value: object, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise InvalidAnswerError(f"{where} is {type(value).__name__}, not a JSON array")
    return value


def _plain(value: object) -> Any:
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    return str(value)
