"""The form of the reply that each prompt asks for; the order of the fields is the order in which a model writes them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal, Self, get_args

from pydantic import BaseModel, ConfigDict, ModelWrapValidatorHandler, PrivateAttr, model_validator

from memtrial.systems.models.prompts.marks import mended_row, rows_of_marks


class _Shape(BaseModel):
    # A model may write the id 12 as a number, and add a field of its own.
    model_config = ConfigDict(extra="ignore", coerce_numbers_to_str=True)


class ReadReply(_Shape):
    """Answer to a question; the messages it rests on come first, so that they are looked for first."""

    citations: list[str]
    answer: str
    abstain: bool
    confidence: float | None

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not self.abstain and not self.answer.strip():
            raise ValueError("answer is empty although abstain is false")
        return self


class SummaryLine(_Shape):
    """One statement and the ids of the messages that it was taken from."""

    text: str
    sources: list[str]


class SummaryReply(_Shape):
    """The summary as it stands after the new messages."""

    lines: list[SummaryLine]


class GateReply(_Shape):
    """Whether the log has to be looked up; the reason comes first, so that it is thought of first."""

    reason: str
    lookup: bool


PlanKind = Literal["date_range", "person", "keyword", "concept", "topic", "cue"]
_SAME_KIND = {
    "date": "date_range", "dates": "date_range", "time": "date_range", "time_range": "date_range", "daterange": "date_range",
    "participant": "person", "participants": "person", "people": "person", "persons": "person", "sender": "person",
    "keywords": "keyword", "concepts": "concept", "topics": "topic", "cues": "cue", "intent": "cue", "sentiment": "cue",
}  # fmt: skip


class Instruction(_Shape):
    """One search instruction.

    ``value`` is a name, a boolean expression, or a phrase; ``start`` and ``end`` are days (YYYY-MM-DD) and belong to
    ``date_range``, where they may be open on one side. ``cue`` is an attitude or act of speech.
    """

    kind: PlanKind
    value: str
    start: str | None
    end: str | None
    certain: bool


class PlanReply(_Shape):
    """Instructions for searching the log.

    One instruction that cannot be read does not cost the others: it is left out, and ``unread`` says what it was.
    """

    instructions: list[Instruction]
    _unread: tuple[str, ...] = PrivateAttr(())

    @property
    def unread(self) -> tuple[str, ...]:
        """What could not be read, each shortened."""
        return self._unread

    @model_validator(mode="wrap")
    @classmethod
    def _readable(cls, value: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        rows = value.get("instructions") if isinstance(value, Mapping) else None
        if isinstance(rows, Mapping):
            rows = [rows]
        if not isinstance(rows, list):
            return handler(value)
        read = [(row, _mended(row)) for row in rows]
        reply = handler({"instructions": [mended for _, mended in read if mended is not None]})
        reply._unread = tuple(repr(row)[:80] for row, mended in read if mended is None)
        return reply


def _mended(row: Any) -> dict[str, Any] | None:
    """Return an instruction with what a model left out or named otherwise; None where it can be no instruction."""
    if isinstance(row, Instruction):
        return row.model_dump()
    if not isinstance(row, Mapping):
        return None
    kind = str(row.get("kind", row.get("type", ""))).strip().lower().replace("-", "_").replace(" ", "_")
    kind = _SAME_KIND.get(kind, kind)
    value = row.get("value", "")
    if isinstance(value, list):
        value = " OR ".join(map(str, value)) if kind == "keyword" else ", ".join(map(str, value))
    if kind not in get_args(PlanKind) or not isinstance(value, (str, int, float)):
        return None
    days = {name: str(row[name]) if row.get(name) is not None else None for name in ("start", "end")}
    certain = row.get("certain", False)
    return {
        "kind": kind,
        "value": str(value),
        **days,
        "certain": certain is True or str(certain).lower() in ("true", "yes", "1"),
    }


class Checked(_Shape):
    """What became clear of one instruction of a plan, by its number."""

    number: int
    verdict: Literal["certain", "possible", "wrong"]


class CheckReply(_Shape):
    """Verdicts over the instructions of a plan."""

    verdicts: list[Checked]


class Fact(_Shape):
    """One statement that stands by itself."""

    fact: str
    type: Literal["profile", "preference", "event", "plan", "state", "complaint", "product", "stock", "policy", "other"]
    entities: list[str]
    state: str
    event_time: str | None
    sources: list[str]


class Relation(_Shape):
    """Two entities and what joins them."""

    subject: str
    relation: str
    object: str
    sources: list[str]


class ExtractReply(_Shape):
    """What is worth remembering of some messages."""

    facts: list[Fact]
    relations: list[Relation]
    intent: str


class Scored(_Shape):
    """How much one message helps with the question, from 0 to 10; ``same_as`` names an earlier one that says the same."""

    id: str
    score: float
    key_sentence: str
    same_as: str | None


class RerankReply(_Shape):
    """A score for every message of the batch.

    One line that cannot be read does not cost the others: it is left out, and ``unread`` says what it was.
    """

    items: list[Scored]
    _unread: tuple[str, ...] = PrivateAttr(())

    @property
    def unread(self) -> tuple[str, ...]:
        """What could not be read, each shortened."""
        return self._unread

    @model_validator(mode="wrap")
    @classmethod
    def _readable(cls, value: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        rows = rows_of_marks(value)
        if rows is None:
            return handler(value)
        read = [(row, mended_row(row)) for row in rows]
        reply = handler({"items": [mended for _, mended in read if mended is not None]})
        reply._unread = tuple(repr(row)[:80] for row, mended in read if mended is None)
        return reply


class AgentAction(_Shape):
    """One step of an agent that writes its calls as text: a tool and its arguments."""

    tool: str
    arguments: dict[str, Any]

    @model_validator(mode="before")
    @classmethod
    def _as_models_write_it(cls, value: Any) -> Any:
        """Take the names that models use, arguments that are JSON in a text, and arguments beside the tool."""
        if not isinstance(value, Mapping):
            return value
        function = value.get("function")
        row: Mapping[str, Any] = function if isinstance(function, Mapping) else value
        tool = next((row[n] for n in ("tool", "name", "action", "tool_name") if isinstance(row.get(n), str)), None)
        if tool is None:
            return value
        given = next((row[n] for n in ("arguments", "parameters", "args", "action_input", "input") if n in row), None)
        if isinstance(given, str):
            try:
                given = json.loads(given)
            except ValueError:
                return {"tool": tool, "arguments": given}  # which is refused, and told why
        if given is None:
            given = {n: v for n, v in row.items() if n not in ("tool", "action", "tool_name", "thought", "reason")}
            if tool == row.get("name"):
                given.pop("name", None)
        return {"tool": tool, "arguments": given}


SHAPES: Mapping[str, type[BaseModel]] = {
    "gate": GateReply,
    "plan": PlanReply,
    "check": CheckReply,
    "extract": ExtractReply,
    "rerank": RerankReply,
    "read": ReadReply,
    "agent": AgentAction,
    "summarise": SummaryReply,
}
