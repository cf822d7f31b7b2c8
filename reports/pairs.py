"""Comparisons of pairs of trials, and what an axis changes, as a reader sees them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from memtrial.metrics.compare import Comparison
from memtrial.reports.axes import Axis
from memtrial.reports.plots import ALONG_AN_AXIS, ticks
from memtrial.reports.words import describe, difference_unit, number, signed

#: So many busy cores of other programs can be seen in latencies: a third of one.
NOTICEABLE_CORES = 0.3

STATUS = {
    "better": "better",
    "worse": "worse",
    "tied": "tied",
    "not_decidable": "not decidable",
    "not_comparable": "not comparable",
}


@dataclass(frozen=True, slots=True)
class PairRow:
    """One comparison, written out. ``status`` is of ``a``."""

    a: str
    b: str
    status: str
    words: str
    value_a: str = ""
    value_b: str = ""
    difference: str = ""
    interval: str = ""
    by_question: str = ""
    p: str = ""
    detectable: str = ""
    n: int = 0


@dataclass(frozen=True, slots=True)
class PairTable:
    """All comparisons of one metric on one data set."""

    metric: str
    title: str
    unit: str
    rows: tuple[PairRow, ...]
    decided: int
    family: int


@dataclass(frozen=True, slots=True)
class AxisFinding:
    """What an axis does to one metric of one curve; ``differs`` is False where the paired interval includes 0."""

    differs: bool
    text: str


def pair_tables(comparisons: Iterable[Comparison]) -> list[PairTable]:
    """Return one table per metric, in the order of the comparisons."""
    by_metric: dict[str, list[Comparison]] = {}
    for comparison in comparisons:
        by_metric.setdefault(comparison.metric, []).append(comparison)
    return [_table(metric, own) for metric, own in by_metric.items() if any(c.status != "not_comparable" for c in own)]


def difference(comparison: Comparison) -> str:
    """Write a difference with its unit and interval, as prose needs it."""
    metric = comparison.metric
    if comparison.difference is None or comparison.low is None or comparison.high is None:
        return "no difference can be computed"
    ends = f"{signed(comparison.low, metric)} to {signed(comparison.high, metric)}"
    return f"{signed(comparison.difference, metric)} {difference_unit(metric)}".rstrip() + f" ({ends})"


def axis_findings(
    axis: Axis, comparisons: Iterable[Comparison], other_work: Mapping[str, float] | None = None
) -> list[AxisFinding]:
    """Say for every curve and metric whether any two values of the axis differ, with the largest difference.

    Args:
        axis: along which.
        comparisons: of the run.
        other_work: cores that other programs kept busy, by trial; latencies measured amid different loads are marked.
    """
    if axis.path.startswith("data."):
        text = "Each value asks questions of its own, so values are not compared pair by pair; read the intervals"
        return [AxisFinding(False, text)]
    known = {(c.dataset, c.metric, c.a, c.b): c for c in comparisons if c.difference is not None}
    known |= {(c.dataset, c.metric, c.b, c.a): c.reversed() for c in known.values()}
    findings = []
    for curve in axis.curves:
        values = dict(zip((s.trial for s in curve.stops), ticks([s.value for s in curve.stops]), strict=True))
        own = []
        for metric in ALONG_AN_AXIS:
            pairs = [
                known.get((a.dataset, metric, b.trial, a.trial))
                for a, b in combinations(curve.stops, 2)
                if a.dataset == b.dataset
            ]
            found = [p for p in pairs if p is not None]
            if found:
                own.append((metric, _finding(curve.label, metric, found, values, other_work or {})))
        if len(own) > 1 and not any(finding.differs for _, finding in own):
            named = ", ".join(describe(metric).title for metric, _ in own)
            text = f"{curve.label}: {axis.path} makes no difference at this size; the paired interval of each of {named} holds 0"
            findings.append(AxisFinding(False, text))
        findings += [finding for _, finding in own]
    return findings


def _finding(
    label: str, metric: str, pairs: Sequence[Comparison], values: Mapping[str, str], other_work: Mapping[str, float]
) -> AxisFinding:
    apart = [p for p in pairs if p.low is not None and p.high is not None and not p.low <= 0 <= p.high]
    widest = max(apart or pairs, key=lambda p: (abs(p.difference or 0.0), p.a, p.b))
    title = describe(metric).title
    against = f"{values[widest.a]} against {values[widest.b]}: {difference(widest)}"
    loads = [other_work.get(trial, 0.0) for trial in (widest.a, widest.b)]
    if metric.startswith("latency") and abs(loads[0] - loads[1]) >= NOTICEABLE_CORES:
        against += f", while other programs kept {loads[0]:.1f} and {loads[1]:.1f} cores busy"
    if not apart:
        return AxisFinding(False, f"{label}, {title}: no difference at this size; the largest is {against}")
    firm = {
        "tied": ", which many comparisons make uncertain",
        "not_decidable": ", which so few clusters cannot confirm",
    }
    return AxisFinding(True, f"{label}, {title}: {against}{firm.get(widest.status, '')}")


def _table(metric: str, comparisons: Sequence[Comparison]) -> PairTable:
    decided = sum(c.status in {"better", "worse"} for c in comparisons)
    rows = tuple(_row(c) for c in comparisons)
    return PairTable(
        metric, describe(metric).title, difference_unit(metric), rows, decided, max(c.family for c in comparisons)
    )


def _row(c: Comparison) -> PairRow:
    if c.difference is None or c.low is None or c.high is None:
        return PairRow(c.a, c.b, c.status, STATUS[c.status])
    by_question = ""
    if c.low_by_question is not None and c.high_by_question is not None:
        by_question = f"{signed(c.low_by_question, c.metric)} to {signed(c.high_by_question, c.metric)}"
    return PairRow(
        a=c.a,
        b=c.b,
        status=c.status,
        words=STATUS[c.status],
        value_a="" if c.value_a is None else number(c.value_a, c.metric),
        value_b="" if c.value_b is None else number(c.value_b, c.metric),
        difference=signed(c.difference, c.metric),
        interval=f"{signed(c.low, c.metric)} to {signed(c.high, c.metric)}",
        by_question=by_question,
        p="" if c.p_holm is None else "<0.001" if c.p_holm < 0.001 else f"{c.p_holm:.3f}",
        detectable="" if c.detectable is None else number(c.detectable, c.metric),
        n=c.n,
    )
