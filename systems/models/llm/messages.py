"""The messages of a chat, the tools offered in it, and what is done to a text so that it can always be sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NotRequired, TypedDict


class ToolCall(TypedDict):
    """A tool that a model wants used; ``arguments`` is what it wrote, mostly a JSON object, and nothing is sure of it."""

    id: str
    name: str
    arguments: str


class ChatMessage(TypedDict):
    """One message of a prompt.

    An assistant's message may hold ``tool_calls``; the message of the role ``tool`` that answers one names its
    ``tool_call_id``.
    """

    role: Literal["system", "user", "assistant", "tool"]
    content: str
    tool_calls: NotRequired[list[ToolCall]]
    tool_call_id: NotRequired[str]


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that a model may call.

    Attributes:
        name: letters, digits, ``_`` and ``-``.
        description: for the model.
        parameters: JSON schema of the arguments, an object.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]

    def wire(self) -> dict[str, Any]:
        """Return it as a request has it."""
        told = {"name": self.name, "description": self.description, "parameters": dict(self.parameters)}
        return {"type": "function", "function": told}


def clean_text(text: str) -> str:
    """Return the text with halves of surrogate pairs joined, lone ones and NUL replaced by U+FFFD.

    Chat exports hold both, and a request body with a lone surrogate cannot be encoded. NUL is legal JSON, but servers
    that keep prompts in a database refuse it.
    """
    if text.isascii():
        return text.replace("\0", "\ufffd") if "\0" in text else text
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text.replace("\0", "\ufffd")


def clean_messages(messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """Return the messages as they are known to the store."""
    return [_clean(message) for message in messages]


def clean_call(call: ToolCall) -> ToolCall:
    """Return a call whose texts can be sent and kept."""
    return {"id": clean_text(call["id"]), "name": clean_text(call["name"]), "arguments": clean_text(call["arguments"])}


def wire_message(message: ChatMessage) -> dict[str, Any]:
    """Return a message as a request has it."""
    row: dict[str, Any] = {"role": message["role"], "content": message["content"]}
    if calls := message.get("tool_calls"):
        row["content"] = message["content"] or None
        row["tool_calls"] = [
            {"id": c["id"], "type": "function", "function": {"name": c["name"], "arguments": c["arguments"]}}
            for c in calls
        ]
    if "tool_call_id" in message:
        row["tool_call_id"] = message["tool_call_id"]
    return row


def text_of(message: Mapping[str, Any]) -> str:
    """Return everything of a message that a model reads: its text, and the names and arguments of its calls."""
    calls = message.get("tool_calls") or ()
    return "\n".join([str(message.get("content") or ""), *(f"{c['name']} {c['arguments']}" for c in calls)])


def _clean(message: ChatMessage) -> ChatMessage:
    cleaned: ChatMessage = {"role": message["role"], "content": clean_text(message["content"])}
    if calls := message.get("tool_calls"):
        cleaned["tool_calls"] = [clean_call(call) for call in calls]
    if "tool_call_id" in message:
        cleaned["tool_call_id"] = clean_text(message["tool_call_id"])
    return cleaned
