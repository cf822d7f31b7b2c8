"""From the run's model settings to a client for one role."""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from memtrial.datasets.errors import UserError
from memtrial.systems.base import Context
from memtrial.systems.models.llm.client import Client
from memtrial.systems.models.llm.endpoint import Endpoints
from memtrial.systems.models.llm.settings import ModelSettings
from memtrial.systems.models.llm.store import CallStore

_stores: weakref.WeakValueDictionary[Path, CallStore] = weakref.WeakValueDictionary()


def client_for(role: str, context: Context, overrides: Mapping[str, Any] | None = None) -> Client:
    """Return a client for a role; whoever takes it closes it.

    ``Context.models`` holds settings by role (``ModelSettings`` or their plain mapping; ``default`` is for roles that
    have none) and, under names that start with ``_``, what belongs to the run: ``_store`` (the file of recorded calls,
    or a ``CallStore``), ``_replay`` (``off``, ``prefer``, ``only``), ``_ledger``, ``_budget``, ``_prices`` and
    ``_endpoints`` (objects; the clients of a process share them), ``_trial`` and ``_repeat`` (see
    :class:`~memtrial.systems.models.role.ModelRole`).

    Args:
        role: plan, extract, rerank, read, summarise, judge.
        context: of the system.
        overrides: settings of this system's own; they win over those of the role.

    Raises:
        UserError: no model is named for the role, or its settings are wrong.
    """
    run = context.models
    settings = settings_for(role, context, overrides)
    endpoints: Endpoints | None = run.get("_endpoints")
    return Client(
        settings,
        store=_store(run.get("_store")),
        ledger=run.get("_ledger"),
        replay=run.get("_replay") or "off",
        budget=run.get("_budget"),
        prices=run.get("_prices"),
        endpoint=None if endpoints is None else endpoints.of(settings),
    )


def settings_for(role: str, context: Context, overrides: Mapping[str, Any] | None = None) -> ModelSettings:
    """Return the settings of a role, as :func:`client_for` does.

    Raises:
        UserError: no model is named for the role, or its settings are wrong.
    """
    given = context.models.get(role) or context.models.get("default") or {}
    of_role = given.model_dump() if isinstance(given, ModelSettings) else dict(given)
    own = {name: value for name, value in (overrides or {}).items() if value is not None}
    if "model" in own and own["model"] != of_role.get("model"):
        of_role.pop("price", None)  # it is another model's
    merged = {**of_role, **own}
    if not merged.get("model"):
        raise UserError(f"the role {role!r} has no model: name one with --model NAME, or with models: {{{role}: …}}")
    try:
        return ModelSettings.model_validate(merged)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise UserError(f"the settings of the model for the role {role!r}: {where}: {first['msg']}") from None


def _store(given: Any) -> CallStore | None:
    """Return the store of that file: one object for all clients of a process, so that calls under way are shared too."""
    if given is None or isinstance(given, CallStore):
        return given
    path = Path(given).resolve()
    store = _stores.get(path)
    if store is None:
        store = _stores[path] = CallStore(path)
    return store
