"""Questions and items as a model is shown them: rows of data, and no more of them than a budget holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from memtrial.systems.base import Evidence, Query
from memtrial.systems.models.prompts import row_text
from memtrial.systems.models.tokens import CUT, count_tokens, longest_beginning

_WEEKDAYS = {
    "en": ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
    "zh": ("星期一", "星期二", "星期三", "星期四", "星期五", "星期六", "星期日"),
}


@dataclass(frozen=True, slots=True)
class Fitted:
    """What fits.

    Attributes:
        items: in the order they came in, an over-long one cut.
        left_out: how many do not fit.
        cut: how many are cut.
    """

    items: tuple[Evidence, ...]
    left_out: int
    cut: int


def question_row(query: Query, language: str) -> dict[str, Any]:
    """Return a question as a row; what it does not have is left out."""
    at, comma = query.asked_at, "，" if language == "zh" else ", "
    row: dict[str, Any] = {"text": query.text}
    if query.options:
        row["options"] = list(query.options)
    if query.asker:
        row["asker"] = query.asker
    row["asked_at"] = f"{at:%Y-%m-%d %H:%M}{comma}{_WEEKDAYS[language][at.weekday()]}"
    if query.history:
        row["history"] = [{"from": turn.speaker, "text": turn.text} for turn in query.history]
    return row


def item_row(item: Evidence) -> dict[str, Any]:
    """Return an item as a row: ids, time, people, source, trust, text; what it does not have is left out."""
    row: dict[str, Any] = {}
    if len(item.message_ids) == 1:
        row["id"] = item.message_ids[0]
    elif item.message_ids:
        row["ids"] = list(item.message_ids)
    if item.timestamp is not None:
        row["time"] = f"{item.timestamp:%Y-%m-%d %H:%M}"
    if item.kind != "message":
        row["kind"] = item.kind
    if item.sender:
        row["from"] = item.sender
    if item.sender_id and item.sender_id != item.sender:
        row["from_id"] = item.sender_id
    if item.recipient_id:
        row["to"] = item.recipient_id
    if item.source:
        row["source"] = item.source
    if item.trust is not None:
        row["trust"] = round(item.trust, 2)
        if item.status:
            row["status"] = item.status
    row["text"] = item.text
    return row


def fit(items: Sequence[Evidence], budget: int) -> Fitted:
    """Choose the best items that fit a budget of tokens.

    The best comes first, whatever the order shown. One that does not fit is left out and the next is tried, so that a
    pasted book does not hide everything behind it; only where nothing fits at all is the best item cut.

    Args:
        items: as shown.
        budget: tokens of all rows together.
    """
    kept: dict[int, Evidence] = {}
    left = budget
    order = sorted(range(len(items)), key=lambda place: (-items[place].score, place))
    for place in order:
        cost = _cost(items[place])
        if cost <= left:
            kept[place] = items[place]
            left -= cost
    cut = 0
    if not kept and order and (short := _shortened(items[order[0]], budget)) is not None:
        kept[order[0]], cut = short, 1
    return Fitted(tuple(kept[place] for place in sorted(kept)), len(items) - len(kept), cut)


def shorten(item: Evidence, budget: int) -> Evidence:
    """Return an item as it is if its row fits a budget of tokens, else its longest beginning that does, marked as cut."""
    if _cost(item) <= budget:
        return item
    return _shortened(item, budget) or replace(item, text=CUT.strip())


def _cost(item: Evidence) -> int:
    return count_tokens(row_text(item_row(item))) + 1  # the line break


def _shortened(item: Evidence, budget: int) -> Evidence | None:
    """Return the longest beginning of an item that fits, marked as cut; None where not even one character does."""
    text = longest_beginning(item.text, lambda cut: _cost(replace(item, text=cut)) <= budget, 16 * budget)
    return None if text is None else replace(item, text=text)
