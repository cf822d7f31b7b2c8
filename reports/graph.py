"""Whether settings could matter at all: a search that compares every vector uses no graph, a cache never hit serves nothing."""

from __future__ import annotations

from itertools import pairwise

from memtrial.metrics.records import MetricRow, TrialInfo
from memtrial.metrics.vectors import ANN_RECALL, EXACT
from memtrial.reports.axes import Axis, Curve, Stop
from memtrial.reports.caches import caches_on
from memtrial.reports.pairs import AxisFinding
from memtrial.reports.plots import ticks
from memtrial.reports.view import View
from memtrial.reports.words import describe, listing, plural, span

_OF_THE_GRAPH = frozenset({"hnsw", "quantization", "rescore"})
_CACHE = "cache"


def graph_findings(view: View, axis: Axis) -> list[AxisFinding]:
    """Say of an axis of the graph's settings where searches went past the graph; of a ladder's rungs, of a cache as well."""
    if axis.is_ladder:
        return [AxisFinding(False, text) for curve in axis.curves for text in _rungs(view, curve)]
    if not _parts(axis.path) & _OF_THE_GRAPH:
        return []
    texts = [text for c in axis.curves for text in (_idle(view, c.label, c.stops, axis.path), _ann(view, c)) if text]
    return [AxisFinding(False, text) for text in texts]


def _rungs(view: View, curve: Curve) -> list[str]:
    """Tell of each rung what it sets to no effect; what it sets is what differs from the rung before."""
    trials = {t.trial: t for t in view.run.trials if t.dataset == curve.stops[0].dataset}
    texts = []
    for before, stop in pairwise(curve.stops):
        now, was = trials[stop.trial], trials[before.trial]
        moved = [path for path, value in now.axes.items() if was.axes.get(path) != value]
        label = f"{curve.label}, {stop.value}"
        if of_graph := [path for path in moved if _parts(path) & _OF_THE_GRAPH]:
            texts.append(_idle(view, label, [stop], listing(of_graph)))
        if of_cache := [path for path in moved if _CACHE in _parts(path)]:
            texts.append(_unhit(view, label, now, listing(of_cache)))
    return [text for text in texts if text]


def _idle(view: View, label: str, stops: tuple[Stop, ...] | list[Stop], path: str) -> str:
    """Say how many searches went past the graph; "" where none did, or where it is not known."""
    rows = [(stop, view.row(stop.dataset, stop.trial, EXACT)) for stop in stops]
    shares = [row.value for _, row in rows if row is not None and row.value is not None]
    if not shares or not any(shares):
        return ""
    held = [_value(view.row(stop.dataset, stop.trial, "vectors")) for stop, _ in rows]
    size = f" ({_show('vectors', max(held))} vectors in all)" if any(held) else ""
    if all(share == 1.0 for share in shares):
        return f"{label}: the graph was not used, every search was exact{size}; {path} cannot matter at this size"
    least, most = _show(EXACT, min(shares)), _show(EXACT, max(shares))
    some = least if least == most else f"{least} to {most}"
    return f"{label}: {some} of the searches were exact{size}; for those {path} cannot matter"


def _ann(view: View, curve: Curve) -> str:
    """Write what the graph finds of the exact ten nearest at each value; "" where it was not measured."""
    told = []
    for mark, stop in zip(ticks([s.value for s in curve.stops]), curve.stops, strict=True):
        row = view.row(stop.dataset, stop.trial, ANN_RECALL)
        if row is not None and row.value is not None:
            around = "" if row.low is None or row.high is None else f" ({span(row.low, row.high, ANN_RECALL)})"
            told.append(f"{_show(ANN_RECALL, row.value)}{around} at {mark}")
    return f"{curve.label}, {describe(ANN_RECALL).title}: {', '.join(told)}" if told else ""


def _unhit(view: View, label: str, trial: TrialInfo, path: str) -> str:
    """Say that a cache which is on was never hit; "" where one was."""
    records = view.records.get((trial.dataset, trial.trial), [])
    if not records or not any(caches_on(trial.params)) or any(any(r.result.trace.cache_hits.values()) for r in records):
        return ""
    return f"{label}: no cache was hit in {plural(len(records), 'answer')}; {path} changed none of them"


def _parts(path: str) -> set[str]:
    return set(path.split(".")[1:])


def _show(metric: str, value: float) -> str:
    return describe(metric).show(value)


def _value(row: MetricRow | None) -> float:
    return row.value or 0.0 if row is not None else 0.0
