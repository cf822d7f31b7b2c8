"""How far two judges agree beyond chance (Cohen 1960), by category, and where they do not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple


class Pair(NamedTuple):
    """Two verdicts on one answer; None where that judge gave none."""

    key: str
    category: str
    a: str | None
    b: str | None


@dataclass(frozen=True, slots=True)
class Kappa:
    """Agreement on the answers that both scored.

    ``kappa`` is None where chance alone would make them agree always (both give one and the same label throughout).
    """

    n: int
    observed: float | None
    expected: float | None
    kappa: float | None


@dataclass(frozen=True, slots=True)
class Agreement:
    """Two judges side by side.

    Attributes:
        overall: over all answers that both scored.
        by_category: in order of name.
        confusion: counts of (label of a, label of b).
        disagreements: pairs that differ, in the order given.
        unscored: answers that at least one of them did not score.
    """

    overall: Kappa
    by_category: dict[str, Kappa]
    confusion: dict[tuple[str, str], int]
    disagreements: tuple[Pair, ...]
    unscored: int


def agreement(pairs: Sequence[Pair]) -> Agreement:
    """Compare two judges' verdicts on the same answers."""
    scored = [p for p in pairs if p.a is not None and p.b is not None]
    counts = Counter((str(p.a), str(p.b)) for p in scored)
    return Agreement(
        overall=_kappa(scored),
        by_category={c: _kappa([p for p in scored if p.category == c]) for c in sorted({p.category for p in scored})},
        confusion=dict(sorted(counts.items())),
        disagreements=tuple(p for p in scored if p.a != p.b),
        unscored=len(pairs) - len(scored),
    )


def _kappa(pairs: Sequence[Pair]) -> Kappa:
    n = len(pairs)
    if not n:
        return Kappa(0, None, None, None)
    left, right = Counter(p.a for p in pairs), Counter(p.b for p in pairs)
    # Counted in whole numbers: n² − Σ is 0 exactly where chance agrees always.
    by_chance = sum(left[label] * right[label] for label in left)
    same = sum(p.a == p.b for p in pairs)
    kappa = (same * n - by_chance) / (n * n - by_chance) if by_chance < n * n else None
    return Kappa(n, same / n, by_chance / (n * n), kappa)
