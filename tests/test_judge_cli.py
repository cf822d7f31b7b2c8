"""``memtrial judge check`` and ``memtrial rejudge`` as a user meets them."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from memtrial.cli import app
from memtrial.datasets.errors import UserError
from memtrial.experiments.config import load_config
from memtrial.experiments.plan import make_plan
from memtrial.experiments.runner import run
from tests.systems.llm.scripted import ScriptedServer, says

SAYS = says('{"reason": "r", "lure": "", "verdict": "correct"}')
LOST = says("I would rather not say.")


@pytest.fixture(autouse=True)
def _environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789")
    monkeypatch.setenv("MEMTRIAL_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)


def test_check_then_rejudge_with_its_errors(tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text(
        "data: [handwritten]\nsystems: [no_memory, oracle, bm25]\nmetrics: {resamples: 100}\n"
    )
    run(make_plan(load_config(tmp_path / "c.yaml", limit=6)), tmp_path / "out")
    cli = CliRunner()
    with ScriptedServer([SAYS]) as server:
        ask = ["--model", "m", "--base-url", server.url]
        checked = cli.invoke(app, ["judge", "check", *ask, "--data", "handwritten", "--limit", "6", "--out", "e.json"])
        assert "judge m/ours" in checked.stdout and "temperature 0, seed 0" in checked.stdout, checked.output
        assert "FPR all" in checked.stdout and "FNR right" in checked.stdout
        again = cli.invoke(app, ["rejudge", "out", *ask, "--errors", "e.json"])
    assert "kappa" in again.stdout, again.output
    assert "charged to no system" in again.stdout
    assert (tmp_path / "out" / "rejudged" / "m-ours.json").is_file()
    assert cli.invoke(app, ["rejudge", "out", "--judge", "matcher"]).exit_code == 0


def test_too_many_unscored_is_exit_1() -> None:
    with ScriptedServer([LOST]) as server:
        ask = ["--model", "m", "--base-url", server.url, "--data", "handwritten", "--limit", "3"]
        found = CliRunner().invoke(app, ["judge", "check", *ask])
    assert found.exit_code == 1
    assert "18 planted answers are unscored, too many" in found.stderr


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["judge", "check"], "name either a judge to ask"),
        (["judge", "check", "--model", "m", "--published", "x.json"], "name either a judge to ask"),
        (["judge", "check", "--model", "m", "--replay", "olny"], "did you mean 'only'"),
        (["judge", "check", "--model", "m", "--rubric", "our"], "did you mean 'ours'"),
        (["rejudge", "nowhere", "--judge", "matcher"], "holds no run"),
        (["rejudge", "nowhere", "--model", "m", "--base-url", "ftp://x"], "holds no run"),
    ],
)
def test_what_the_user_can_mend_is_one_sentence(arguments: list[str], says: str) -> None:
    found = CliRunner().invoke(app, arguments)
    assert isinstance(found.exception, UserError), found.output
    assert says in str(found.exception) and "\n" not in str(found.exception)
