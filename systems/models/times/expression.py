"""What a time expression found in a text looks like."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from memtrial.systems.models.times.spans import EARLIEST, Granularity

Kind = Literal["absolute", "relative", "vague"]


@dataclass(frozen=True, slots=True)
class TimeExpression:
    """Words of a text and the interval that they mean.

    Attributes:
        span: offsets of the first character and after the last.
        text: the words.
        start: first moment, aware, in the zone of the time of asking.
        end: first moment after it.
        granularity: unit of the calendar that was named; ``span`` for a range or a part of a unit.
        certain: the words have one reading. Where they have two, the interval covers both, or, where those lie far apart
            (a date without a year), is the likelier.
        kind: ``absolute`` does not depend on the time of asking, ``relative`` does, ``vague`` is a guess at what somebody
            may mean by words such as "recently".
    """

    span: tuple[int, int]
    text: str
    start: datetime
    end: datetime
    granularity: Granularity
    certain: bool
    kind: Kind

    @property
    def open_start(self) -> bool:
        """Whether it reaches back without end, as "before March" does."""
        return self.start.year <= EARLIEST.year
