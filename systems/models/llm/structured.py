"""Replies that must be an object of a given shape: how they are asked for, found in a text, checked and mended."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from pydantic import BaseModel, ValidationError

from memtrial.systems.models.llm.dialect import Mode
from memtrial.systems.models.llm.messages import ChatMessage, clean_text

_FINAL = re.compile(r"\bfinal(?:ly)?\b|最终|最后", re.IGNORECASE)
_NOT_FINAL = re.compile(
    r"\b(?:not|isn't|n't|never)\W+(?:\w+\W+){0,3}final\b|(?:不是|非|并非)(?:最终|最后)", re.IGNORECASE
)
# Each opening brace that begins nothing costs a look; a text of braces alone must not cost minutes.
_MOST_FALSE_STARTS = 200
_SHOWN = 4000


class UnusableError(ValueError):
    """The text holds no object of the shape asked for; the message says why, for the model to mend it."""


class CutShortError(UnusableError):
    """The text ends in the middle of an object; what there is of it is never used."""


@lru_cache(maxsize=256)
def shape_of(schema: type[BaseModel]) -> dict[str, Any]:
    """Return the JSON schema of a model; not to be changed, as it is made once."""
    return schema.model_json_schema()


def response_format(schema: type[BaseModel], mode: Mode) -> dict[str, Any] | None:
    """Return the request's ``response_format``; None where the endpoint knows none."""
    if mode == "text":
        return None
    if mode == "json_object":
        return {"type": "json_object"}
    shape, strict = strict_schema(shape_of(schema))
    name = re.sub(r"[^A-Za-z0-9_-]", "_", schema.__name__)[:64]
    return {"type": "json_schema", "json_schema": {"name": name, "schema": shape, "strict": strict}}


def with_instruction(messages: Sequence[ChatMessage], schema: type[BaseModel], mode: Mode) -> list[ChatMessage]:
    """Return the messages with the shape described in words, where the endpoint is not told it otherwise."""
    if mode == "json_schema":
        return list(messages)
    shape = json.dumps(shape_of(schema), ensure_ascii=False, separators=(",", ":"))
    told = f"Reply with one JSON object and nothing else. It must match this JSON schema:\n{shape}"
    if messages and messages[0]["role"] == "system":
        first: ChatMessage = {"role": "system", "content": f"{messages[0]['content']}\n\n{told}"}
        return [first, *messages[1:]]
    return [{"role": "system", "content": told}, *messages]


def repair_turn(text: str, problem: str) -> list[ChatMessage]:
    """Return the two messages that ask a model to mend its reply."""
    shown = text if len(text) <= _SHOWN else text[:_SHOWN] + " […]"
    told = f"That reply cannot be used: {problem}\nReply again with one JSON object of the shape asked for and nothing else."
    return [{"role": "assistant", "content": shown}, {"role": "user", "content": told}]


def read_object(text: str, schema: type[BaseModel]) -> BaseModel:
    """Return the object a text holds.

    Raises:
        UnusableError: none, more than one without a mark which is meant, or one of another shape.
    """
    value = extract(text)
    try:
        return schema.model_validate(value)
    except ValidationError as error:
        faults = [
            f"{'.'.join(map(str, fault['loc'])) or 'the object'}: {fault['msg']}"
            for fault in error.errors(include_input=False, include_url=False, include_context=False)[:5]
        ]
        raise UnusableError("; ".join(faults)) from None


def extract(text: str) -> Any:
    """Return the one JSON object (or array) that a text holds, alone, in a fence or in the middle of prose.

    Of several different ones the last counts, if the words before it call it final; the first never does.

    Raises:
        UnusableError: none, or several without such a mark; or a key that stands twice in one object.
    """
    text = text.strip()
    try:
        whole = _loads(text)
    except _NotJson:
        pass
    else:
        if isinstance(whole, (dict, list)):
            return whole
        raise UnusableError(f"a JSON object is wanted, not {type(whole).__name__}")
    blocks = list(_blocks(text))
    if not blocks:
        raise UnusableError("it holds no complete JSON object")
    values = [value for _, _, value in blocks]
    if all(value == values[0] for value in values):
        return values[0]
    between = text[blocks[-2][1] : blocks[-1][0]]
    if _FINAL.search(between) and not _NOT_FINAL.search(between):
        return values[-1]
    raise UnusableError(f"it holds {len(blocks)} different JSON objects, and the last is not marked as final")


class _NotJson(Exception):
    pass


def _loads(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
    except UnusableError:
        raise
    except (ValueError, RecursionError):
        raise _NotJson from None


_DECODER = json.JSONDecoder(
    object_pairs_hook=lambda pairs: _unique(pairs), parse_constant=lambda name: _no_constant(name)
)


def _blocks(text: str) -> Iterator[tuple[int, int, Any]]:
    """Yield start, end and value of the outermost JSON objects in a text, or of its arrays where it has no object."""
    found = False
    for opening in "{[":
        at, misses = text.find(opening), 0
        while at >= 0 and misses < _MOST_FALSE_STARTS:
            try:
                value, end = _DECODER.raw_decode(text, at)
            except UnusableError:
                raise
            except (ValueError, RecursionError) as error:
                if _ends_inside(error, text):
                    raise CutShortError("it ends in the middle of a JSON object") from None
                misses += 1
                at = text.find(opening, at + 1)
                continue
            found = True
            yield at, end, value
            at = text.find(opening, end)
        if found:
            return


def _ends_inside(error: Exception, text: str) -> bool:
    """Whether it was the end of the text that the decoder did not expect."""
    if not isinstance(error, json.JSONDecodeError):
        return False
    if error.pos >= len(text) or error.msg.startswith("Unterminated string"):
        return True
    if "escape" in error.msg and len(text) - error.pos <= len("\\u12345"):
        return True
    # A word or number without its end, such as ``fal``, is reported where it begins.
    return error.msg == "Expecting value" and re.fullmatch(r"[\w.+-]+", text[error.pos :]) is not None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out = dict(pairs)
    if len(out) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise UnusableError(f"the key {clean_text(twice)[:60]!r} stands twice in one object")
    return out


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def strict_schema(shape: Mapping[str, Any]) -> tuple[dict[str, Any], bool]:
    """Return a JSON schema in the form that strict servers ask for, and whether it could be brought there.

    Strict servers want every property required and no others allowed; an object with free keys cannot say that.
    """
    strict = True

    def walk(node: Any) -> Any:
        nonlocal strict
        if isinstance(node, list):
            return [walk(item) for item in node]
        if not isinstance(node, Mapping):
            return node
        out = {name: walk(item) for name, item in node.items() if name != "default"}
        if node.get("type") == "object" or "properties" in node:
            if "properties" not in node or node.get("additionalProperties") not in (None, False):
                strict = False
                return out
            out["properties"] = {name: walk(item) for name, item in node["properties"].items()}
            out["additionalProperties"] = False
            out["required"] = list(node["properties"])
        return out

    return walk(shape), strict
