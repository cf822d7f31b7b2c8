"""A system behind HTTP: JSON over a few POST requests, described in docs/http_protocol.md."""

from __future__ import annotations

import asyncio
import http.client
import json
import uuid
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Self
from urllib.parse import urlsplit

from memtrial.datasets.errors import UserError
from memtrial.datasets.schema import Message
from memtrial.systems.base import Answer, Context, LlmCall, Query, Trace
from memtrial.systems.external.wire import PROTOCOL, answer_in, message_out, query_out
from memtrial.systems.validation import InvalidAnswerError, validate_answer

_PORTION = 500
_CONNECT_S = 10.0


class HttpSystem:
    """A system behind an HTTP address; its parameters are passed on to it as they are."""

    gated = False
    address = ""

    def __init__(self, params: Mapping[str, Any], context: Context) -> None:
        """Use ``create``."""
        self._params = dict(params)
        self._context = context
        self._instance = uuid.uuid4().hex
        self._messages: dict[str, Message] = {}
        self._open = False

    @classmethod
    def create(cls, params: Mapping[str, Any], context: Context) -> Self:
        """Make the client; the server is told when the first call comes."""
        return cls(params, context)

    @classmethod
    def code_fingerprint(cls) -> str:
        """Return the version that the server states; its source cannot be seen from here."""
        info = _call(cls.address, "/info", {"protocol": PROTOCOL})
        return f"{info.get('name', '')}@{info.get('version', '')}" if isinstance(info, Mapping) else ""

    async def ingest(self, messages: Sequence[Message], trace: Trace) -> None:
        """Hand over the messages not handed over before, in portions."""
        await self._ensure_open()
        new = [m for m in {m.id: m for m in messages}.values() if m.id not in self._messages]
        for start in range(0, len(new), _PORTION):
            part = new[start : start + _PORTION]
            reply = await self._post("/ingest", {"messages": [message_out(m) for m in part]})
            self._messages |= {m.id: m for m in part}
            _add_to_trace(reply, trace)

    async def answer(self, query: Query, trace: Trace) -> Answer:
        """Ask, and check the reply.

        Raises:
            InvalidAnswerError: the reply breaks the protocol.
        """
        await self._ensure_open()
        reply = await self._post("/answer", {"query": query_out(query)})
        if isinstance(reply, Mapping):
            _add_to_trace(reply, trace)
            reply = {name: value for name, value in reply.items() if name != "trace"}
        return validate_answer(answer_in(reply, self._messages), self._messages.keys())

    async def close(self) -> None:
        """Tell the server that the instance is done with."""
        if self._open:
            self._open = False
            await self._post("/close", {})

    async def _ensure_open(self) -> None:
        if not self._open:
            context = self._context
            body = {
                "protocol": PROTOCOL,
                "params": self._params,
                "seed": context.seed,
                "tenants": list(context.tenants),
                # The same name for the same folder, so that a server that persists can find its state again.
                "store": context.folder.name,
            }
            await self._post("/open", body)
            self._open = True

    async def _post(self, path: str, body: Mapping[str, Any]) -> Any:
        request = partial(_call, self.address, path, {"instance": self._instance, **body})
        return await asyncio.get_running_loop().run_in_executor(None, request)


def http_system(address: str) -> type[HttpSystem]:
    """Return a class of systems behind one address.

    Raises:
        UserError: the address is not ``http://host[:port][/path]``.
    """
    parts = urlsplit(address)
    try:
        valid = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        valid = False
    if not valid or parts.query or parts.fragment:
        raise UserError(f"system {address!r} is not an address of the form http://host:port")
    return type("HttpSystem", (HttpSystem,), {"address": address.rstrip("/"), "__doc__": HttpSystem.__doc__})


def _call(address: str, path: str, body: Mapping[str, Any]) -> Any:
    """Send one request and return the decoded reply; how long an answer may take is the runner's to say."""
    parts = urlsplit(address)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = kind(parts.hostname or "", parts.port, timeout=_CONNECT_S)
    payload = json.dumps(body, allow_nan=False).encode("ascii")
    try:
        connection.connect()
        connection.sock.settimeout(None)
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        connection.request("POST", parts.path.rstrip("/") + path, payload, headers)
        response = connection.getresponse()
        text = response.read().decode("utf-8", "replace")
    except (OSError, http.client.HTTPException) as error:
        raise UserError(f"system {address} did not answer {path}: {type(error).__name__}: {error}") from None
    finally:
        connection.close()
    if response.status != 200:
        raise RuntimeError(f"system {address} answered {path} with status {response.status}: {text[:300]}")
    try:
        return json.loads(text, parse_constant=_no_constant)
    except ValueError as error:
        raise InvalidAnswerError(
            f"system {address} answered {path} with what is not JSON ({error}): {text[:200]!r}"
        ) from None


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _add_to_trace(reply: object, trace: Trace) -> None:
    """Take over what the server says about its own work."""
    told = reply.get("trace") if isinstance(reply, Mapping) else None
    if told is None:
        return
    if not isinstance(told, Mapping):
        raise InvalidAnswerError(f"reply.trace is {type(told).__name__}, not a JSON object")
    try:
        calls = [_llm_call(call) for call in told.get("llm_calls", [])]
        gates = [(str(g["gate"]), bool(g["open"]), str(g.get("reason", ""))) for g in told.get("gates", [])]
        warnings = [str(warning) for warning in told.get("warnings", [])]
    except (TypeError, KeyError, AttributeError, ValueError) as error:
        raise InvalidAnswerError(f"reply.trace breaks the protocol: {error}") from None
    trace.llm_calls += calls
    for gate, opened, reason in gates:
        trace.gate(gate, open=opened, reason=reason)
    for warning in warnings:
        trace.warn(warning)


def _llm_call(told: Mapping[str, Any]) -> LlmCall:
    return LlmCall(
        role=str(told["role"]),
        model=str(told["model"]),
        prompt_tokens=int(told["prompt_tokens"]),
        completion_tokens=int(told["completion_tokens"]),
        cached_tokens=int(told.get("cached_tokens", 0)),
        estimated=bool(told.get("estimated", False)),
    )
