"""The cross-encoder on the real runtime with a tiny model, made byte by byte in the test."""

from __future__ import annotations

import asyncio
import math
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from memtrial.datasets.errors import MissingExtraError, UserError
from memtrial.datasets.schema import Message
from memtrial.systems.base import Context, Query, Trace
from memtrial.systems.baselines.log import Log, evidence
from memtrial.systems.raw_log.rerank import AnyRerankParams, Reranked, Reranker
from tests.systems.raw_log.rerank.onnx_bytes import model

pytest.importorskip("onnxruntime")
tokenizers = pytest.importorskip("tokenizers")

T0 = datetime(2024, 5, 1, tzinfo=UTC)
WORDS = {"[PAD]": 0, "[UNK]": 1, "tent": 2, "euros": 3, "rain": 4, "big": 5}
WEIGHTS = [0.0, 0.0, 1.0, 2.0, -3.0, float("inf")]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    words = tokenizers.Tokenizer(tokenizers.models.WordLevel(WORDS, unk_token="[UNK]"))
    words.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    words.save(str(tmp_path / "tokenizer.json"))
    (tmp_path / "onnx").mkdir()
    (tmp_path / "onnx" / "model.onnx").write_bytes(model(WEIGHTS))
    return tmp_path


def reranker(path: Path | str, log: Log | None = None, **params: Any) -> Reranker:
    given = TypeAdapter[Any](AnyRerankParams).validate_python({"kind": "cross_encoder", "path": str(path), **params})
    return Reranker(given, Context(Path()), log)


def log_of(*texts: str) -> Log:
    log = Log()
    log.add(Message(f"m{n}", "c", "s", "t", f"p{n}", "", T0, text) for n, text in enumerate(texts))
    return log


def run(reranker: Reranker, *texts: str, question: str = "tent", trace: Trace | None = None) -> list[Reranked]:
    items = [evidence(m, 0.0) for m in log_of(*texts).messages]
    query = Query("q", "t", "kim", T0, question)
    return asyncio.run(reranker.rerank(query, items, [0.0] * len(items), trace or Trace()))


def tens(logit: float) -> float:
    return 10 / (1 + math.exp(-logit))


def test_pairs_are_scored_by_the_model_in_batches_with_padding(folder: Path) -> None:
    trace = Trace()
    rows = run(
        reranker(folder / "onnx" / "model.onnx", batch=2), "rain", "tent euros euros rain", "tent euros", trace=trace
    )
    assert [r.index for r in rows] == [2, 1, 0]
    assert [r.score for r in rows] == pytest.approx([tens(4), tens(3), tens(-2)])  # the question's own tent is 1
    assert trace.facts["rerank"]["model"].startswith("model.onnx#")


def test_logits_of_no_and_yes(folder: Path) -> None:
    (folder / "two.onnx").write_bytes(model(WEIGHTS[:5], columns=2))
    rows = run(reranker(folder / "two.onnx"), "rain", "euros")
    assert [r.score for r in rows] == pytest.approx([tens(3), tens(-2)])


def test_long_messages_are_cut_and_neighbours_can_come_along(folder: Path) -> None:
    path = folder / "onnx" / "model.onnx"
    assert run(reranker(path, max_tokens=16), "euros " * 100_000)[0].score == pytest.approx(tens(1 + 2 * 15))
    log = log_of("euros", "yes", "rain")
    alone = {r.index: r.score for r in run(reranker(path, log), "euros", "yes", "rain")}
    wide = {r.index: r.score for r in run(reranker(path, log, around=True), "euros", "yes", "rain")}
    assert (alone[1], wide[1]) == pytest.approx((tens(1), tens(1 + 2 - 3)))


@pytest.mark.parametrize(
    ("write", "params", "told"),
    [
        (None, {"path": "no/such.onnx"}, "rerank.path is 'no/such.onnx', but there is no such file"),
        (b"not a model", {}, "cannot be loaded as an ONNX model"),
        (b"", {}, "cannot be loaded as an ONNX model"),
        (model([0.0] * 6, columns=3), {}, r"gives an array of shape \(2, 3\) for 2 pairs"),
        (model(WEIGHTS[:5], input_name="pixels"), {}, "takes pixels, but a cross-encoder takes input_ids"),
        (model(WEIGHTS[:3]), {}, "fails on a pair of texts"),
        (model(WEIGHTS), {}, "numbers that are not finite"),
        (model(WEIGHTS), {"tokenizer": "no/tokenizer.json"}, "rerank.tokenizer is 'no/tokenizer.json'"),
    ],
)
def test_files_that_will_not_do_are_named(folder: Path, write: bytes | None, params: dict[str, Any], told: str) -> None:
    path = folder / "other.onnx"
    if write is not None:
        path.write_bytes(write)
    given = {"path": str(path), **params}
    with pytest.raises(UserError, match=told):
        run(reranker(**given), "rain euros", "big")


def test_a_tokenizer_is_looked_for_and_must_be_one(folder: Path) -> None:
    (folder / "tokenizer.json").rename(folder / "other.json")
    with pytest.raises(UserError, match=r"no tokenizer\.json beside"):
        reranker(folder / "onnx" / "model.onnx")
    assert run(reranker(folder / "onnx" / "model.onnx", tokenizer=str(folder / "other.json")), "euros")
    (folder / "tokenizer.json").write_text("{}")
    with pytest.raises(UserError, match=r"cannot be read as a tokenizer\.json"):
        reranker(folder / "onnx" / "model.onnx")


def test_without_the_packages_the_extra_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'memtrial\[rerank\]'"):
        reranker(folder / "onnx" / "model.onnx")


def test_a_cross_encoder_needs_a_path() -> None:
    with pytest.raises(ValidationError, match="path"):
        TypeAdapter[Any](AnyRerankParams).validate_python({"kind": "cross_encoder"})
