"""``models:`` of a configuration: what is allowed, what follows from it, and what makes a run another one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml
from pydantic import BaseModel

from memtrial.datasets.errors import UserError
from memtrial.experiments.config import Config, load_config
from memtrial.experiments.folder import default_folder
from memtrial.experiments.models import ModelOptions, roles_of, shared_roles
from memtrial.experiments.paths import set_path
from memtrial.experiments.plan import Plan, make_plan
from memtrial.systems.models.role import ModelParams
from memtrial.systems.registry import BUILT_IN, resolve
from tests.experiments.conftest import toy


def load(tmp_path: Path, models: Any = None, systems: Any = ("bm25",), sets: Any = (), **options: Any) -> Config:
    content = {"data": ["handwritten"], "systems": systems if isinstance(systems, dict) else list(systems)}
    if models is not None:
        content["models"] = models
    file = tmp_path / "c.yaml"
    file.write_text(yaml.safe_dump(content))
    return load_config(file, sets, 2, **options)


def units(config: Config) -> list[str]:
    return [unit.info.unit for unit in make_plan(config).units]


def reader(config: Config, label: str = "bm25") -> str:
    return str(config.systems[label]["reader"]["kind"])


@pytest.mark.parametrize(
    ("models", "said"),
    [
        ({"reed": "m"}, "c.yaml:4: models has no role 'reed'; allowed: plan, extract, rerank, read, judge"),
        ({"reed": "m"}, "did you mean 'read'?"),
        ({"read": {"modle": "m"}}, "unknown key 'models.read.modle'; allowed: model, base_url"),
        ({"read": {"modle": "m"}}, "did you mean 'model'?"),
        ({"read": {"temperature": 0}}, "models.read.model is missing"),
        (
            {"read": {"model": "m", "temperature": 3}},
            "models.read.temperature is 3, but should be less than or equal to 2",
        ),
        ({"read": {"model": "m", "price": {"prompt": 1, "complete": 2}}}, "did you mean 'completion'?"),
        ({"read": 3}, "models.read is 3, but must be a model's name or a map of settings"),
        (["m"], "models is ['m'], but must be a map by role"),
        ({"default": {"temperature": -1}}, "models.default.temperature is -1"),
    ],
)
def test_errors_name_path_value_and_what_is_allowed(models: Any, said: str, tmp_path: Path) -> None:
    with pytest.raises(UserError) as caught:
        load(tmp_path, models)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    "setting",
    [{"api_key_env": "sk-abcdef-0123456789"}, {"base_url": "https://me:hunter22@host/v1"}, {"base_url": "hunter22"}],
)
def test_a_secret_in_the_wrong_place_is_refused_and_not_quoted(setting: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(UserError) as caught:
        load(tmp_path, {"default": {"model": "m", **setting}})
    assert "sk-abc" not in str(caught.value) and "hunter22" not in str(caught.value)


def test_roles_take_what_the_default_says(tmp_path: Path) -> None:
    price = {"prompt": 1, "completion": 2}
    config = load(
        tmp_path,
        {"default": {"model": "m", "base_url": "http://h/v1", "price": price}, "read": {"max_tokens": 9}, "judge": "j"},
    )
    read, judge = config.models["read"], config.models["judge"]
    assert (read["model"], read["base_url"], read["max_tokens"]) == ("m", "http://h/v1", 9)
    assert read["price"] == {"prompt": 1, "cached": None, "completion": 2}
    assert (judge["model"], judge["base_url"], judge["price"]) == ("j", "http://h/v1", None)  # another model's price


def test_a_model_makes_the_baselines_read_with_it_unless_their_reader_is_set(tmp_path: Path) -> None:
    systems = {"bm25": {}, "plain": {"use": "bm25", "reader": {"kind": "extractive"}}, "summary": {}}
    config = load(tmp_path, systems=systems, model="m", base_url="http://h/v1")
    assert (reader(config), reader(config, "plain"), reader(config, "summary")) == ("model", "extractive", "model")
    assert config.systems["summary"]["summariser"]["kind"] == "model"
    assert (config.models["default"]["model"], config.models["default"]["base_url"]) == ("m", "http://h/v1")
    assert reader(load(tmp_path, {"read": "m"})) == "model"
    assert reader(load(tmp_path, {"judge": "m"})) == "extractive"
    assert [sorted(u.models) for u in make_plan(config).units] == [["read"], [], ["read", "summarise"]]


def test_the_parts_of_a_hybrid_read_with_what_they_read_with_alone(tmp_path: Path) -> None:
    systems = {
        "hybrid": {},
        "mixed": {"use": "hybrid", "raw_log": {"reader": {"kind": "extractive"}}, "structured": {"slots": {}}},
    }
    config = load(tmp_path, systems=systems, model="m", base_url="http://h/v1")
    kinds = {
        (name, part): config.systems[name][part]["reader"]["kind"]
        for name in systems
        for part in ("structured", "raw_log")
    }
    assert kinds == {
        ("hybrid", "structured"): "model", ("hybrid", "raw_log"): "model",
        ("mixed", "structured"): "model", ("mixed", "raw_log"): "extractive",
    }  # fmt: skip
    assert [sorted(u.models) for u in make_plan(config).units] == [["read"], ["read"]]
    untouched = load(tmp_path, systems={"hybrid": {}})
    assert untouched.systems["hybrid"]["structured"]["reader"]["kind"] == "extractive"


def test_the_command_line_wins_over_the_default_and_not_over_a_role(tmp_path: Path) -> None:
    config = load(tmp_path, {"default": "old", "read": "own"}, model="new")
    assert (config.models["default"]["model"], config.models["read"]["model"]) == ("new", "own")


def test_the_resolved_configuration_says_the_same_again(tmp_path: Path) -> None:
    config = load(tmp_path, {"default": {"model": "m"}, "read": {"temperature": 0.5}})
    file = tmp_path / "again.yaml"
    file.write_text(yaml.safe_dump({**config.resolved(), "name": config.name}))
    again = load_config(file, limit=2)
    assert again.resolved() == config.resolved()
    assert units(again) == units(config)


def test_without_models_nothing_changes(tmp_path: Path) -> None:
    plain = load(tmp_path)
    assert "models" not in plain.resolved()
    assert plain.time_limit_s == 60
    assert load(tmp_path, {}).resolved() == plain.resolved()
    assert default_folder(load(tmp_path, {"judge": "m"})) != default_folder(plain)
    # A model that the system cannot use is no part of what it is.
    assert units(load(tmp_path, {"judge": "m"})) == units(plain)


def test_what_decides_an_answer_decides_the_unit(tmp_path: Path) -> None:
    def unit(**settings: Any) -> str:
        (found,) = units(load(tmp_path, {"read": {"model": "m", **settings}}))
        return found

    base = unit()
    for same in (
        {"api_key_env": "OTHER"},
        {"timeout_s": 9},
        {"max_retries": 1},
        {"price": {"prompt": 1, "completion": 1}},
    ):
        assert unit(**same) == base
    for other in ({"model": "n"}, {"base_url": "http://h/v1"}, {"temperature": 1}, {"seed": 3}, {"max_tokens": 5}):
        assert unit(**other) != base


def test_a_model_without_a_name_is_found_before_anything_runs(tmp_path: Path) -> None:
    with pytest.raises(
        UserError, match="bm25: reader is a model, but the role 'read' has no model: name one with --model"
    ):
        make_plan(load(tmp_path, sets=["bm25.reader.kind=model"]))


def test_a_class_of_ones_own_may_use_every_role_or_those_it_names(tmp_path: Path) -> None:
    plan: Plan = make_plan(load(tmp_path, {"default": "m", "plan": "p", "judge": "j"}, {"own": toy("Echo")}))
    assert sorted(plan.units[0].models) == ["default", "plan"]


def test_an_unknown_way_to_replay(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"--replay is 'onyl'; allowed: off, prefer, only .did you mean 'only'"):
        ModelOptions(replay="onyl")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "asked",
    [
        {"models": {"default": "m"}},
        {"models": {"read": {"model": "m"}}},
        {"systems": {"bm25": {"use": "bm25", "reader": {"model": "m"}}}},
        {"model": "m"},
    ],
)
def test_an_address_goes_with_a_model_wherever_it_is_named(tmp_path: Path, asked: dict[str, Any]) -> None:
    assert reader(load(tmp_path, base_url="http://127.0.0.1:9/v1", **asked)) == "model"


def test_an_address_without_any_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="name the model as well"):
        load(tmp_path, base_url="http://127.0.0.1:9/v1")


def test_parts_of_one_role_with_different_models_are_both_part_of_what_a_run_is(tmp_path: Path) -> None:
    def plan(second: dict[str, Any], models: Any = None) -> Plan:
        reader = {"kind": "model", "model": "a", "temperature": 0.5}
        system = toy("Echo", reader=reader, deep={"reader": {"kind": "model", **second}})
        return make_plan(load(tmp_path, models, {"two": system}))

    (one,), (other,), (same,) = (plan({"model": name}).units for name in ("b", "c", "b"))
    assert one.info.unit != other.info.unit and one.info.unit == same.info.unit
    told = one.info.facts["models"]
    assert {name: found["model"] for name, found in told.items()} == {"read": "b", "read:reader": "a"}
    # One part's temperature is not the other's.
    assert (told["read"]["temperature"], told["read:reader"]["temperature"]) == (0.0, 0.5)
    (unit,) = plan({"model": "b"}, {"default": {"model": "d", "max_tokens": 7}}).units
    shared = shared_roles(unit.models, {"default": {"model": "d", "max_tokens": 7}})
    assert (shared["read"].model, shared["read"].max_tokens) == ("d", 7)
    assert shared_roles(one.models, {}) == {}


def _model_parts_of(model: type[BaseModel], at: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the path of every part that may be a model, as the parameters' types have it."""
    for name, field in model.model_fields.items():
        for kind in _groups(field.annotation):
            if issubclass(kind, ModelParams):
                yield (*at, name)
            else:
                yield from _model_parts_of(kind, (*at, name))


def _groups(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in get_args(annotation):
        yield from _groups(inner)


_MAY_ASK = [
    (name, ".".join(path))
    for name in BUILT_IN
    for path in dict.fromkeys(_model_parts_of(resolve(name).cls.Params))
    if path[-1] != "reader" or name == "structured"
]


@pytest.mark.parametrize(("system", "part"), _MAY_ASK)
def test_every_part_that_asks_a_model_wants_one_named_before_the_run(system: str, part: str) -> None:
    params = set_path({}, part, {"kind": "model"})
    if part.endswith("agent"):
        params = set_path(params, part.removesuffix("agent") + "mode", "agent")
    factory = resolve(system)
    params = factory.validate(params)
    with pytest.raises(UserError, match=f"^{part} is a model, but the role '.*' has no model: name one with --model"):
        roles_of(factory, params, {})
    assert [s.model for s in roles_of(factory, params, {"default": {"model": "m"}}).values()] == ["m"]


def test_the_walk_sees_the_parts_that_were_overlooked_once() -> None:
    assert {("raw_log", "agent"), ("raw_log", "rerank"), ("structured", "extraction")} <= set(_MAY_ASK)
    assert {("hybrid", "raw_log.agent"), ("hybrid", "structured.extraction")} <= set(_MAY_ASK)
