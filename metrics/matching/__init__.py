"""The deterministic judge and the value machinery it stands on; what it does and how well: docs/matcher.md."""

from memtrial.metrics.matching.judging import judge

__all__ = ["judge"]
