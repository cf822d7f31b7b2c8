"""Runs whose systems read with a model, against a scripted endpoint."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
import yaml

from memtrial.datasets.errors import UserError
from memtrial.experiments.config import Config, load_config
from memtrial.experiments.models import ModelOptions
from memtrial.experiments.plan import make_plan
from memtrial.experiments.progress import RunSummary, Silent
from memtrial.experiments.runner import finish, run
from memtrial.experiments.store import (
    CALLS,
    CONFIG,
    JOURNAL,
    MANIFEST,
    MEASURED_METRICS,
    METRICS,
    Run,
    read_run,
)
from tests.systems.llm.scripted import ScriptedServer, Seen, Step, error, says

KEY = "sk-test-0123456789-do-not-write-me"
PRICE = {"prompt": 1.0, "completion": 2.0}

Make = Callable[..., Config]


@pytest.fixture(autouse=True)
def _environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMTRIAL_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("MY_ENDPOINT", KEY)


def replying(seen: Seen) -> Step:
    """Answer as the reader's form wants it."""
    return says(json.dumps({"answer": "Tuesday", "citations": [], "confidence": 0.7, "abstain": False}))


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer(replying) as found:
        yield found


def configured(tmp_path: Path, url: str, limit: int | None = 6, **more: Any) -> Config:
    default = {"model": "toy-1", "base_url": url, "api_key_env": "MY_ENDPOINT", "max_retries": 0, "price": PRICE}
    default |= more.pop("default", {})
    content = {
        "name": "toy",
        "data": ["handwritten"],
        "systems": {"bm25": {}},
        "models": {"default": default},
        "metrics": {"resamples": 100},
        **more,
    }
    file = tmp_path / "toy.yaml"
    file.write_text(yaml.safe_dump(content, sort_keys=False))
    return load_config(file, limit=limit)


def go(config: Config, out: Path, **options: Any) -> tuple[RunSummary, Run]:
    summary = run(make_plan(config), out, options=ModelOptions(**options))
    return summary, read_run(out)


def unmeasured(out: Path) -> list[dict[str, Any]]:
    rows = orjson.loads((out / METRICS).read_bytes())
    return [row for row in rows if not row["metric"].startswith(MEASURED_METRICS)]


def value(found: Run, metric: str, trial: str = "bm25") -> Any:
    return next(r for r in found.metrics if (r.trial, r.metric, r.slice) == (trial, metric, "all"))


def test_each_question_is_asked_once_and_paid_once(server: ScriptedServer, tmp_path: Path) -> None:
    out = tmp_path / "out"
    summary, found = go(configured(tmp_path, server.url), out)
    assert (summary.exit_code, summary.errors, summary.problems) == (0, 0, ())
    assert len(server.requests) == 6
    assert {r.result.text for r in found.records} == {"Tuesday"}
    (usage,) = found.records[0].result.trace.usage
    assert (usage.role, usage.model, usage.phase, usage.prompt, usage.completion) == ("read", "toy-1", "query", 12, 3)
    assert (usage.calls, usage.replayed, usage.usd) == (1, 0, pytest.approx(18e-6))
    assert found.records[0].result.trace.facts["prompts"]["read"].startswith("read.")
    assert value(found, "prompt_tokens").value == 12
    assert value(found, "completion_tokens").value == 3
    assert value(found, "cost_per_1k_questions_usd").value == pytest.approx(0.018)
    told = found.manifest["models"]
    assert (told["calls"], told["replayed"], told["spent_usd"]) == (6, 0, pytest.approx(6 * 18e-6))
    assert "toy-1" in found.manifest["language_model"]
    assert any(p.startswith("read.en@") for p in told["prompts"])
    again, _ = go(configured(tmp_path, server.url), out)
    assert (again.resumed, again.exit_code, len(server.requests)) == (6, 0, 6)
