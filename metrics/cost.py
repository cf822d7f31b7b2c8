"""Tokens a question costs, and what was measured once per trial."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from memtrial.metrics.estimates import Estimate, ratio_of
from memtrial.metrics.panel import Panel
from memtrial.metrics.records import Record

EVALUATION_ROLES = frozenset({"judge"})
"""Roles whose tokens are the price of evaluating and are never charged to a system."""


def token_estimates(panel: Panel) -> Iterator[Estimate]:
    """Context tokens over answered questions; prompt and completion tokens over all questions."""
    answered = np.array([float(record.result.error is None) for record in panel.records])
    shown = np.array([record.result.context_tokens for record in panel.records]) * answered
    served = panel.mean(answered)
    reason = "" if served.any() else "no question was answered"
    yield ratio_of("context_tokens", panel.mean(shown), served, bounded=False, reason=reason)
    everything = np.ones(panel.n)
    for name in ("prompt", "completion"):
        spent = panel.mean([tokens(record, name) for record in panel.records])
        yield ratio_of(f"{name}_tokens", spent, everything, bounded=False, sliced=False)


def tokens(record: Record, name: str) -> int:
    """Tokens of one kind (``prompt`` or ``completion``) that a system spent on an answer."""
    return sum(int(getattr(u, name)) for u in record.result.trace.usage if u.role not in EVALUATION_ROLES)


def called_a_model(records: Sequence[Record]) -> bool:
    """Whether any answer of the system called a language model."""
    return any(u.role not in EVALUATION_ROLES for record in records for u in record.result.trace.usage)
