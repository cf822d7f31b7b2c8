"""Data sets by name: validate what a configuration says, load it, list what there is.

Loaders are imported when first asked for. Adding one is a module with an ``ENTRY`` and a line in ``_LOADERS``.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from memtrial.datasets.again import asked_again
from memtrial.datasets.errors import UserError, did_you_mean
from memtrial.datasets.fraction import first_fraction
from memtrial.datasets.loaders.spec import LoaderEntry, describe_option, parse_spec
from memtrial.datasets.schema import Dataset

_LOADERS = {
    "handwritten": "memtrial.datasets.loaders.handwritten",
    "supportdesk": "memtrial.datasets.loaders.supportdesk",
    "json": "memtrial.datasets.loaders.json_log",
    "locomo": "memtrial.datasets.loaders.locomo",
    "lifebench": "memtrial.datasets.loaders.lifebench",
    "longmemeval": "memtrial.datasets.loaders.longmemeval",
}


@dataclass(frozen=True, slots=True)
class DatasetInfo:
    """What ``memtrial datasets list`` shows; ``options`` maps each option to a line about it."""

    name: str
    summary: str
    options: Mapping[str, str]
    licence: str


def dataset_names() -> list[DatasetInfo]:
    """Return every data set, those that need no download first."""
    infos = []
    for name in _LOADERS:
        entry = _entry(name)
        fields = entry.spec.model_fields
        own_first = sorted(fields, key=lambda option: option in ("fraction", "again"))
        options = {option: describe_option(option, fields[option]) for option in own_first if option != "name"}
        infos.append(DatasetInfo(name, entry.summary, options, entry.licence))
    return infos


def validate_spec(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options with every default filled in; nothing is read from disk.

    Raises:
        UserError: unknown name or option, or a value that is not allowed.
    """
    return parse_spec(_entry(_name_of(spec)).spec, spec).model_dump()


def load_dataset(spec: Mapping[str, Any]) -> Dataset:
    """Load the data set that a configuration names, such as ``{name: locomo, path: data/locomo10.json}``.

    Raises:
        UserError: the options or the files are wrong; one sentence says what and where.
    """
    entry = _entry(_name_of(spec))
    options = parse_spec(entry.spec, spec)
    dataset = entry.load(options)
    if options.fraction < 1:
        dataset = first_fraction(dataset, options.fraction)
    return asked_again(dataset) if options.again else dataset


def _name_of(spec: Mapping[str, Any]) -> str:
    if not isinstance(spec, Mapping):
        raise UserError(f"data set: found {spec!r}; a mapping such as {{name: handwritten}} is expected")
    name = spec.get("name")
    if not isinstance(name, str) or name not in _LOADERS:
        near = did_you_mean(name, _LOADERS) if isinstance(name, str) else ""
        raise UserError(f"data set: option 'name' is {name!r}; allowed: {', '.join(_LOADERS)}{near}")
    return name


def _entry(name: str) -> LoaderEntry:
    entry = importlib.import_module(_LOADERS[name]).ENTRY
    if not isinstance(entry, LoaderEntry):
        raise TypeError(f"{_LOADERS[name]}.ENTRY is not a LoaderEntry")
    return entry
