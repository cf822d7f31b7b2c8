"""From a model's marks for the messages of one prompt to what can be relied on."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from memtrial.systems.models.prompts.shapes import RerankReply

_ID = re.compile(r"[^\d-]*?(\d{1,6})\D*")
_DIGITS = re.compile(r"\d+(?:[.,:/-]\d+)*")
_BLANKS = re.compile(r"\s+")


@dataclass(slots=True)
class Marks:
    """What one reply says.

    Attributes:
        scores: by index.
        sentences: by index; only those that stand in the message.
        same: index and the indices of what is said to be the same.
        odd: how often each kind of fault was met.
    """

    scores: dict[int, float] = field(default_factory=dict)
    sentences: dict[int, str] = field(default_factory=dict)
    same: list[tuple[int, int]] = field(default_factory=list)
    odd: Counter[str] = field(default_factory=Counter)


def read_marks(reply: RerankReply, shown: Sequence[int], texts: Sequence[str]) -> Marks:
    """Return the marks of the messages shown.

    An id that was not shown is dropped; of several marks for one message the first counts; a key sentence that does not
    stand in its message is none; two messages are the same only if their numbers are.

    Args:
        reply: of the model.
        shown: indices of the messages, as ``c1``, ``c2``, … stand for them.
        texts: of all messages, by index.
    """
    marks = Marks()
    if reply.unread:
        marks.odd["unreadable"] = len(reply.unread)
    for row in reply.items:
        index = _index(row.id, shown)
        if index is None:
            marks.odd["unknown_id"] += 1
            continue
        if index in marks.scores:
            marks.odd["repeated_id"] += 1
            continue
        marks.scores[index] = row.score
        if row.key_sentence.strip():
            if (sentence := _standing(row.key_sentence, texts[index])) is not None:
                marks.sentences[index] = sentence
            else:
                marks.odd["not_verbatim"] += 1
        if row.same_as is not None:
            other = _index(row.same_as, shown)
            if other is None or other == index:
                marks.odd["unknown_same_as"] += 1
            elif _numbers(texts[other]) != _numbers(texts[index]):
                marks.odd["other_numbers"] += 1
            else:
                marks.same.append((index, other))
    if missing := len(set(shown) - set(marks.scores)):
        marks.odd["missing"] = missing
    return marks


def groups(pairs: Sequence[tuple[int, int]], order: Sequence[int]) -> dict[int, int]:
    """Return which items are merged, by index, and into which: of those that are the same, the first of the order stays.

    Circles and chains (a like b, b like c, c like a) make one group.
    """
    root: dict[int, int] = {}

    def find(index: int) -> int:
        while (above := root.get(index, index)) != index:
            root[index] = root.get(above, above)
            index = above
        return index

    for one, other in pairs:
        root[find(one)] = find(other)
    first: dict[int, int] = {}
    merged: dict[int, int] = {}
    for index in order:
        stays = first.setdefault(find(index), index)
        if stays != index:
            merged[index] = stays
    return merged


def placed(tier: Sequence[int], scores: Mapping[int, float]) -> tuple[list[int], list[float]]:
    """Return all items in their new order, and their scores by index.

    Those with a score are sorted by it, by the tier where scores are equal. One without keeps its place of the tier, and
    takes the score of the item that stands before it there (of the one behind it on the first place).

    Args:
        tier: indices in the tier's order.
        scores: by index.
    """
    ranked = iter(sorted((index for index in tier if index in scores), key=lambda index: -scores[index]))
    order = [next(ranked) if index in scores else index for index in tier]
    values = dict(scores)
    last = next((scores[index] for index in order if index in scores), 0.0)
    for index in order:
        last = values.setdefault(index, last)
    return order, [values[index] for index in range(len(tier))]


def _index(id: str, shown: Sequence[int]) -> int | None:
    found = _ID.fullmatch(id.strip())
    number = int(found[1]) if found else 0
    return shown[number - 1] if 1 <= number <= len(shown) else None


def _standing(sentence: str, text: str) -> str | None:
    """Return a sentence as it stands in a text: blanks, case and marks at its ends do not matter."""
    wanted = _BLANKS.sub(" ", sentence).strip(" .。!！?？\"'“”‘’…")
    if not wanted:
        return None
    pattern = r"\s+".join(map(re.escape, wanted.split(" ")))
    found = re.search(pattern + r"[.。!！?？]?", text, re.IGNORECASE)
    return found.group() if found else None


def _numbers(text: str) -> frozenset[str]:
    return frozenset(_DIGITS.findall(text))
