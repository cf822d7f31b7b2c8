"""What a setting may be, in our words: the validator's own speak of inputs, instances and literals."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

_PLAIN: Mapping[str, str] = {
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "int_parsing_size": "a whole number of fewer digits",
    "float_type": "a number",
    "float_parsing": "a number",
    "finite_number": "a finite number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "string_type": "text",
    "list_type": "a list",
    "tuple_type": "a list",
    "set_type": "a list",
    "dict_type": "a map",
    "model_type": "a map of settings",
    "model_attributes_type": "a map of settings",
    "none_required": "left out",
}
_LIMITS: Mapping[str, tuple[str, str]] = {
    "greater_than": ("gt", "more than"),
    "greater_than_equal": ("ge", "at least"),
    "less_than": ("lt", "less than"),
    "less_than_equal": ("le", "at most"),
}
_SIZES: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "string_too_short": lambda c: f"text of at least {_counted(c['min_length'], 'character')}",
    "string_too_long": lambda c: f"text of at most {_counted(c['max_length'], 'character')}",
    "too_short": lambda c: f"a {_group(c)} of at least {_counted(c['min_length'], 'entry', 'entries')}",
    "too_long": lambda c: f"a {_group(c)} of at most {_counted(c['max_length'], 'entry', 'entries')}",
}


def must(error: Mapping[str, Any]) -> str:
    """Return ``must be …`` for one error of a pydantic validation.

    Args:
        error: an entry of ``ValidationError.errors()``.

    Returns:
        A clause to stand after "… is VALUE, but ". What a validator of our own says is returned as it is.
    """
    kind, context = str(error["type"]), error.get("ctx") or {}
    if kind in _PLAIN:
        return f"must be {_PLAIN[kind]}"
    if kind in _LIMITS:
        name, words = _LIMITS[kind]
        return f"must be {words} {context[name]:g}" if isinstance(context[name], (int, float)) else f"must be {words} {context[name]}"  # fmt: skip
    if kind in _SIZES:
        return f"must be {_SIZES[kind](context)}"
    if kind in ("literal_error", "enum"):
        return f"must be {context['expected']}"
    said = str(error["msg"]).removeprefix("Value error, ")
    said = said[:1].lower() + said[1:]
    return said.replace("input should", "must", 1) if said.startswith("input should") else said


def _counted(n: int, one: str, many: str = "") -> str:
    return f"{n} {one if n == 1 else many or one + 's'}"


def _group(context: Mapping[str, Any]) -> str:
    return "map" if context.get("field_type") == "Dictionary" else "list"
