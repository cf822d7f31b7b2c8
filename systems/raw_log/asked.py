"""The question as a model is shown it, within a budget of tokens."""

from __future__ import annotations

from typing import Any

from memtrial.systems.base import Query, Trace
from memtrial.systems.models.prompts import fence
from memtrial.systems.models.reader.shown import question_row
from memtrial.systems.models.tokens import count_tokens, longest_beginning

Row = dict[str, Any]


def question_within(query: Query, language: str, most: int, trace: Trace) -> tuple[Row, int]:
    """Return a question's row and its tokens; where they pass the budget, its dialogue is left out, then its end."""
    row = question_row(query, language)
    tokens = count_tokens(fence("question", row))
    if tokens > most and "history" in row:
        row = {name: value for name, value in row.items() if name != "history"}
        tokens = count_tokens(fence("question", row))
        trace.warn("the dialogue before the question left out of the prompt, as it passes the budget of tokens")
    if tokens > most:
        spare = {name: value for name, value in row.items() if name != "options"}
        text = longest_beginning(
            query.text, lambda cut: count_tokens(fence("question", {**spare, "text": cut})) <= most, 16 * most
        )
        row = {**spare, "text": text or query.text[:20]}
        tokens = count_tokens(fence("question", row))
        trace.warn("the question shortened in the prompt, as it passes the budget of tokens")
    return row, tokens
