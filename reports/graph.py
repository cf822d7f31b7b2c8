"""Whether the settings of a graph index could matter at all: a search that compares every vector uses no graph."""

from __future__ import annotations

from memtrial.metrics.records import MetricRow
from memtrial.metrics.vectors import EXACT
from memtrial.reports.axes import Axis
from memtrial.reports.pairs import AxisFinding
from memtrial.reports.view import View
from memtrial.reports.words import describe

_OF_THE_GRAPH = frozenset({"hnsw", "quantization", "rescore"})


def graph_findings(view: View, axis: Axis) -> list[AxisFinding]:
    """Say of an axis of the graph's settings where searches went past the graph."""
    if not _OF_THE_GRAPH & set(axis.path.split(".")[1:]):
        return []
    findings = []
    for curve in axis.curves:
        rows = [(stop, view.row(stop.dataset, stop.trial, EXACT)) for stop in curve.stops]
        shares = [row.value for _, row in rows if row is not None and row.value is not None]
        if not shares or not any(shares):
            continue
        held = [_value(view.row(stop.dataset, stop.trial, "vectors")) for stop, _ in rows]
        size = f" ({_show('vectors', max(held))} vectors in all)" if any(held) else ""
        if all(share == 1.0 for share in shares):
            text = f"{curve.label}: the graph was not used, every search was exact{size}; {axis.path} cannot matter at this size"
        else:
            text = (
                f"{curve.label}: {_show(EXACT, min(shares))} to {_show(EXACT, max(shares))} of the searches were "
                f"exact{size}; for those {axis.path} cannot matter"
            )
        findings.append(AxisFinding(False, text))
    return findings


def _show(metric: str, value: float) -> str:
    return describe(metric).show(value)


def _value(row: MetricRow | None) -> float:
    return row.value or 0.0 if row is not None else 0.0
