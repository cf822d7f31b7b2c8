"""Estimates that rest on the outcome of each question: accuracy, hallucination, abstention, wrong memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from memtrial.datasets.schema import LURE_KINDS
from memtrial.metrics.estimates import Estimate, ratio_of
from memtrial.metrics.panel import Panel
from memtrial.metrics.records import OUTCOMES, Labels, Record

Floats = NDArray[np.float64]

RIGHT = ("correct", "correct_abstention")
ABSTAINED = ("correct_abstention", "needless_abstention")


def outcome_is(panel: Panel, outcomes: Sequence[str]) -> Floats:
    """Share of a question's repeats whose outcome is one of ``outcomes``, shape (n,)."""
    return panel.mean([record.judgement.outcome in outcomes for record in panel.records])


def outcome_estimates(panel: Panel) -> Iterator[Estimate]:
    """Accuracy, outcome shares, errors, hallucination and abstention. An error is in every denominator."""
    everything = np.ones(panel.n)
    answerable = np.array([float(label.answerable) for label in panel.labels])
    right = outcome_is(panel, RIGHT)
    abstained = outcome_is(panel, ABSTAINED)
    error = outcome_is(panel, ("error",))
    hallucinated = outcome_is(panel, ("hallucination",))
    yield ratio_of("accuracy", right, everything, judged=True)
    yield ratio_of(
        "accuracy_answerable", right * answerable, answerable, judged=True, reason=_none(answerable, "is answerable")
    )
    yield ratio_of("error_rate", error, everything)
    yield ratio_of("abstention_rate", abstained, everything, judged=True)
    yield ratio_of("hallucination_rate", hallucinated, everything, judged=True)
    answered = everything - abstained - error
    yield ratio_of(
        "hallucination_rate_given_answered",
        hallucinated,
        answered,
        judged=True,
        reason=_none(answered, "was answered"),
    )
    well = outcome_is(panel, ("correct_abstention",))
    yield ratio_of("abstention_precision", well, abstained, judged=True, reason=_none(abstained, "was abstained from"))
    unanswerable = 1.0 - answerable
    yield ratio_of("abstention_recall", well, unanswerable, judged=True, reason=_none(unanswerable, "is unanswerable"))
    for outcome in OUTCOMES:
        yield ratio_of(f"outcome_rate:{outcome}", outcome_is(panel, (outcome,)), everything, judged=True, sliced=False)


def wrong_memory_estimates(panel: Panel) -> Iterator[Estimate]:
    """Use, exposure and citation of lures, over all kinds and by kind (slices ``lure=<kind>``)."""
    blind = _context_without_ids(panel.records)
    for kind in ("", *LURE_KINDS):
        usable = _mask(panel, kind, _has_value)
        visible = _mask(panel, kind, _has_lure_only_message)
        if kind and not usable.any() and not visible.any():
            continue
        where = f"lure={kind}" if kind else "all"
        cut = not kind
        used = panel.mean([_used(record, kind) for record in panel.records])
        exposed = panel.mean([_exposed(record, kind) for record in panel.records])
        both = panel.mean([_used(record, kind) and _exposed(record, kind) for record in panel.records])
        no_value = _none(usable, "carries a lure with a value")
        no_message = _none(visible, "carries a lure message that is not evidence")
        yield ratio_of("wrong_memory_rate", used, usable, slice=where, sliced=cut, judged=True, reason=no_value)
        yield ratio_of("wrong_memory_exposure", exposed, visible, slice=where, sliced=cut, reason=no_message or blind)
        at_risk = exposed * usable
        yield ratio_of(
            "wrong_memory_susceptibility",
            both,
            at_risk,
            slice=where,
            sliced=cut,
            judged=True,
            reason=no_value or blind or _none(at_risk, "was exposed to a lure with a value"),
        )
        if kind:
            continue
        cited = panel.mean([record.judgement.lure_cited for record in panel.records])
        yield ratio_of("lure_cited_rate", cited, visible, reason=no_message)
        yield ratio_of("wrong_memory_of_all", outcome_is(panel, ("wrong_memory",)), np.ones(panel.n), judged=True)
        mixed = panel.mean([_used(record, "") and record.judgement.mixed for record in panel.records])
        yield ratio_of("mixed_rate", mixed, usable, judged=True, reason=no_value)


def citation_estimate(panel: Panel) -> Estimate:
    """Whether an answer can be traced: it cites a message that holds the evidence."""
    given = [
        not (r.judgement.abstained or r.judgement.asked_back or r.result.error) and bool(r.labels.evidence)
        for r in panel.records
    ]
    cited = [bool(set(r.result.citations) & set(r.labels.evidence)) for r in panel.records]
    reason = "" if any(r.result.citations for r in panel.records) else "it cites no message"
    both = [a and b for a, b in zip(given, cited, strict=True)]
    return ratio_of("evidence_cited_rate", panel.mean(both), panel.mean(given), reason=reason)


def leak_estimate(panel: Panel) -> Estimate:
    """Share of questions in which anything of another tenant turned up."""
    leaked = panel.mean([record.judgement.leaks > 0 for record in panel.records])
    return ratio_of("tenant_leak_rate", leaked, np.ones(panel.n))


def _none(denominator: Floats, what: str) -> str:
    return "" if denominator.any() else f"no question {what}"


def _mask(panel: Panel, kind: str, test: Callable[[Labels, str], bool]) -> Floats:
    return np.array([float(test(label, kind)) for label in panel.labels])


def _has_value(label: Labels, kind: str) -> bool:
    return any(lure.values for lure in label.lures if kind in ("", lure.kind))


def _has_lure_only_message(label: Labels, kind: str) -> bool:
    evidence = set(label.evidence)
    return any(not evidence.issuperset(lure.message_ids) for lure in label.lures if kind in ("", lure.kind))


def _used(record: Record, kind: str) -> bool:
    judgement = record.judgement
    return judgement.outcome == "wrong_memory" and (not kind or kind in judgement.lures_used)


def _exposed(record: Record, kind: str) -> bool:
    return kind in record.judgement.lures_exposed if kind else bool(record.judgement.lures_exposed)


def _context_without_ids(records: Sequence[Record]) -> str:
    shown = [item for record in records for item in record.result.context]
    return "no provenance" if shown and not any(item.ids for item in shown) else ""
