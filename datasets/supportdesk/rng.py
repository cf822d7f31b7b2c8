"""Random choices that are the same on every machine and every Python version."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class Rng:
    """Integer-only choices over a Mersenne Twister seeded from a text.

    ``random.Random`` promises a stable ``getrandbits`` for a given integer seed, but not stable ``choice`` or ``shuffle``.
    """

    __slots__ = ("_bits",)

    def __init__(self, *key: object) -> None:
        """Seed from the parts of ``key``; the same parts give the same choices."""
        text = "/".join(str(part) for part in key)
        self._bits = random.Random(int.from_bytes(hashlib.sha256(text.encode()).digest(), "big")).getrandbits

    def below(self, n: int) -> int:
        """Return an integer in [0, n); the bias of at most n / 2^32 does not matter here."""
        return (self._bits(32) * n) >> 32

    def between(self, low: int, high: int) -> int:
        """Return an integer in [low, high]."""
        return low + self.below(high - low + 1)

    def chance(self, percent: int) -> bool:
        """Return True in ``percent`` of a hundred cases."""
        return self.below(100) < percent

    def pick(self, items: Sequence[T]) -> T:
        """Return one item of a non-empty sequence."""
        return items[self.below(len(items))]

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """Return a shuffled copy (Fisher-Yates)."""
        out = list(items)
        for i in range(len(out) - 1, 0, -1):
            j = self.below(i + 1)
            out[i], out[j] = out[j], out[i]
        return out
