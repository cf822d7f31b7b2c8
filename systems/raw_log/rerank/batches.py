"""Dealing messages out to prompts that each hold no more than a budget of tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from memtrial.systems.base import Evidence, Trace
from memtrial.systems.models.prompts import row_text
from memtrial.systems.models.reader.shown import item_row, shorten
from memtrial.systems.models.tokens import count_tokens

Row = dict[str, Any]


def rows_within(items: Sequence[Evidence], order: Sequence[int], most: int, trace: Trace) -> list[tuple[int, Row, int]]:
    """Return index, row and tokens of each item in an order, an over-long one cut with a warning; rows have no id yet."""
    rows = []
    cut = 0
    for index in order:
        item = shorten(items[index], most)
        cut += item is not items[index]
        row = {name: value for name, value in item_row(item).items() if name not in ("id", "ids")}
        rows.append((index, row, count_tokens(row_text({"id": "c100", **row})) + 1))
    if cut:
        trace.warn(f"{cut} of {len(items)} messages shortened to {most} tokens for reranking")
    return rows


def dealt(rows: Sequence[tuple[int, Row, int]], batch: int, budget: int) -> list[list[tuple[int, Row]]]:
    """Deal rows out to as few prompts as hold them.

    They are dealt like cards, so that each prompt has its share of good and bad candidates, and marks given beside good
    ones are comparable with those given beside bad ones.

    Args:
        rows: index, row and tokens; best first.
        batch: most rows of a prompt.
        budget: most tokens of a prompt's rows; a single row may pass it.
    """
    whole = sum(tokens for *_, tokens in rows)
    hands = max(1, -(-len(rows) // batch), -(-whole // max(1, budget)))
    while hands < len(rows) and any(
        sum(tokens for *_, tokens in rows[first::hands]) > budget for first in range(hands)
    ):
        hands += 1
    return [[(index, row) for index, row, _ in rows[first::hands]] for first in range(min(hands, len(rows)))]
