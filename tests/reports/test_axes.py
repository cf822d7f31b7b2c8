from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from memtrial.experiments.store import Run
from memtrial.metrics.compare import Comparison
from memtrial.metrics.records import MetricRow, TrialInfo
from memtrial.reports import plots
from memtrial.reports.axes import Axis, find_axes
from memtrial.reports.figures import charts
from memtrial.reports.graph import graph_findings
from memtrial.reports.pairs import axis_findings
from memtrial.reports.plots import ticks
from memtrial.reports.view import View


def _trial(trial: str, axes: dict[str, Any], dataset: str = "d") -> TrialInfo:
    system = trial.partition("[")[0]
    return TrialInfo(trial=trial, unit=trial, system=system, target=system, dataset=dataset, axes=axes)


def test_one_at_a_time_gives_one_curve_per_axis_through_the_base() -> None:
    trials = [
        _trial("s", {"s.k": 10, "s.mode": "a"}),
        _trial("s[k=5]", {"s.k": 5, "s.mode": "a"}),
        _trial("s[k=200]", {"s.k": 200, "s.mode": "a"}),
        _trial("s[mode=b]", {"s.k": 10, "s.mode": "b"}),
        _trial("other", {}),
    ]
    k, mode = find_axes(trials)
    assert (k.path, k.values, k.numeric, k.logarithmic) == ("s.k", (5, 10, 200), True, True)
    assert [[s.trial for s in c.stops] for c in k.curves] == [["s[k=5]", "s", "s[k=200]"]]
    assert (mode.values, mode.numeric) == (("a", "b"), False)
    assert [c.label for c in mode.curves] == ["s"]


def test_a_grid_gives_one_curve_per_value_of_the_other_axis() -> None:
    trials = [_trial(f"s[a={a},b={b}]", {"s.a": a, "s.b": b}) for a in (1, 2) for b in (True, False)]
    axis = find_axes(trials)[0]
    assert [c.label for c in axis.curves] == ["s (b=True)", "s (b=False)"]


def test_a_ladder_climbs_from_the_base() -> None:
    trials = [
        _trial("s", {}),
        _trial("s[+gate]", {"s.gate": True, "ladder": "gate"}),
        _trial("s[+graph]", {"s.gate": True, "s.graph": True, "ladder": "graph"}),
    ]
    (axis,) = find_axes(trials)
    assert axis.is_ladder
    assert axis.values == ("base", "gate", "graph")


def test_an_axis_of_the_data_joins_its_variants() -> None:
    trials = [_trial(t, {"data.fraction": f}, d) for t in ("x", "y") for d, f in (("d", 1.0), ("d[fraction=0.5]", 0.5))]
    (axis,) = find_axes(trials)
    assert axis.dataset == "d"
    assert [(c.system, [s.dataset for s in c.stops]) for c in axis.curves] == [
        ("x", ["d[fraction=0.5]", "d"]),
        ("y", ["d[fraction=0.5]", "d"]),
    ]
    (finding,) = axis_findings(axis, [])
    assert finding.text.startswith("Each value asks questions of its own")


def _comparison(metric: str, a: str, b: str, difference: float, low: float, high: float, status: Any) -> Comparison:
    return Comparison(
        "d", metric, a, b, status, 0.5, 0.5 - difference, difference, low, high, p_holm=0.01, n=100, clusters=20
    )


def test_findings_say_where_an_axis_makes_no_difference() -> None:
    trials = [_trial("s", {"s.k": 10}), _trial("s[k=5]", {"s.k": 5}), _trial("s[k=20]", {"s.k": 20})]
    (axis,) = find_axes(trials)
    comparisons = [
        _comparison("accuracy", "s", "s[k=5]", 0.01, -0.02, 0.04, "tied"),
        _comparison("accuracy", "s", "s[k=20]", -0.03, -0.07, 0.01, "tied"),
        _comparison("accuracy", "s[k=5]", "s[k=20]", -0.04, -0.09, 0.01, "tied"),
        _comparison("context_tokens", "s", "s[k=5]", 100.0, 80.0, 120.0, "worse"),
    ]
    same, differs = axis_findings(axis, comparisons)
    assert not same.differs
    assert (
        same.text == "s, accuracy: no difference at this size; the largest is 20 against 5: +4.0 points (−1.0 to +9.0)"
    )
    assert differs.differs
    assert differs.text == "s, context tokens: 10 against 5: +100 tokens (+80 to +120)"


def test_an_axis_that_moves_nothing_is_said_so_once_for_all_metrics() -> None:
    trials = [_trial("s", {"s.hnsw.m": 16}), _trial("s[m=4]", {"s.hnsw.m": 4})]
    (axis,) = find_axes(trials)
    comparisons = [
        _comparison("accuracy", "s", "s[m=4]", 0.01, -0.02, 0.04, "tied"),
        _comparison("recall@10", "s", "s[m=4]", 0.0, -0.01, 0.01, "tied"),
    ]
    findings = axis_findings(axis, comparisons)
    assert findings[0].text == (
        "s: s.hnsw.m makes no difference at this size; the paired interval of each of accuracy, recall@10 holds 0"
    )
    assert len(findings) == 3
    comparisons[1] = _comparison("recall@10", "s", "s[m=4]", 0.05, 0.02, 0.08, "better")
    assert len(axis_findings(axis, comparisons)) == 2


def test_latencies_amid_other_work_are_marked() -> None:
    (axis,) = find_axes([_trial("s", {"s.k": 10}), _trial("s[k=5]", {"s.k": 5})])
    comparisons = [
        _comparison("latency_p95_ms", "s", "s[k=5]", 30.0, 20.0, 40.0, "worse"),
        _comparison("accuracy", "s", "s[k=5]", 0.1, 0.05, 0.2, "better"),
    ]

    def told(others: dict[str, float]) -> list[str]:
        return [f.text for f in axis_findings(axis, comparisons, others) if "cores" in f.text]

    assert told({"s": 1.5, "s[k=5]": 0.1}) == [
        "s, latency P95: 10 against 5: +30.00 ms (+20.00 to +40.00), while other programs kept 1.5 and 0.1 cores busy"
    ]
    assert told({"s": 1.5, "s[k=5]": 1.4}) == told({}) == []


def test_of_settings_that_vary_together_only_those_that_differ_are_named() -> None:
    values = ['{"kind": "on", "load": 0.9, "over": "none"}', '{"kind": "off", "load": 0.9, "over": "none"}']
    assert ticks(values) == ["kind=on", "kind=off"]
    assert ticks([*values, '{"kind": "on", "over": "newest"}']) == [
        "kind=on load=0.9 over=none", "kind=off load=0.9 over=none", "kind=on load=none over=newest",
    ]  # fmt: skip
    assert ticks([values[0], "none under load"]) == ["the base", "none under load"]
    assert ticks([True, None, 0.5, "{braces"]) == ["on", "none", "0.5", "{braces"]


def _view(make_run: Callable[..., Run], exact: dict[str, float | None], path: str = "s.hnsw.m") -> tuple[View, Axis]:
    run = make_run(4)
    run.trials[:] = [_trial(trial, {path: n}) for n, trial in enumerate(exact)]
    base = {"system": "s", "params": {}, "dataset": "d", "slice": "all", "n": 4}
    for trial, share in exact.items():
        for metric, value in (("exact_search_rate", share), ("vectors", 1_200.0), ("index_mb", 3.0)):
            run.metrics.append(MetricRow(trial=trial, metric=metric, value=value, **base))
    (axis,) = find_axes(run.trials)
    return View(run), axis


def test_settings_of_a_graph_that_no_search_used_are_said_to_be_idle(make_run: Callable[..., Run]) -> None:
    (finding,) = graph_findings(*_view(make_run, {"s": 1.0, "s[m=4]": 1.0}))
    assert finding.text == (
        "s: the graph was not used, every search was exact (1,200 vectors in all); s.hnsw.m cannot matter at this size"
    )
    (finding,) = graph_findings(*_view(make_run, {"s": 0.25, "s[m=4]": 0.5}))
    assert "25.0% to 50.0% of the searches were exact" in finding.text
    assert graph_findings(*_view(make_run, {"s": 0.0, "s[m=4]": 0.0})) == []
    assert graph_findings(*_view(make_run, {"s": None, "s[m=4]": None})) == []
    assert graph_findings(*_view(make_run, {"s": 1.0, "s[m=4]": 1.0}, path="s.k")) == []


def test_a_share_that_is_the_same_everywhere_is_said_once(make_run: Callable[..., Run]) -> None:
    (finding,) = graph_findings(*_view(make_run, {"s": 0.2, "s[m=4]": 0.2}))
    assert finding.text.startswith("s: 20.0% of the searches were exact (1,200 vectors in all); for those")


def test_what_the_graph_finds_is_told_along_its_axis(make_run: Callable[..., Run]) -> None:
    view, axis = _view(make_run, {"s": 0.0, "s[m=4]": 0.0})
    base = {"system": "s", "params": {}, "dataset": "d", "slice": "all", "metric": "ann_recall@10"}
    view.run.metrics.append(MetricRow(trial="s", value=0.8, low=0.75, high=0.85, **base))
    view.run.metrics.append(MetricRow(trial="s[m=4]", value=0.95, **base))
    (finding,) = graph_findings(View(view.run), axis)
    assert finding.text == "s, ANN recall@10: 80.0% (75.0–85.0) at 0, 95.0% at 1"


def _ladder(make_run: Callable[..., Run], exact: float, hits: dict[str, int]) -> list[str]:
    """Return what is said of a ladder whose first rung sets no graph and no cache, and whose second sets both."""
    run = make_run(4, ("bm25", "bm25[+gates]", "bm25[+fast]"))
    rungs = {"bm25": ("base", False, 16), "bm25[+gates]": ("gates", False, 16), "bm25[+fast]": ("fast", True, 32)}
    run.trials[:] = [
        _trial(trial, {"bm25.gate": rung != "base", "bm25.hnsw": {"m": m}, "bm25.cache.enabled": on, "ladder": rung}, "desk")
        .model_copy(update={"params": {"cache": {"enabled": on}}})
        for trial, (rung, on, m) in rungs.items()
    ]  # fmt: skip
    for record in run.records:
        record.result.trace.cache_hits.update(hits if record.trial == "bm25[+fast]" else {})
    for trial in rungs:
        base = {"system": "bm25", "params": {}, "dataset": "desk", "slice": "all", "n": 4, "trial": trial}
        for metric, value in (("exact_search_rate", exact), ("vectors", 90.0)):
            run.metrics.append(MetricRow(metric=metric, value=value, **base))
    (axis,) = find_axes(run.trials)
    return [finding.text for finding in graph_findings(View(run), axis)]


def test_a_rung_says_which_of_its_settings_had_nothing_to_do(make_run: Callable[..., Run]) -> None:
    assert _ladder(make_run, 1.0, {}) == [
        "bm25, fast: the graph was not used, every search was exact (90 vectors in all); bm25.hnsw cannot matter at this size",
        "bm25, fast: no cache was hit in 4 answers; bm25.cache.enabled changed none of them",
    ]
    assert _ladder(make_run, 0.0, {"answer": 1}) == []


def test_what_is_told_of_vectors_is_drawn_over_their_axes_alone(
    make_run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: dict[str, list[str]] = {}
    real = charts.curves

    def curves(panels: Any, x_label: str, *more: Any, **named: Any) -> Any:
        drawn[x_label] = [title.replace("\xa0", " ") for title, _, _ in panels]
        return real(panels, x_label, *more, **named)

    monkeypatch.setattr(charts, "curves", curves)
    for path in ("s.vectors.pca.dims", "s.k"):
        view, axis = _view(make_run, {"s": 1.0, "s[m=4]": 1.0}, path)
        for trial in ("s", "s[m=4]"):
            for metric in ("ann_recall@10", "explained_variance"):
                row = MetricRow(trial=trial, system="s", params={}, dataset="d", slice="all", metric=metric, value=0.5)
                view.run.metrics.append(row)
        view = View(view.run)
        assert plots.along(view, axis, view.datasets[0], "axis-1") is not None
    assert drawn["s.k"] == ["index size, MB"]
    assert drawn["s.vectors.pca.dims"] == ["index size, MB", "ANN recall@10, %", "explained variance, %"]
