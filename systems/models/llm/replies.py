"""From the bytes of a chat completion to an outcome; nothing a server sends makes this raise."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from memtrial.systems.models.llm.faults import Heard, RawReply, heard_from_error, heard_from_error_object
from memtrial.systems.models.llm.messages import ChatMessage, ToolCall, clean_call, clean_text
from memtrial.systems.models.llm.outcome import Status
from memtrial.systems.models.llm.usage import read_usage

_THINKING = re.compile(r"\s*<think(?:ing)?>(.*?)(?:</think(?:ing)?>|\Z)", re.DOTALL)
_SNAPSHOT = re.compile(r"[-@:](?:\d{4}-?\d{2}-?\d{2}|latest|preview|\d{4})$")


def read_reply(raw: RawReply, model: str, messages: Sequence[ChatMessage], *, tools: bool = False) -> Heard:
    """Return what a response says.

    Args:
        raw: the response.
        model: the model asked for.
        messages: what was sent.
        tools: some were offered.
    """
    if not 200 <= raw.code < 300:
        return heard_from_error(raw)
    flags: list[str] = []
    try:
        text = raw.body.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = raw.body.decode("utf-8", "replace")
        flags.append("invalid_utf8")
    if not text.strip():
        return _bad(f"HTTP {raw.code} with an empty body")
    try:
        told: Any = _joined_events(text) if text.lstrip().startswith(("data:", "event:", ":")) else json.loads(text)
    except (ValueError, RecursionError):
        kind = "a web page" if re.match(r"\s*<(!doctype|html)", text, re.IGNORECASE) else "what is not JSON"
        return _bad(f"HTTP {raw.code} with {kind}: {text[:120]}")
    if not isinstance(told, Mapping):
        return _bad(f"a completion must be a JSON object, not {type(told).__name__}")
    if told.get("error") and not told.get("choices"):
        return heard_from_error_object(told["error"], raw)
    choices = told.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], Mapping):
        return _bad("a completion without choices")
    if len(choices) > 1:
        flags.append("extra_choices")
    choice = min(
        (c for c in choices if isinstance(c, Mapping)),
        key=lambda c: c["index"] if isinstance(c.get("index"), int) else 0,
    )
    return _read_choice(choice, told, model, messages, flags, tools)


def _read_choice(
    choice: Mapping[str, Any],
    told: Mapping[str, Any],
    model: str,
    messages: Sequence[ChatMessage],
    flags: list[str],
    tools: bool,
) -> Heard:
    message = choice.get("message")
    finish = choice.get("finish_reason")
    finish = finish if isinstance(finish, str) else ""
    if not isinstance(message, Mapping):
        if isinstance(choice.get("text"), str):  # the older completions shape
            message = {"content": choice["text"]}
        elif finish != "content_filter":
            return _bad("a choice without a message")
        else:
            message = {}
    content = clean_text(_text_of(message.get("content")))
    refusal = clean_text(_text_of(message.get("refusal")))
    reasoning = _text_of(message.get("reasoning_content")) or _text_of(message.get("reasoning"))
    calls = _calls_of(message)
    written = "".join(call["name"] + call["arguments"] for call in calls)
    usage, found = read_usage(told.get("usage"), messages, reasoning + content + refusal + written)
    flags += found
    if _THINKING.match(content):
        content = _THINKING.sub("", content, count=1).lstrip()
        flags.append("thinking_removed")
    echoed = told.get("model")
    echoed = clean_text(echoed) if isinstance(echoed, str) else ""
    if echoed and not _same_model(echoed, model):
        flags.append("model_mismatch")
    called = bool(calls or message.get("tool_calls") or message.get("function_call"))
    status, detail = _outcome(finish, content, refusal, called)
    if status == "tool_call" and tools:
        status, detail = ("ok", "") if calls else ("invalid", "the model's tool call cannot be read")
    return Heard(
        status,
        text=refusal if status == "refused" else content,
        usage=usage,
        detail=detail,
        model=echoed,
        finish_reason=finish,
        flags=tuple(flags),
        tool_calls=tuple(calls) if tools and status == "ok" else (),
        retry=status == "server_error",
    )


def _outcome(finish: str, content: str, refusal: str, calls: bool) -> tuple[Status, str]:
    if finish == "content_filter":
        return "filtered", "the service's content filter cut the reply"
    if refusal.strip():
        return "refused", "the model refused"
    if finish == "length":
        return "truncated", "the reply reached max_tokens"
    if finish == "error":
        return "server_error", "the service reports an error while the model wrote"
    if calls or finish in ("tool_calls", "function_call"):
        return "tool_call", "the model called a tool, and none was offered"
    if not content.strip():
        return "empty", "the reply has no text"
    return "ok", ""


def _calls_of(message: Mapping[str, Any]) -> list[ToolCall]:
    """Return the calls of a message that have a name; arguments that are no text are written as JSON."""
    told = message.get("tool_calls")
    rows = [row.get("function") for row in told if isinstance(row, Mapping)] if isinstance(told, list) else []
    ids = [row.get("id") for row in told if isinstance(row, Mapping)] if isinstance(told, list) else []
    if not rows and message.get("function_call"):  # the older form
        rows, ids = [message["function_call"]], [""]
    calls = []
    for row, id in zip(rows, ids, strict=True):
        if not isinstance(row, Mapping) or not isinstance(row.get("name"), str) or not row["name"].strip():
            continue
        given = row.get("arguments")
        text = given if isinstance(given, str) else "" if given is None else json.dumps(given, ensure_ascii=False)
        calls.append(
            clean_call({"id": id if isinstance(id, str) else "", "name": row["name"].strip(), "arguments": text})
        )
    return calls


def _text_of(content: object) -> str:
    """Return text given as a string or as a list of parts."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        parts = [p if isinstance(p, str) else p.get("text") if isinstance(p, Mapping) else None for p in content]
        return "".join(p for p in parts if isinstance(p, str))
    return ""


def _joined_events(text: str) -> dict[str, Any]:
    """Return the completion that a stream spells out; some proxies stream although nobody asked them to.

    Raises:
        ValueError: the stream broke off: without a finish reason nobody knows what is missing.
    """
    content, refusal, finish, usage, model = "", "", "", None, ""
    tools: dict[int, dict[str, Any]] = {}
    for line in text.splitlines():
        data = line[5:].strip() if line.startswith("data:") else ""
        if not data or data == "[DONE]":
            continue
        told = json.loads(data)
        if not isinstance(told, Mapping):
            raise ValueError("an event must be a JSON object")  # noqa: TRY004 (one kind of error for what cannot be read)
        if told.get("error"):
            return {"error": told["error"]}
        usage = told.get("usage") or usage
        model = told.get("model") or model
        choices = told.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], Mapping) else {}
        delta = choice.get("delta")
        if isinstance(delta, Mapping):
            content += _text_of(delta.get("content"))
            refusal += _text_of(delta.get("refusal"))
            _join_calls(tools, delta.get("tool_calls"))
        finish = choice.get("finish_reason") or finish
    if not finish:
        raise ValueError("the stream broke off")
    message: dict[str, Any] = {"content": content, "refusal": refusal, "tool_calls": list(tools.values()) or None}
    return {"choices": [{"message": message, "finish_reason": finish}], "usage": usage, "model": model}


def _join_calls(calls: dict[int, dict[str, Any]], told: object) -> None:
    """Add what an event says of the calls: the name comes whole, the arguments in pieces."""
    for place, row in enumerate(told if isinstance(told, list) else ()):
        if not isinstance(row, Mapping):
            continue
        number = row["index"] if isinstance(row.get("index"), int) else place
        call = calls.setdefault(number, {"id": "", "function": {"name": "", "arguments": ""}})
        call["id"] = row.get("id") or call["id"]
        function = row.get("function")
        if isinstance(function, Mapping):
            call["function"]["name"] = function.get("name") or call["function"]["name"]
            call["function"]["arguments"] += _text_of(function.get("arguments"))


def _same_model(echoed: str, asked: str) -> bool:
    """Whether two names are of one model: a dated snapshot, a path or a vendor's prefix do not matter."""
    names = [_SNAPSHOT.sub("", n.lower().rstrip("/").rpartition("/")[2].removesuffix(".gguf")) for n in (echoed, asked)]
    return names[0] == names[1]


def _bad(detail: str) -> Heard:
    return Heard("bad_reply", detail=detail, retry=True, billable=True)
