from __future__ import annotations

import importlib.metadata
import re
import sys
import textwrap
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
        ({"k": 0}, "parameter 'k' is 0, but must be at least 1"),
        ({"k": 1.5}, "parameter 'k' is 1.5, but must be a whole number"),
        ({"units": {"turn": float("nan")}}, "parameter 'units.turn' is nan"),
    ],
)
def test_wrong_parameters_name_path_value_and_what_is_allowed(params: dict[str, object], says: str) -> None:
    with pytest.raises(UserError) as caught:
        resolve("bm25").validate(params)
    assert says in str(caught.value)


_SHARE = "a whole number of dimensions from 2 to 4096, or a share of the embedder's between 0 and 1, such as 0.5"


@pytest.mark.parametrize(
    ("system", "params", "says"),
    [
        (
            "structured",
            {"vectors": {"embedder": "tfidfsvd"}},
            "parameter 'vectors.embedder' is 'tfidfsvd', but must be 'e5' or 'tfidf_svd', or a map of settings (did you mean 'tfidf_svd'?)",
        ),
        (
            "structured",
            {"vectors": {"embedder": {"modle": "x"}}},
            "has no parameter 'vectors.embedder.modle' (did you mean 'model'?); vectors.embedder takes model, base_url",
        ),
        (
            "structured",
            {"vectors": {"embedder": {"kind": "modle"}}},
            "'vectors.embedder.kind' is 'modle', but must be 'model' (did you mean 'model'?)",
        ),
        ("structured", {"vectors": {"pca": {"dims": 1.5}}}, f"'vectors.pca.dims' is 1.5, but must be {_SHARE}"),
        ("structured", {"vectors": {"pca": {"dims": -0.5}}}, f"'vectors.pca.dims' is -0.5, but must be {_SHARE}"),
        ("structured", {"vectors": {"pca": {"dims": 1}}}, f"'vectors.pca.dims' is 1, but must be {_SHARE}"),
        (
            "structured",
            {"trust": {"half_lives": {"stat": {"days": 3}}}},
            "has no parameter 'trust.half_lives.stat' (did you mean 'state'?); trust.half_lives takes profile, preference",
        ),
        (
            "structured",
            {"trust": {"half_lives": {"state": {"day": 3}}}},
            "has no parameter 'trust.half_lives.state.day' (did you mean 'days'?); trust.half_lives.state takes days, floor",
        ),
        ("structured", {"vectors": {"hnsw": 3}}, "parameter 'vectors.hnsw' is 3, but must be a map of settings"),
        ("structured", {"gates": {"semantic": "rules"}}, "'gates.semantic' is 'rules', but must be a map of settings"),
        ("raw_log", {"rerank": {"kind": "cross_encoder"}}, "parameter 'rerank.path' is missing"),
    ],
)
def test_no_sentence_speaks_in_the_validators_words(system: str, params: dict[str, object], says: str) -> None:
    with pytest.raises(UserError) as caught:
        resolve(system).validate(params)
    told = str(caught.value)
    assert says in told
    assert not any(
        word in told for word in ("Params", "instance", "literal[", "constrained", "[key]", "field required")
    )


@pytest.mark.parametrize(
    ("system", "group", "weights"),
    [
        ("structured", "fusion", ("keyword", "vector", "metadata", "graph")),
        ("hybrid", "structured.fusion", ("keyword", "vector", "metadata", "graph")),
        ("bm25", "units", ("turn", "window", "session")),
        ("bm25_vector", "fusion", ("bm25", "vector")),
        ("raw_log", "words.units", ("turn", "window", "session")),
        ("raw_log", "meaning", ("turn", "window", "session")),
        ("raw_log", "signals", ("words", "meaning", "speaker", "time", "cue")),
        ("raw_log", "rerank", ("tier", "words", "around", "values", "answer")),
    ],
)
def test_weights_that_are_all_0_are_refused_and_one_that_is_not_will_do(
    system: str, group: str, weights: tuple[str, ...]
) -> None:
    factory, none = resolve(system), dict.fromkeys(weights, 0.0)
    with pytest.raises(UserError) as caught:
        factory.validate(_nested(group, none))
    assert f"parameter {group!r} is " in str(caught.value)
    assert str(caught.value).endswith(f"but at least one of {', '.join(weights)} must be above 0")
    for name in weights:
        factory.validate(_nested(group, none | {name: 0.1}))


def _nested(path: str, value: dict[str, float]) -> dict[str, object]:
    head, _, rest = path.partition(".")
    return {head: _nested(rest, value) if rest else value}


@pytest.mark.parametrize(
    ("system", "params", "says"),
    [
        ("raw_log", {"shown": {"items": 0}}, "parameter 'shown.items' is 0, but must be at least 1"),
        ("structured", {"context_items": 0}, "parameter 'context_items' is 0, but must be at least 1"),
        ("bm25", {"context_items": 0}, "parameter 'context_items' is 0, but must be at least 1"),
        ("recent", {"context_items": 0}, "parameter 'context_items' is 0, but must be at least 1"),
    ],
)
def test_a_reader_is_shown_something(system: str, params: dict[str, object], says: str) -> None:
    with pytest.raises(UserError, match=says):
        resolve(system).validate(params)


STRICT = """
from pydantic import BaseModel, ConfigDict, Field, computed_field
class Inner(BaseModel):
    size: int = 1
class Base:
    @classmethod
    def create(cls, params, context): return cls()
    async def ingest(self, messages, trace): ...
    async def answer(self, query, trace): ...
    async def close(self): ...
class Silent(Base):
    class Params(BaseModel):
        threshold: float = 0.5
        inner: Inner = Inner()
        most: int = Field(3, alias="top")
        @computed_field
        @property
        def double(self) -> float: return 2 * self.threshold
class Needing(Base):
    class Params(BaseModel):
        threshold: float
class Open(Base):
    class Params(BaseModel):
        model_config = ConfigDict(extra="allow")
        threshold: float = 0.5
"""


@pytest.mark.parametrize(
    ("name", "params", "says"),
    [
        (
            "Silent",
            {"treshold": 0.3},
            "has no parameter 'treshold' (did you mean 'threshold'?); it takes threshold, inner",
        ),
        ("Silent", {"inner": {"sise": 3}}, "no parameter 'inner.sise' (did you mean 'size'?); inner takes size"),
        ("Needing", {"treshold": 0.3}, "has no parameter 'treshold' (did you mean 'threshold'?)"),
    ],
)
def test_a_name_that_a_class_of_ones_own_does_not_have(
    tmp_path: Path, name: str, params: dict[str, object], says: str
) -> None:
    (tmp_path / "strict.py").write_text(STRICT)
    with pytest.raises(UserError) as caught:
        resolve(f"{tmp_path / 'strict.py'}:{name}").validate(params)
    assert says in str(caught.value)


def test_names_that_a_class_of_ones_own_has(tmp_path: Path, context: Context) -> None:
    (tmp_path / "strict.py").write_text(STRICT)
    silent = resolve(f"{tmp_path / 'strict.py'}:Silent")
    given = silent.validate({"threshold": 0.3, "inner": {"size": 2}, "top": 4})
    assert given == {"threshold": 0.3, "inner": {"size": 2}, "most": 4, "double": 0.6}
    assert isinstance(silent.create(given, context), System)  # what was filled in is taken again
    assert resolve(f"{tmp_path / 'strict.py'}:Open").validate({"any": 1}) == {"threshold": 0.5, "any": 1}


README_CLASS = re.compile(r"\n    class Memory:\n(?:(?:     .*)?\n)+")


def test_create_gets_plain_values_as_the_readme_of_the_examples_says(tmp_path: Path, context: Context) -> None:
    told = README_CLASS.search(OWN.with_name("README.md").read_text())
    assert told
    (tmp_path / "told.py").write_text(
        f"import pydantic\n{GOOD}{textwrap.dedent(told.group())}".replace("class Memory:\n    class Params", INHERITING)
        + "\n    def __init__(self, threshold): self.threshold = threshold\n"
    )
    factory = resolve(f"{tmp_path / 'told.py'}:Told")
    assert [getattr(factory.create(given, context), "threshold", 0) for given in ({}, {"threshold": 0.3})] == [0.5, 0.3]


INHERITING = "class Told(Memory):\n    class Params"


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
