"""Which parts of systems read with a model as soon as a configuration names one, without being told so."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel

from memtrial.datasets.errors import UserError
from memtrial.experiments.models import DEFAULT, PARTS
from memtrial.systems.registry import SystemFactory

# Parts that become a model as soon as one is named for their role.
_FOLLOWING = ("reader", "summariser")


def following(factory: SystemFactory, params: Mapping[str, Any], models: Mapping[str, Any]) -> dict[str, Any]:
    """Return a system's parameters with the parts that are not set made to follow the models named for their roles.

    Parts of systems within a system follow like its own, so that a hybrid reads with what its parts alone read with.
    """
    out = dict(params)
    for at in _places(getattr(factory.cls, "Params", None)):
        if not (PARTS[at[-1]] in models or DEFAULT in models) or _is_set(out, at):
            continue
        tried = _with(out, at)
        try:
            factory.validate(tried)
        except UserError:
            continue  # a part of that name that is no model, or something else is wrong, which is said later
        out = tried
    return out


def _places(params: object, at: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the paths at which parameters have a part that follows."""
    if not (isinstance(params, type) and issubclass(params, BaseModel)):
        return
    for name, field in params.model_fields.items():
        if name in _FOLLOWING:
            yield (*at, name)
        else:
            yield from _places(field.annotation, (*at, name))


def _is_set(params: object, at: tuple[str, ...]) -> bool:
    return not at or (isinstance(params, Mapping) and at[0] in params and _is_set(params[at[0]], at[1:]))


def _with(params: Mapping[str, Any], at: tuple[str, ...]) -> dict[str, Any]:
    if not at:
        return {"kind": "model"}
    inner = params.get(at[0], {})
    return {**params, at[0]: _with(inner, at[1:])} if isinstance(inner, Mapping) else dict(params)
