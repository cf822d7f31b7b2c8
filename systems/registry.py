"""From the name in a configuration to a system: built in, a user's class, an installed plug-in, or an HTTP address."""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import inspect
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from pydantic import BaseModel, ValidationError

from memtrial.datasets.errors import UserError, did_you_mean
from memtrial.systems.base import Context, System
from memtrial.systems.fingerprint import code_fingerprint
from memtrial.systems.params import explain, unknown_name

ENTRY_POINT_GROUP = "memtrial.systems"
BUILT_IN: Mapping[str, str] = {
    "no_memory": "memtrial.systems.baselines.simple:NoMemory",
    "recent": "memtrial.systems.baselines.simple:Recent",
    "full_context": "memtrial.systems.baselines.simple:FullContext",
    "summary": "memtrial.systems.baselines.summary:RollingSummary",
    "oracle": "memtrial.systems.baselines.oracle:Oracle",
    "bm25": "memtrial.systems.baselines.bm25:Bm25",
    "vector": "memtrial.systems.baselines.vector:Vector",
    "bm25_vector": "memtrial.systems.baselines.bm25_vector:Bm25Vector",
    "structured": "memtrial.systems.structured.system:Structured",
    "hybrid": "memtrial.systems.hybrid.system:Hybrid",
    "raw_log": "memtrial.systems.raw_log.system:RawLog",
    "published": "memtrial.systems.published.system:Published",
}
_COROUTINES = ("ingest", "answer", "close")


@dataclass(frozen=True, slots=True)
class SystemInfo:
    """A system that can be named: its first doc line and its parameters with their defaults (dotted paths)."""

    name: str
    summary: str
    params: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SystemFactory:
    """Builds systems of one kind and knows their parameters.

    Attributes:
        target: what the configuration said.
        cls: the class whose ``create`` makes a system.
        gated: the system decides whether to look anything up, and records it in its trace.
    """

    target: str
    cls: type[Any]
    gated: bool = False

    def validate(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return the parameters with every default filled in, as plain values.

        A class without ``Params`` takes whatever it is given.

        Raises:
            UserError: naming the dotted path, the value and what is allowed.
        """
        model = self._model()
        if model is None:
            return dict(params)
        if sentence := unknown_name(params, model, self.target):
            raise UserError(sentence)
        try:
            return model.model_validate(dict(params)).model_dump(mode="json")
        except ValidationError as error:
            raise UserError(explain(error, model, self.target)) from None

    def create(self, params: Mapping[str, Any], context: Context) -> System:
        """Build a system.

        Raises:
            UserError: wrong parameters, or the class made something that is not a system.
        """
        system: object = self.cls.create(self.validate(params), context)
        if missing := [name for name in _COROUTINES if not callable(getattr(system, name, None))]:
            raise UserError(f"system {self.target!r}: what create() returned has no {', '.join(missing)}")
        assert isinstance(system, System)
        return system

    def preflight(self, params: Mapping[str, Any]) -> None:
        """See, without creating a system, that it would find what it needs of its environment.

        Args:
            params: as :meth:`validate` returns them.

        Raises:
            UserError: what is missing, by the class' own ``preflight``; a class without one needs nothing.
        """
        own = getattr(self.cls, "preflight", None)
        if own is not None:
            own(dict(params))

    def code_fingerprint(self) -> str:
        """Return a hash of the source that makes the system's answers; it changes when an answer might."""
        own = getattr(self.cls, "code_fingerprint", None)
        return str(own()) if own is not None else code_fingerprint(self.cls)

    def _model(self) -> type[BaseModel] | None:
        model = getattr(self.cls, "Params", None)
        return model if isinstance(model, type) and issubclass(model, BaseModel) else None


def resolve(target: str) -> SystemFactory:
    """Find a system.

    Args:
        target: a built-in name, ``package.module:Class``, ``path/to/file.py:Class``, the name of an entry point in the
            group ``memtrial.systems``, or ``http://host:port``.

    Raises:
        UserError: in one sentence, what could not be found and what there is.
    """
    if target.startswith(("http://", "https://")):
        from memtrial.systems.external.http import http_system

        return SystemFactory(target, http_system(target))
    if target in BUILT_IN:
        cls = _load(BUILT_IN[target], target)
    elif ":" in target:
        cls = _load(target, target)
    else:
        plugins = _plugins()
        if target not in plugins:
            known = [*BUILT_IN, *plugins]
            raise UserError(
                f"unknown system {target!r}{did_you_mean(target, known)}; there are {', '.join(known)}; "
                "a class of your own is named package.module:Class or path/to/file.py:Class, a server http://host:port"
            )
        cls = _load(plugins[target].value, target)
    return SystemFactory(target, cls, gated=bool(getattr(cls, "gated", False)))


def system_names() -> list[SystemInfo]:
    """Return every built-in system and installed plug-in; one that cannot be loaded says why in its summary."""
    found = []
    for name in [*BUILT_IN, *(n for n in _plugins() if n not in BUILT_IN)]:
        try:
            factory = resolve(name)
            summary = (inspect.getdoc(factory.cls) or "").partition("\n\n")[0].replace("\n", " ")
            found.append(SystemInfo(name, summary, _flat(_defaults(factory))))
        except UserError as error:
            found.append(SystemInfo(name, f"cannot be loaded: {error}"))
    return found


def _defaults(factory: SystemFactory) -> dict[str, Any]:
    try:
        return factory.validate({})
    except UserError:  # a plug-in may demand a parameter
        return {}


def _flat(params: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in params.items():
        if isinstance(value, Mapping) and value:
            flat |= _flat(value, f"{prefix}{name}.")
        else:
            flat[f"{prefix}{name}"] = value
    return flat


def _plugins() -> dict[str, importlib.metadata.EntryPoint]:
    return {point.name: point for point in importlib.metadata.entry_points(group=ENTRY_POINT_GROUP)}


def _load(path: str, target: str) -> type[Any]:
    """Import ``module:Class`` or ``file.py:Class`` and check that it is a system's class."""
    module_name, _, class_name = path.rpartition(":")
    module = _module(module_name, target)
    cls = getattr(module, class_name, None)
    if not isinstance(cls, type):
        classes = [n for n, v in vars(module).items() if isinstance(v, type) and v.__module__ == module.__name__]
        there = f"; it has {', '.join(classes)}" if classes else ""
        raise UserError(
            f"system {target!r}: {module_name} has no class {class_name!r}{did_you_mean(class_name, classes)}{there}"
        )
    missing = [name for name in _COROUTINES if not inspect.iscoroutinefunction(getattr(cls, name, None))]
    if missing:
        raise UserError(
            f"system {target!r}: class {class_name} lacks {', '.join(f'async def {name}' for name in missing)}; "
            "a system has the coroutines ingest(messages, trace), answer(query, trace) and close()"
        )
    if not callable(getattr(cls, "create", None)):
        raise UserError(f"system {target!r}: class {class_name} lacks a class method create(params, context)")
    return cls


def _module(name: str, target: str) -> ModuleType:
    try:
        if name.endswith(".py"):
            return _from_file(Path(name), target)
        if "" not in sys.path and str(Path.cwd()) not in sys.path:
            sys.path.append(str(Path.cwd()))  # a user's class mostly lies beside the configuration
        return importlib.import_module(name)
    except UserError:
        raise
    except Exception as error:
        raise UserError(f"system {target!r}: importing {name} failed with {type(error).__name__}: {error}") from error


def _from_file(path: Path, target: str) -> ModuleType:
    path = path.expanduser().resolve()
    if not path.is_file():
        raise UserError(f"system {target!r}: there is no file {path}")
    name = f"memtrial_user_{path.stem}"
    loaded = sys.modules.get(name)
    if loaded is not None and loaded.__file__ == str(path):
        return loaded
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module
