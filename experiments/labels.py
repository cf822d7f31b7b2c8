"""How trials are named after what a sweep moves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

_OF_MANY = frozenset({"enabled", "kind"})


def is_named(value: Any) -> bool:
    """Whether a value of an axis has the form ``{label: …, value: …}``."""
    return isinstance(value, Mapping) and value.keys() == {"label", "value"}


def short(key: str) -> str:
    """Return the last part of a path, with the one before it where every mechanism has a switch of that name."""
    parts = key.split(".")
    return ".".join(parts[-2:] if parts[-1] in _OF_MANY else parts[-1:])


def text_of(value: Any) -> str:
    """Write a value that was given no name: a text as itself, anything else as JSON."""
    return value if isinstance(value, str) else orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()
