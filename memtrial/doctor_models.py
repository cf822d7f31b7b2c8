"""Whether a model can be reached, answers, keeps to a form and tells its usage; and whether keys are set, never which."""

from __future__ import annotations

import asyncio
import ipaddress
import os
import socket
from collections.abc import Iterator
from contextlib import suppress
from importlib.util import find_spec
from typing import Any
from urllib.parse import unquote, urlsplit

from pydantic import BaseModel, ConfigDict, ValidationError

from memtrial.datasets.errors import UserError
from memtrial.doctor import Check, Wanted
from memtrial.systems.models.llm.client import Client
from memtrial.systems.models.llm.dialect import dialect_of
from memtrial.systems.models.llm.messages import ChatMessage
from memtrial.systems.models.llm.outcome import EndpointUnreachable, ModelMissing, Reply
from memtrial.systems.models.llm.prices import price_of
from memtrial.systems.models.llm.settings import OPENAI_URL, ModelSettings

_EXTRA = "pip install 'memtrial[models]'"
_CONNECT_S = 3.0
_WORD = "kestrel"


class Colour(BaseModel):
    """The form that a model is asked to keep to."""

    model_config = ConfigDict(extra="forbid")

    colour: str


def check_models(wanted: Wanted) -> Iterator[Check]:
    """Look at the models of a configuration and at the one named."""
    configured = _configured(wanted)
    if wanted.config is not None:
        roles = ", ".join(f"{role}: {s.model}" for role, s in configured.items()) or "asks no language model"
        yield Check("configuration", "ok", f"{wanted.config}: {roles}")
    named = _named(wanted)
    every = [*configured.values(), *([named] if named else [])]
    names = dict.fromkeys([*wanted.api_key_env, *(s.api_key_env for s in every)])
    for name in names:
        if not _is_name(name):  # perhaps a key itself: not even quoted
            yield Check("key", "fail", "--api-key-env is not the name of an environment variable", "give the name")
            continue
        users = [s for s in every if s.api_key_env == name]
        yield _key(name, needed=not users or any(not _is_here(s) for s in users))
    if not every:
        return
    if find_spec("openai") is None:
        yield Check("models", "fail", "the openai package is not installed", _EXTRA)
        return
    asked = {_identity(s): s for s in ([named] if named else []) + (list(configured.values()) if wanted.ask else [])}
    reached: dict[str, bool] = {}
    for settings in every:
        if settings.public_url not in reached:
            check = _reach(settings)
            reached[settings.public_url] = check.state != "fail"
            yield check
    for settings in asked.values():
        if reached[settings.public_url]:
            yield from asyncio.run(_ask(settings, wanted))


def secrets_of(wanted: Wanted) -> list[str]:
    """Return the values that must not be shown: of every variable that is named, and of those that look like keys."""
    names = {*wanted.api_key_env, "OPENAI_API_KEY"}
    with suppress(UserError):  # check_models tells
        names |= {settings.api_key_env for settings in _configured(wanted).values()}
    values = [os.environ.get(name, "") for name in names if "\0" not in name and "=" not in name]
    values += [name for name in wanted.api_key_env if not _is_name(name)]
    with suppress(ValueError):  # no address at all: nothing in it is shown either
        parts = urlsplit(wanted.base_url or "")
        values += [parts.password or "", parts.username or "", unquote(parts.password or "")]
    return [part for value in values for part in (value, value.strip()) if part]


def _configured(wanted: Wanted) -> dict[str, ModelSettings]:
    """Return the models that a configuration's systems and its judge ask, by who asks them."""
    if wanted.config is None:
        return {}
    from memtrial.experiments.config import load_config
    from memtrial.experiments.models import roles_of
    from memtrial.systems.registry import resolve

    config = load_config(wanted.config)
    found = {}
    if "judge" in config.models:
        found["judge"] = ModelSettings.model_validate(config.models["judge"])
    for label, given in config.systems.items():
        params = {name: value for name, value in given.items() if name != "use"}
        for role, settings in roles_of(resolve(str(given["use"])), params, config.models).items():
            found[f"{label} {role}"] = settings
    return found


def _named(wanted: Wanted) -> ModelSettings | None:
    if wanted.model is None:
        return None
    names = [name for name in wanted.api_key_env if _is_name(name)]
    given = {"model": wanted.model, "base_url": wanted.base_url, **({"api_key_env": names[0]} if names else {})}
    try:
        return ModelSettings.model_validate({**given, "timeout_s": wanted.timeout_s, "max_retries": 0})
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        option = "--" + str(first["loc"][0]).replace("_", "-")
        raise UserError(f"{option} {first['msg'].removeprefix('Value error, ')}") from None


def _identity(settings: ModelSettings) -> tuple[str, str, str]:
    return settings.model, settings.public_url, settings.api_key_env


def _is_name(name: str) -> bool:
    try:
        ModelSettings(model="any", api_key_env=name)
    except ValidationError:
        return False
    return True


def _is_here(settings: ModelSettings) -> bool:
    host = urlsplit(settings.base_url or OPENAI_URL).hostname or ""
    try:
        return ipaddress.ip_address(host).is_private
    except ValueError:
        return host == "localhost" or "." not in host


def _key(name: str, *, needed: bool) -> Check:
    value = os.environ.get(name, "")
    if not value.strip():
        if needed:
            return Check(f"key {name}", "fail", "not set", f"export {name}=…")
        return Check(f"key {name}", "ok", "not set; a local endpoint may want none")
    if value != value.strip() or not value.isascii() or not value.isprintable():
        return Check(
            f"key {name}", "warn", "set, but with blanks, line breaks or characters that no key has", "set it anew"
        )
    return Check(f"key {name}", "ok", "set")


def _reach(settings: ModelSettings) -> Check:
    """Open a connection and send nothing."""
    parts = urlsplit(settings.base_url or OPENAI_URL)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    name = f"endpoint {settings.public_url}"
    try:
        socket.create_connection((parts.hostname or "", port), timeout=_CONNECT_S).close()
    except OSError as error:
        why = f"no connection: {error.strerror or error}"
        if os.environ.get("HTTPS_PROXY") or os.environ.get("https_proxy"):
            return Check(name, "warn", f"{why}; a proxy is set and may reach it")
        return Check(name, "fail", why, "start the server, or check --base-url, the network and its proxy")
    return Check(name, "ok", "connects")


async def _ask(settings: ModelSettings, wanted: Wanted) -> list[Check]:
    """Send a tiny prompt, a form, and a long prompt where wanted; nothing is recorded."""
    name = f"model {settings.model}"
    own = settings.model_copy(update={"timeout_s": wanted.timeout_s, "max_retries": 0, "max_tokens": 256})
    client = Client(own)
    checks: list[Check] = []

    async def ask(text: str, schema: type[BaseModel] | None = None) -> Reply:
        messages: list[ChatMessage] = [{"role": "user", "content": text}]
        return await client.complete("doctor", messages, schema=schema, phase="evaluation")

    try:
        reply = await ask("Reply with the one word: ready")
        if not reply.ok:
            return [Check(name, "fail", f"{reply.status}: {reply.detail}", _cure(reply.status))]
        service = f" in {reply.service_ms / 1000:.1f} s" if reply.service_ms is not None else ""
        other = f", by {reply.model}" if "model_mismatch" in reply.flags else ""
        checks.append(Check(name, "warn" if other else "ok", f"answers{service}{other}"))
        dropped = [flag.partition(":")[2] for flag in reply.flags if flag.startswith("dropped:")]
        if dropped:
            cure = "replies may differ between runs; replay the recorded ones"
            checks.append(Check(f"{name} parameters", "warn", f"refuses {', '.join(dropped)}", cure))
        told = not reply.usage.estimated
        cure = "" if told else "tokens are counted here, and sums of money are estimates"
        checks.append(Check(f"{name} usage", "ok" if told else "warn", "told" if told else "not told", cure))
        checks.append(_form(name, own, await ask("Name the colour of snow.", Colour)))
        if wanted.canary > 0:
            checks.append(await _canary(name, wanted.canary, ask))
    except (ModelMissing, EndpointUnreachable) as stop:
        checks.append(Check(name, "fail", f"{stop.reply.status}: {stop.reply.detail}", _cure(stop.reply.status)))
    except UserError as stop:  # key, quota
        checks.append(Check(name, "fail", str(stop)))
    finally:
        await client.aclose()
    priced = price_of(settings.model, settings.price)
    checks.append(
        Check(f"{name} price", "ok", f"{priced.prompt:g} and {priced.completion:g} USD per million tokens")
        if priced is not None
        else Check(
            f"{name} price", "warn", "unknown, so costs are too and no budget can be kept", "give price: in models:"
        )
    )
    return checks


def _form(name: str, settings: ModelSettings, reply: Reply) -> Check:
    mode = dialect_of(settings.public_url, settings.model).mode
    if not reply.ok:
        return Check(
            f"{name} JSON", "fail", f"{reply.status}: {reply.detail}", "roles need a model that can write JSON"
        )
    if mode == "json_schema" and "repaired" not in reply.flags:
        return Check(f"{name} JSON", "ok", "keeps to a JSON schema")
    how = {
        "json_schema": "a schema, after one repair",
        "json_object": "JSON without a schema",
        "text": "plain text alone",
    }
    return Check(f"{name} JSON", "warn", f"offers {how[mode]}", "it works, with more repairs and invalid replies")


async def _canary(name: str, tokens: int, ask: Any) -> Check:
    """Put a word at the beginning of a long prompt and ask for it at the end: a server that cuts prompts has lost it."""
    filler = "The post came at nine. " * max(1, tokens // 6)
    reply: Reply = await ask(f"The password is {_WORD}.\n{filler}\nWhat is the password? Reply with that word alone.")
    label = f"{name} context"
    if not reply.ok:
        return Check(
            label, "fail", f"{tokens} tokens: {reply.status}: {reply.detail}", "raise the server's context length"
        )
    if "truncated_by_server" in reply.flags or _WORD not in reply.text.lower():
        return Check(label, "fail", f"the beginning of {tokens} tokens is lost", "raise the server's context length")
    return Check(label, "ok", f"takes {tokens} tokens")


def _cure(status: str) -> str:
    return {
        "timeout": "raise --timeout, or wait until the model is loaded",
        "connection": "check --base-url, that the server runs, and its certificate (SSL_CERT_FILE)",
        "no_model": "check the model's name, as the endpoint knows it, and that --base-url ends in /v1",
        "bad_request": "check the model's name, as the endpoint knows it",
        "rate_limited": "try again later",
        "server_error": "look at the server's log",
    }.get(status, "check --model and --base-url")
