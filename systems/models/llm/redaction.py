"""Keeps the value of a key out of everything that is told about a call."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable
from urllib.parse import quote, quote_plus

from memtrial.systems.models.llm.messages import clean_text

HIDDEN = "[hidden]"

# What services print of a wrong key: its beginning, stars, its end.
_KEY_SHAPES = re.compile(
    r"\b(?:sk|pk|rk|gsk|xai|hf)[-_][A-Za-z0-9_*-]{8,}|\bBearer\s+[^\s'\",;)}\]]{4,}", re.IGNORECASE
)
_LONGEST = 300
_SHORTEST_SECRET = 4


def spellings(secret: str) -> list[str]:
    """Return a secret in the spellings in which a server or a library may echo it, the longest first.

    As it stands, inside a URL, inside JSON, and in either alphabet of base64.
    """
    raw = secret.encode("utf-8", "replace")
    encoded = [base64.b64encode(raw).decode("ascii"), base64.urlsafe_b64encode(raw).decode("ascii")]
    quoted = [quote(secret, safe=""), quote(secret), quote_plus(secret)]
    lower = [re.sub(r"%[0-9A-F]{2}", lambda m: m[0].lower(), text) for text in quoted]
    found = {secret, json.dumps(secret)[1:-1], *quoted, *lower, *encoded, *(text.rstrip("=") for text in encoded)}
    return sorted(found, key=lambda text: (-len(text), text))


class Redactor:
    """Replaces secrets, in the spellings in which a server or a library may echo them.

    Args:
        secrets: values that must not be seen; very short ones ("x", for local servers) are no secrets.
    """

    def __init__(self, secrets: Iterable[str]) -> None:
        """Work out the spellings."""
        known = {form for secret in secrets if len(secret) >= _SHORTEST_SECRET for form in spellings(secret)}
        self._spellings = sorted(known, key=len, reverse=True)

    def __call__(self, text: str, limit: int = _LONGEST) -> str:
        """Return the text on one line, without secrets, cut to ``limit`` characters."""
        text = clean_text(text)
        for spelling in self._spellings:
            text = text.replace(spelling, HIDDEN)
        text = " ".join(_KEY_SHAPES.sub(HIDDEN, text).split())
        return text if len(text) <= limit else f"{text[: limit - 1]}…"

    def __repr__(self) -> str:
        """Say how many spellings are hidden, and none of them."""
        return f"Redactor({len(self._spellings)} spellings)"
