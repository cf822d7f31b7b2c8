"""Tokens of a call: what the server says, checked, and counted here where it says nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from memtrial.systems.models.llm.messages import ChatMessage, text_of
from memtrial.systems.models.llm.outcome import Usage
from memtrial.systems.models.tokens import count_tokens

# What OpenAI's own recipe adds for the marks around each message and for the opening of the reply.
_PER_MESSAGE, _PER_REPLY = 4, 3
# Other models' tokenizers need fewer tokens for the same text, but not half as many.
_FAR_BELOW, _SMALL = 0.6, 500
# Bytes per token in running text of any language lie well below; only beyond is the prompt worth counting.
_SUSPICIOUS_BYTES_PER_TOKEN = 4.5


def count_prompt(messages: Sequence[ChatMessage]) -> int:
    """Count the tokens of a prompt with the run's own tokenizer."""
    return sum(count_tokens(text_of(m)) + _PER_MESSAGE for m in messages) + _PER_REPLY


def read_usage(told: object, messages: Sequence[ChatMessage], written: str) -> tuple[Usage, tuple[str, ...]]:
    """Return the usage of a reply and the flags it raises.

    Args:
        told: the reply's ``usage``, whatever that is.
        messages: what was sent.
        written: what came back.
    """
    told = told if isinstance(told, Mapping) else {}
    flags: list[str] = []
    prompt, completion = _count(told.get("prompt_tokens")), _count(told.get("completion_tokens"))
    cached = _count(_part(told, "prompt_tokens_details", "cached_tokens")) or 0
    reasoning = _count(_part(told, "completion_tokens_details", "reasoning_tokens")) or 0
    total = _count(told.get("total_tokens"))
    # Some services count reasoning beside the completion; their total gives it away.
    if prompt and completion is not None and reasoning and total == prompt + completion + reasoning:
        completion += reasoning
    estimated = False
    if not prompt:  # no prompt is empty: 0 means that nobody counted
        prompt, estimated = count_prompt(messages), True
    elif _cut_by_server(prompt, messages):
        flags.append("truncated_by_server")
    if completion is None or (completion == 0 and written):
        completion, estimated = count_tokens(written) + reasoning, True
    if estimated:
        flags.append("usage_missing")
    return Usage(prompt, min(cached, prompt), completion, min(reasoning, completion), estimated), tuple(flags)


def _cut_by_server(reported: int, messages: Sequence[ChatMessage]) -> bool:
    """Whether the server counted far fewer tokens than it was sent: a context cut in silence."""
    size = sum(len(text_of(m).encode("utf-8")) for m in messages)
    if size <= _SUSPICIOUS_BYTES_PER_TOKEN * reported + _SMALL:
        return False
    own = count_prompt(messages)
    return own - reported > _SMALL and reported < _FAR_BELOW * own


def _part(told: Mapping[str, Any], group: str, name: str) -> object:
    details = told.get(group)
    return details.get(name) if isinstance(details, Mapping) else None


def _count(value: object) -> int | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < 1e12:
        return None
    return int(value)
