"""What is wrong with a system's parameters, in one sentence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

from pydantic import AliasChoices, BaseModel, ValidationError
from pydantic.fields import FieldInfo

from memtrial.datasets.errors import did_you_mean
from memtrial.datasets.wording import must

# A key may have been pasted here, or a password stand in it: such a value is never shown.
_NOT_SHOWN = frozenset({"api_key_env", "base_url"})


def explain(error: ValidationError, model: type[BaseModel], target: str) -> str:
    """Name the dotted path, the value and what is allowed, for the first thing that is wrong.

    Args:
        error: what pydantic found.
        model: the parameters' model.
        target: the system, as the configuration names it.
    """
    first, choices = _first(error.errors(include_url=False), model)
    place = _walk(model, first["loc"])
    if first["type"] == "union_tag_invalid":  # one field of the group is wrong, not the whole group
        context = first["ctx"]
        kinds = [kind.strip(" '") for kind in context["expected_tags"].split(",")]
        dotted = ".".join([*place.path, context["discriminator"].strip("'")])
        near = did_you_mean(context["tag"], kinds)
        said = " or ".join(map(repr, kinds))
        return f"system {target!r}: parameter {dotted!r} is {context['tag']!r}, but must be {said}{near}"
    if first["type"] == "extra_forbidden":
        return _no_parameter(place, target)
    if first["loc"] and first["loc"][-1] == "[key]":
        return _no_key(place, target)
    dotted = ".".join(place.path)
    if first["type"] == "missing":
        return f"system {target!r}: parameter {dotted!r} is missing"
    said = ", or ".join([must(first), *(must(other).removeprefix("must be ") for other in choices)])
    if place.path and place.path[-1] in _NOT_SHOWN:
        return f"system {target!r}: parameter {dotted!r}{' ' if said.startswith(('is ', 'must ')) else ': '}{said}"
    near = ""
    if first["type"] == "literal_error" and isinstance(first["input"], str):
        near = did_you_mean(first["input"], _choices(place.looked, place.path[-1]))
    return f"system {target!r}: parameter {dotted!r} is {first['input']!r}, but {said}{near}"


def unknown_name(params: Mapping[str, Any], model: type[BaseModel], target: str) -> str:
    """Return the sentence on a name that a model would pass over in silence; "" where there is none.

    Pydantic ignores what a model does not have unless the model says otherwise, and a misspelt parameter then leaves the
    default standing. A model that says ``extra="allow"`` takes any name, and one that rewrites its input (a validator
    that runs before the fields') may know names that are no fields.
    """
    loc = next(_unknown(params, model), None)
    return _no_parameter(_walk(model, loc), target) if loc is not None else ""


def _unknown(params: Mapping[str, Any], model: type[BaseModel]) -> Iterator[tuple[str, ...]]:
    """Yield the places of such names, as pydantic would give them."""
    rewrites = any(v.info.mode != "after" for v in model.__pydantic_decorators__.model_validators.values())
    if model.model_config.get("extra") == "allow" or rewrites:
        return
    fields = {name: field for known, field in model.model_fields.items() for name in _names_of(known, field)}
    for name, value in params.items():
        if name not in fields:
            # What is computed stands among the values that were filled in; what a model refuses pydantic tells better.
            if name not in model.model_computed_fields and model.model_config.get("extra") != "forbid":
                yield (name,)
        elif isinstance(value, Mapping) and _mapping_of(fields[name].annotation) is None:
            groups = _members(fields[name].annotation)
            found = [next(_unknown(value, group), None) for group in groups]
            if groups and all(found):
                tag = (groups[0].__name__,) if _is_plain_union(fields[name].annotation) else ()
                yield (name, *tag, *(found[0] or ()))


def _names_of(name: str, field: FieldInfo) -> Iterator[str]:
    yield name
    for alias in (field.alias, field.validation_alias):
        if isinstance(alias, AliasChoices):
            yield from (choice for choice in alias.choices if isinstance(choice, str))
        elif isinstance(alias, str):
            yield alias


def _first(errors: Sequence[Any], model: type[BaseModel]) -> tuple[Any, list[Any]]:
    """Return the error to speak of, and what else the same value could be.

    Where a value may be one of several kinds there is an error for each: of a map those count that look into it.
    """
    first = errors[0]
    if first["type"] == "missing":  # of a misspelt name too: the one that is there says more than the one that is not
        beside = (e for e in errors if e["type"] == "extra_forbidden" and e["loc"][:-1] == first["loc"][:-1])
        return next(beside, first), []
    tag = _walk(model, first["loc"]).tag
    if tag < 0:
        return first, []
    same = [e for e in errors if e["loc"][:tag] == first["loc"][:tag]]
    inside = [e for e in same if len(e["loc"]) > tag + 1]
    if inside:
        return next((e for e in inside if e["type"] == "extra_forbidden"), inside[0]), []
    return first, [e for e in same[1:] if must(e).startswith("must be ")]


def _no_parameter(place: _Place, target: str) -> str:
    path, possible = place.path, place.possible
    # Which kind was meant may be the very thing that is misspelt: {modle: NAME} names no model, so none was taken.
    allowed = list(dict.fromkeys(name for group in possible for name in group.model_fields))
    where = f"{'.'.join(path[:-1])} takes" if path[:-1] else "it takes"
    takes = ", ".join(allowed) if allowed else "no parameters"
    if len(possible) > 1:
        takes = "; ".join(f"as {' or '.join(map(repr, _kinds(g)))} {', '.join(g.model_fields)}" for g in possible)
    taken = [kind for group in place.looked for kind in _kinds(group)] if path[-1] in allowed else []
    near = f" as {' or '.join(map(repr, taken))}" if taken else did_you_mean(path[-1], allowed)
    return f"system {target!r} has no parameter {'.'.join(path)!r}{near}; {where} {takes}"


def _no_key(place: _Place, target: str) -> str:
    *above, key = place.path
    near = did_you_mean(key, place.keys)
    takes = f"; {'.'.join(above)} takes {', '.join(place.keys)}" if place.keys else ""
    return f"system {target!r} has no parameter {'.'.join(place.path)!r}{near}{takes}"


@dataclass(slots=True)
class _Place:
    """Where in the parameters an error stands.

    Attributes:
        path: as a user writes it; of a value that may be of several kinds pydantic says which it means, a user does not.
        looked: groups in which the last name was looked for.
        possible: groups in which it could have been.
        keys: names that the map takes in which the last name was looked for, if it takes certain ones.
        tag: place in pydantic's location of the last such kind that no field of the value decides; -1 for none.
    """

    path: list[str] = field(default_factory=list)
    looked: list[type[BaseModel]] = field(default_factory=list)
    possible: list[type[BaseModel]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    tag: int = -1


def _walk(model: type[BaseModel], loc: Sequence[str | int]) -> _Place:
    place = _Place(possible=[model])
    groups = every = [model]
    annotation: Any = None  # of the value whose kind may come next
    for index, name in enumerate(map(str, loc)):
        if len(groups) > 1 and (chosen := [group for group in groups if name in _kinds(group)]):
            groups, every, annotation = chosen, groups, None
            continue
        if name == "[key]":
            continue
        if _is_plain_union(annotation):
            place.tag, annotation = index, None
            groups = every = [group for group in groups if group.__name__ == name]
            continue
        place.path.append(name)
        keys = _mapping_of(annotation)
        if keys is not None:
            place.keys, annotation = keys, None
            continue
        found = next((group.model_fields[name] for group in groups if name in group.model_fields), None)
        annotation = found.annotation if found is not None else None
        place.looked, place.possible = groups, every
        groups = every = _members(annotation)
    return place


def _is_plain_union(annotation: Any) -> bool:
    kinds = [kind for kind in get_args(annotation) if kind is not type(None)]
    return get_origin(annotation) in (Union, UnionType) and len(kinds) > 1


def _mapping_of(annotation: Any) -> list[str] | None:
    """Return the keys that a map takes, none where it takes any; None for what is no map."""
    if not (isinstance(get_origin(annotation), type) and issubclass(get_origin(annotation), Mapping)):
        return None
    key = next(iter(get_args(annotation)), None)
    return [str(choice) for choice in get_args(key)] if get_origin(key) is Literal else []


def _kinds(group: type[BaseModel]) -> list[str]:
    literals = [field.annotation for field in group.model_fields.values() if get_origin(field.annotation) is Literal]
    return [str(value) for literal in literals for value in get_args(literal)]


def _members(annotation: Any) -> list[type[BaseModel]]:
    found = (annotation, *get_args(annotation))
    return [kind for kind in found if isinstance(kind, type) and issubclass(kind, BaseModel)]


def _choices(groups: Sequence[type[BaseModel]], name: str) -> list[str]:
    found = next((group.model_fields[name] for group in groups if name in group.model_fields), None)
    inner = get_args(found.annotation) if found is not None else ()
    return [str(choice) for kind in inner for choice in (get_args(kind) if get_origin(kind) is Literal else (kind,))]
