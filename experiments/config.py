"""The run configuration: YAML and ``--set`` in, one validated object out."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import orjson
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from memtrial.datasets.errors import UserError, did_you_mean
from memtrial.datasets.registry import validate_spec
from memtrial.experiments.following import following
from memtrial.experiments.models import asks_models, models_section, with_default
from memtrial.experiments.overrides import TOP, as_maps, blamed, override, parse_overrides, show
from memtrial.experiments.paths import expand_dotted
from memtrial.experiments.sentences import located, sentence
from memtrial.experiments.sweep import Grid, Ladder, OneAtATime, expand, takes_option
from memtrial.experiments.vary import sweeps_of
from memtrial.experiments.yamlfile import Document, parse_document
from memtrial.systems.registry import resolve

__all__ = ["Config", "config_path", "load_config", "parse_overrides", "shipped_configs", "starter_config"]

_LABEL = re.compile(r"[^\s.\[\]/\\:,+=<>|\"'`*?]{1,64}")
MAX_REPEATS = 100
MAX_CONCURRENCY = 1024
MAX_SEED = 2**32 - 1  # what numpy's older generators, which many systems use, take as a seed
_STARTER = "starter"
# A model may be slow, and is asked again after a fault; a system without one that takes a minute hangs.
_TIME_LIMIT_S, _TIME_LIMIT_WITH_MODELS_S = 60.0, 600.0


class MetricsOptions(BaseModel):
    """How metrics are computed."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    resamples: int = Field(default=10_000, ge=100, le=1_000_000)


class Config(BaseModel):
    """A run, fully resolved: every default filled in, so that it says what was run.

    Attributes:
        name: of the run; part of the default folder.
        data: specs by label, each with ``name`` (see ``memtrial datasets list``).
        systems: parameters by label, each with ``use`` (see ``memtrial systems``).
        vary: sweeps.
        seeds: one per repeat.
        time_limit_s: for one question; a system that passes it is ended and the question is a ``timeout``.
        ingest_limit_s: for one hand-over of messages, and for creating a system.
        models: settings of language models by role (see ``experiments/models.py``); empty in a run without one.
        warmup: made-up queries asked before the first question of each corpus; not counted.
        limit: at most this many questions per data set; no part of the run's identity.
        concurrency: questions under way at a time, of systems that wait for a model; no part of the run's identity, as it
            changes how long answers take and not what they are.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    data: dict[str, dict[str, Any]]
    systems: dict[str, dict[str, Any]]
    vary: list[Grid | OneAtATime | Ladder] = Field(default_factory=list)
    seeds: list[int] = Field(default_factory=lambda: [0], min_length=1, max_length=MAX_REPEATS)
    time_limit_s: float = Field(_TIME_LIMIT_S, gt=0, le=86_400)
    ingest_limit_s: float = Field(3_600.0, gt=0, le=604_800)
    warmup: int = Field(2, ge=0, le=100)
    metrics: MetricsOptions = Field(default_factory=lambda: MetricsOptions(resamples=10_000))
    models: dict[str, dict[str, Any]] = Field(default_factory=dict)
    limit: int | None = Field(None, ge=1, exclude=True)
    concurrency: int = Field(1, ge=1, le=MAX_CONCURRENCY, exclude=True)

    def resolved(self) -> dict[str, Any]:
        """Return the plain mapping that config.yaml holds and that identifies the run (``limit`` left out)."""
        plain = dict(orjson.loads(orjson.dumps(self.model_dump(mode="json"))))
        if not self.models:
            del plain["models"]
        return plain


def load_config(
    path: str | Path,
    overrides: Sequence[str] = (),
    limit: int | None = None,
    *,
    model: str | None = None,
    base_url: str | None = None,
    concurrency: int | None = None,
) -> Config:
    """Read, override and validate a configuration.

    Args:
        path: a YAML file, or the bare name of a shipped configuration (``quickstart``).
        overrides: ``path=value`` as given to ``--set``; values are read as YAML.
        limit: at most this many questions per data set.
        model: default model of every role.
        base_url: endpoint of the default model.
        concurrency: questions under way at a time; the configuration's otherwise.

    Raises:
        UserError: naming file, line or path, the value, what is allowed, and the near miss.
    """
    file = config_path(str(path))
    document = parse_document(_read(file), str(path) if file == Path(path) else file.name)
    states = [as_maps(document.value, document)]
    for given in overrides:
        states.append(as_maps(override(states[-1], given), document))

    def resolved(raw: dict[str, Any]) -> Config:
        raw = with_default(raw, model, base_url)
        if concurrency is not None:
            raw["concurrency"] = concurrency
        return _validate(raw, document, file.stem, limit)

    try:
        return resolved(states[-1])
    except UserError as error:
        raise UserError(blamed(str(error), states, overrides, document, resolved)) from error


def shipped_configs() -> list[str]:
    """Return the names of the configurations inside the package."""
    return sorted(f.name[:-5] for f in _folder().iterdir() if f.name.endswith(".yaml") and f.name != f"{_STARTER}.yaml")


def config_path(name: str) -> Path:
    """Return the file of that name, or the shipped configuration of that bare name.

    Raises:
        UserError: if there is neither.
    """
    if Path(name).is_file():
        return Path(name)
    if Path(name).is_dir():
        raise UserError(
            f"{name} is a folder; name a YAML file or a shipped configuration: {', '.join(shipped_configs())}"
        )
    bare = name.removesuffix(".yaml")
    if bare in shipped_configs():
        return Path(str(_folder() / f"{bare}.yaml"))
    known = shipped_configs()
    raise UserError(
        f"there is no file {name!r} here, and no shipped configuration of that name; shipped: {', '.join(known)}"
        f"{did_you_mean(bare, known)}"
    )


def starter_config() -> str:
    """Return the commented configuration that ``memtrial init`` writes."""
    return str((_folder() / f"{_STARTER}.yaml").read_text(encoding="utf-8"))


def _folder() -> Any:
    return files("memtrial.experiments") / "configs"


def _read(file: Path) -> str:
    try:
        return file.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError(f"{file} is not UTF-8 text (byte {error.start}); save it as UTF-8") from error
    except OSError as error:
        raise UserError(f"cannot read {file}: {error.strerror}") from error


def _validate(raw: dict[str, Any], document: Document, stem: str, limit: int | None) -> Config:
    for key in raw:
        if key not in TOP:
            raise UserError(
                f"{document.where((key,))}: unknown key {key!r}; allowed: {', '.join(TOP)}{did_you_mean(key, TOP)}"
            )
    data = {
        label: located(document, ("data", label), lambda e=entry, n=label: _data_entry(n, e))
        for label, entry in _section(raw, "data", document).items()
    }
    models = models_section(raw.get("models"), document)
    systems = {
        label: located(document, ("systems", label), lambda e=entry, n=label: _system_entry(n, e, models))
        for label, entry in _section(raw, "systems", document).items()
    }
    fields: dict[str, Any] = {
        key: raw[key] for key in ("time_limit_s", "ingest_limit_s", "warmup", "concurrency", "metrics") if key in raw
    }
    if asks_models(systems, models):
        fields.setdefault("time_limit_s", _TIME_LIMIT_WITH_MODELS_S)
    fields["seeds"] = _seeds(raw, document)
    fields["name"] = _name(raw.get("name", stem), document)
    try:
        sweeps = sweeps_of(raw.get("vary"), document)
        config = Config(data=data, systems=systems, models=models, vary=sweeps, limit=limit, **fields)
    except ValidationError as error:
        raise UserError(sentence(error, document, (), Config)) from error
    located(document, ("vary",), lambda: expand(config.vary, systems, data))
    return config


def _section(raw: Mapping[str, Any], section: str, document: Document) -> dict[str, Any]:
    value = raw.get(section)
    if value is None:
        raise UserError(f"{document.source}: {section} is missing; name at least one, for example {_EXAMPLES[section]}")
    if not isinstance(value, dict) or not value:
        raise UserError(
            f"{document.where((section,))}: {section} is {show(value)}, but must be a map by label or a list of names, "
            f"for example {_EXAMPLES[section]}"
        )
    for label, entry in value.items():
        where = document.where((section, label))
        if not _LABEL.fullmatch(label) or label in TOP:
            raise UserError(
                f"{where}: {label!r} cannot be a label; allowed are up to 64 letters, digits, - and _ that are none of "
                f"the words {', '.join(TOP)}"
            )
        if not isinstance(entry, dict):
            raise UserError(f"{where}: {section}.{label} is {show(entry)}, but must be a mapping of options")
    return value


_EXAMPLES = {"data": "data: [handwritten]", "systems": "systems: [bm25, oracle]"}


def _data_entry(label: str, entry: dict[str, Any]) -> dict[str, Any]:
    spec = {"name": label, **entry}
    try:
        return dict(validate_spec(spec))
    except UserError as error:
        if "path" not in spec and takes_option(str(spec["name"]), "path") and "'path'" in str(error):
            raise UserError(f"{error}; give it with --set data.path=PATH") from error
        raise


def _system_entry(label: str, entry: dict[str, Any], models: Mapping[str, Any]) -> dict[str, Any]:
    params = expand_dotted(entry)
    use = params.pop("use", label)
    if not isinstance(use, str) or not use:
        raise UserError(f"systems.{label}.use is {show(use)}, but must be the name of a system, module:Class or a URL")
    factory = resolve(use)
    return {"use": use, **factory.validate(following(factory, params, models))}


def _seeds(raw: Mapping[str, Any], document: Document) -> list[int]:
    repeats, seed, seeds = raw.get("repeats"), raw.get("seed"), raw.get("seeds")
    for key, value, lowest, highest in (("repeats", repeats, 1, MAX_REPEATS), ("seed", seed, 0, MAX_SEED)):
        if value is not None and not _whole(value, lowest, highest):
            raise UserError(
                f"{document.where((key,))}: {key} is {show(value)}, but must be a whole number from {lowest} to {highest}"
            )
    if seeds is None:
        return [(seed or 0) + i for i in range(repeats or 1)]
    where = document.where(("seeds",))
    if (
        not isinstance(seeds, list)
        or not 1 <= len(seeds) <= MAX_REPEATS
        or not all(_whole(s, 0, MAX_SEED) for s in seeds)
        or len(set(seeds)) < len(seeds)
    ):
        raise UserError(
            f"{where}: seeds is {show(seeds)}, but must be a list of 1 to {MAX_REPEATS} different whole numbers from 0 to "
            f"{MAX_SEED}"
        )
    if seed is not None or repeats not in (None, len(seeds)):
        raise UserError(f"{where}: seeds says both which seeds and how many repeats; leave seed and repeats out")
    return list(seeds)


def _whole(value: Any, lowest: int, highest: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and lowest <= value <= highest


def _name(name: Any, document: Document) -> str:
    if not isinstance(name, str) or not re.fullmatch(r"[\w][\w .-]{0,79}", name):
        raise UserError(
            f"{document.where(('name',))}: name is {show(name)}, but must be 1 to 80 letters, digits, spaces, . _ or -"
        )
    return name
