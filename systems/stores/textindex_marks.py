"""Where the words of a query stand in a text.

An engine keeps stems and pieces of words, from which no place in the text can be told; so the analyser goes over the text once
more, and every engine's hits are highlighted alike.
"""

from __future__ import annotations

from collections.abc import Collection

from memtrial.systems.models.analyze import places
from memtrial.systems.stores.textindex import TextQuery, terms_of

Span = tuple[int, int]


def highlights(query: TextQuery, text: str) -> list[Span]:
    """Return the half-open spans of a text, in order and apart, that hold a term which speaks for it in a query."""
    return marks(terms_of(query), text)


def marks(wanted: Collection[str], text: str) -> list[Span]:
    """Return the half-open spans of a text, in order and apart, whose index terms are among those wanted."""
    found: list[Span] = []
    for start, end in sorted((start, end) for term, start, end in places(text) if term in wanted):
        if found and start < found[-1][1]:  # 植物 within 植物园
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found
