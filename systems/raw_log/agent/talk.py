"""The dialogue with the model: what is sent, how a reply is read, and what is taken out when it grows too long."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from memtrial.systems.base import Span, Trace
from memtrial.systems.models.llm.messages import ChatMessage, Tool, ToolCall, text_of
from memtrial.systems.models.llm.outcome import Reply
from memtrial.systems.models.llm.structured import UnusableError, read_object
from memtrial.systems.models.prompts.shapes import AgentAction
from memtrial.systems.models.role import ModelRole
from memtrial.systems.models.tokens import count_tokens
from memtrial.systems.raw_log.agent.shown import Board
from memtrial.systems.raw_log.agent.tools import Call

Protocol = Literal["tools", "json"]
_TAKEN_OUT = "(taken out to make room)"


@dataclass(slots=True)
class Said:
    """One reply of the model, read.

    Attributes:
        reply: as it came.
        calls: what it wants done.
        text: its words, where it calls nothing.
    """

    reply: Reply
    calls: list[Call]
    text: str = ""


@dataclass(slots=True)
class _Result:
    """Where a result stands in the dialogue, and the messages that it shows in full."""

    place: int
    whole: list[int]


@dataclass
class Talk:
    """One question's dialogue.

    Attributes:
        role: asks the model.
        protocol: how tools are called.
        messages: everything said so far.
        board: what was shown.
        most: tokens of a prompt.
        taken_out: results that gave way.
    """

    role: ModelRole
    protocol: Protocol
    messages: list[ChatMessage]
    board: Board
    most: int
    taken_out: int = 0
    _results: list[_Result] = field(default_factory=list)
    _calls: int = 0

    async def hear(self, offered: Sequence[Tool], trace: Trace, span: Span) -> Said:
        """Ask for the next reply; it is added to the dialogue."""
        self._make_room(offered)
        tools = offered if self.protocol == "tools" else ()
        reply = await self.role.converse(self.messages, trace, span, tools=tools, schema=None if tools else AgentAction)
        if not reply.ok:
            return Said(reply, [])
        if reply.tool_calls:
            return Said(reply, self._called(reply))
        self.messages.append({"role": "assistant", "content": reply.text})
        action = reply.parsed if isinstance(reply.parsed, AgentAction) else _action_in(reply.text)
        if action is None:
            return Said(reply, [], reply.text)
        return Said(reply, [Call(action.tool.strip(), action.arguments)], reply.text)

    def tell(self, call: Call | None, text: str, whole: Sequence[int] = ()) -> None:
        """Add what a call brought, or a word of ours where there was none.

        Args:
            call: what is answered.
            text: for the model; chat content in it is fenced.
            whole: numbers of the messages that it shows in full.
        """
        if call is not None and call.id:
            self.messages.append({"role": "tool", "content": text, "tool_call_id": call.id})
        else:
            self.messages.append({"role": "user", "content": text})
        if whole:
            self._results.append(_Result(len(self.messages) - 1, list(whole)))

    def _called(self, reply: Reply) -> list[Call]:
        """Add a reply with calls to the dialogue, under ids of our own: a server's are random, and no call would be found again."""
        told: list[ToolCall] = []
        calls: list[Call] = []
        for call in reply.tool_calls:
            self._calls += 1
            id = f"call{self._calls:05d}"
            told.append({"id": id, "name": call["name"], "arguments": call["arguments"]})
            calls.append(Call(call["name"], _arguments(call["arguments"]), id))
        self.messages.append({"role": "assistant", "content": reply.text, "tool_calls": told})
        return calls

    def _make_room(self, offered: Sequence[Tool]) -> None:
        tools = count_tokens(json.dumps([tool.wire() for tool in offered])) if offered else 0
        while self._results and tools + self.tokens() > self.most:
            oldest = self._results.pop(0)
            self.messages[oldest.place]["content"] = _TAKEN_OUT
            self.board.forget(oldest.whole)
            self.taken_out += 1

    def tokens(self) -> int:
        """Return the tokens of the dialogue so far."""
        return sum(count_tokens(text_of(message)) + 4 for message in self.messages)


def _arguments(text: str) -> dict[str, Any] | None:
    if not text.strip():
        return {}
    try:
        given = json.loads(text)
        if isinstance(given, str):  # some servers wrap it twice
            given = json.loads(given)
    except (ValueError, RecursionError):
        return None
    return given if isinstance(given, dict) else None


def _action_in(text: str) -> AgentAction | None:
    """Return the call that stands in a text, as models write it whose server does not read it for them."""
    try:
        found = read_object(text, AgentAction)
    except UnusableError:
        return None
    return found if isinstance(found, AgentAction) else None
