"""Dotted paths into nested parameters: ``reader.abstain_below``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memtrial.datasets.errors import UserError


def get_path(tree: Mapping[str, Any], path: str) -> Any:
    """Return the value at a dotted path, or None where there is none."""
    node: Any = tree
    for part in path.split("."):
        if not isinstance(node, Mapping) or part not in node:
            return None
        node = node[part]
    return node


def set_path(tree: Mapping[str, Any], path: str, value: Any) -> dict[str, Any]:
    """Return a copy of ``tree`` with the value at a dotted path replaced.

    Raises:
        UserError: if the path runs through something that is not a mapping, or has an empty part.
    """
    head, _, rest = path.partition(".")
    if not head or (not rest and path.endswith(".")):
        raise UserError(f"{path!r} is not a dotted path")
    copy = dict(tree)
    if not rest:
        copy[head] = value
        return copy
    below = copy.get(head)
    if below is None:
        below = {}
    if not isinstance(below, Mapping):
        raise UserError(f"{path!r} leads through {head!r}, which is {below!r} and has nothing below it")
    copy[head] = set_path(below, rest, value)
    return copy


def expand_dotted(tree: Mapping[str, Any]) -> dict[str, Any]:
    """Turn dotted keys into nesting: ``{"reader.k": 3}`` becomes ``{"reader": {"k": 3}}``.

    Raises:
        UserError: if two keys set the same path.
    """
    flat: dict[str, Any] = {}
    _flatten(tree, "", flat)
    nested: dict[str, Any] = {}
    for path, value in flat.items():
        nested = set_path(nested, path, value)
    return nested


def _flatten(tree: Mapping[str, Any], prefix: str, into: dict[str, Any]) -> None:
    for key, value in tree.items():
        path = f"{prefix}{key}"
        if isinstance(value, Mapping) and value:
            _flatten(value, f"{path}.", into)
        elif path in into:
            raise UserError(f"{path!r} is set twice, once with dots and once nested; keep one")
        else:
            into[path] = value


def first_difference(left: Any, right: Any, path: str = "") -> tuple[str, Any, Any] | None:
    """Return the first path (in order of keys) at which two trees differ, with both values; None when equal."""
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        for key in [*left, *(k for k in right if k not in left)]:
            below = f"{path}.{key}" if path else str(key)
            found = first_difference(left.get(key), right.get(key), below)
            if found:
                return found
        return None
    if isinstance(left, list) and isinstance(right, list) and len(left) == len(right):
        for index, (one, other) in enumerate(zip(left, right, strict=True)):
            found = first_difference(one, other, f"{path}[{index}]")
            if found:
                return found
        return None
    return None if left == right and isinstance(left, bool) == isinstance(right, bool) else (path, left, right)
