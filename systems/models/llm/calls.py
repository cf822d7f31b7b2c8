"""The shape of a stored call, its line in the file, and the key that says when two calls are the same."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import orjson

from memtrial.systems.models.llm.messages import ToolCall
from memtrial.systems.models.llm.outcome import Usage

GOOD = "ok"
DUPLICATE = "duplicate"

_KEY_VERSION = 1


@dataclass(frozen=True, slots=True)
class StoredCall:
    """What is kept of a call.

    Attributes:
        status: as in ``Reply.status``; ``duplicate`` for a reply that was paid for although another process had just stored
            one to the same request. Only ``ok`` is served.
        text: the reply's text, whole.
        finish_reason: as the server gave it.
        usage: tokens, or None where nobody knows them.
        service_ms: time the server took for what it answered; None where it answered nothing.
        wall_ms: time from asking to having, retries and queueing included.
        attempts: requests sent.
        flags: as in ``Reply.flags``.
        model: the model asked for.
        base_url: the endpoint without credentials and query; "" for the default one.
        echoed: the model that the server says has answered.
        role: role, phase and trial of the first asker.
        detail: one sentence on what went wrong, or "".
        tool_calls: as in ``Reply.tool_calls``.
        at: when it was stored (ISO, UTC); filled in by the store where empty.
    """

    status: str
    text: str = ""
    finish_reason: str = ""
    usage: Usage | None = None
    service_ms: float | None = None
    wall_ms: float = 0.0
    attempts: int = 1
    flags: tuple[str, ...] = ()
    model: str = ""
    base_url: str = ""
    echoed: str = ""
    role: str = ""
    phase: str = ""
    trial: str = ""
    detail: str = ""
    at: str = ""
    tool_calls: tuple[ToolCall, ...] = ()

    @property
    def good(self) -> bool:
        """Whether it may be served as an answer."""
        return self.status == GOOD


def call_key(
    identity: Mapping[str, Any],
    messages: Sequence[Mapping[str, Any]],
    schema: Mapping[str, Any] | None,
    repeat: int,
    tools: Sequence[Mapping[str, Any]] = (),
) -> str:
    """Return the key of a call: SHA-256 over everything its reply depends on, as canonical JSON.

    Args:
        identity: model, base_url, temperature, seed, limits: ``ModelSettings.identity()``.
        messages: the chat messages.
        schema: JSON schema of the reply, or None.
        repeat: number of the repeat; at temperature 0 repeats share a call, otherwise (also where the temperature is the
            server's own) they never do.
        tools: what is offered, in order.
    """
    temperature = identity.get("temperature")
    fixed = temperature is not None and float(temperature) == 0.0
    content = {
        "v": _KEY_VERSION,
        "identity": {**identity, "base_url": bare_url(str(identity.get("base_url") or ""), query=True)},
        "messages": [dict(m) for m in messages],
        "schema": schema,
        "repeat": 0 if fixed else repeat,
    }
    if tools:  # else the key is what it was before there were any
        content["tools"] = list(tools)
    text = json.dumps(_plain(content), sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def bare_url(url: str, *, query: bool = False) -> str:
    """Return a URL without user, password and fragment, its host in lower case, no slash at its end.

    Args:
        url: an address, or "".
        query: keep the query (it may choose a version of the interface), for a key but never for the file.
    """
    try:
        parts = urlsplit(url.strip())
    except ValueError:
        return ""  # no address at all; rather nothing than a part of it that may be a password
    host = parts.netloc.rpartition("@")[2].lower()
    return urlunsplit((parts.scheme.lower(), host, parts.path.rstrip("/"), parts.query if query else "", ""))


def _plain(value: Any) -> Any:
    """Return the value with 1.0 as 1, so that a number keyed in YAML either way is the same call."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value


def encode(key: str, call: StoredCall) -> bytes:
    """Return the line of a call, without what is empty."""
    row = asdict(call)
    return (
        orjson.dumps({"key": key, **{name: value for name, value in row.items() if value not in ("", None, ())}})
        + b"\n"
    )


def decode(line: bytes) -> tuple[str, StoredCall] | None:
    """Return key and call of a line, or None where it is no call."""
    try:
        row = orjson.loads(line)
        usage = row.pop("usage", None)
        key = row.pop("key")
        flags = tuple(row.pop("flags", ()))
        calls = tuple(
            ToolCall(id=str(c["id"]), name=str(c["name"]), arguments=str(c["arguments"]))
            for c in row.pop("tool_calls", ())
        )
        call = StoredCall(usage=None if usage is None else Usage(**usage), flags=flags, tool_calls=calls, **row)
    except (ValueError, TypeError, KeyError, AttributeError):
        return None
    return (key, call) if all(isinstance(text, str) for text in (key, call.status, call.text)) else None
