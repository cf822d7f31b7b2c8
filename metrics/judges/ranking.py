"""Whether an order of systems survives a correction, another judge, or leaving contested gold labels out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations

from memtrial.datasets.schema import Question
from memtrial.metrics.records import Labels


@dataclass(frozen=True, slots=True)
class Flip:
    """Two systems that change places: ``ahead`` led by ``before`` and is behind by ``after`` (a tie is no lead)."""

    ahead: str
    behind: str
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class RankCheck:
    """An order before and after something was changed.

    Attributes:
        what: what was changed.
        before: systems with their scores, best first.
        after: the same afterwards; a system whose score became undefined is missing.
        flips: pairs that change places.
        lost: systems without a score afterwards.
    """

    what: str
    before: tuple[tuple[str, float], ...]
    after: tuple[tuple[str, float], ...]
    flips: tuple[Flip, ...]
    lost: tuple[str, ...]

    @property
    def survives(self) -> bool | None:
        """Whether no pair changes places; None where that cannot be told, since a system has no score."""
        if self.flips:
            return False
        return None if self.lost or len(self.before) < 2 else True

    def __str__(self) -> str:
        """As printed."""
        if self.survives:
            return f"the order survives {self.what}"
        parts = [f"{f.behind} passes {f.ahead} ({-f.before:+.3f} → {f.after:+.3f})" for f in self.flips]
        if len(self.before) < 2:
            parts.append("fewer than two systems have a score before it")
        elif not self.after:
            parts.append("no system has a score after it")
        else:
            parts += [f"{name} has no score after it" for name in self.lost]
        if self.flips:
            return f"the order does not survive {self.what}: {'; '.join(parts)}"
        return f"whether the order survives {self.what} cannot be told: {'; '.join(parts)}"


def check_ranking(what: str, before: Mapping[str, float | None], after: Mapping[str, float | None]) -> RankCheck:
    """Compare two sets of scores of the same systems; systems without a score before are left out."""
    had = {name: value for name, value in before.items() if value is not None}
    have = {name: value for name in had if (value := after.get(name)) is not None}
    flips = []
    for first, second in combinations(_ordered(had), 2):
        (a, x), (b, y) = first, second
        if a in have and b in have and x > y and have[a] <= have[b]:
            flips.append(Flip(a, b, x - y, have[b] - have[a]))
    lost = tuple(name for name, _ in _ordered(had) if name not in have)
    return RankCheck(what, _ordered(had), _ordered(have), tuple(flips), lost)


def open_pairs(ranges: Mapping[str, tuple[float, float]]) -> list[tuple[str, str]]:
    """Return the pairs whose order depends on what kind of wrong answers each system gives.

    Args:
        ranges: for each system its corrected score with the judge's highest and with its lowest FPR: a system that errs
            vaguely stands at the low end, one that errs specifically at the high end.
    """
    order = sorted(ranges, key=lambda name: (-ranges[name][1], name))
    return [(a, b) for a, b in combinations(order, 2) if min(ranges[a]) <= max(ranges[b])]


def contested(labels: Question | Labels) -> bool:
    """Whether the gold answer is in doubt; doubt about the evidence alone leaves the answer standing."""
    return bool(labels.contested) and not labels.contested.startswith("evidence:")


def _ordered(scores: Mapping[str, float]) -> tuple[tuple[str, float], ...]:
    return tuple(sorted(scores.items(), key=lambda item: (-item[1], item[0])))


@dataclass(frozen=True, slots=True)
class Ceiling:
    """The highest score that honest answers can reach where some gold labels are wrong.

    ``exceeded``: the score lies above it, so the judge must have credited contested gold.
    """

    category: str
    n: int
    contested: int
    ceiling: float
    score: float
    exceeded: bool

    def __str__(self) -> str:
        """As printed, with a warning where the score exceeds the ceiling."""
        warning = "  WARNING: above the ceiling, the judge credits contested gold" if self.exceeded else ""
        return (
            f"{self.category}: ceiling {self.ceiling:.3f} ({self.contested} of {self.n} contested), "
            f"score {self.score:.3f}{warning}"
        )


def ceiling(category: str, n: int, contested: int, right: float) -> Ceiling:
    """Compare a score with its ceiling.

    Args:
        category: for print.
        n: questions, more than 0.
        contested: of them with a gold answer in doubt.
        right: answers credited.
    """
    if n <= 0:
        raise ValueError(f"a ceiling needs at least one question, not {n}")
    return Ceiling(category, n, contested, (n - contested) / n, right / n, right > n - contested)


def ceilings(rows: Iterable[tuple[str, bool, bool | None]]) -> list[Ceiling]:
    """Compare every category, and all together, with its ceiling.

    Args:
        rows: (category, contested, credited) by question; an unscored answer earns nothing.
    """
    counts: dict[str, list[int]] = {}
    for category, doubted, credit in rows:
        for name in dict.fromkeys((category, "all")):
            entry = counts.setdefault(name, [0, 0, 0])
            entry[0] += 1
            entry[1] += doubted
            entry[2] += bool(credit)
    return [ceiling(name, *counts[name]) for name in sorted(counts, key=lambda c: (c == "all", c))]
