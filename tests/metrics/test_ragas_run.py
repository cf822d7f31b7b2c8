"""ragas' scores of a whole run: with ragas itself where it is installed, against a server that plays a model."""

from __future__ import annotations

import json
import shutil
from binascii import crc32
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import BaseModel
from typer.testing import CliRunner

from memtrial.cli import app
from memtrial.datasets.errors import MissingExtraError, UserError
from memtrial.experiments.config import load_config
from memtrial.experiments.plan import make_plan
from memtrial.experiments.runner import run
from memtrial.experiments.score_ragas import replay_of, score_run, settings_of
from memtrial.metrics.ragas.adapter import AskingLLM
from memtrial.metrics.ragas.samples import Sample
from memtrial.systems.models.llm.settings import ModelSettings
from tests.systems.llm.scripted import ScriptedServer, Seen, Step, error, says

pytest.importorskip("openai")
needs_ragas = pytest.mark.skipif(find_spec("ragas") is None, reason="ragas is an extra")
KEY = "sk-test-0123456789abcdef"
CONFIG = "name: toy\ndata: [handwritten]\nsystems: [bm25, recent]\nmetrics: {resamples: 100}\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("ragas")
    file = base / "toy.yaml"
    file.write_text(CONFIG)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MEMTRIAL_CACHE_DIR", str(base / "cache"))
        return run(make_plan(load_config(file, (), 20)), base / "run").out


@pytest.fixture
def own(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    return Path(shutil.copytree(folder, tmp_path / "run"))


def model(seen: Seen) -> Step:
    """Answer each of ragas' forms: every second statement holds."""
    if seen.path.endswith("/embeddings"):
        rows = [{"index": i, "embedding": [1.0, len(t) % 7]} for i, t in enumerate(seen.body["input"])]
        return Step(body={"data": rows, "usage": {"prompt_tokens": 3, "total_tokens": 3}})
    shape = seen.body["response_format"]["json_schema"]["name"]
    reply = {
        "StatementGeneratorOutput": {"statements": ["one", "two"]},
        "NLIStatementOutput": {
            "statements": [{"statement": s, "reason": "r", "verdict": v} for s, v in (("one", 1), ("two", 0))]
        },
        "AnswerRelevanceOutput": {"question": "Which one?", "noncommittal": 0},
        "ContextPrecisionOutput": {"reason": "r", "verdict": 1},
        "ContextRecallOutput": {"classifications": [{"statement": "one", "reason": "r", "attributed": 1}]},
        "ClassificationWithReason": {
            "TP": [{"statement": "one", "reason": "r"}],
            "FP": [{"statement": "two", "reason": "r"}],
            "FN": [],
        },
    }[shape]
    return says(json.dumps(reply))


def settings(url: str, **more: Any) -> ModelSettings:
    return ModelSettings(model="m", base_url=url, max_retries=0, **more)


@needs_ragas
@pytest.mark.filterwarnings("ignore")
def test_ragas_itself_through_the_client_and_again_from_the_record(own: Path) -> None:
    with ScriptedServer(model) as server:
        scored = score_run(own, settings(server.url), embedding_model="e")
        paths = {seen.path for seen in server.requests}
    by_metric = {(s.trial, s.metric): s for s in scored.summaries}
    assert by_metric["bm25", "faithfulness"].value == 0.5
    recall = by_metric["bm25", "context_recall"]
    assert recall.value == pytest.approx(1.0 - recall.by_reason.get("scored:no_context", 0) / recall.n_total)
    assert by_metric["bm25", "context_precision"].value == pytest.approx(1.0)
    assert 0.0 < by_metric["bm25", "answer_correctness"].value < 1.0
    assert all(s.n_scored == s.n_total for s in scored.summaries)
    assert paths == {"/v1/chat/completions", "/v1/embeddings"}
    first = (own / "ragas.json").read_bytes()
    assert scored.ledger.total(phase="evaluation").calls == scored.ledger.total().calls
    # Nothing listens there any more.
    again = score_run(own, settings(server.url), embedding_model="e", replay="only")
    assert (own / "ragas.json").read_bytes() == first
    assert again.ledger.total().paid_e12 == 0
    assert KEY.encode() not in first + (own / "calls.jsonl").read_bytes()


@needs_ragas
@pytest.mark.filterwarnings("ignore")
def test_ragas_with_a_model_that_fails_half_of_the_time(own: Path) -> None:
    def flaky(seen: Seen) -> Step:
        step = model(seen)
        if "NLIStatementOutput" in seen.raw.decode() and len(seen.raw) % 2:
            return says('{"statements":[{"statement":"a","verdict":1},{"statement":"b","ver', finish="length")
        return step

    with ScriptedServer(flaky) as server:
        scored = score_run(own, settings(server.url), embedding_model="e", metrics=["faithfulness"])
    for s in scored.summaries:
        cut = s.by_reason.get("unscored:truncated", 0)
        assert s.n_total - s.n_scored == cut
        assert (s.value is None) == (cut > 0)
        assert s.high - s.low == pytest.approx(cut / s.n_total)
    assert any(s.value is None for s in scored.summaries)
    assert scored.above(0.0)


@needs_ragas
@pytest.mark.filterwarnings("ignore")
def test_ragas_stays_silent_towards_its_makers(own: Path) -> None:
    from ragas._analytics import do_not_track

    with ScriptedServer(model) as server:
        score_run(own, settings(server.url), embedding_model="e", limit=1)
    assert do_not_track()


class Held(BaseModel):
    reason: str
    verdict: int


async def fake(metric: str, sample: Sample, llm: AskingLLM) -> Any:
    """Stands in for ragas: one question about the answer."""
    return SimpleNamespace(value=float((await llm.agenerate(f"{metric}: {sample.response}", Held)).verdict))


def judge(seen: Seen) -> Step:
    if crc32(seen.prompt.encode()) % 3 == 0:
        return error(400, f"no {seen.headers['authorization']}")
    return says('{"reason": "r", "verdict": 1}')


def test_a_run_is_scored_and_replayed_to_the_same_bytes(own: Path) -> None:
    metrics = ["faithfulness", "answer_correctness"]
    with ScriptedServer(judge) as server:
        scored = score_run(own, settings(server.url), metrics=metrics, ask=fake)
        asked = len(server.requests)
        first = (own / "ragas.json").read_bytes()
        score_run(own, settings(server.url), metrics=metrics, ask=fake)
        assert len(server.requests) < 2 * asked  # only what had failed is asked again
    score_run(own, settings(server.url), metrics=metrics, ask=fake, replay="only")
    assert (own / "ragas.json").read_bytes() == first
    told = json.loads(first)
    assert told["rules"] and told["model"]["model"] == "m" and told["embeddings"] == "e5"
    assert set(told["usage"]) == {"bm25", "recent"} and told["usage"]["bm25"]["usd"] is None
    assert len(told["rows"]) == 40
    scores = [score for row in told["rows"] for score in row["scores"].values()]
    assert {"value": 1.0, "status": "scored", "reason": "model", "detail": ""} in scores
    assert {score["reason"] for score in scores if score["status"] == "unscored"} == {"bad_request"}
    assert KEY.encode() not in first + (own / "calls.jsonl").read_bytes() + scored.render().encode()


def test_the_records_and_metrics_of_the_run_are_not_touched(own: Path) -> None:
    names = ("records.parquet", "metrics.json", "manifest.json")
    before = [(own / name).read_bytes() for name in names]
    with ScriptedServer(judge) as server:
        score_run(own, settings(server.url), ask=fake)
    assert [(own / name).read_bytes() for name in names] == before


def test_a_limit_asks_the_same_questions_of_every_trial(own: Path) -> None:
    with ScriptedServer(judge) as server:
        scored = score_run(own, settings(server.url), ask=fake, limit=2)
    assert scored.questions == (2, 20)
    chosen: dict[str, Sequence[str]] = {}
    for row in scored.rows:
        chosen[row.trial] = [*chosen.get(row.trial, ()), row.question_id]
    assert chosen["bm25"] == chosen["recent"] and len(chosen["bm25"]) == 2


def test_nothing_recorded_is_unscored_with_the_reason(own: Path) -> None:
    scored = score_run(own, settings("http://127.0.0.1:9/v1"), metrics=["faithfulness"], ask=fake, replay="only")
    for s in scored.summaries:
        assert s.by_reason.get("unscored:not_recorded", 0) == s.n_total - s.n_scored


def test_errors_are_sentences(own: Path) -> None:
    with pytest.raises(UserError, match="did you mean 'faithfulness'"):
        score_run(own, settings("http://127.0.0.1:9/v1"), metrics=["faithfullness"], ask=fake)
    with pytest.raises(UserError, match="did you mean 'prefer'"):
        replay_of("preffer")
    with pytest.raises(UserError) as caught:
        settings_of("m", None, KEY)
    assert KEY not in str(caught.value) and "--api-key-env" in str(caught.value)


def test_command_line(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from memtrial.experiments import score_ragas

    monkeypatch.setattr(score_ragas, "load_ragas", lambda: None)
    monkeypatch.setattr(score_ragas, "ragas_metric", lambda *_, **__: fake)
    with ScriptedServer(judge) as server:
        args = ["ragas", str(own), "--model", "m", "--base-url", server.url, "--metric", "answer_correctness"]
        told = CliRunner().invoke(app, [*args, "--max-unscored", "0"])
        lenient = CliRunner().invoke(app, [*args, "--max-unscored", "1"])
    summaries = json.loads((own / "ragas.json").read_text())["summaries"]
    unscored = sum(s["n_total"] - s["n_scored"] for s in summaries)
    assert unscored and (told.exit_code, lenient.exit_code) == (1, 0)
    assert "bad_request" in told.output and KEY not in told.output


@pytest.mark.skipif(find_spec("ragas") is not None, reason="ragas is installed")
def test_command_line_without_ragas(own: Path) -> None:
    told = CliRunner().invoke(app, ["ragas", str(own), "--model", "m"])
    assert isinstance(told.exception, MissingExtraError) and not (own / "ragas.json").exists()


def test_a_folder_that_is_no_run_is_told_before_a_missing_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing() -> None:
        raise MissingExtraError("ragas", "ragas")

    monkeypatch.setattr("memtrial.experiments.score_ragas.load_ragas", missing)
    with pytest.raises(UserError, match=f"{tmp_path / 'nowhere'} holds no run"):
        score_run(tmp_path / "nowhere", settings_of("m", "http://127.0.0.1:9/v1", "MY_KEY"))
