"""Keeps keys and passwords out of journals and logs."""

from __future__ import annotations

import os
import re

_HIDDEN = "[hidden]"
_NAMES = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|AUTH", re.IGNORECASE)
_SHAPES = [
    re.compile(r"\b(?:sk|pk|rk|ghp|gho|xox[a-z]|glpat|hf|AKIA)[-_]?[A-Za-z0-9_-]{12,}"),
    re.compile(r"(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{8,}"),
    re.compile(r"(?i)\b(api[-_ ]?key|token|secret|password|authorization)(['\"]?\s*[:=]\s*)['\"]?[^\s'\",;)&]{4,}"),
    re.compile(r"(?<=://)[^/\s:@]+:[^/\s@]+(?=@)"),
]


def redact(text: str, limit: int = 300) -> str:
    """Hide what looks like a secret, or is the value of a secret-looking environment variable; cut to ``limit`` characters."""
    for name, value in os.environ.items():
        if len(value) >= 8 and _NAMES.search(name) and value in text:
            text = text.replace(value, _HIDDEN)
    for shape in _SHAPES:
        text = shape.sub(_HIDDEN, text)
    text = text.strip()
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
