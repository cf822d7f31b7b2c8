"""``vary:`` of a configuration, read and checked: which sweeps there are and over which values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from memtrial.datasets.errors import UserError, did_you_mean
from memtrial.experiments.labels import is_named
from memtrial.experiments.overrides import show
from memtrial.experiments.sentences import sentence
from memtrial.experiments.sweep import SWEEPS, Ladder, Sweep
from memtrial.experiments.yamlfile import Document

_NOWHERE = object()


def sweeps_of(vary: Any, document: Document) -> list[Sweep]:
    """Return the sweeps.

    Raises:
        UserError: an unknown mode, an axis that is no list, a value given twice, a rung that takes back an earlier one.
    """
    if vary is None:
        return []
    listed = isinstance(vary, list)
    sweeps: list[Sweep] = []
    for index, entry in enumerate(vary if listed else [vary]):
        at: tuple[str | int, ...] = ("vary", index) if listed else ("vary",)
        name = f"vary[{index}]" if listed else "vary"
        if not isinstance(entry, dict):
            raise UserError(f"{document.where(at)}: {name} is {show(entry)}, but must be a mapping with mode:")
        mode = entry.get("mode")
        if not isinstance(mode, str) or mode not in SWEEPS:
            raise UserError(
                f"{document.where((*at, 'mode'))}: {name}.mode is {show(mode)}; allowed: {', '.join(SWEEPS)}"
                f"{did_you_mean(str(mode), SWEEPS)}"
            )
        for path, values in (entry.get("axes") or {}).items() if isinstance(entry.get("axes"), dict) else ():
            if not isinstance(values, list) or not values:
                raise UserError(
                    f"{document.where((*at, 'axes', path))}: {name}.axes.{path} is {show(values)}, but must be a list of "
                    f"at least one value"
                )
            for value in filter(is_named, values):
                if not isinstance(value["label"], str) or not value["label"].strip():
                    raise UserError(
                        f"{document.where((*at, 'axes', path))}: {name}.axes.{path} gives a value the label "
                        f"{show(value['label'])}, but a label must be a text"
                    )
            twice = next((v for i, v in enumerate(values) if any(_same(v, other) for other in values[:i])), _NOWHERE)
            if twice is not _NOWHERE:
                raise UserError(
                    f"{document.where((*at, 'axes', path))}: {name}.axes.{path} holds {show(twice)} twice; give each value once"
                )
        try:
            sweep = SWEEPS[mode].model_validate(entry)
        except ValidationError as error:
            raise UserError(sentence(error, document, at, SWEEPS[mode])) from error
        if isinstance(sweep, Ladder):
            _refuse_resets(sweep, document, at, name)
        sweeps.append(sweep)
    return sweeps


def _refuse_resets(ladder: Ladder, document: Document, at: tuple[str | int, ...], name: str) -> None:
    """Refuse a rung that sets a whole block without naming what an earlier rung set inside it.

    A value replaces what was there, so the earlier setting would fall back to its default unseen, although a rung is said
    to keep what those before it set.
    """
    earlier: dict[str, str] = {}
    for index, rung in enumerate(ladder.rungs):
        for given, value in rung.set.items():
            path = given.removeprefix("systems.")
            lost = next(
                (p for p in earlier if p.startswith(f"{path}.") and not _names(value, p[len(path) + 1 :])), None
            )
            if lost is not None:
                raise UserError(
                    f"{document.where((*at, 'rungs', index, 'set', given))}: {name}.rungs[{index}] ({show(rung.label)}) sets "
                    f"{given!r} as a whole, which would reset {lost!r}, set by rung {show(earlier[lost])}; name what changes "
                    f"by its own path ({path}.…), or give {lost!r} again inside"
                )
            earlier[path] = rung.label


def _names(value: Any, path: str) -> bool:
    """Whether a mapping gives the value at a dotted path itself."""
    for part in path.split("."):
        if not isinstance(value, Mapping) or part not in value:
            return False
        value = value[part]
    return True


def _same(a: Any, b: Any) -> bool:
    """Whether two values of an axis are one: 1 and 1.0 are, 1 and true are not."""
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return a.keys() == b.keys() and all(_same(a[key], b[key]) for key in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(_same, a, b))
    return isinstance(a, bool) == isinstance(b, bool) and bool(a == b)
