"""The connection to an Elasticsearch server: where it is, and one sentence for whatever goes wrong there.

The address is read from ELASTICSEARCH_URL and the key, if there is one, from ELASTICSEARCH_API_KEY, so that neither gets into
a run's files; what a server says is searched for the key before it is shown.
"""

from __future__ import annotations

import os
import re
from importlib.util import find_spec
from typing import Any
from urllib.parse import urlsplit

from memtrial.datasets.errors import MissingExtraError, UnavailableError, UserError

URL, KEY = "ELASTICSEARCH_URL", "ELASTICSEARCH_API_KEY"
_TIMEOUT_S = 60
_MOST_SAID = 300


class Server:
    """An Elasticsearch server.

    Raises:
        UnavailableError: ELASTICSEARCH_URL is not set or is no address, no server answers there, it is no Elasticsearch, or it
            refuses the key.
        MissingExtraError: the client is not installed.
    """

    def __init__(self) -> None:
        """Connect, and see that it is one."""
        address, self.where = _address()
        try:
            from elasticsearch import Elasticsearch
        except ImportError:
            raise MissingExtraError("an Elasticsearch server", "elasticsearch") from None
        self._key = os.environ.get(KEY, "").strip()
        if not self._key.isprintable() or not self._key.isascii():
            raise UnavailableError(f"{KEY} holds characters that no key has; copy the key once more")
        self._client: Any = Elasticsearch(address, api_key=self._key or None, request_timeout=_TIMEOUT_S)
        try:
            self.ask("info")
        except BaseException:
            self.close()
            raise

    def __repr__(self) -> str:
        """Name the place, never a key."""
        return f"Server({self.where})"

    def ask(self, what: str, **given: Any) -> Any:
        """Call one of the client's methods by its dotted name; an error is never an empty answer.

        Raises:
            UnavailableError: the server cannot be used, whatever is asked of it.
            UserError: it refuses this request.
        """
        from elasticsearch import (
            ApiError,
            ConnectionTimeout,
            SerializationError,
            TransportError,
            UnsupportedProductError,
        )

        call = self._client
        for part in what.split("."):
            call = getattr(call, part)
        try:
            return call(**given)
        except UnsupportedProductError:
            raise UnavailableError(f"what answers at {self.where} ({URL}) is not Elasticsearch") from None
        except ApiError as error:
            raise self._refused(error) from None
        except SerializationError:
            raise UnavailableError(f"what answers at {self.where} ({URL}) does not answer like Elasticsearch") from None
        except ConnectionTimeout:
            raise UnavailableError(
                f"the Elasticsearch server at {self.where} did not answer within {_TIMEOUT_S} s"
            ) from None
        except TransportError as error:
            raise UnavailableError(
                f"no Elasticsearch server answers at {self.where} ({URL}): {self.clean(str(error))}; start one, or use Tantivy"
            ) from None

    def _refused(self, error: Any) -> UserError:
        status = error.meta.status
        if status in (401, 403):
            known = "the key in" if self._key else "without a key; put one into"
            return UnavailableError(
                f"the Elasticsearch server at {self.where} refuses the request ({status}), {known} the environment variable {KEY}"
            )
        kind = UnavailableError if status == 429 or status >= 500 else UserError
        return kind(f"the Elasticsearch server at {self.where} answers {status}: {self.clean(_reason(error.body))}")

    def clean(self, said: str) -> str:
        """Return a server's words on one line, short and without the key."""
        text = said.replace(self._key, "***") if self._key else said
        return re.sub(r"\s+", " ", text)[:_MOST_SAID]

    def close(self) -> None:
        """Close the connections; safe to call twice."""
        self._client.close()


def require() -> None:
    """See that a server is named and its client installed; the server itself is not asked.

    Raises:
        UnavailableError: ELASTICSEARCH_URL is not set, or is no address.
        MissingExtraError: the client is not installed.
    """
    _address()
    if find_spec("elasticsearch") is None:
        raise MissingExtraError("an Elasticsearch server", "elasticsearch")


def _reason(body: Any) -> str:
    """Return what an error's body says, the root cause first."""
    error = body.get("error") if isinstance(body, dict) else None
    if not isinstance(error, dict):
        return str(error or body)
    causes = error.get("root_cause") or [error]
    cause = causes[0] if isinstance(causes, list) and isinstance(causes[0], dict) else error
    return f"{cause.get('type', '')}: {cause.get('reason', '')}"


def _address() -> tuple[str, str]:
    """Return the address for the client, and what a message calls it."""
    url = os.environ.get(URL, "").strip()
    if not url:
        raise UnavailableError(f"{URL} is not set; set it to the address of an Elasticsearch server, or use Tantivy")
    parts = urlsplit(url)
    try:
        port = parts.port or {"http": 9200, "https": 443}.get(parts.scheme, 0)
    except ValueError:
        port = 0
    if parts.scheme not in ("http", "https") or not parts.hostname or not port:
        raise UnavailableError(f"{URL} is no address of a server; it looks like http://localhost:9200")
    if parts.username is not None or parts.password is not None:
        raise UnavailableError(f"{URL} must hold no user or password; a key's place is {KEY}")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    where = f"{parts.scheme}://{host}:{port}"
    return where + parts.path.rstrip("/"), where
