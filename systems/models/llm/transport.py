"""One request through the ``openai`` package, and what can go wrong on the way, with no secret in it."""

from __future__ import annotations

import asyncio
import base64
import os
import ssl
from collections.abc import Mapping
from importlib import import_module
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from memtrial.datasets.errors import MissingExtraError, UserError
from memtrial.systems.models.llm.faults import RawReply, TransportFaultError
from memtrial.systems.models.llm.pool import http_client, http_library
from memtrial.systems.models.llm.redaction import Redactor
from memtrial.systems.models.llm.settings import OPENAI_URL, ModelSettings

# What local servers are sent that want no key; the package insists on one.
_NO_KEY = "none"
_CONNECT_S = 10.0


class Transport:
    """Sends requests to one endpoint; opens nothing before the first."""

    def __init__(self, settings: ModelSettings) -> None:
        """Read the key from the environment.

        Raises:
            UserError: the key holds characters that no header can carry, or OpenAI's own endpoint is meant and no key is set.
        """
        self._settings = settings
        self._key = _key(settings)
        parts = urlsplit(settings.base_url or OPENAI_URL)
        self._url = settings.public_url.partition("?")[0]
        self._query = dict(parse_qsl(parts.query))
        self._headers: dict[str, str] = {}
        secrets = [self._key or ""]
        if parts.password or parts.username:
            user, password = unquote(parts.username or ""), unquote(parts.password or "")
            pair = base64.b64encode(f"{user}:{password}".encode()).decode("ascii")
            self._headers["Authorization"] = f"Basic {pair}"
            secrets += [password, pair, parts.password or ""]
        secrets += self._query.values()
        self.redact = Redactor(secrets)
        self._openai: Any = None

    def __repr__(self) -> str:
        """Name the endpoint alone."""
        return f"Transport({self._settings.public_url!r})"

    @property
    def has_key(self) -> bool:
        """Whether a key is set."""
        return self._key is not None

    def prepare(self) -> None:
        """Load the package and the certificates, so that no request's time includes it.

        Raises:
            MissingExtraError: the package is not installed.
        """
        self._client()

    async def connect(self) -> None:
        """Do what :meth:`prepare` does and open a connection; nothing is sent on it.

        Raises:
            MissingExtraError: the package is not installed.
            Exception: of the HTTP library, where there is no connection.
        """
        client = self._client()
        open_one = getattr(client._client._transport, "connect", None)
        if open_one is not None:  # our own connections; a proxy's open with the first request
            await open_one(client.base_url)

    async def post(self, path: str, body: Mapping[str, Any]) -> RawReply:
        """Send one request and return the response, whatever its status.

        Args:
            path: below the endpoint's address, as ``/chat/completions``.
            body: sent as JSON.

        Raises:
            TransportFaultError: no whole response came; its text is redacted.
        """
        fault: TransportFaultError
        try:
            client = self._client()
            async with asyncio.timeout(self._settings.timeout_s):
                response = await client.post(path, cast_to=self._response, body=dict(body))
            return RawReply(response.status_code, response.headers, response.content)
        except TimeoutError:
            fault = TransportFaultError("timeout", f"no whole reply within {self._settings.timeout_s:g} s")
        except self._package().APIStatusError as error:
            response = error.response
            return RawReply(response.status_code, response.headers, response.content)
        except self._package().APIConnectionError as error:
            fault = self._fault(error.__cause__ or error)
        except (self._package().APIError, self._library.HTTPError, self._library.InvalidURL) as error:
            fault = self._fault(error)
        # Raised here, outside of the handlers, so that it drags no foreign exception along whose text was never looked at.
        raise fault

    async def aclose(self) -> None:
        """Close the connections."""
        client, self._openai = self._openai, None
        if client is not None:
            await client.close()

    def _fault(self, error: BaseException) -> TransportFaultError:
        names = {kind.__name__ for kind in type(error).__mro__}
        told = self.redact(str(error))
        detail = f"{type(error).__name__}: {told}" if told else type(error).__name__
        if "ConnectTimeout" in names:
            return TransportFaultError("timeout", f"no connection within {_CONNECT_S:g} s", sent=False)
        if "PoolTimeout" in names or "ConnectError" in names:
            return TransportFaultError("connection", detail, sent=False, untrusted=_untrusted(error))
        if "TimeoutException" in names:
            return TransportFaultError("timeout", f"no whole reply within {self._settings.timeout_s:g} s")
        if "DecodingError" in names or ("ProtocolError" in names and not _broke_off(str(error))):
            return TransportFaultError("bad_reply", detail)
        return TransportFaultError("connection", detail)

    def _package(self) -> Any:
        try:
            return import_module("openai")
        except ImportError:
            raise MissingExtraError("asking a language model", "models") from None

    def _client(self) -> Any:
        if self._openai is None:
            package = self._package()
            self._library = http_library()
            self._response = self._library.Response
            timeout = package.Timeout(self._settings.timeout_s, connect=min(_CONNECT_S, self._settings.timeout_s))
            self._openai = package.AsyncOpenAI(
                api_key=self._key or _NO_KEY,
                base_url=self._url,
                max_retries=0,  # retries are ours, so that they are counted
                timeout=timeout,
                default_query=self._query or None,
                default_headers=self._headers or None,
                http_client=http_client(self._url, self._settings.max_concurrency, timeout),
            )
        return self._openai


def _untrusted(error: BaseException | None) -> bool:
    """Whether a certificate is behind a failed connection; each layer wraps the error of the one below."""
    for _ in range(10):
        if error is None or isinstance(error, ssl.SSLCertVerificationError):
            break
        error = error.__cause__ or error.__context__
    return error is not None


def _broke_off(text: str) -> bool:
    return "disconnected" in text or "closed" in text


def _key(settings: ModelSettings) -> str | None:
    name = settings.api_key_env
    key = os.environ.get(name, "").strip()
    if not key:
        if settings.base_url is None:
            raise UserError(
                f"asking {settings.model!r} at {OPENAI_URL} needs a key, and the environment variable {name} is not set"
                " (a server of your own is named with --base-url)"
            )
        return None
    if not (key.isascii() and key.isprintable()) or " " in key:
        # Said before a library says it, as that would print the key.
        raise UserError(f"the environment variable {name} holds characters that no key has (a line break, a space?)")
    return key
