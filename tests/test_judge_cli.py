"""``memtrial judge check`` and ``memtrial rejudge`` as a user meets them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from memtrial.cli import app
from memtrial.datasets.errors import UserError
from memtrial.experiments.config import load_config
from memtrial.experiments.plan import make_plan
from memtrial.experiments.runner import run
from tests.systems.llm.scripted import ScriptedServer, Seen, Step, error, says

SAYS = says('{"reason": "r", "lure": "", "verdict": "correct"}')
SAYS_PLAIN = says("Verdict: correct")
LOST = says("I would rather not say.")


@pytest.fixture(autouse=True)
def _environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789")
    monkeypatch.setenv("MEMTRIAL_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)


def test_check_then_rejudge_with_its_errors(tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text(
        "data: [handwritten]\nsystems: [no_memory, oracle, bm25]\nmetrics: {resamples: 100}\nwarmup: 0\n"
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


INVALID = says("It is another thing.\nVerdict: wrong")
"""No object of the form asked for, but the verdict stands at an anchored place."""


def fitting(seen: Seen) -> Step:
    """Answer in the form asked for."""
    wanted = seen.body["response_format"]["json_schema"]["schema"]["properties"]
    return says(json.dumps({"reason": "r"} | ({"lure": ""} if "lure" in wanted else {}) | {"verdict": "wrong"}))


def finished_run(tmp_path: Path, **models: object) -> Path:
    config = {"data": ["handwritten"], "systems": ["oracle", "bm25"], "metrics": {"resamples": 100}, "warmup": 0}
    config |= models
    (tmp_path / "c.yaml").write_text(yaml.safe_dump(config))
    run(make_plan(load_config(tmp_path / "c.yaml", limit=4)), tmp_path / "out")
    return tmp_path / "out"


def files_of(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


@pytest.mark.parametrize("command", ["check", "rejudge"])
def test_a_verdict_read_out_of_an_unfitting_reply_is_paid_for_once(tmp_path: Path, command: str) -> None:
    arguments = ["judge", "check", "--data", "handwritten", "--limit", "3", "--out", "made/e.json"]
    (tmp_path / "made").mkdir()
    if command == "rejudge":
        finished_run(tmp_path)
        arguments = ["rejudge", "out"]
    made = tmp_path / ("made" if command == "check" else "out/rejudged")
    with ScriptedServer([INVALID]) as server:
        arguments += ["--model", "m", "--base-url", server.url]
        first = CliRunner().invoke(app, arguments)
        asked, written = len(server.requests), files_of(made)
        assert first.exit_code == 0 and asked > 0 and written, first.output
        again = CliRunner().invoke(app, arguments)
        assert (again.exit_code, len(server.requests)) == (0, asked), again.output
        assert files_of(made) == written
    # What was asked and repaired counts with all its tokens, also when it is served again.
    told = [line for line in (first.stdout + again.stdout).splitlines() if line.startswith("asked: ")]
    calls = int(told[0].split()[1])
    assert f"{calls} calls, {calls} from the record" in told[1]
    assert (
        told[0].split(" from the record, ")[1].split(" tokens")[0]
        == told[1].split(" from the record, ")[1].split(" tokens")[0]
    )


def test_a_reply_without_a_verdict_is_asked_for_again(tmp_path: Path) -> None:
    ask = ["judge", "check", "--data", "handwritten", "--limit", "2", "--model", "m"]
    with ScriptedServer([LOST]) as server:
        CliRunner().invoke(app, [*ask, "--base-url", server.url])
        asked = len(server.requests)
        CliRunner().invoke(app, [*ask, "--base-url", server.url])
        assert len(server.requests) == 2 * asked


@pytest.mark.parametrize("command", ["check", "rejudge"])
def test_a_judge_that_cannot_be_reached_leaves_no_figures(tmp_path: Path, command: str) -> None:
    out = finished_run(tmp_path)
    before = files_of(out)
    arguments = ["rejudge", "out"] if command == "rejudge" else ["judge", "check", "--data", "handwritten", "--limit", "2", "--out", "e.json"]  # fmt: skip
    found = CliRunner().invoke(app, [*arguments, "--model", "m", "--base-url", "http://127.0.0.1:9/v1"])
    assert isinstance(found.exception, UserError), found.output
    said = str(found.exception)
    assert "nothing was graded" in said and "127.0.0.1:9" in said and "\n" not in said
    assert "survive" not in found.output
    assert not (out / "rejudged").exists() and not (tmp_path / "e.json").exists()
    assert {name: content for name, content in files_of(out).items() if name != "calls.jsonl"} == before


def test_a_server_that_dies_half_way_leaves_no_figures_and_what_it_said_is_kept(tmp_path: Path) -> None:
    finished_run(tmp_path)
    healthy: list[bool] = []

    def script(seen: Seen) -> Step:
        return (
            fitting(seen)
            if healthy or len(server.requests) <= 2
            else error(503, "overloaded", headers={"Retry-After": "999"})
        )

    with ScriptedServer(script) as server:
        ask = ["rejudge", "out", "--model", "m", "--base-url", server.url]
        found = CliRunner().invoke(app, ask)
        assert isinstance(found.exception, UserError), found.output
        assert "too little was graded" in str(found.exception) and "server_error" in str(found.exception)
        assert not (tmp_path / "out" / "rejudged").exists()
        asked = len(server.requests)
        healthy.append(True)
        again = CliRunner().invoke(app, ask)
        assert again.exit_code == 0, again.output
        assert len(server.requests) == 2 * asked - 2


def test_nothing_recorded_is_nothing_graded(tmp_path: Path) -> None:
    finished_run(tmp_path)
    ask = ["rejudge", "out", "--model", "m", "--base-url", "http://127.0.0.1:9/v1", "--replay", "only"]
    found = CliRunner().invoke(app, ask)
    assert "nothing was graded" in str(found.exception) and "--replay prefer asks" in str(found.exception)
    assert not (tmp_path / "out" / "rejudged").exists()


def test_without_a_judge_named_the_configurations_own_is_asked_and_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUDGE_KEY", "sk-judge-0123456789")
    with ScriptedServer([SAYS_PLAIN]) as server:
        judge = {"model": "grader-1", "base_url": server.url, "api_key_env": "JUDGE_KEY", "seed": 5}
        finished_run(tmp_path, models={"judge": judge})
        found = CliRunner().invoke(app, ["rejudge", "out"])
        assert found.exit_code == 0, found.output
        assert f"judge: grader-1 at {server.url}, from models.judge of the run's configuration" in found.stdout
        assert server.requests[0].headers["authorization"] == "Bearer sk-judge-0123456789"
        assert server.requests[0].body["seed"] == 5
        assert (tmp_path / "out" / "rejudged" / "grader-1-ours.json").is_file()
        # A judge that is named is taken alone.
        keyless = CliRunner().invoke(app, ["rejudge", "out", "--judge", "matcher"])
        assert "grader-1" not in keyless.stdout


def test_the_model_whose_answers_are_judged_is_not_taken_for_the_judge(tmp_path: Path) -> None:
    finished_run(tmp_path, models={"default": {"model": "reader-1"}}, systems=["no_memory"])
    found = CliRunner().invoke(app, ["rejudge", "out"])
    assert "configuration names none under models: {judge: NAME}" in str(found.exception)
