from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memtrial.datasets.errors import UserError
from memtrial.experiments.plan import make_plan
from memtrial.experiments.runner import run
from memtrial.experiments.store import RECORDS, read_run, write_json
from memtrial.experiments.table import from_batches, schema_of, to_batches
from memtrial.metrics.records import (
    OUTCOMES,
    Item,
    Judgement,
    Labels,
    LureLabel,
    Record,
    Result,
    TraceSummary,
    Usage,
)

from .conftest import Configure, toy

texts = st.text(st.characters(codec="utf-8"), max_size=12)
numbers = st.floats(allow_nan=False, allow_infinity=False)
words = st.lists(texts, max_size=3)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | numbers | texts,
    lambda below: st.lists(below, max_size=2) | st.dictionaries(texts, below, max_size=2),
    max_leaves=4,
)
items = st.lists(
    st.builds(Item, ids=words, score=numbers, text=st.none() | texts, tokens=st.integers(0, 9)), max_size=3
)
traces = st.builds(
    TraceSummary,
    spans=st.dictionaries(texts, numbers, max_size=2),
    gates=st.lists(st.tuples(texts, st.booleans(), texts), max_size=2),
    usage=st.lists(st.builds(Usage, role=texts, model=texts), max_size=2),
    cache_hits=st.dictionaries(texts, st.integers(0, 9), max_size=2),
    warnings=words,
    facts=st.dictionaries(texts, json_values, max_size=2),
)
results = st.builds(
    Result,
    error=st.none() | texts,
    citations=words,
    confidence=st.none() | numbers,
    retrieved=items,
    context=items,
    latency_ms=st.none() | numbers,
    trace=traces,
)
lures = st.lists(st.builds(LureLabel, kind=texts, message_ids=words, values=words), max_size=2)
labels = st.builds(
    Labels, text=texts, history=st.lists(st.tuples(texts, texts), max_size=2), answers=words, lures=lures
)
records = st.builds(
    Record,
    trial=texts,
    result=results,
    labels=labels,
    judgement=st.builds(Judgement, outcome=st.sampled_from(OUTCOMES), lures_used=words),
    ranking=words,
    ranking_tokens=st.lists(st.integers(0, 99), max_size=3),
)


@settings(deadline=None, max_examples=40)
@given(st.lists(records, max_size=3))
def test_records_come_back_from_arrow_as_they_went(rows: list[Record]) -> None:
    assert list(from_batches(to_batches(rows, Record), Record)) == rows


def test_columns_can_be_read_by_other_tools() -> None:
    schema = schema_of(Record)
    assert schema.field("ranking").type.value_type == "string"
    result = schema.field("result").type
    assert str(result.field("latency_ms").type) == "double"
    assert {result.field("retrieved").type.value_type.field(i).name for i in range(6)} >= {"ids", "score", "tokens"}
    assert str(result.field("trace").type.field("facts").type) == "string"  # JSON: facts are of any shape


def test_json_is_strict_whatever_is_given(tmp_path: Path) -> None:
    value: dict[str, Any] = {"a": float("nan"), "b": [float("inf")], "c": "\ud83d", "d": Path("x"), "e": 2**70}
    write_json(tmp_path / "x.json", value)
    assert orjson.loads((tmp_path / "x.json").read_bytes()) == {
        "a": None,
        "b": [None],
        "c": "?",
        "d": "x",
        "e": str(2**70),
    }


@pytest.fixture
def finished(configure: Configure, tmp_path: Path) -> Path:
    run(make_plan(configure({"echo": toy("Echo")}, limit=2)), tmp_path / "out")
    return tmp_path / "out"


def test_parquet_has_a_row_for_every_record(finished: Path) -> None:
    table = pq.read_table(finished / RECORDS)
    assert table.num_rows == 2
    assert set(table.column("trial").to_pylist()) == {"echo"}


@pytest.mark.parametrize(
    "name", ["records.parquet", "metrics.json", "messages.parquet", "config.yaml", "manifest.json"]
)
def test_a_corrupt_file_is_named(finished: Path, name: str) -> None:
    (finished / name).write_bytes(b'{"broken": [')
    with pytest.raises(UserError, match=rf"{name} is corrupt"):
        read_run(finished)


@pytest.mark.parametrize("name", ["records.parquet", "metrics.json", "messages.parquet"])
def test_a_missing_result_file_is_made_again_from_the_journal(finished: Path, name: str) -> None:
    before = read_run(finished)
    (finished / name).unlink()
    after = read_run(finished)
    assert (after.records, after.metrics, after.messages) == (before.records, before.metrics, before.messages)


def test_no_run(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"holds no run \(config.yaml or manifest.json is missing\)"):
        read_run(tmp_path)


def test_another_schema_version_is_refused(finished: Path) -> None:
    manifest = orjson.loads((finished / "manifest.json").read_bytes())
    (finished / "manifest.json").write_bytes(orjson.dumps({**manifest, "schema_version": 99}))
    with pytest.raises(UserError, match="has schema version 99, but this memtrial reads 1"):
        read_run(finished)


def test_the_manifest_says_what_was_run(finished: Path) -> None:
    manifest = read_run(finished).manifest
    sheet = manifest["data"]["toy"]
    assert len(sheet["fingerprint"]) == 64
    assert (sheet["messages"], sheet["questions"], sheet["planned_questions"]) == (48, 12, 2)
    assert manifest["limit"] == 2
    assert manifest["environment"]["packages"].keys() >= {"numpy", "pydantic", "orjson", "tantivy"}
    assert manifest["environment"]["cpu_count"] >= 1 and manifest["environment"]["memory_mb"] > 100
    assert manifest["tokenizer"].startswith("o200k_base")
    assert manifest["counts"] == {
        "planned": 2,
        "finished": 2,
        "errors": 0,
        "outcomes": manifest["counts"]["outcomes"],
    }
    assert sum(manifest["counts"]["outcomes"].values()) == 2
