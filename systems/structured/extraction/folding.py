"""Text folded for look-up (case and width), keeping the length, so that offsets stay those of the text as written."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_SPACE = re.compile(r"\s+")
# 晨曦T512月3日: a date glued to a model number; the digits are the date's, the name is known without them
_GLUED_DATE = re.compile(r"\d{1,2}(?:月\d{1,2}[日号]|[日号])")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u200b-\u200f\u2060\ufeff]")


@lru_cache(maxsize=65_536)
def _fold_char(char: str) -> str:
    folded = unicodedata.normalize("NFKC", char).casefold()
    return folded if len(folded) == 1 else char


def fold(text: str) -> str:
    """Fold case and width character by character; the result is as long as the text."""
    return text.lower() if text.isascii() else "".join(map(_fold_char, text))


def key_of(name: str) -> str:
    """Return the form of a name under which it is known: folded, single blanks."""
    return _SPACE.sub(" ", fold(name)).strip()


def clean(text: str) -> str:
    """Drop control and zero-width characters and surplus blanks; line breaks stay, they end sentences."""
    text = _CONTROL.sub("", text)
    return "\n".join(line for part in text.splitlines() if (line := _SPACE.sub(" ", part).strip()))


def _glues(char: str) -> bool:
    """Whether a character continues a word written in letters and digits (Chinese is written without gaps)."""
    return char.isalnum() and not "\u2e80" <= char <= "\U0003ffff"


def stands_alone(text: str, start: int, end: int) -> bool:
    """Whether a span is no part of a longer word or code: ``Nova 10`` does not stand in ``Nova 10X`` or ``Nova 10-B``."""
    if start and _glues(text[start]) and _glues(text[start - 1]):
        return False
    if end < len(text) and _glues(text[end - 1]):
        after = text[end]
        if _glues(after):
            return bool(_GLUED_DATE.match(text, end))
        if after in "-_." and end + 1 < len(text) and _glues(text[end + 1]):
            return after == "-" and not (text[end - 1].isdigit() or text[end + 1].isdigit())
    return True
