"""What is wrong with a configuration, in one sentence that names file, line, path, value and what is allowed."""

from __future__ import annotations

from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from memtrial.datasets.errors import UserError, did_you_mean
from memtrial.datasets.wording import must
from memtrial.experiments.overrides import show
from memtrial.experiments.yamlfile import Document


def located(document: Document, path: tuple[str | int, ...], build: Any) -> Any:
    """Build something; an error gets the place in the file before it."""
    try:
        return build()
    except UserError as error:
        where = document.where(path)
        text = str(error)
        dotted = ".".join(map(str, path))
        raise UserError(
            f"{where}: {text}" if text.startswith((dotted, "vary")) else f"{where}: {dotted}: {text}"
        ) from error


def sentence(error: ValidationError, document: Document, at: tuple[str | int, ...], model: type[BaseModel]) -> str:
    """Return the sentence about the first error of a validation; ``at`` is where the validated part stands in the file."""
    first = error.errors(include_url=False)[0]
    loc = (*at, *first["loc"])
    name = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in loc).lstrip(".")
    where = document.where(loc)
    if first["type"] == "extra_forbidden":
        allowed = sorted(_fields_at(model, first["loc"][:-1]))
        return (
            f"{where}: unknown key {name!r} (value {show(first['input'])}); allowed: {', '.join(allowed)}"
            f"{did_you_mean(str(loc[-1]), allowed)}"
        )
    if first["type"] == "missing":
        return f"{where}: {name} is missing"
    return f"{where}: {name} is {show(first['input'])}, but {must(first)}"


def _fields_at(model: type[BaseModel], loc: tuple[str | int, ...]) -> list[str]:
    """Return the names that are known at a place inside a model; what leads through a list is followed to its entries."""
    for part in loc:
        field = model.model_fields.get(str(part))
        if field is None:
            continue
        kinds = (field.annotation, *get_args(field.annotation))
        model = next((kind for kind in kinds if isinstance(kind, type) and issubclass(kind, BaseModel)), model)
    return list(model.model_fields)
