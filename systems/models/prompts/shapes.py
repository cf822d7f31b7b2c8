"""The form of the reply that each prompt asks for; the order of the fields is the order in which a model writes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, model_validator


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


class Instruction(_Shape):
    """One search instruction.

    ``value`` is a name, a boolean expression, or a phrase; ``start`` and ``end`` are days (YYYY-MM-DD) and belong to
    ``date_range``, where they may be open on one side.
    """

    kind: Literal["date_range", "person", "keyword", "concept", "topic"]
    value: str
    start: str | None
    end: str | None
    certain: bool


class PlanReply(_Shape):
    """Instructions for searching the log."""

    instructions: list[Instruction]


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
    """A score for every message of the batch."""

    items: list[Scored]


SHAPES: Mapping[str, type[BaseModel]] = {
    "gate": GateReply,
    "plan": PlanReply,
    "extract": ExtractReply,
    "rerank": RerankReply,
    "read": ReadReply,
    "summarise": SummaryReply,
}
