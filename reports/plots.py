"""From metric rows to the figures of one data set."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from memtrial.metrics.definitions import family
from memtrial.metrics.records import MetricRow
from memtrial.reports.axes import Axis
from memtrial.reports.figures import charts
from memtrial.reports.figures.canvas import Drawn, render
from memtrial.reports.figures.marks import Line, Panel, Point
from memtrial.reports.view import BAR_ORDER, DatasetView, View
from memtrial.reports.words import describe, heading

_SLUG = re.compile(r"[^A-Za-z0-9]+")
ALONG_AN_AXIS = (
    "accuracy", "abstention_rate", "wrong_memory_rate", "recall@10", "latency_p95_ms", "context_tokens", "index_mb",
)  # fmt: skip
_OF_VECTORS = ("ann_recall@10", "explained_variance", "drift@10")
_VECTOR_AXIS = frozenset({"hnsw", "pca", "embedder", "dims", "quantization", "rescore", "exact", "vectors"})


def file_name(dataset: DatasetView, what: str) -> str:
    """Return a file name in plain ASCII that no two figures share."""
    slug = _SLUG.sub("-", dataset.label).strip("-").lower()
    return "-".join(part for part in (str(dataset.place + 1), slug[:40], what) if part)


def outcomes(view: View, dataset: DatasetView) -> Drawn:
    """Draw the outcomes of all planned questions, one bar per trial."""
    counts = [view.outcomes(dataset.label, t) for t in dataset.trials]
    order = [*BAR_ORDER, *([("not_run", "not run yet")] if any(c["not_run"] for c in counts) else [])]
    figure = charts.outcome_bars(dataset.labels, [[c[o] for o, _ in order] for c in counts], order)
    return render(
        figure, file_name(dataset, "outcomes"), f"Outcomes of all planned questions by system on {dataset.label}"
    )


def recall(view: View, dataset: DatasetView) -> Drawn | None:
    """Draw recall over K at message and session level."""
    panels = []
    depths: set[int] = set()
    for what in ("recall@K", "session_recall@K"):
        names = [m for m in view.metrics(dataset.label) if family(m) == what]
        by_k = {int(m.rpartition("@")[2]): m for m in names}
        lines = [_over_k(view, dataset, trial, by_k) for trial in dataset.labels]
        lines = [line for line in lines if any(p.value is not None for p in line.points)]
        if lines:
            panels.append((heading(what), lines, "share"))
            depths |= set(by_k)
    if not panels:
        return None
    ticks = [(float(k), str(k)) for k in sorted(depths)]
    figure = charts.curves(panels, "K", ticks, log_x=max(depths) > 8)
    return render(figure, file_name(dataset, "recall"), f"Recall over K by system on {dataset.label}")


def speed(view: View, dataset: DatasetView) -> Drawn | None:
    """Draw latency percentiles and context tokens side by side."""
    scales = {"latency_p50_ms": "log", "latency_p95_ms": "log", "latency_p99_ms": "log", "context_tokens": "linear"}
    panels = [
        Panel(heading(m), [_point(view.row(dataset.label, t, m)) for t in dataset.labels], s) for m, s in scales.items()
    ]
    panels = [panel for panel in panels if any(point.value is not None for point in panel.points)]
    if not panels:
        return None
    figure = charts.intervals(dataset.labels, panels, _colours(view, dataset))
    return render(
        figure, file_name(dataset, "latency-tokens"), f"Latency and context tokens by system on {dataset.label}"
    )


def heat(view: View, dataset: DatasetView, metric: str, prefix: str, what: str) -> Drawn | None:
    """Draw one metric over slices and trials as shaded cells."""
    slices = [
        s
        for s in view.slices(dataset.label, prefix)
        if any(view.row(dataset.label, t, metric, s) for t in dataset.labels)
    ]
    if not slices:
        return None
    points = [[_point(view.row(dataset.label, t, metric, s)) for s in slices] for t in dataset.labels]
    names = [s.removeprefix(prefix).replace("_", " ") for s in slices]
    figure = charts.heatmap(dataset.labels, names, points, bad=metric.startswith("wrong"))
    return render(
        figure, file_name(dataset, what), f"{heading(metric)} by {prefix.rstrip('=')} and system on {dataset.label}"
    )


def along(view: View, axis: Axis, dataset: DatasetView, what: str) -> Drawn | None:
    """Draw quality, latency, tokens and memory over a varied path, and what is told of vectors where it is one of theirs.

    Values without distance stand at equal steps.
    """
    places = {v: float(v) if axis.numeric else float(i) for i, v in enumerate(axis.values)}
    panels = []
    of_vectors = _OF_VECTORS if _VECTOR_AXIS & set(axis.path.split(".")[1:]) else ()
    for metric in (*ALONG_AN_AXIS, *of_vectors):
        lines = []
        for index, curve in enumerate(axis.curves):
            points = [_point(view.row(s.dataset, s.trial, metric)) for s in curve.stops]
            if any(p.value is not None for p in points):
                colour = view.trial_order.get(curve.system, index)
                lines.append(Line(curve.label, [places[s.value] for s in curve.stops], points, colour))
        if lines:
            panels.append((heading(metric), lines, "share" if describe(metric).unit == "%" else "linear"))
    if not panels:
        return None
    marks = [(places[v], mark) for v, mark in zip(axis.values, ticks(axis.values), strict=True)]
    figure = charts.curves(panels, axis.path, marks, log_x=axis.logarithmic, steps=axis.is_ladder)
    return render(
        figure, file_name(dataset, what), f"Quality, latency, tokens and memory over {axis.path} on {dataset.label}"
    )


def ticks(values: Sequence[object]) -> list[str]:
    """Write the values of an axis; of settings that vary together, which an axis holds as JSON, those that differ.

    Beside values that were given names, the settings of the configuration that was varied are just the base.
    """
    if not all(isinstance(value, str) and value.startswith("{") for value in values):
        return ["the base" if isinstance(value, str) and value.startswith('{"') else tick(value) for value in values]
    groups = [json.loads(str(value)) for value in values]
    moving = [
        name for name in dict.fromkeys(n for g in groups for n in g) if len({repr(g.get(name)) for g in groups}) > 1
    ]
    return [" ".join(f"{name}={tick(group.get(name))}" for name in moving) for group in groups]


def tick(value: object) -> str:
    """Write one value of an axis."""
    if isinstance(value, bool):
        return "on" if value else "off"
    return "none" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def _over_k(view: View, dataset: DatasetView, trial: str, by_k: dict[int, str]) -> Line:
    depths = sorted(by_k)
    points = [_point(view.row(dataset.label, trial, by_k[k])) for k in depths]
    return Line(trial, [float(k) for k in depths], points, view.trial_order[trial])


def _point(row: MetricRow | None) -> Point:
    return Point(None) if row is None else Point(row.value, row.low, row.high)


def _colours(view: View, dataset: DatasetView) -> Sequence[int]:
    return [view.trial_order[t] for t in dataset.labels]
