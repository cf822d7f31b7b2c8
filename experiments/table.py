"""pydantic models as Arrow tables, without loss: nested models become structs, what Arrow cannot type becomes JSON text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin

import orjson
import pyarrow as pa
from pydantic import BaseModel

_M = TypeVar("_M", bound=BaseModel)
_PLAIN: dict[Any, pa.DataType] = {str: pa.string(), bool: pa.bool_(), int: pa.int64(), float: pa.float64()}
_BATCH = 2_000


def schema_of(model: type[BaseModel]) -> pa.Schema:
    """Return the Arrow schema of a model; fields of mixed or open types are strings that hold JSON."""
    return pa.schema([pa.field(name, _type(info.annotation)) for name, info in model.model_fields.items()])


def to_batches(rows: Iterable[BaseModel], model: type[BaseModel]) -> Iterator[pa.RecordBatch]:
    """Convert models to record batches of ``schema_of(model)``, a few thousand rows at a time."""
    schema, held = schema_of(model), list[dict[str, Any]]()
    for row in rows:
        held.append(_encode(row, _parts(model)))
        if len(held) == _BATCH:
            yield pa.RecordBatch.from_pylist(held, schema)
            held = []
    if held:
        yield pa.RecordBatch.from_pylist(held, schema)


def from_batches(batches: Iterable[pa.RecordBatch], model: type[_M]) -> Iterator[_M]:
    """Rebuild what :func:`to_batches` wrote.

    Raises:
        pydantic.ValidationError: if a row is not of the model.
    """
    for batch in batches:
        for row in batch.to_pylist():
            yield model.model_validate(_decode(row, _parts(model)))


def _type(annotation: Any) -> pa.DataType:
    annotation = _bare(annotation)
    if annotation in _PLAIN:
        return _PLAIN[annotation]
    if get_origin(annotation) is Literal:
        return pa.string()
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return pa.struct([pa.field(name, _type(info.annotation)) for name, info in annotation.model_fields.items()])
    if get_origin(annotation) is list and not _is_json(get_args(annotation)[0]):
        return pa.list_(_type(get_args(annotation)[0]))
    return pa.string()


def _bare(annotation: Any) -> Any:
    if get_origin(annotation) in (Union, UnionType):
        options = [a for a in get_args(annotation) if a is not NoneType]
        return options[0] if len(options) == 1 else Any
    return annotation


def _is_json(annotation: Any) -> bool:
    annotation = _bare(annotation)
    if annotation in _PLAIN or get_origin(annotation) is Literal:
        return False
    if get_origin(annotation) is list:
        return _is_json(get_args(annotation)[0])
    return not (isinstance(annotation, type) and issubclass(annotation, BaseModel))


@dataclass(frozen=True, slots=True)
class _Part:
    """How one field is stored, where that is not as it is."""

    name: str
    kind: Literal["json", "one", "many"]
    parts: tuple[_Part, ...] = ()


@cache
def _parts(model: type[BaseModel]) -> tuple[_Part, ...]:
    """Return the fields of a model that need a hand; computed once, since rows are many."""
    found: list[_Part] = []
    for name, info in model.model_fields.items():
        annotation = _bare(info.annotation)
        item = get_args(annotation)[0] if get_origin(annotation) is list else annotation
        if _is_json(annotation):
            found.append(_Part(name, "json"))
        elif isinstance(item, type) and issubclass(item, BaseModel):
            found.append(_Part(name, "one" if item is annotation else "many", _parts(item)))
    return tuple(found)


def _encode(model: BaseModel, parts: tuple[_Part, ...]) -> dict[str, Any]:
    row = dict(model.__dict__)  # model_dump would copy every list of every row
    for part in parts:
        value = row[part.name]
        if part.kind == "json":
            row[part.name] = orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS, default=BaseModel.model_dump).decode()
        elif part.kind == "one":
            row[part.name] = _encode(value, part.parts)
        else:
            row[part.name] = [_encode(below, part.parts) for below in value]
    return row


def _decode(row: dict[str, Any], parts: tuple[_Part, ...]) -> dict[str, Any]:
    for part in parts:
        if part.kind == "json":
            row[part.name] = orjson.loads(row[part.name])
        else:
            for below in row[part.name] if part.kind == "many" else [row[part.name]]:
                _decode(below, part.parts)
    return row
