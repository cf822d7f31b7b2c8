"""The messages of a chat, and what is done to a text so that it can always be sent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypedDict


class ChatMessage(TypedDict):
    """One message of a prompt."""

    role: Literal["system", "user", "assistant"]
    content: str


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
    """Return the messages as they are sent, and as they are known to the store."""
    return [{"role": message["role"], "content": clean_text(message["content"])} for message in messages]
