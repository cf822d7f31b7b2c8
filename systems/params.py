"""What is wrong with a system's parameters, in one sentence."""

from __future__ import annotations

from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel, ValidationError

from memtrial.datasets.errors import did_you_mean

# A key may have been pasted here, or a password stand in it: such a value is never shown.
_NOT_SHOWN = frozenset({"api_key_env", "base_url"})


def explain(error: ValidationError, model: type[BaseModel], target: str) -> str:
    """Name the dotted path, the value and what is allowed, for the first thing that is wrong.

    Args:
        error: what pydantic found.
        model: the parameters' model.
        target: the system, as the configuration names it.
    """
    first = error.errors(include_url=False)[0]
    path, groups, possible = _walk(model, [str(part) for part in first["loc"]])
    if first["type"] == "union_tag_invalid":  # one field of the group is wrong, not the whole group
        context = first["ctx"]
        kinds = [kind.strip(" '") for kind in context["expected_tags"].split(",")]
        dotted = ".".join([*path, context["discriminator"].strip("'")])
        near = did_you_mean(context["tag"], kinds)
        said = " or ".join(map(repr, kinds))
        return f"system {target!r}: parameter {dotted!r} is {context['tag']!r}, but should be {said}{near}"
    dotted = ".".join(path)
    if first["type"] == "extra_forbidden":
        # Which kind was meant may be the very thing that is misspelt: {modle: NAME} names no model, so none was taken.
        allowed = list(dict.fromkeys(name for group in possible for name in group.model_fields))
        where = f"{'.'.join(path[:-1])} takes" if path[:-1] else "it takes"
        takes = ", ".join(allowed) if allowed else "no parameters"
        if len(possible) > 1:
            takes = "; ".join(f"as {' or '.join(map(repr, _kinds(g)))} {', '.join(g.model_fields)}" for g in possible)
        taken = [kind for group in groups for kind in _kinds(group)] if path[-1] in allowed else []
        near = f" as {' or '.join(map(repr, taken))}" if taken else did_you_mean(path[-1], allowed)
        return f"system {target!r} has no parameter {dotted!r}{near}; {where} {takes}"
    said = first["msg"].removeprefix("Value error, ")
    said = said[0].lower() + said[1:]
    if path and path[-1] in _NOT_SHOWN:
        return f"system {target!r}: parameter {dotted!r}{' ' if said.startswith(('is ', 'must ')) else ': '}{said}"
    near = ""
    if first["type"] == "literal_error" and isinstance(first["input"], str):
        near = did_you_mean(first["input"], _choices(groups, path[-1]))
    return f"system {target!r}: parameter {dotted!r} is {first['input']!r}, but {said}{near}"


def _walk(model: type[BaseModel], loc: list[str]) -> tuple[list[str], list[type[BaseModel]], list[type[BaseModel]]]:
    """Return the path as a user writes it, the groups in which its last name was looked for, and those it could be in.

    Where a field may be one of several groups, pydantic puts the kind that was taken into the location; a user does not.
    """
    path: list[str] = []
    looked: list[type[BaseModel]] = []
    groups = every = possible = [model]
    for name in loc:
        if len(groups) > 1 and (chosen := [group for group in groups if name in _kinds(group)]):
            groups, every = chosen, groups
            continue
        field = next((group.model_fields[name] for group in groups if name in group.model_fields), None)
        path.append(name)
        looked, possible, groups = groups, every, _members(field.annotation) if field is not None else []
        every = groups
    return path, looked, possible


def _kinds(group: type[BaseModel]) -> list[str]:
    literals = [field.annotation for field in group.model_fields.values() if get_origin(field.annotation) is Literal]
    return [str(value) for literal in literals for value in get_args(literal)]


def _members(annotation: Any) -> list[type[BaseModel]]:
    found = (annotation, *get_args(annotation))
    return [kind for kind in found if isinstance(kind, type) and issubclass(kind, BaseModel)]


def _choices(groups: list[type[BaseModel]], name: str) -> list[str]:
    field = next((group.model_fields[name] for group in groups if name in group.model_fields), None)
    return [str(choice) for choice in get_args(field.annotation)] if field is not None else []
