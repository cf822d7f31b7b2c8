"""``vary:`` of a configuration, read and checked: which sweeps there are and over which values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from memtrial.datasets.errors import UserError, did_you_mean
from memtrial.experiments.overrides import show
from memtrial.experiments.sentences import sentence
from memtrial.experiments.sweep import SWEEPS, Sweep
from memtrial.experiments.yamlfile import Document

_NOWHERE = object()


def sweeps_of(vary: Any, document: Document) -> list[Sweep]:
    """Return the sweeps.

    Raises:
        UserError: an unknown mode, an axis that is no list, a value given twice.
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
            twice = next((v for i, v in enumerate(values) if any(_same(v, other) for other in values[:i])), _NOWHERE)
            if twice is not _NOWHERE:
                raise UserError(
                    f"{document.where((*at, 'axes', path))}: {name}.axes.{path} holds {show(twice)} twice; give each value once"
                )
        try:
            sweeps.append(SWEEPS[mode].model_validate(entry))
        except ValidationError as error:
            raise UserError(sentence(error, document, at, SWEEPS[mode])) from error
    return sweeps


def _same(a: Any, b: Any) -> bool:
    """Whether two values of an axis are one: 1 and 1.0 are, 1 and true are not."""
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return a.keys() == b.keys() and all(_same(a[key], b[key]) for key in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(_same, a, b))
    return isinstance(a, bool) == isinstance(b, bool) and bool(a == b)
