"""Tokens a question costs, and what was measured once per trial."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from memtrial.metrics.estimates import Estimate, ratio_of
from memtrial.metrics.panel import Panel
from memtrial.metrics.records import Record, Usage

EVALUATION_ROLES = frozenset({"judge"})
"""Roles whose tokens are the price of evaluating and are never charged to a system."""
_UNANSWERED = "no model has answered"
COST = "cost_per_1k_questions_usd"


def token_estimates(panel: Panel) -> Iterator[Estimate]:
    """Context tokens over answered questions; model tokens and their cost over all questions that were asked.

    What taking in the log has cost is no part of this; it stands in ``TrialInfo.facts`` (``ingest_usage``).
    """
    answered = np.array([float(record.result.error is None) for record in panel.records])
    shown = np.array([record.result.context_tokens for record in panel.records]) * answered
    served = panel.mean(answered)
    reason = "" if served.any() else "no question was answered"
    yield ratio_of("context_tokens", panel.mean(shown), served, bounded=False, reason=reason)
    called = called_a_model(panel.records)
    # A run that was stopped has spent nothing on what it did not ask; to count those would make it cheap.
    asked = np.array([float(not called or record.result.error != "missing") for record in panel.records])
    counted = panel.mean(asked)
    estimated = any(u.estimated for record in panel.records for u in own_usage(record))
    flags = ("estimated_tokens",) if estimated else ()
    # Calls that no model has worked on have used nothing that anybody knows; 0 would be a figure.
    used = any(u.prompt or u.completion for record in panel.records for u in own_usage(record))
    unanswered = _UNANSWERED if called and not used else ""
    for name in ("prompt", "completion"):
        spent = panel.mean([tokens(record, name) for record in panel.records])
        yield ratio_of(f"{name}_tokens", spent, counted, bounded=False, sliced=False, flags=flags, reason=unanswered)
    if called:
        reason = unanswered or _unpriced(panel.records)
        costs = np.zeros(panel.n) if reason else panel.mean([cost(record) or 0.0 for record in panel.records])
        yield ratio_of(COST, 1000.0 * costs, counted, bounded=False, sliced=False, flags=flags, reason=reason)


def own_usage(record: Record) -> list[Usage]:
    """What a system itself used for an answer; the price of evaluating it is left out."""
    return [u for u in record.result.trace.usage if u.role not in EVALUATION_ROLES and u.phase != "evaluation"]


def tokens(record: Record, name: str) -> int:
    """Tokens of one kind (``prompt`` or ``completion``) that a system spent on an answer."""
    return sum(int(getattr(u, name)) for u in own_usage(record))


def cost(record: Record) -> float | None:
    """US dollars that a system spent on an answer, or None where that is unknown.

    A call served from the record counts at what it cost when it was asked: alone, the system would have paid it.
    """
    usds = [u.usd for u in own_usage(record)]
    known = [usd for usd in usds if usd is not None]
    return math.fsum(known) if len(known) == len(usds) else None


def called_a_model(records: Sequence[Record]) -> bool:
    """Whether any answer of the system called a language model."""
    return any(own_usage(record) for record in records)


def _unpriced(records: Sequence[Record]) -> str:
    usds = [u.usd for record in records for u in own_usage(record)]
    if None not in usds:
        return ""
    return "the cost of some calls is unknown" if any(usds) else "no price is known"
