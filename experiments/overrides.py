"""Names given as lists, and values given on the command line, put into the raw configuration."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from memtrial.datasets.errors import UserError, did_you_mean
from memtrial.experiments.paths import expand_dotted, set_path
from memtrial.experiments.sweep import takes_option
from memtrial.experiments.yamlfile import Document, parse_value

TOP = (
    "name",
    "data",
    "systems",
    "vary",
    "repeats",
    "seed",
    "seeds",
    "time_limit_s",
    "ingest_limit_s",
    "warmup",
    "concurrency",
    "metrics",
    "models",
)


def parse_overrides(overrides: Sequence[str]) -> dict[str, Any]:
    """Turn ``["reader.k=3"]`` into ``{"reader": {"k": 3}}``.

    Raises:
        UserError: for an override without ``=`` or with a value that is not YAML.
    """
    nested: dict[str, Any] = {}
    for given in overrides:
        path, value = _split(given)
        nested = set_path(nested, path, value)
    return nested


def as_maps(raw: dict[str, Any], document: Document) -> dict[str, Any]:
    """Turn plain lists of names under data and systems into maps by label."""
    raw = dict(raw)
    for section, word in (("data", "name"), ("systems", "use")):
        value = raw.get(section)
        if isinstance(value, list):
            where = document.where((section,))
            for item in value:
                if not isinstance(item, str):
                    raise UserError(
                        f"{where}: {section} is a list, so it may hold names only, but has {show(item)}; to set "
                        f"something write a map by label: {section}: {{label: {{{word}: …}}}}"
                    )
            if len(set(value)) < len(value):
                twice = next(item for item in value if value.count(item) > 1)
                raise UserError(f"{where}: {section} names {twice!r} twice; write a map by label to run it in two ways")
            raw[section] = {item: {word: item} for item in value}
        elif isinstance(value, dict):
            raw[section] = {label: {} if entry is None else entry for label, entry in value.items()}
    return raw


def _split(override: str) -> tuple[str, Any]:
    path, equals, text = override.partition("=")
    path = path.strip()
    if not equals or not path:
        raise UserError(f"--set takes PATH=VALUE, for example bm25.k=20, but got {override!r}")
    return path, parse_value(text, f"--set {path}")


def override(raw: dict[str, Any], given: str) -> dict[str, Any]:
    """Return the raw configuration with one ``PATH=VALUE`` put in.

    ``data.OPTION`` means the only data set, or every one that takes the option; ``LABEL.parameter`` is short for
    ``systems.LABEL.parameter``.

    Raises:
        UserError: for a path that leads nowhere.
    """
    path, value = _split(given)
    parts = path.split(".")
    data, systems = raw.get("data"), raw.get("systems")
    if parts[0] == "data" and len(parts) > 1 and isinstance(data, dict):
        return {**raw, "data": _override_data(data, parts[1:], value, path)}
    if parts[0] == "systems" and len(parts) > 1 and isinstance(systems, dict):
        parts = parts[1:]
    if isinstance(systems, dict) and parts[0] in systems and parts[0] not in TOP:
        if len(parts) == 1:
            return {**raw, "systems": {**systems, parts[0]: value}}
        entry = systems[parts[0]]
        entry = expand_dotted(entry) if isinstance(entry, dict) else {}
        return {**raw, "systems": {**systems, parts[0]: set_path(entry, ".".join(parts[1:]), value)}}
    if path.startswith("systems.") or parts[0] not in TOP:
        known = [*(systems if isinstance(systems, dict) else ()), *TOP]
        raise UserError(
            f"--set {path}: there is no {parts[0]!r} here; allowed: {', '.join(known)}{did_you_mean(parts[0], known)}"
        )
    return set_path(raw, path, value)


def _override_data(data: dict[str, Any], parts: list[str], value: Any, path: str) -> dict[str, Any]:
    if parts[0] in data:
        if len(parts) == 1:
            return {**data, parts[0]: value}
        return {**data, parts[0]: set_path(data[parts[0]] or {}, ".".join(parts[1:]), value)}
    names = {label: str(spec.get("name", label)) for label, spec in data.items() if isinstance(spec, dict)}
    takers = (
        list(names)
        if len(names) == len(parts) == 1
        else [label for label, name in names.items() if takes_option(name, parts[0])]
    )
    if not takers:
        raise UserError(
            f"--set {path}: no data set here takes {parts[0]!r}; data sets: {', '.join(data)}{did_you_mean(parts[0], data)}"
        )
    return {**data, **{label: set_path(data[label], ".".join(parts), value) for label in takers}}


def blamed(
    said: str,
    states: Sequence[dict[str, Any]],
    overrides: Sequence[str],
    document: Document,
    resolved: Callable[[dict[str, Any]], object],
) -> str:
    """Return an error's sentence; one that came with an override names that and not a line of the file.

    Args:
        said: the error of the last state.
        states: the raw configuration as the file has it, and after each override.
        overrides: as they were given, one fewer than there are states.
        document: the file.
        resolved: validates a state.
    """

    def says_the_same(raw: dict[str, Any]) -> bool:
        try:
            resolved(raw)
        except UserError as error:
            return str(error) == said
        return False

    first = next((place for place, raw in enumerate(states[:-1]) if says_the_same(raw)), len(states) - 1)
    if first == 0:
        return said
    path = overrides[first - 1].partition("=")[0].strip()
    return f"--set {path}: {re.sub(rf'^{re.escape(document.source)}(:[0-9]+)?: ', '', said)}"


def show(value: Any) -> str:
    """Return a value as it should stand in an error."""
    text = "nothing" if value is None else repr(value)
    return text if len(text) <= 80 else f"{text[:77]}…"
