"""What a typed value found in a text looks like."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Value:
    """A typed span of a text.

    Attributes:
        kind: date, time, duration, money, percent, number, id, email, phone, url, person, place, quoted.
        start: offset of the first character.
        end: offset after the last character.
        text: the span as written.
        norm: canonical form; equal values of one kind have equal norms (ISO date, plain decimal, lower case).
        say: how an answer states it; differs from ``text`` where a relative date was resolved.
        unit: unit or counted noun that follows a number, lower case, or an empty string.
    """

    kind: str
    start: int
    end: int
    text: str
    norm: str
    say: str
    unit: str = ""


def keep_longest(values: list[Value]) -> list[Value]:
    """Drop values that overlap an earlier one of the list (the list is in order of trust), then sort by place."""
    kept: list[Value] = []
    for value in values:
        if all(value.end <= k.start or value.start >= k.end for k in kept):
            kept.append(value)
    return sorted(kept, key=lambda v: v.start)
