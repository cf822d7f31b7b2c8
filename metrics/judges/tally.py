"""Counts of verdicts with what could not be scored kept in sight."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

MOST_UNSCORED = 0.05
"""From this share on a score must not be used: ``Tally.usable`` is False and a command exits with 1."""


@dataclass(frozen=True, slots=True)
class Tally:
    """How many answers a judge scored, and how many of those it found right.

    Attributes:
        credit: sum of credits of the scored answers (their number where a credit is 0 or 1).
        scored: answers with a verdict.
        total: answers that were to be judged.
    """

    credit: float
    scored: int
    total: int

    @classmethod
    def of(cls, credits: Iterable[float | bool | None]) -> Tally:
        """Count credits in [0, 1]; None is unscored."""
        values = list(credits)
        given = [float(v) for v in values if v is not None]
        return cls(sum(given), len(given), len(values))

    @property
    def unscored(self) -> int:
        """Answers without a verdict."""
        return self.total - self.scored

    @property
    def value(self) -> float | None:
        """Share over the scored answers; None where there are none. Never to be shown without ``low`` and ``high``."""
        return self.credit / self.scored if self.scored else None

    @property
    def low(self) -> float | None:
        """Share if every unscored answer were wrong."""
        return self.credit / self.total if self.total else None

    @property
    def high(self) -> float | None:
        """Share if every unscored answer were right."""
        return (self.credit + self.unscored) / self.total if self.total else None

    @property
    def usable(self) -> bool:
        """Whether so few are unscored that the value can be told at all."""
        return bool(self.total) and self.unscored <= MOST_UNSCORED * self.total

    def __str__(self) -> str:
        """As a report prints it: the value, how many were scored, and the bounds where some were not."""
        if self.value is None:
            return f"not scored ({self.scored} of {self.total} scored)"
        if not self.unscored:
            return f"{self.value:.3f} ({self.credit:g} of {self.total})"
        return f"{self.value:.3f} ({self.scored} of {self.total} scored; between {self.low:.3f} and {self.high:.3f})"
