"""What the versions of a memory say together: which of them hold, and how that came about, in words."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from memtrial.systems.structured.node import Node

Language = Literal["zh", "en"]
_ABSENT = -1
_WORDS = {
    "en": {
        "since": "since {day}",
        "before": "before that, from {day}: {said}",
        "more": "and {count} earlier",
        "gone": "taken back on {day}",
        "yes": "yes",
        "no": "no",
        "": "nothing",
        "join": "; ",
        "wrap": "{text} ({told})",
    },
    "zh": {
        "since": "自{day}起",
        "before": "此前，自{day}起：{said}",
        "more": "更早还有{count}次",
        "gone": "已于{day}撤回",
        "yes": "是",
        "no": "否",
        "": "无",
        "join": "；",
        "wrap": "{text}（{told}）",
    },
}


def standing(history: Sequence[Node], *, complete: bool = True) -> tuple[list[int], bool]:
    """Return the places of the versions that hold at the end of a history, oldest first, and whether that is sure.

    A version takes the place of all before it; one that ``adds`` joins them. A ``retracted`` one takes back its value,
    whoever said it how often, or the latest value where it names none, so that what stood before holds again; it never
    holds itself. Neither does an ``injected`` one, which leaves everything as it was.

    Args:
        history: versions of one memory, oldest first.
        complete: False where older ones were left out; then the result is unsure if it depends on them.
    """
    stack: list[int] = [] if complete else [_ABSENT]
    for place, node in enumerate(history):
        fact = node.fact
        if fact.state == "retracted":
            if not fact.value and stack[-1:] == [_ABSENT]:
                continue  # of what was left out; it stays unknown
            value = fact.value or (history[stack[-1]].fact.value if stack else "")
            stack = [p for p in stack if p == _ABSENT or history[p].fact.value != value] if value else stack[:-1]
        elif fact.state != "injected":
            stack.append(place)
    held: list[int] = []
    for place in reversed(stack):
        if place == _ABSENT:
            return held[::-1], False
        held.append(place)
        if not history[place].fact.adds:
            break
    return held[::-1], True


def tell(history: Sequence[Node], language: Language = "en", *, most: int = 3) -> str:
    """Tell what holds, since when, and what held before: ``… (since 2024-05-01; before that, from 2024-03-02: no)``.

    Days are those on which it was said. A version that only repeats what stood is no change. Where all was taken back,
    the last that stood is told with the day on which it was.

    Args:
        history: versions of one memory, oldest first; "" is returned for none.
        language: of the words between the facts, which keep their own.
        most: how many earlier states are told; the others are counted.
    """
    words = _WORDS[language]
    phases = _phases(history)
    if not phases:
        return ""
    begun, held = phases[-1]
    if held:
        told = [words["since"].format(day=begun.date())]
        text = words["join"].join(node.fact.text for node in held)
        earlier = phases[:-1]
    else:
        told = [words["gone"].format(day=begun.date())]
        text = words["join"].join(node.fact.text for node in phases[-2][1])
        earlier = phases[:-2]
    for begun, held in earlier[::-1][:most]:
        said = words["join"].join(words.get(value, value) for value in _values(held)) or words[""]
        told.append(words["before"].format(day=begun.date(), said=said))
    if len(earlier) > most:
        told.append(words["more"].format(count=len(earlier) - most))
    return words["wrap"].format(text=text, told=words["join"].join(told))


def _phases(history: Sequence[Node]) -> list[tuple[datetime, list[Node]]]:
    """Return from when on which versions held; a phase ends when another value does."""
    phases: list[tuple[datetime, list[Node]]] = []
    for end in range(1, len(history) + 1):
        places, _ = standing(history[:end])
        held = [history[place] for place in places]
        if _values(held) != (_values(phases[-1][1]) if phases else []):
            phases.append((history[end - 1].fact.recorded_at, held))
    return phases


def _values(held: Sequence[Node]) -> list[str]:
    return [node.fact.value or node.fact.text for node in held]
