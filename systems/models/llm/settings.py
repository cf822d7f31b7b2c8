"""Which model is asked, where, and how."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from pydantic import BaseModel, ConfigDict, Field, field_validator

from memtrial.systems.models.llm.prices import Price

__all__ = ["OPENAI_URL", "ModelSettings", "Price"]

OPENAI_URL = "https://api.openai.com/v1"

_SECRET_NAME = re.compile(r"key|token|secret|sig|password|auth", re.IGNORECASE)
# Upper case, as variables are named by custom: a pasted key mostly is not, and one that is has long runs with digits in it.
_ENV_NAME = re.compile(r"[A-Z_][A-Z0-9_]{0,63}")
_LIKE_A_KEY = re.compile(r"(?=[A-Z0-9]*[0-9])[A-Z0-9]{16,}")


class ModelSettings(BaseModel):
    """One model behind an OpenAI-compatible endpoint.

    Attributes:
        model: its name, as the endpoint knows it.
        base_url: up to and with ``/v1``; None is OpenAI's own. ``OPENAI_BASE_URL`` is not read: what a call was must not
            depend on the machine it is replayed on.
        api_key_env: NAME of the environment variable with the key; the key itself is written nowhere.
        temperature: sampling temperature; above 0 repeats of a call are kept apart.
        seed: passed on where not None.
        max_tokens: most tokens of a reply; a cut structured reply is asked for once more with twice as many.
        timeout_s: longest wait for one attempt, from sending to the reply's last byte.
        max_retries: attempts after the first.
        max_concurrency: most attempts under way at a time.
        price: overrides the price table.
    """

    model_config = ConfigDict(
        extra="forbid", frozen=True, allow_inf_nan=False, protected_namespaces=(), hide_input_in_errors=True
    )

    model: str = Field(min_length=1)
    base_url: str | None = None
    api_key_env: str = "OPENAI_API_KEY"
    temperature: float = Field(default=0.0, ge=0, le=2)
    seed: int | None = 0
    max_tokens: int = Field(default=1024, ge=1)
    timeout_s: float = Field(default=60.0, gt=0)
    max_retries: int = Field(default=5, ge=0, le=50)
    max_concurrency: int = Field(default=64, ge=1, le=4096)
    price: Price | None = None

    @field_validator("base_url")
    @classmethod
    def _is_address(cls, value: str | None) -> str | None:
        if value is None:
            return None
        try:
            parts = urlsplit(value)
            valid = (
                parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
            )
        except ValueError:
            valid = False
        if not valid:
            raise ValueError("is not an address of the form https://host[:port]/v1")
        return value.rstrip("/")

    @field_validator("api_key_env")
    @classmethod
    def _is_name(cls, value: str) -> str:
        # A key pasted here would end up in the manifest; what cannot be a variable's name is not even quoted.
        if not _ENV_NAME.fullmatch(value) or _LIKE_A_KEY.search(value):
            raise ValueError(
                "is not the name of an environment variable in upper case, such as OPENAI_API_KEY (give the name, never the key)"
            )
        return value

    @property
    def public_url(self) -> str:
        """The endpoint's address without user, password, and query parameters that sound like a secret."""
        parts = urlsplit(self.base_url or OPENAI_URL)
        query = urlencode([(name, value) for name, value in parse_qsl(parts.query) if not _SECRET_NAME.search(name)])
        return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path.rstrip("/"), query, ""))

    def identity(self) -> dict[str, Any]:
        """Return everything of these settings that decides what the model is asked."""
        return {
            "model": self.model,
            "base_url": self.public_url,
            "temperature": self.temperature,
            "seed": self.seed,
            "max_tokens": self.max_tokens,
        }
