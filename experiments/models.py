"""``models:`` of a configuration, and which roles of it a system can use.

A role's settings are those of ``default`` with its own on top. Keys are named by their environment variable; their values
are read by the worker alone, from its own environment.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import ValidationError

from memtrial.datasets.errors import UserError, did_you_mean
from memtrial.experiments.overrides import show
from memtrial.experiments.yamlfile import Document
from memtrial.systems.registry import BUILT_IN, SystemFactory

if TYPE_CHECKING:
    from memtrial.systems.models.llm.settings import ModelSettings

ROLES = ("plan", "extract", "rerank", "read", "judge", "summarise", "embed", "gate", "agent")
DEFAULT = "default"
Replay = Literal["off", "prefer", "only"]
REPLAYS: tuple[Replay, ...] = ("off", "prefer", "only")

# Parts of a system that a model can be, by the name of the parameter.
PARTS: Mapping[str, str] = {
    "semantic": "gate",
    "planner": "plan",
    "extraction": "extract",
    "rerank": "rerank",
    "reader": "read",
    "summariser": "summarise",
    "embedder": "embed",
    "agent": "agent",
}
_EXAMPLE = "models: {default: {model: gpt-4o-mini}}"
# A key pasted into the wrong place must not be quoted.
_NEVER_SHOWN = ("api_key_env", "base_url")


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """How a run asks models; no part of what the run is.

    Attributes:
        replay: ``prefer`` asks what is not recorded, ``only`` asks nothing, ``off`` asks everything again.
        budget_usd: the run stops before it has paid more than this, over all its segments.
        prices: a price table that replaces the built-in one.
        retry_errors: questions that ended in an error of a service (a time-out, a connection that broke, …) are asked
            again; errors that are the model's own doing stay.
    """

    replay: Replay = "prefer"
    budget_usd: float | None = None
    prices: Path | None = None
    retry_errors: bool = False

    def __post_init__(self) -> None:
        """Check.

        Raises:
            UserError: for an unknown way to replay.
        """
        if self.replay not in REPLAYS:
            raise UserError(
                f"--replay is {self.replay!r}; allowed: {', '.join(REPLAYS)}{did_you_mean(self.replay, REPLAYS)}"
            )


def with_default(raw: Mapping[str, Any], model: str | None, base_url: str | None) -> dict[str, Any]:
    """Return a raw configuration with the default of all roles as given on the command line.

    Raises:
        UserError: an address is given, and neither the command line nor the configuration names a model to ask there.
    """
    given = {name: value for name, value in (("model", model), ("base_url", base_url)) if value is not None}
    if not given:
        return dict(raw)
    models = raw.get("models") or {}
    if not isinstance(models, Mapping):
        return dict(raw)  # models_section says what is wrong with it
    if model is None and not _names_a_model(models) and not _names_a_model(raw.get("systems")):
        raise UserError("--base-url says where a model is served; name the model as well: --model NAME")
    default = models.get(DEFAULT) or {}
    default = {"model": default} if isinstance(default, str) else dict(default)
    if model is not None and default.get("model") not in (None, model):
        default.pop("price", None)
    return {**raw, "models": {**models, DEFAULT: {**default, **given}}}


def _names_a_model(tree: Any) -> bool:
    """Whether a part of the configuration holds ``model: NAME`` (or ``role: NAME``, the short form under models)."""
    if not isinstance(tree, Mapping):
        return False
    return any(
        str(key).endswith("model") or (key in (*ROLES, DEFAULT) and isinstance(value, str)) or _names_a_model(value)
        for key, value in tree.items()
    )


def models_section(given: Any, document: Document) -> dict[str, dict[str, Any]]:
    """Validate ``models:``.

    Returns:
        Every role named, with every setting filled in.

    Raises:
        UserError: naming the path, the value, what is allowed and the near miss.
    """
    if given is None or given == {}:
        return {}
    if not isinstance(given, Mapping):
        where = document.where(("models",))
        raise UserError(f"{where}: models is {show(given)}, but must be a map by role, for example {_EXAMPLE}")
    allowed = (*ROLES, DEFAULT)
    for role in given:
        if role not in allowed:
            raise UserError(
                f"{document.where(('models', role))}: models has no role {role!r}; allowed: {', '.join(allowed)}"
                f"{did_you_mean(str(role), allowed)}"
            )
    default = _mapping(given.get(DEFAULT), DEFAULT, document)
    resolved: dict[str, dict[str, Any]] = {}
    for role in allowed:
        if role not in given:
            continue
        own = _mapping(given[role], role, document)
        merged = {**default, **own}
        if own.get("model") not in (None, default.get("model")) and "price" not in own:
            merged.pop("price", None)  # it is another model's
        if role == DEFAULT and not merged.get("model"):
            _settings({**merged, "model": "any"}, role, document)
            continue
        resolved[role] = _settings(merged, role, document)
    return resolved


def asks_models(systems: Mapping[str, Mapping[str, Any]], models: Mapping[str, Any]) -> bool:
    """Whether any system of a resolved configuration may ask a model."""
    return bool(set(models) - {"judge"}) or any(True for params in systems.values() for _ in model_parts(params))


def model_parts(params: Mapping[str, Any], at: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield path and role of every part of a system that is a model."""
    for name, value in params.items():
        if isinstance(value, Mapping):
            if name in PARTS and value.get("kind") == "model" and not _idle(name, params):
                yield (*at, name), PARTS[name]
            yield from model_parts(value, (*at, name))


def _idle(name: str, params: Mapping[str, Any]) -> bool:
    """Whether a switch beside a part says that it is not asked: an agent does alone what planner, reranker and reader do."""
    if "agent" in params and (name == "agent") != (params.get("mode") == "agent"):
        return True
    return name == "planner" and params.get("planning") is False


def roles_of(factory: SystemFactory, params: Mapping[str, Any], models: Mapping[str, Any]) -> dict[str, ModelSettings]:
    """Return the settings of the roles that a system can use, by role.

    Where parts of one role are different models, all but the first stand under ``role:path.of.the.part``.

    Built-in systems use the roles of those of their parts that are models. Any other class may ask for a role by itself:
    it uses those that its attribute ``model_roles`` names, or, without one, all that the configuration names. What lives
    behind an HTTP address has models of its own.

    Raises:
        UserError: a part is a model, and no model is named for its role.
    """
    if factory.target.startswith(("http://", "https://")):
        return {}
    found: dict[str, ModelSettings] = {}
    for path, role in sorted(model_parts(params)):  # in whatever order a configuration names them
        part: Any = params
        for name in path:
            part = part[name]
        try:
            settings = _merged(role, models, part)
        except UserError as error:
            raise UserError(f"{'.'.join(path)} is a model, but {error}") from None
        if found.setdefault(role, settings) != settings:
            found[f"{role}:{'.'.join(path)}"] = settings
    named = getattr(factory.cls, "model_roles", None)
    if named is None and factory.target not in BUILT_IN:
        named = [role for role in models if role != "judge"]
    for role in named or ():
        if role not in found and (role in models or DEFAULT in models):
            found[role] = _merged(role, models, {})
    return found


def shared_roles(found: Mapping[str, ModelSettings], models: Mapping[str, Any]) -> dict[str, ModelSettings]:
    """Return what a system is told of its roles, of what :func:`roles_of` found.

    Where parts of one role differ, each brings its own settings, and what they share is what the configuration says of
    the role: one part's settings must not become another's.
    """
    several = {name.partition(":")[0] for name in found if ":" in name}
    told = {role: settings for role, settings in found.items() if ":" not in role and role not in several}
    for role in several:
        if (models.get(role) or models.get(DEFAULT) or {}).get("model"):
            told[role] = _merged(role, models, {})
    return told


def models_identity(roles: Mapping[str, ModelSettings]) -> dict[str, Any]:
    """Return what of the roles' settings, and of their prompts, decides what a system answers."""
    return {
        name: {**settings.identity(), "prompts": list(prompts_of(name.partition(":")[0]))}
        for name, settings in roles.items()
    }


@cache
def prompts_of(role: str) -> tuple[str, ...]:
    """Return role, language, version and hash of the prompts of a role."""
    from memtrial.systems.models.prompts.template import LANGUAGES, load_prompt
    from memtrial.systems.models.prompts.template import ROLES as WRITTEN

    return tuple(load_prompt(role, language).ident for language in LANGUAGES) if role in WRITTEN else ()


def _merged(role: str, models: Mapping[str, Any], part: Mapping[str, Any]) -> ModelSettings:
    from memtrial.systems.base import Context
    from memtrial.systems.models.llm.factory import settings_for
    from memtrial.systems.models.llm.settings import ModelSettings

    own = {name: part[name] for name in ModelSettings.model_fields if part.get(name) is not None}
    return settings_for(role, Context(Path(), models=models), own)


def _mapping(given: Any, role: str, document: Document) -> dict[str, Any]:
    if given is None:
        return {}
    if isinstance(given, str):
        return {"model": given}
    if isinstance(given, Mapping):
        return dict(given)
    where = document.where(("models", role))
    raise UserError(f"{where}: models.{role} is {show(given)}, but must be a model's name or a map of settings")


def _settings(merged: Mapping[str, Any], role: str, document: Document) -> dict[str, Any]:
    from memtrial.systems.models.llm.prices import Price
    from memtrial.systems.models.llm.settings import ModelSettings

    try:
        settings = ModelSettings.model_validate(dict(merged))
    except ValidationError as error:
        found = error.errors(include_url=False)
        first = next((e for e in found if e["type"] == "extra_forbidden"), found[0])
        path = ".".join(("models", role, *(str(part) for part in first["loc"])))
        where = document.where(("models", role, *first["loc"]))
        fields = list(Price.model_fields if len(first["loc"]) > 1 else ModelSettings.model_fields)
        if first["type"] == "extra_forbidden":
            name = str(first["loc"][-1])
            raise UserError(
                f"{where}: unknown key {path!r}; allowed: {', '.join(fields)}{did_you_mean(name, fields)}"
            ) from None
        if first["type"] == "missing":
            raise UserError(f"{where}: {path} is missing") from None
        message = first["msg"].removeprefix("Value error, ")
        if str(first["loc"][0]) in _NEVER_SHOWN:
            raise UserError(f"{where}: {path} {message}") from None
        message = f"{message[:1].lower()}{message[1:]}".replace("input should", "should")
        raise UserError(f"{where}: {path} is {show(first['input'])}, but {message}") from None
    if settings.base_url is not None and settings.public_url != settings.base_url:
        where = document.where(("models", role, "base_url"))
        raise UserError(
            f"{where}: models.{role}.base_url must hold no user, password or key, as it is written into the run's files"
        )
    return settings.model_dump(mode="json")
