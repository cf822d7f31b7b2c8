"""``vary:`` expanded into the trials and data variants that are compared."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal

import orjson
from pydantic import BaseModel, ConfigDict, Field

from memtrial.datasets.errors import UserError, did_you_mean
from memtrial.datasets.registry import dataset_names, validate_spec
from memtrial.experiments.labels import is_named, short, text_of
from memtrial.experiments.paths import get_path, set_path
from memtrial.systems.registry import resolve


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Grid(_Strict):
    """Every combination of the values; axes of different systems are not crossed with each other.

    A value may be given a name, which then stands for it in labels and reports: ``{label: …, value: …}``.
    """

    mode: Literal["grid"]
    axes: dict[str, list[Any]] = Field(min_length=1)


class OneAtATime(_Strict):
    """The base, then each axis moved alone."""

    mode: Literal["one_at_a_time"]
    axes: dict[str, list[Any]] = Field(min_length=1)


class Rung(_Strict):
    """One step of a ladder; it keeps what the steps before it set."""

    label: str = Field(min_length=1)
    set: dict[str, Any] = Field(min_length=1)


class Ladder(_Strict):
    """The base, then rung upon rung."""

    mode: Literal["ladder"]
    rungs: list[Rung] = Field(min_length=1)


Sweep = Grid | OneAtATime | Ladder
SWEEPS: Mapping[str, type[Sweep]] = {"grid": Grid, "one_at_a_time": OneAtATime, "ladder": Ladder}


@dataclass(frozen=True, slots=True)
class SystemVariant:
    """A system with all parameters filled in; ``axes`` maps the varied paths to their values."""

    label: str
    system: str
    target: str
    params: dict[str, Any]
    axes: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DataVariant:
    """A data set with all options filled in."""

    label: str
    base: str
    spec: dict[str, Any]
    axes: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Assignment:
    path: str
    kind: Literal["data", "system"]
    label: str | None
    key: str
    value: Any = None
    name: str = ""

    @property
    def text(self) -> str:
        """The value in a label: its name where it was given one."""
        return self.name or text_of(self.value)

    def concerns(self, kind: str, label: str) -> bool:
        return self.kind == kind and self.label in (None, label)


@dataclass(frozen=True, slots=True)
class _Point:
    """A point of a sweep: what is moved away from the base, and the axes whose values are shown there."""

    moved: tuple[_Assignment, ...]
    shown: tuple[_Assignment, ...]
    rung: str | None = None


def takes_option(name: str, option: str) -> bool:
    """Whether the data set of this registry name has an option of that name."""
    return any(info.name == name and option in info.options for info in dataset_names())


def expand(
    sweeps: Sequence[Sweep], systems: Mapping[str, Mapping[str, Any]], data: Mapping[str, Mapping[str, Any]]
) -> list[tuple[SystemVariant, DataVariant]]:
    """Expand sweeps into pairs of system variant and data variant.

    A system that a sweep touches is run at the points of that sweep; one that no sweep touches is run once. An axis of
    the data touches every system. Equal variants are run once.

    Args:
        sweeps: validated ``vary:`` entries.
        systems: resolved parameters by label, each with ``use``.
        data: resolved specs by label, each with ``name``.

    Raises:
        UserError: for a path that leads nowhere or a value that is not allowed there.
    """
    book = _Book(systems, data)
    points = [[_parse(a, systems, data, f"vary[{i}]") for a in _paths(sweep)] for i, sweep in enumerate(sweeps)]
    pairs: dict[tuple[str, str], tuple[SystemVariant, DataVariant]] = {}
    for system in systems:
        ways = [
            _points([a for a in parsed if a.concerns("system", system) or a.kind == "data"], sweep)
            for parsed, sweep in zip(points, sweeps, strict=True)
        ]
        used = [way for way in ways if way] or [[_Point((), ())]]
        for point in itertools.chain.from_iterable(used):
            variant = book.system(system, point)
            for label in data:
                other = book.data(label, point)
                pairs.setdefault((variant.label, other.label), (variant, other))
    return list(pairs.values())


def _paths(sweep: Sweep) -> list[tuple[str, Any]]:
    if isinstance(sweep, Ladder):
        return [(path, value) for rung in sweep.rungs for path, value in rung.set.items()]
    return [(path, value) for path, values in sweep.axes.items() for value in values]


def _parse(
    pair: tuple[str, Any], systems: Mapping[str, Any], data: Mapping[str, Mapping[str, Any]], where: str
) -> _Assignment:
    path, value = pair
    if is_named(value):
        return replace(_parse((path, value["value"]), systems, data, where), name=value["label"])
    parts = path.removeprefix("systems.").split(".")
    if parts[0] == "data" and len(parts) > 1:
        if parts[1] in data and len(parts) > 2:
            return _Assignment(path, "data", parts[1], ".".join(parts[2:]), value)
        key = ".".join(parts[1:])
        if not any(takes_option(spec["name"], parts[1]) for spec in data.values()):
            options = sorted(
                {o for info in dataset_names() for o in info.options if _used(info.name, data)} | set(data)
            )
            raise UserError(
                f"{where}: {path!r}: no data set here takes {key!r}; allowed after data.: {', '.join(options)}"
                f"{did_you_mean(parts[1], options)}"
            )
        return _Assignment(path, "data", None, key, value)
    if parts[0] in systems and len(parts) > 1:
        return _Assignment(path, "system", parts[0], ".".join(parts[1:]), value)
    known = [*systems, "data"]
    raise UserError(
        f"{where}: {path!r} must start with a system's label or data and name a parameter after it; "
        f"allowed: {', '.join(f'{label}.…' for label in known)}{did_you_mean(parts[0], known)}"
    )


def _used(name: str, data: Mapping[str, Mapping[str, Any]]) -> bool:
    return any(spec["name"] == name for spec in data.values())


def _points(assignments: list[_Assignment], sweep: Sweep) -> list[_Point]:
    if not assignments:
        return []
    if isinstance(sweep, Ladder):
        wanted = {(a.path, text_of(a.value)): a for a in assignments}
        shown = tuple({a.path: a for a in assignments}.values())
        points, held = [_Point((), shown, "base")], dict[str, _Assignment]()
        for rung in sweep.rungs:
            own = [wanted[path, text_of(value)] for path, value in rung.set.items() if (path, text_of(value)) in wanted]
            if own:
                # Set anew, a path goes to the end: what an earlier rung set as a whole must not come after it.
                held = {p: a for p, a in held.items() if all(p != o.path for o in own)} | {a.path: a for a in own}
                points.append(_Point(tuple(held.values()), shown, rung.label))
        return points
    by_path: dict[str, list[_Assignment]] = {}
    for assignment in assignments:
        by_path.setdefault(assignment.path, []).append(assignment)
    if isinstance(sweep, Grid):
        return [_Point(combination, combination) for combination in itertools.product(*by_path.values())]
    shown = tuple(values[0] for values in by_path.values())
    return [_Point((), shown), *(_Point((value,), shown) for values in by_path.values() for value in values)]


class _Book:
    """Makes variants, gives them labels, and returns the one made before where parameters are equal."""

    def __init__(self, systems: Mapping[str, Mapping[str, Any]], data: Mapping[str, Mapping[str, Any]]) -> None:
        self._systems = {label: dict(entry) for label, entry in systems.items()}
        self._data = {label: dict(entry) for label, entry in data.items()}
        self._made: dict[tuple[str, str, bytes], SystemVariant | DataVariant] = {}
        self._labels: set[str] = set()

    def system(self, label: str, point: _Point) -> SystemVariant:
        entry = self._systems[label]
        target = str(entry["use"])
        params = {key: value for key, value in entry.items() if key != "use"}
        moved = [a for a in point.moved if a.kind == "system"]
        if moved:
            for a in moved:
                params = set_path(params, a.key, a.value)
            params = _checked(partial(resolve(target).validate, params), moved)
        named = {a.path: a.name for a in moved if a.name}
        shown = {a.path: named.get(a.path) or get_path(params, a.key) for a in point.shown if a.kind == "system"}
        if shown and point.rung:
            shown["ladder"] = point.rung
        key = ("system", label, _canonical(params))
        if key not in self._made:
            self._made[key] = SystemVariant(self._label(label, moved, point.rung), label, target, params, shown)
        made = self._made[key]
        assert isinstance(made, SystemVariant)
        made.axes.update({path: value for path, value in shown.items() if path not in made.axes})
        return made

    def data(self, label: str, point: _Point) -> DataVariant:
        spec = self._data[label]
        own = [a for a in point.moved if self._touches(a, label)]
        if own:
            for a in own:
                spec = set_path(spec, a.key, a.value)
            spec = _checked(partial(validate_spec, spec), own)
        shown = {a.path: get_path(spec, a.key) for a in point.shown if self._touches(a, label)}
        key = ("data", label, _canonical(spec))
        if key not in self._made:
            self._made[key] = DataVariant(self._label(label, own, point.rung), label, dict(spec), shown)
        made = self._made[key]
        assert isinstance(made, DataVariant)
        made.axes.update({path: value for path, value in shown.items() if path not in made.axes})
        return made

    def _touches(self, assignment: _Assignment, label: str) -> bool:
        option = assignment.key.split(".")[0]
        return assignment.concerns("data", label) and (
            assignment.label is not None or takes_option(self._data[label]["name"], option)
        )

    def _label(self, base: str, moved: Sequence[_Assignment], rung: str | None) -> str:
        if not moved:
            label = base
        elif rung:
            label = f"{base}[+{rung}]"
        else:
            last = [short(a.key) for a in moved]
            names = last if len(set(last)) == len(last) else [a.key for a in moved]
            label = f"{base}[{_joined(names, moved)}]"
            if label in self._labels:
                label = f"{base}[{_joined([a.key for a in moved], moved)}]"
        while label in self._labels:
            label += "'"
        self._labels.add(label)
        return label


def _joined(names: Iterable[str], moved: Sequence[_Assignment]) -> str:
    return ",".join(f"{name}={a.text}" for name, a in zip(names, moved, strict=True))


def _checked(validate: Callable[[], Mapping[str, Any]], moved: Sequence[_Assignment]) -> dict[str, Any]:
    try:
        return dict(validate())
    except UserError as error:
        raise UserError(f"vary: {', '.join(f'{a.path}={a.text}' for a in moved)}: {error}") from error


def _canonical(tree: Any) -> bytes:
    return orjson.dumps(tree, option=orjson.OPT_SORT_KEYS)
