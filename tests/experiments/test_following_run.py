"""A hybrid whose configuration names one model reads with it in both of its parts."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from memtrial.experiments.config import load_config
from memtrial.experiments.models import ModelOptions
from memtrial.experiments.plan import make_plan
from memtrial.experiments.runner import run
from memtrial.experiments.store import read_run
from tests.systems.llm.scripted import ScriptedServer

from .test_agent_run import CONFIG, script


def test_a_hybrid_reads_with_the_model_that_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMTRIAL_CACHE_DIR", str(tmp_path / "cache"))
    small = {"embedder": "tfidf_svd", "dims": 16}
    hybrid = {"use": "hybrid", "structured": {"vectors": small}, "raw_log": {"meaning": small}}
    with ScriptedServer(script) as server:
        models = {"default": {"model": "toy-1", "base_url": server.url, "max_tokens": 500}}
        file = tmp_path / "toy.yaml"
        file.write_text(yaml.safe_dump({**CONFIG, "systems": {"hybrid": hybrid}, "models": models}, sort_keys=False))
        summary = run(make_plan(load_config(file, limit=6)), tmp_path / "out", options=ModelOptions())
    assert (summary.exit_code, summary.finished, summary.errors) == (0, 6, 0)
    records = read_run(tmp_path / "out").records
    asked = [record for record in records if record.result.trace.usage]
    assert len(asked) >= 3  # the others were answered by a slot, or nothing was shown
    assert {usage.role for record in asked for usage in record.result.trace.usage} == {"read"}
    assert "Tuesday" in {record.result.text for record in asked}
