"""Values of which only the form is hoped for: what a system recorded may hold anything that JSON can."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

from memtrial.reports.escape import one_line

#: Longer texts and lists are cut before anything looks at them.
READ, ENTRIES = 600, 8
_JSON_CHARS = 120


def mapping(value: Any) -> Mapping[str, Any]:
    """Return a mapping, or an empty one in the place of anything else."""
    return value if isinstance(value, Mapping) else {}


def pairs(value: Any) -> list[tuple[str, Any]]:
    """Return the first entries of a mapping with short names."""
    return [(str(name)[:40], inner) for name, inner in islice(mapping(value).items(), ENTRIES)]


def entries(value: Any) -> Sequence[Any]:
    """Return the first entries of a list."""
    return value[:ENTRIES] if isinstance(value, (list, tuple)) else ()


def texts(value: Any) -> list[str]:
    """Return the texts of a list, or a text alone."""
    found = [value] if isinstance(value, str) else entries(value)
    return [line for line in map(text, found) if line]


def text(value: Any) -> str:
    """Return a text on one line; "" for anything else."""
    return one_line(value[:READ]) if isinstance(value, str) else ""


def number(value: Any) -> str:
    """Write a number; "" for anything else."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return ""
    return f"{value:,}" if isinstance(value, int) else f"{value:.3g}"


def as_json(value: Any) -> str:
    """Write any value as short JSON, a text as itself."""
    if isinstance(value, str):
        return one_line(value[:READ], _JSON_CHARS)
    if isinstance(value, (list, tuple)):
        value = list(value[:ENTRIES])
    elif isinstance(value, Mapping):
        value = dict(islice(value.items(), ENTRIES))
    return one_line(json.dumps(value, ensure_ascii=False, default=str)[:READ], _JSON_CHARS)
