"""Which trials of a run differ in one thing only, so that a curve can be drawn through them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from memtrial.metrics.records import TrialInfo

LADDER = "ladder"


@dataclass(frozen=True, slots=True)
class Stop:
    """One value of an axis and the trial and data set that had it."""

    value: Any
    trial: str
    dataset: str


@dataclass(frozen=True, slots=True)
class Curve:
    """Trials of one system along an axis, everything else equal; ``held`` says what the rest was where it varies too."""

    system: str
    held: str
    stops: tuple[Stop, ...]

    @property
    def label(self) -> str:
        """Return the system with what was held fixed."""
        return f"{self.system} ({self.held})" if self.held else self.system


@dataclass(frozen=True, slots=True)
class Axis:
    """One varied path of the configuration, on one data set (and its variants, for an axis of the data)."""

    path: str
    dataset: str
    values: tuple[Any, ...]
    curves: tuple[Curve, ...]

    @property
    def numeric(self) -> bool:
        """Whether values have a distance, not only an order."""
        return all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in self.values)

    @property
    def is_ladder(self) -> bool:
        """Whether each value adds to those before it."""
        return self.path == LADDER

    @property
    def logarithmic(self) -> bool:
        """Whether values spread over more than a decade."""
        return self.numeric and min(self.values) > 0 and max(self.values) / min(self.values) > 10


def base_of(label: str) -> str:
    """Return the label of the configuration from which a sweep made a variant: ``bm25`` of ``bm25[k=20]``."""
    return label.partition("[")[0]


def find_axes(trials: Sequence[TrialInfo]) -> list[Axis]:
    """Find the axes along which at least two trials of one system differ in nothing else."""
    paths = list(dict.fromkeys(path for t in trials for path in t.axes if not _of_rung(t, path)))
    found: list[Axis] = []
    for path in paths:
        of_data = path.startswith("data.")
        homes = list(dict.fromkeys(base_of(t.dataset) if of_data else t.dataset for t in trials))
        for home in homes:
            here = [t for t in trials if (base_of(t.dataset) if of_data else t.dataset) == home]
            curves = _curves(here, path, of_data) if path != LADDER else _ladders(here)
            if curves:
                values = tuple(dict.fromkeys(_hashable(s.value) for c in curves for s in c.stops))
                axis = Axis(path, home, values, tuple(curves))
                found.append(_sorted(axis) if axis.numeric else axis)
    return found


def _of_rung(trial: TrialInfo, path: str) -> bool:
    return LADDER in trial.axes and path != LADDER and not path.startswith("data.")


def _curves(trials: Iterable[TrialInfo], path: str, of_data: bool) -> list[Curve]:
    groups: dict[tuple[str, str], dict[Any, Stop]] = {}
    for trial in trials:
        if path not in trial.axes or _of_rung(trial, path):
            continue
        rest = {k: v for k, v in trial.axes.items() if k != path and (of_data or not k.startswith("data."))}
        system = trial.trial if of_data else trial.system
        held = {} if of_data else rest
        key = (system, json.dumps(held, sort_keys=True, ensure_ascii=False, default=str))
        stop = Stop(_hashable(trial.axes[path]), trial.trial, trial.dataset)
        groups.setdefault(key, {}).setdefault(stop.value, stop)
    kept = {key: stops for key, stops in groups.items() if len(stops) > 1}
    alone = {system: sum(s == system for s, _ in kept) == 1 for system, _ in kept}
    return [Curve(s, "" if alone[s] else _held(rest), tuple(stops.values())) for (s, rest), stops in kept.items()]


def _ladders(trials: Sequence[TrialInfo]) -> list[Curve]:
    curves = []
    for system in dict.fromkeys(t.system for t in trials if LADDER in t.axes):
        own = [t for t in trials if t.system == system and (LADDER in t.axes or t.trial == system)]
        stops = [Stop(str(t.axes.get(LADDER, "base")), t.trial, t.dataset) for t in own]
        if len(stops) > 1:
            curves.append(Curve(system, "", tuple(stops)))
    return curves


def _held(rest: str) -> str:
    return ", ".join(f"{k.rpartition('.')[2]}={v}" for k, v in json.loads(rest).items())


def _hashable(value: Any) -> Any:
    return value if isinstance(value, (str, int, float, bool)) or value is None else json.dumps(value, sort_keys=True)


def _sorted(axis: Axis) -> Axis:
    curves = tuple(Curve(c.system, c.held, tuple(sorted(c.stops, key=lambda s: float(s.value)))) for c in axis.curves)
    return Axis(axis.path, axis.dataset, tuple(sorted(axis.values)), curves)
