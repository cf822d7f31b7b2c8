"""What a reranker returns, and what all of them do alike: the tier's order, and duplicates merged."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from memtrial.systems.base import Evidence

MOST = 10.0
_NOT_WORD = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Reranked:
    """One item's place.

    Attributes:
        index: of the item as it was given.
        score: from 0 to 10.
        key_sentence: the sentence that matters most, as it stands in the item; "" where none was chosen.
        merged_into: index of the item that says the same and stands for this one; None for an item that stands for itself.
    """

    index: int
    score: float
    key_sentence: str = ""
    merged_into: int | None = None


def tier_order(scores: Sequence[float]) -> list[int]:
    """Return indices, best first; those of equal scores as they were given."""
    return sorted(range(len(scores)), key=lambda index: -scores[index])


def in_range(scores: Sequence[float]) -> list[float]:
    """Return scores brought to [0, 1]: the lowest to 0, the highest to 1; all to 1 where they do not differ."""
    low, high = min(scores, default=0.0), max(scores, default=0.0)
    return [(score - low) / (high - low) if high > low else 1.0 for score in scores]


def repeated(items: Sequence[Evidence], order: Sequence[int], hours: float) -> dict[int, int]:
    """Return which items repeat another word for word, by index, and the index of that other.

    Two people who say the same are two witnesses, and what is said again days later may be a second event: neither is
    merged. Case, punctuation and blanks do not matter.

    Args:
        items: the items.
        order: indices, best first; the better one stands for the others.
        hours: how far apart they may be; 0 merges nothing.
    """
    first: dict[tuple[str, str, str, str], list[int]] = {}
    found: dict[int, int] = {}
    if not hours:
        return found
    for index in order:
        item = items[index]
        text = _NOT_WORD.sub("", unicodedata.normalize("NFKC", item.text).casefold())
        if not text:
            continue
        same = first.setdefault((item.tenant_id, item.sender_id or item.sender, item.kind, text), [])
        near = next((other for other in same if _hours_apart(items[other], item) <= hours), None)
        if near is None:
            same.append(index)
        else:
            found[index] = near
    return found


def arranged(
    order: Iterable[int], scores: Sequence[float], sentences: Mapping[int, str], merged: Mapping[int, int]
) -> list[Reranked]:
    """Return every item once: those that stand for themselves, best first, then the merged ones in the same order."""
    order = list(order)
    own = [Reranked(index, scores[index], sentences.get(index, "")) for index in order if index not in merged]
    others = [
        Reranked(index, scores[index], sentences.get(index, ""), merged[index]) for index in order if index in merged
    ]
    return [*own, *others]


def _hours_apart(one: Evidence, other: Evidence) -> float:
    if one.timestamp is None or other.timestamp is None:
        return 0.0
    return abs((one.timestamp - other.timestamp).total_seconds()) / 3600.0
