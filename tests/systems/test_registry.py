from __future__ import annotations

import importlib.metadata
import sys
from pathlib import Path

import pytest

from memtrial.datasets.errors import UserError
from memtrial.systems.base import Context, System
from memtrial.systems.registry import BUILT_IN, resolve, system_names

OWN = Path(__file__).resolve().parents[2] / "examples" / "own_system.py"
GOOD = """
from pydantic import BaseModel
class Params(BaseModel):
    size: int = 3
class Memory:
    Params = Params
    gated = True
    @classmethod
    def create(cls, params, context): return cls()
    async def ingest(self, messages, trace): ...
    async def answer(self, query, trace): ...
    async def close(self): ...
class Half:
    async def ingest(self, messages, trace): ...
    def answer(self, query, trace): ...
    async def close(self): ...
class Lying(Memory):
    @classmethod
    def create(cls, params, context): return 42
"""


@pytest.fixture
def own(tmp_path: Path) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(GOOD)
    return path


def test_every_built_in_system_has_a_summary_and_defaults_that_validate(tmp_path: Path) -> None:
    infos = {info.name: info for info in system_names()}
    assert set(BUILT_IN) <= set(infos)
    for name in BUILT_IN:
        factory = resolve(name)
        assert infos[name].summary.endswith(".")
        assert len(infos[name].summary) > 40
        if name == "published":  # nothing to hand out without a file, and no reader
            with pytest.raises(UserError, match="path"):
                factory.validate({})
            continue
        defaults = factory.validate({})
        assert factory.validate(defaults) == defaults
        assert any(path.endswith("reader.abstain_below") for path in infos[name].params)
    assert infos["bm25_vector"].params["vector.hnsw.m"] == 16


def test_a_built_in_system_is_a_system(context: Context) -> None:
    assert isinstance(resolve("bm25").create({}, context), System)


def test_a_class_in_a_file_and_in_a_module(own: Path, context: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    by_file = resolve(f"{own}:Memory")
    assert by_file.gated
    assert by_file.validate({}) == {"size": 3}
    assert isinstance(by_file.create({"size": 4}, context), System)
    monkeypatch.syspath_prepend(str(own.parent))
    assert resolve("mine:Memory").validate({}) == {"size": 3}
    assert resolve(f"{OWN}:WordOverlap").validate({"anything": 1}) == {"anything": 1}


def test_an_entry_point(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    point = importlib.metadata.EntryPoint("plug", "plugged:Memory", "memtrial.systems")
    (own.parent / "plugged.py").write_text(GOOD)
    monkeypatch.syspath_prepend(str(own.parent))
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: [point])
    assert resolve("plug").gated
    assert "plug" in {info.name for info in system_names()}


@pytest.mark.parametrize(
    ("target", "says"),
    [
        ("bm26", "did you mean 'bm25'"),
        ("bm26", "no_memory, recent"),
        ("no.such.module:X", "importing no.such.module failed with ModuleNotFoundError"),
        ("nowhere.py:X", "there is no file"),
        ("{own}:Memori", "did you mean 'Memory'"),
        ("{own}:Half", "lacks async def answer"),
        ("{own}:Params", "lacks async def ingest"),
        ("http://", "not an address"),
        ("http://host:port", "not an address"),
    ],
)
def test_what_cannot_be_found_is_said_in_one_sentence(own: Path, target: str, says: str) -> None:
    with pytest.raises(UserError) as caught:
        resolve(target.format(own=own))
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_does_not_run_names_its_error(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("import json\njson.loads('{')\n")
    with pytest.raises(UserError, match="JSONDecodeError"):
        resolve(f"{tmp_path / 'broken.py'}:X")
    assert "memtrial_user_broken" not in sys.modules


def test_create_that_returns_something_else(own: Path, context: Context) -> None:
    with pytest.raises(UserError, match="has no ingest, answer, close"):
        resolve(f"{own}:Lying").create({}, context)


@pytest.mark.parametrize(
    ("params", "says"),
    [
        ({"indx": {}}, "no parameter 'indx' (did you mean 'index'?)"),
        ({"index": {"speakers": True}}, "'index.speakers' (did you mean 'speaker'?); index takes speaker, date"),
        ({"k": 0}, "parameter 'k' is 0, but input should be greater than or equal to 1"),
        ({"units": {"turn": float("nan")}}, "parameter 'units.turn' is nan"),
    ],
)
def test_wrong_parameters_name_path_value_and_what_is_allowed(params: dict[str, object], says: str) -> None:
    with pytest.raises(UserError) as caught:
        resolve("bm25").validate(params)
    assert says in str(caught.value)


def test_a_wrong_choice_names_the_near_miss() -> None:
    with pytest.raises(UserError, match=r"fusion.method.*'zscor'.*'rrf' or 'zscore'.*did you mean 'zscore'"):
        resolve("bm25_vector").validate({"fusion": {"method": "zscor"}})


def test_the_fingerprint_follows_the_source(own: Path) -> None:
    before = resolve(f"{own}:Memory").code_fingerprint()
    assert before == resolve(f"{own}:Memory").code_fingerprint()
    own.write_text(GOOD + "\n# changed\n")
    assert resolve(f"{own}:Memory").code_fingerprint() != before
    prints = {name: resolve(name).code_fingerprint() for name in BUILT_IN}
    assert prints["bm25"] != prints["vector"]
