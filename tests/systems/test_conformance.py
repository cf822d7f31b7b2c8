from __future__ import annotations

import importlib.util
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memtrial.systems.base import Answer, Evidence
from memtrial.systems.conformance import check_system
from memtrial.systems.validation import validate_answer

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
WRONG = """
from memtrial.systems.base import Answer, Evidence
class Base:
    def __init__(self): self.messages = []
    @classmethod
    def create(cls, params, context): return cls()
    async def ingest(self, messages, trace): self.messages += messages
    async def answer(self, query, trace):
        return Answer("x", retrieved=tuple(Evidence.of(m, 1.0) for m in self.messages))
    async def close(self): ...
class Text(Base):
    async def answer(self, query, trace): return "forty"
class Odd(Base):
    async def answer(self, query, trace): return Answer(query.text.split()[0])
"""


@pytest.mark.parametrize(
    ("target", "params"),
    [
        ("no_memory", {}),
        ("recent", {}),
        ("full_context", {}),
        ("oracle", {}),
        ("bm25", {}),
        ("vector", {"embedder": "tfidf_svd", "hnsw": {"build_from": 4}}),
        ("bm25_vector", {"vector": {"embedder": "tfidf_svd"}}),
        (f"{EXAMPLES / 'own_system.py'}:WordOverlap", {}),
    ],
)
def test_ours_and_a_users_class_conform(target: str, params: dict[str, Any]) -> None:
    assert [row for row in check_system(target, params).rows if not row.passed] == []


@pytest.fixture
def server() -> Iterator[str]:
    spec = importlib.util.spec_from_file_location("http_system", EXAMPLES / "http_system.py")
    assert spec is not None and spec.loader is not None
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    server = example.serve(0)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_a_system_behind_http_conforms(server: str) -> None:
    assert [row for row in check_system(server).rows if not row.passed] == []


@pytest.mark.parametrize(
    ("name", "check", "says"),
    [
        ("Base", "messages given twice count once", "some are there twice"),
        ("Base", "keeps tenants apart", "of another tenant"),
        ("Text", "returns a valid answer", "answer() returned str"),
        ("Odd", "survives odd text", "IndexError"),
    ],
)
def test_a_wrong_system_fails_with_a_reason(tmp_path: Path, name: str, check: str, says: str) -> None:
    (tmp_path / "wrong.py").write_text(WRONG)
    report = check_system(f"{tmp_path / 'wrong.py'}:{name}")
    assert not report.passed
    row = next(row for row in report.rows if row.name == check)
    assert not row.passed
    assert says in row.detail


def evidence(**changes: Any) -> Evidence:
    return Evidence(**{"text": "t", "score": 1.0, "message_ids": ("m1",), "tenant_id": "t1", **changes})


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (None, "answer() returned None"),
        (Answer(text=None), "Answer.text is None"),  # type: ignore[arg-type]
        (Answer(confidence=float("nan")), "Answer.confidence is nan"),
        (Answer(confidence=1.5), "Answer.confidence is 1.5"),
        (Answer(citations=("m9",)), "names 'm9'"),
        (Answer(citations="m1"), "Answer.citations is str"),  # type: ignore[arg-type]
        (Answer(retrieved=("m1",)), "Answer.retrieved[0] is str"),  # type: ignore[arg-type]
        (Answer(retrieved=(evidence(), evidence(score=float("inf")))), "Answer.retrieved[1].score is inf"),
        (Answer(context=(evidence(message_ids=("m2",)),)), "Answer.context[0].message_ids names 'm2'"),
        (Answer(context=(evidence(kind="rumour"),)), "'rumour', not one of message"),
    ],
)
def test_an_answer_that_cannot_be_measured_is_named(answer: object, says: str) -> None:
    with pytest.raises(ValueError) as caught:
        validate_answer(answer, {"m1"})
    assert says in str(caught.value)


def test_a_good_answer_passes_as_it_is() -> None:
    answer = Answer("x", citations=("m1",), confidence=1, retrieved=(evidence(),), context=(evidence(),))
    assert validate_answer(answer, {"m1"}) is answer
