"""The context, cut into sentences and weighed against the question."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from memtrial.systems.base import Evidence
from memtrial.systems.models.reader import cues
from memtrial.systems.models.reader.need import Need
from memtrial.systems.models.reader.text import sentences, terms

_NEIGHBOUR = timedelta(minutes=30)
_AUTHORITY = {"erp": 1.0, "crm": 1.0, "wms": 1.0, "billing": 1.0, "wiki": 0.85, "policy": 0.85, "docs": 0.85, "email": 0.6,
              "e-mail": 0.6, "ticket": 0.6, "note": 0.5, "chat_log": 0.5, "chat": 0.5, "sms": 0.5, "forum": 0.2, "social": 0.2}  # fmt: skip
DEFAULT_AUTHORITY = 0.5


@dataclass(slots=True)
class Passage:
    """One sentence of one item.

    Attributes:
        item: the item that holds it.
        index: place of the item in the context as shown.
        text: the sentence.
        cover: share of the question's weight that the sentence itself matches, in [0, 1].
        item_cover: the same for the whole item.
        near_cover: the same for the item said just before it.
        age: 0 for the newest item of the context, 1 for the oldest.
        authority: of the source, in [0, 1].
        withdrawn: a later message takes it back.
    """

    item: Evidence
    index: int
    text: str
    cover: float
    item_cover: float
    near_cover: float
    age: float
    authority: float
    withdrawn: bool = False

    @property
    def relevance(self) -> float:
        """How much of the question the passage and what surrounds it cover; ranks passages before they are read."""
        return self.cover + 0.5 * self.item_cover + 0.25 * self.near_cover


def weigh(need: Need, context: Sequence[Evidence]) -> list[Passage]:
    """Cut trusted items into sentences and measure how much of the question each covers.

    Term weights are the question's, times the inverse document frequency over the context itself. Items that give
    orders to their reader are left out.
    """
    usable = [(i, item) for i, item in enumerate(context) if item.text.strip() and not cues.is_instruction(item.text)]
    item_terms = {i: terms(item.text) | terms(item.sender) for i, item in usable}
    frequency = Counter(t for found in item_terms.values() for t in found if t in need.terms)
    total = len(usable)
    weight = {t: w * math.log(1 + (total + 1) / (frequency[t] + 0.5)) for t, w in need.terms.items()}
    norm = sum(weight.values()) or 1.0

    def cover(found: frozenset[str]) -> float:
        return sum(w for t, w in weight.items() if t in found) / norm

    order = _by_time(usable)
    place = {i: n for n, i in enumerate(order)}
    withdrawn = _withdrawn(context, order)
    covers = {i: cover(found) for i, found in item_terms.items()}
    passages = []
    for i, item in usable:
        near = order[place[i] - 1] if place[i] else None
        near_cover = covers[near] if near is not None and _adjacent(context[near], item) else 0.0
        age = 1 - place[i] / (total - 1) if total > 1 else 0.0
        authority = _AUTHORITY.get(item.source.lower(), DEFAULT_AUTHORITY)
        for sentence in sentences(item.text):
            passages.append(
                Passage(
                    item, i, sentence, cover(terms(sentence)), covers[i], near_cover, age, authority, i in withdrawn
                )
            )
    return passages


def _by_time(usable: Sequence[tuple[int, Evidence]]) -> list[int]:
    """Return item places from oldest to newest; without times, the order shown."""
    if any(item.timestamp is None for _, item in usable):
        return [i for i, _ in usable]
    return [i for i, _ in sorted(usable, key=lambda pair: pair[1].timestamp.timestamp() if pair[1].timestamp else 0.0)]


def _adjacent(before: Evidence, item: Evidence) -> bool:
    if before.timestamp is None or item.timestamp is None:
        return False
    return item.timestamp - before.timestamp <= _NEIGHBOUR


def _withdrawn(context: Sequence[Evidence], order: Sequence[int]) -> set[int]:
    """Return items that the next message of the same sender takes back."""
    taken_back: set[int] = set()
    last_of: dict[str, int] = {}
    for i in order:
        item = context[i]
        if item.sender in last_of and cues.is_withdrawal(item.text):
            taken_back.add(last_of[item.sender])
        last_of[item.sender] = i
    return taken_back
