from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from memtrial import doctor, doctor_install, doctor_models
from memtrial.cli import app
from memtrial.doctor import Check, Report, Wanted, check_data, check_prices, examine
from memtrial.doctor_models import check_models
from memtrial.doctor_run import check_run
from memtrial.systems.models.llm import dialect
from tests.systems.llm.scripted import ScriptedServer, Seen, Step, error, says

KEY = "sk-doctor-0123456789abcdefXYZ"


@pytest.fixture(autouse=True)
def _own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMTRIAL_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.chdir(tmp_path)
    dialect.forget()


def states(checks: Any) -> dict[str, str]:
    return {check.name: check.state for check in checks}


def test_a_good_installation_has_no_failure_and_asks_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "create_connection", lambda *_, **__: pytest.fail("connected"))
    report = examine(Wanted())
    assert not report.failed, report.render()
    found = states(report.checks)
    for name in ("python", "numpy", "cache", "run folder", "data handwritten", "fonts", "full text engine",
                 "vector engine", "embedder", "tokenizer", "prices"):  # fmt: skip
        assert name in found
    assert not Path("runs").exists()


def test_every_line_that_is_not_ok_says_what_to_do_or_what_is_meant() -> None:
    report = Report([Check("a", "ok", "fine"), Check("b", "fail", "broken", "mend it"), Check("c", "warn", "odd")])
    assert report.failed
    assert report.render().splitlines()[1:3] == ["fail  b  broken", "         -> mend it"]
    assert report.to_json()["counts"] == {"ok": 1, "warn": 1, "fail": 1}


def test_one_check_that_breaks_ends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)

    def broken() -> Any:
        raise RuntimeError(f"no {KEY}")

    monkeypatch.setattr(doctor, "check_fonts", broken)
    report = examine(Wanted())
    assert states(report.checks)["fonts"] == "fail" and states(report.checks)["prices"] in ("ok", "warn")
    assert KEY not in report.render()


def test_old_prices_are_a_warning() -> None:
    from memtrial.systems.models.llm.prices import load_prices

    as_of = load_prices().as_of
    assert next(check_prices(as_of)).state == "ok"
    assert next(check_prices(as_of.replace(year=as_of.year + 2))).state == "warn"


def test_folder_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(**_: Any) -> Any:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(doctor.tempfile, "NamedTemporaryFile", refuse)
    (check,) = doctor._writable("cache", tmp_path / "a" / "b", "set MEMTRIAL_CACHE_DIR")
    assert check.state == "fail" and "Permission denied" in check.detail and "MEMTRIAL_CACHE_DIR" in check.cure


def test_little_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for free, state in ((1e6, "fail"), (1e9, "warn"), (1e11, "ok")):
        monkeypatch.setattr(doctor.shutil, "disk_usage", lambda _, f=free: type("U", (), {"free": f}))
        assert next(doctor._writable("x", tmp_path, "y")).state == state


def test_data(tmp_path: Path) -> None:
    broken = tmp_path / "locomo.json"
    broken.write_text("[{]")
    checks = list(check_data([f"locomo={broken}", "locomo", "locomo=/nowhere", f"lokomo={broken}"]))
    assert [c.state for c in checks] == ["ok", "fail", "fail", "fail", "fail"]
    assert "did you mean" in checks[-1].detail


def test_a_dependency_that_is_missing_or_too_old(monkeypatch: pytest.MonkeyPatch) -> None:
    wants = ["numpy>=99", "no-such-thing>=1", "half-a>=1; extra == 'half'", "numpy; extra == 'half'"]
    monkeypatch.setattr(doctor_install.metadata, "requires", lambda _: wants)
    found = {c.name: c for c in doctor_install.check_dependencies()}
    assert found["numpy"].state == found["no-such-thing"].state == "fail"
    assert found["numpy"].cure == "pip install 'numpy>=99'"
    monkeypatch.setattr(
        doctor_install.metadata, "metadata", lambda _: type("M", (), {"get_all": lambda *_: ["half", "none"]})()
    )
    (extra,) = doctor_install.check_extras()
    assert (extra.state, extra.cure) == ("warn", "pip install 'memtrial[half]'")


# -- models ----------------------------------------------------------------------------------------------------------


def model(seen: Seen) -> Step:
    if "response_format" in seen.body:
        return says('{"colour": "white"}')
    return says("kestrel" if "password" in seen.prompt else "ready")


def ask(script: Any, **more: Any) -> tuple[dict[str, Check], list[Seen]]:
    pytest.importorskip("openai")
    with ScriptedServer(script) as server:
        checks = list(check_models(Wanted(model="m", base_url=server.url, **more)))
        return {c.name: c for c in checks}, server.requests


def test_a_good_model() -> None:
    found, requests = ask(model, canary=300)
    assert {name: c.state for name, c in found.items() if c.state != "ok"} == {"model m price": "warn"}
    assert {"model m", "model m usage", "model m JSON", "model m context"} <= set(found)
    assert len(requests) == 3


def test_a_model_without_schema_and_usage_that_cuts_prompts() -> None:
    def poor(seen: Seen) -> Step:
        if seen.body.get("response_format", {}).get("type") == "json_schema":
            return error(400, "response_format json_schema is not supported")
        return says('{"colour": "white"}' if "colour" in seen.prompt else "I do not know", usage=None)

    found, _ = ask(poor, canary=300)
    assert {found[f"model m {what}"].state for what in ("usage", "JSON")} == {"warn"}
    assert found["model m context"].state == "fail"


@pytest.mark.parametrize(
    ("step", "word"),
    [
        (error(404, "no such model"), "no_model"),
        (error(400, "no such parameter"), "bad_request"),
        (error(500, "oh"), "server_error"),
        (error(429, "slow"), "rate_limited"),
    ],
)
def test_a_model_that_does_not_answer(step: Step, word: str) -> None:
    found, requests = ask([step])
    assert found["model m"].state == "fail" and word in found["model m"].detail and found["model m"].cure
    assert len(requests) == 1


def test_nobody_listens() -> None:
    pytest.importorskip("openai")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
        checks = list(check_models(Wanted(model="m", base_url=url)))
    assert checks[-1].state == "fail" and "no connection" in checks[-1].detail


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor_models, "find_spec", lambda _: None)
    checks = list(check_models(Wanted(model="m", base_url="http://127.0.0.1:9/v1")))
    assert checks[-1].state == "fail" and "memtrial[models]" in checks[-1].cure


def test_models_of_a_configuration_are_connected_to_and_not_asked(tmp_path: Path) -> None:
    pytest.importorskip("openai")
    with ScriptedServer(model) as server:
        (tmp_path / "c.yaml").write_text(
            "data: [handwritten]\nsystems:\n  bm25: {reader: {kind: model}}\n"
            f"models: {{default: {{model: m, base_url: '{server.url}'}}, judge: {{model: j}}}}\n"
        )
        found = {c.name: c for c in check_models(Wanted(config="c.yaml"))}
        assert "bm25 read: m" in found["configuration"].detail and "judge: j" in found["configuration"].detail
        assert found[f"endpoint {server.url}"].state == "ok" and not server.requests
        asked = states(check_models(Wanted(config="c.yaml", ask=True)))
        assert asked["model m"] == "ok" and server.requests


# -- keys ------------------------------------------------------------------------------------------------------------


def test_the_value_of_a_key_is_told_to_nobody(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("openai")
    monkeypatch.setenv("MY_SERVICE", KEY)

    def echo(seen: Seen) -> Step:
        return error(401, f"Incorrect API key provided: {seen.headers['authorization']}")

    with ScriptedServer(echo) as server:
        for url in (server.url, server.url.replace("://", "://user:hunter2hunter2@")):
            for form in ([], ["--json"]):
                args = ["doctor", "--model", "m", "--base-url", url, "--api-key-env", "MY_SERVICE", *form]
                told = CliRunner().invoke(app, args)
                text = told.output + str(told.exception) + "".join(capfd.readouterr())
                assert told.exit_code == 2
                assert "MY_SERVICE" in text and KEY not in text and "hunter2" not in text
        assert any(KEY in seen.headers["authorization"] for seen in server.requests)


@pytest.mark.parametrize(
    "url", ["http://[", "ftp://user:hunter2hunter2@h", "user:hunter2hunter2@h/v1", "http://h:99999/v1"]
)
def test_what_is_no_address_is_a_sentence_without_it(url: str) -> None:
    told = CliRunner().invoke(app, ["doctor", "--model", "m", "--base-url", url])
    assert told.exit_code == 2 and "--base-url is not an address" in told.output and "hunter2" not in told.output


def test_a_key_in_the_place_of_its_name_is_not_quoted() -> None:
    told = CliRunner().invoke(app, ["doctor", "--api-key-env", KEY])
    assert told.exit_code == 2 and KEY not in told.output and "not the name of an environment variable" in told.output


@pytest.mark.parametrize(
    ("value", "url", "state"),
    [(None, None, "fail"), (None, "http://127.0.0.1:9/v1", "ok"), (KEY, None, "ok"), (f"{KEY}\n", None, "warn"),
     ("  ", None, "fail")],
)  # fmt: skip
def test_presence_of_a_key(value: str | None, url: str | None, state: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor_models, "find_spec", lambda _: None)
    if value is not None:
        monkeypatch.setenv("OPENAI_API_KEY", value)
    found = {c.name: c for c in check_models(Wanted(model="m", base_url=url))}
    assert found["key OPENAI_API_KEY"].state == state
    assert KEY not in found["key OPENAI_API_KEY"].detail


# -- a run -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def run_folder(tmp_path: Path) -> Path:
    from memtrial.experiments.config import load_config
    from memtrial.experiments.plan import make_plan
    from memtrial.experiments.runner import run

    file = tmp_path / "c.yaml"
    file.write_text("data: [handwritten]\nsystems: [no_memory]\nmetrics: {resamples: 100}\n")
    return run(make_plan(load_config(file, (), 4)), tmp_path / "out").out


def test_a_whole_run(run_folder: Path) -> None:
    before = {p.name: p.read_bytes() for p in run_folder.iterdir() if p.is_file()}
    checks = list(check_run(run_folder))
    assert {c.state for c in checks if c.name != "run records"} == {"ok"}, checks
    assert {p.name: p.read_bytes() for p in run_folder.iterdir() if p.is_file()} == before


def test_what_is_torn_or_corrupt_is_told_and_left_alone(run_folder: Path) -> None:
    from memtrial.systems.models.llm.store import CALLS, CallStore, StoredCall

    store = CallStore(run_folder / CALLS)
    store.put("k", StoredCall("ok", text="a"))
    store.close()
    for name in ("journal.jsonl", CALLS):
        with (run_folder / name).open("ab") as file:
            file.write(b'{"type": "res')
    found = states(check_run(run_folder))
    assert (found["run journal"], found["run calls"], found["run records"]) == ("warn", "warn", "warn")
    for name in ("journal.jsonl", CALLS):
        with (run_folder / name).open("ab") as file:
            file.write(b"\n")
    (run_folder / "ragas.json").write_text("{")
    found = states(check_run(run_folder))
    assert (found["run journal"], found["run calls"], found["run ragas"]) == ("fail", "fail", "fail")
    (run_folder / "manifest.json").write_text("{")
    assert states(check_run(run_folder))["run records"] == "fail"


def test_a_folder_that_is_no_run(tmp_path: Path) -> None:
    assert [c.state for c in check_run(tmp_path / "none")] == ["warn"]
    assert [c.state for c in check_run(tmp_path)] == ["fail"]


def test_exit_codes_and_json(run_folder: Path) -> None:
    good = CliRunner().invoke(app, ["doctor", str(run_folder), "--json"])
    assert good.exit_code == 0, good.output
    assert json.loads(good.output)["failed"] is False
    (run_folder / "manifest.json").write_text("{")
    assert CliRunner().invoke(app, ["doctor", str(run_folder)]).exit_code == 2
