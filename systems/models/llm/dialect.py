"""What an endpoint turned out not to support, learnt from its complaints and remembered while the process lives."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Literal

Mode = Literal["json_schema", "json_object", "text"]

_NEXT: dict[Mode, Mode] = {"json_schema": "json_object", "json_object": "text"}
_FORMAT_WORDS = ("response_format", "json_schema", "json_object", "structured output", "json mode", "guided", "grammar")
_known: dict[tuple[str, str], Dialect] = {}


@dataclass(slots=True)
class Dialect:
    """How to put a request to one model of one endpoint.

    Attributes:
        mode: how a structured reply is asked for.
        limit_name: what the endpoint calls the most tokens of a reply.
        dropped: parameters it refuses; a reply says so, since without them it may not be repeatable.
    """

    mode: Mode = "json_schema"
    limit_name: str = "max_tokens"
    dropped: set[str] = field(default_factory=set)

    def learn(self, complaint: str, body: dict[str, Any]) -> bool:
        """Take note of a refused request.

        Args:
            complaint: code, parameter and message of the error, in lower case.
            body: what was refused.

        Returns:
            Whether the request can be put another way now.
        """
        mode: Mode = "json_schema" if "schema" in str(body.get("response_format")) else "json_object"
        if "response_format" in body and any(word in complaint for word in _FORMAT_WORDS):
            if self.mode == mode:  # else another call was faster to learn
                self.mode = _NEXT[mode]
            return True
        if "max_tokens" in body and "max_completion_tokens" in complaint:
            self.limit_name = "max_completion_tokens"
            return True
        for name in ("temperature", "seed"):
            if name in body and re.search(rf"\b{name}\b", complaint):
                self.dropped.add(name)
                return True
        return False


def dialect_of(base_url: str, model: str) -> Dialect:
    """Return what is known about a model of an endpoint."""
    return _known.setdefault((base_url, model), Dialect())


def forget() -> None:
    """Forget everything, as after an upgrade of the server."""
    _known.clear()
