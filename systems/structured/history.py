"""What the versions of a memory say together: which of them hold, and how that came about, in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from memtrial.systems.structured.node import Node

Language = Literal["zh", "en"]
_ABSENT = -1


def standing(history: Sequence[Node], *, complete: bool = True) -> tuple[list[int], bool]:
    """Return the places of the versions that hold at the end of a history, oldest first, and whether that is sure.

    A version takes the place of all before it; one that ``adds`` joins them. A ``retracted`` one takes back the latest
    standing version of its value, or the latest of all where it names none, so that the one before holds again; it never
    holds itself. Neither does an ``injected`` one, which leaves everything as it was.

    Args:
        history: versions of one memory, oldest first.
        complete: False where older ones were left out; then the result is unsure if it depends on them.
    """
    stack: list[int] = [] if complete else [_ABSENT]
    sure = True
    for place, node in enumerate(history):
        fact = node.fact
        if fact.state == "retracted":
            met = [p for p in stack if p != _ABSENT and (not fact.value or history[p].fact.value == fact.value)]
            if met:
                stack.remove(met[-1])
        elif fact.state != "injected":
            stack.append(place)
    held: list[int] = []
    for place in reversed(stack):
        if place == _ABSENT:
            sure = False
            break
        held.append(place)
        if not history[place].fact.adds:
            break
    held.reverse()
    return held, sure
