"""Marks from 0 to 10 as models write them: 8, "8/10", "eight", "high", 八分, 80%."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Mapping
from typing import Any

_WORDS: Mapping[str, float] = {
    "zero": 0.0, "one": 1.0, "two": 2.0, "three": 3.0, "four": 4.0, "five": 5.0, "six": 6.0, "seven": 7.0, "eight": 8.0,
    "nine": 9.0, "ten": 10.0,
    **{word: float(n) for n, word in enumerate("零一二三四五六七八九十")},
    "两": 2.0, "〇": 0.0, "满": 10.0,
    "none": 0.0, "irrelevant": 0.0, "unrelated": 0.0, "very low": 1.0, "low": 2.0, "medium": 5.0, "moderate": 5.0,
    "high": 8.0, "very high": 9.5, "perfect": 10.0, "full": 10.0,
    "无": 0.0, "无关": 0.0, "很低": 1.0, "低": 2.0, "较低": 3.0, "中": 5.0, "中等": 5.0, "较高": 7.0, "高": 8.0, "很高": 9.5, "非常高": 9.5,
}  # fmt: skip
_FRACTION = re.compile(r"(\d+(?:\.\d+)?)\s*(?:/|out of|of)\s*(\d+(?:\.\d+)?)")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_UNITS = re.compile(r"\s*(?:points?|pts?\.?|分)\s*$")
_OUT_OF_ZH = re.compile(r"(\d+)\s*分\s*制?\s*[里中之的]+\s*(\d+)")
_ID = re.compile(r"\D{0,8}\d{1,6}\D{0,2}")
_MOST = 10.0
_NAMES = {
    "id": ("id", "message_id", "index", "number", "message"),
    "score": ("score", "relevance", "rating", "mark", "分数", "评分"),
    "key_sentence": ("key_sentence", "sentence", "key", "evidence", "quote", "关键句", "关键句子"),
    "same_as": ("same_as", "duplicate_of", "same"),
}
_LISTS = ("items", "results", "messages", "scores", "ranking")


def read_mark(value: Any) -> float | None:
    """Return a mark from 0 to 10; None for what is none, and for a number outside that says no scale of its own."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, (int, float)):
        return _checked(float(value)) if abs(value) < 1e9 else None
    if not isinstance(value, str):
        return None
    text = unicodedata.normalize("NFKC", value[:80]).strip().strip("'\"*.。").casefold()
    if (found := _OUT_OF_ZH.fullmatch(_UNITS.sub("", text))) is not None:
        return _share(float(found[2]), float(found[1]))
    if (found := _FRACTION.fullmatch(_UNITS.sub("", text))) is not None:
        return _share(float(found[1]), float(found[2]))
    text = _UNITS.sub("", text).strip()
    if text.endswith("%") and _NUMBER.fullmatch(text[:-1].strip()):
        return _share(float(text[:-1]), 100.0)
    if _NUMBER.fullmatch(text):
        return _checked(float(text))
    return _WORDS.get(text)


def rows_of_marks(value: Any) -> list[Any] | None:
    """Return the rows of a reply with marks, whether a list, a list under a name, or a map from ids to marks; else None."""
    if isinstance(value, list):
        return value
    if not isinstance(value, Mapping):
        return None
    for name in _LISTS:
        rows = value.get(name)
        if isinstance(rows, list):
            return rows
        if isinstance(rows, Mapping) and rows:
            return _by_id(rows)
    if _of(value, "id") is not None and _of(value, "score") is not None:
        return [value]
    named = bool(value) and all(_ID.fullmatch(str(id)) and read_mark(mark) is not None for id, mark in value.items())
    return _by_id(value) if named else None


def mended_row(row: Any) -> dict[str, Any] | None:
    """Return one mark with what a model left out or named otherwise; None where it names no message or has no mark."""
    if hasattr(row, "model_dump"):
        row = row.model_dump()
    if not isinstance(row, Mapping):
        return None
    id, mark = _of(row, "id"), read_mark(_of(row, "score"))
    if mark is None or isinstance(id, bool) or not isinstance(id, (str, int)):
        return None
    sentence, same = _of(row, "key_sentence"), _of(row, "same_as")
    if isinstance(same, list):
        same = same[0] if same else None
    same = str(same).strip() if isinstance(same, (str, int)) and not isinstance(same, bool) else ""
    return {
        "id": str(id),
        "score": mark,
        "key_sentence": sentence if isinstance(sentence, str) else "",
        "same_as": None if same.casefold() in ("", "null", "none", "无") else same,
    }


def _by_id(marks: Mapping[Any, Any]) -> list[Any]:
    return [
        {**mark, "id": str(id)} if isinstance(mark, Mapping) else {"id": str(id), "score": mark}
        for id, mark in marks.items()
    ]


def _of(row: Mapping[Any, Any], name: str) -> Any:
    return next((row[other] for other in _NAMES[name] if other in row), None)


def _share(part: float, whole: float) -> float | None:
    return _checked(_MOST * part / whole) if whole > 0 else None


def _checked(mark: float) -> float | None:
    return mark if math.isfinite(mark) and 0.0 <= mark <= _MOST else None
