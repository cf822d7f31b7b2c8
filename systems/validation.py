"""Is what a plug-in returned an answer? Asked of every answer, ours included, before anything is measured on it."""

from __future__ import annotations

import math
from collections.abc import Collection
from datetime import datetime

from memtrial.systems.base import Answer, Evidence

KINDS = ("message", "fact", "edge", "summary")


class InvalidAnswerError(ValueError):
    """A system's answer breaks the contract; the message is one sentence."""


def validate_answer(answer: object, known_ids: Collection[str]) -> Answer:
    """Return the answer if every part of it can be measured.

    Args:
        answer: what ``answer()`` returned.
        known_ids: ids of the messages handed over so far; a set.

    Raises:
        InvalidAnswerError: one sentence that names the field, the value and what is allowed.
    """
    if not isinstance(answer, Answer):
        raise InvalidAnswerError(f"answer() returned {_type(answer)}, not a memtrial.systems.base.Answer")
    if not isinstance(answer.text, str):
        raise InvalidAnswerError(f"Answer.text is {_type(answer.text)}, not a str")
    if not isinstance(answer.abstained, bool):
        raise InvalidAnswerError(f"Answer.abstained is {_type(answer.abstained)}, not a bool")
    confidence = answer.confidence
    if confidence is not None and not (_finite(confidence) and 0.0 <= confidence <= 1.0):
        raise InvalidAnswerError(f"Answer.confidence is {confidence!r}, neither None nor a number from 0 to 1")
    _ids("Answer.citations", answer.citations, known_ids)
    for field in ("retrieved", "context"):
        items = getattr(answer, field)
        if not isinstance(items, (tuple, list)):
            raise InvalidAnswerError(f"Answer.{field} is {_type(items)}, not a tuple of Evidence")
        for place, item in enumerate(items):
            _evidence(f"Answer.{field}[{place}]", item, known_ids)
    return answer


def _evidence(where: str, item: object, known_ids: Collection[str]) -> None:
    if not isinstance(item, Evidence):
        raise InvalidAnswerError(f"{where} is {_type(item)}, not an Evidence")
    for name in ("text", "tenant_id", "sender", "source"):
        if not isinstance(value := getattr(item, name), str):
            raise InvalidAnswerError(f"{where}.{name} is {_type(value)}, not a str")
    if not _finite(item.score):
        raise InvalidAnswerError(f"{where}.score is {item.score!r}, not a finite number")
    if item.kind not in KINDS:
        raise InvalidAnswerError(f"{where}.kind is {item.kind!r}, not one of {', '.join(KINDS)}")
    if item.timestamp is not None and not (isinstance(item.timestamp, datetime) and item.timestamp.tzinfo):
        raise InvalidAnswerError(
            f"{where}.timestamp is {item.timestamp!r}, neither None nor a datetime with a time zone"
        )
    _ids(f"{where}.message_ids", item.message_ids, known_ids)


def _ids(where: str, ids: object, known_ids: Collection[str]) -> None:
    if not isinstance(ids, (tuple, list)):
        raise InvalidAnswerError(f"{where} is {_type(ids)}, not a tuple of message ids")
    for id in ids:
        if not isinstance(id, str) or id not in known_ids:
            raise InvalidAnswerError(f"{where} names {id!r}, which is not the id of a message handed over so far")


def _finite(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _type(value: object) -> str:
    return "None" if value is None else type(value).__name__
