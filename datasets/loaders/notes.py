"""A notebook for what a loader mends or leaves out, so that nothing is repaired in silence."""

from __future__ import annotations

from collections import Counter

from memtrial.datasets.schema import Note


class NoteBook:
    """Collects notes; ``count`` folds repeats of one kind at one place into a single note with a number."""

    def __init__(self) -> None:
        """Start empty."""
        self._single: list[Note] = []
        self._counts: Counter[tuple[str, str, str]] = Counter()

    def add(self, kind: str, where: str, detail: str = "") -> None:
        """Note one thing."""
        self._single.append(Note(kind, where, detail))

    def count(self, kind: str, where: str, detail: str, n: int = 1) -> None:
        """Note one of many alike; the note's detail will read ``<n> <detail>``."""
        self._counts[kind, where, detail] += n

    def notes(self) -> tuple[Note, ...]:
        """Return all notes: the single ones in order, then the counted ones in first-seen order."""
        counted = (Note(kind, where, f"{n} {detail}") for (kind, where, detail), n in self._counts.items())
        return (*self._single, *counted)
