"""Time expressions: from "last Wednesday afternoon" or 上周三下午 to an interval, against the time of asking."""

from memtrial.systems.models.times.expression import TimeExpression
from memtrial.systems.models.times.find import find_times

__all__ = ["TimeExpression", "find_times"]
