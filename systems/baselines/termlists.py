"""Index terms of many texts, kept as numbers: a log of a million messages says few different words."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence


class TermLists:
    """The terms of each text, in order and with repeats, by the text's position.

    A term takes four bytes wherever it stands; as a tuple of strings it took eight and more.

    Attributes:
        number: of each term, in the order in which they first came.
    """

    def __init__(self) -> None:
        """Start empty."""
        self.number: dict[str, int] = {}
        self._words: list[str] = []
        self._texts = array("I")
        self._flat = array("I")
        self._ends = array("Q", [0])

    def __len__(self) -> int:
        """Return the number of texts."""
        return len(self._ends) - 1

    def append(self, found: Iterable[str]) -> None:
        """Add a text's terms."""
        begin = len(self._flat)
        for term in found:
            number = self.number.setdefault(term, len(self._words))
            if number == len(self._words):
                self._words.append(term)
                self._texts.append(0)
            self._flat.append(number)
        for number in set(self._flat[begin:]):
            self._texts[number] += 1
        self._ends.append(len(self._flat))

    def __getitem__(self, position: int) -> Sequence[int]:
        """Return the numbers of a text's terms."""
        return self._flat[self._ends[position] : self._ends[position + 1]]

    def length(self, position: int) -> int:
        """Return how many terms a text has."""
        return self._ends[position + 1] - self._ends[position]

    def texts_with(self, number: int) -> int:
        """Return how many texts hold a term."""
        return self._texts[number]

    def word(self, number: int) -> str:
        """Return the term of a number."""
        return self._words[number]

    def words(self, position: int) -> list[str]:
        """Return a text's terms."""
        return [self._words[number] for number in self[position]]
