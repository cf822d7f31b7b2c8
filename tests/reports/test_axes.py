from __future__ import annotations

from typing import Any

from memtrial.metrics.compare import Comparison
from memtrial.metrics.records import TrialInfo
from memtrial.reports.axes import find_axes
from memtrial.reports.pairs import axis_findings


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
