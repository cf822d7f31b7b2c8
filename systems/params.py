"""What is wrong with a system's parameters, in one sentence."""

from __future__ import annotations

from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from memtrial.datasets.errors import did_you_mean


def explain(error: ValidationError, model: type[BaseModel], target: str) -> str:
    """Name the dotted path, the value and what is allowed, for the first thing that is wrong.

    Args:
        error: what pydantic found.
        model: the parameters' model.
        target: the system, as the configuration names it.
    """
    first = error.errors(include_url=False)[0]
    path = [str(part) for part in first["loc"]]
    dotted = ".".join(path)
    if first["type"] == "extra_forbidden":
        allowed = _names(model, path[:-1])
        where = f"{'.'.join(path[:-1])} takes" if path[:-1] else "it takes"
        takes = ", ".join(allowed) if allowed else "no parameters"
        return f"system {target!r} has no parameter {dotted!r}{did_you_mean(path[-1], allowed)}; {where} {takes}"
    said = first["msg"][0].lower() + first["msg"][1:]
    near = ""
    if first["type"] == "literal_error" and isinstance(first["input"], str):
        near = did_you_mean(first["input"], _choices(model, path))
    return f"system {target!r}: parameter {dotted!r} is {first['input']!r}, but {said}{near}"


def _group(model: type[BaseModel], path: list[str]) -> type[BaseModel] | None:
    for name in path:
        annotation = model.model_fields[name].annotation if name in model.model_fields else None
        found = next(
            (a for a in (annotation, *get_args(annotation)) if isinstance(a, type) and issubclass(a, BaseModel)), None
        )
        if found is None:
            return None
        model = found
    return model


def _names(model: type[BaseModel], path: list[str]) -> list[str]:
    group = _group(model, path)
    return list(group.model_fields) if group is not None else []


def _choices(model: type[BaseModel], path: list[str]) -> list[str]:
    group = _group(model, path[:-1])
    annotation: Any = (
        group.model_fields[path[-1]].annotation if group is not None and path[-1] in group.model_fields else None
    )
    return [str(choice) for choice in get_args(annotation)]
