"""The options that every data set takes, and turning a bad option into one clear sentence."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.fields import FieldInfo

from memtrial.datasets.errors import UserError, did_you_mean
from memtrial.datasets.schema import Dataset

SpecT = TypeVar("SpecT", bound="DatasetSpec")


class DatasetSpec(BaseModel):
    """What names a data set in a configuration. Each loader adds its own options."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    name: str
    fraction: float = Field(
        default=1.0, gt=0, le=1, description="keep the first part of each corpus in time (cold start); in (0, 1]"
    )
    again: bool = Field(
        default=False, description="ask every question a second time with no message between (does a system learn?)"
    )


@dataclass(frozen=True, slots=True)
class LoaderEntry:
    """What a loader module exports to the registry as ``ENTRY``."""

    spec: type[DatasetSpec]
    load: Callable[[Any], Dataset]
    summary: str
    licence: str


def parse_spec(kind: type[SpecT], values: Mapping[str, Any]) -> SpecT:
    """Validate options.

    Raises:
        UserError: the first bad option: its name, its value, and what is allowed, with a near miss.
    """
    try:
        return kind.model_validate(dict(values))
    except ValidationError as error:
        raise UserError(_sentence(kind, values, error)) from None


def describe_option(name: str, info: FieldInfo) -> str:
    """Return one line about an option: what it is, and its default."""
    default = (
        "required" if info.is_required() else "optional" if info.default in (None, "") else f"default {info.default!r}"
    )
    return f"{info.description or name} ({default})"


def _sentence(kind: type[DatasetSpec], values: Mapping[str, Any], error: ValidationError) -> str:
    # A misspelt option first: it is often why another one is missing.
    first = min(error.errors(), key=lambda e: e["type"] != "extra_forbidden")
    option = str(first["loc"][0])
    dataset = values.get("name")
    known = [field for field in kind.model_fields if field != "name"]
    if first["type"] == "extra_forbidden":
        return (
            f"data set {dataset!r}: unknown option {option!r} (value {values[option]!r}); "
            f"allowed: {', '.join(known)}{did_you_mean(option, known)}"
        )
    info = kind.model_fields[option]
    if first["type"] == "missing":
        return f"data set {dataset!r}: option {option!r} is missing; it is {info.description}"
    value = values[option]
    if first["type"] == "literal_error":
        allowed = [str(choice) for choice in get_args(info.annotation)]
        near = did_you_mean(value, allowed) if isinstance(value, str) else ""
        return f"data set {dataset!r}: option {option!r} is {value!r}; allowed: {', '.join(allowed)}{near}"
    return f"data set {dataset!r}: option {option!r} is {value!r}; {info.description} ({first['msg']})"
