"""A run whose server of records, disk or package gives way: it stops with one sentence, and the same command finishes it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from memtrial.cli import app
from memtrial.datasets.errors import MissingExtraError, UserError
from memtrial.experiments.plan import make_plan
from memtrial.experiments.progress import Silent
from memtrial.experiments.runner import run
from memtrial.experiments.store import JOURNAL, read_run
from memtrial.systems.structured.needs import POSTGRES

from .conftest import Configure, toy
from .test_kill import comparable

FAST: dict[str, Any] = {"use": "structured", "vectors": {"embedder": "tfidf_svd", "dims": 16}}
SERVER: dict[str, Any] = FAST | {"records": {"backend": "postgres"}}


class StopAfter(Silent):
    """Takes the server away once so many questions have been answered."""

    def __init__(self, server: Any, questions: int) -> None:
        self._server, self._left = server, questions

    def advanced(self, *told: Any) -> None:
        self._left -= 1
        if self._left == 0:
            self._server.stop()


def test_a_server_that_goes_away_in_the_middle_of_a_run(
    configure: Configure, tmp_path: Path, mortal_server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(POSTGRES, mortal_server.url())
    config = configure({"echo": toy("Echo"), "memory": SERVER}, warmup=0)
    plain = run(make_plan(config), tmp_path / "plain")
    assert (plain.exit_code, plain.errors, plain.finished) == (0, 0, 24)

    out = tmp_path / "out"
    stopped = run(make_plan(config), out, StopAfter(mortal_server, 15))
    assert (stopped.exit_code, stopped.errors) == (2, 0)  # no question was lost to an error
    assert stopped.finished == 15
    problem = stopped.problems[0]
    assert "PostgreSQL at " in problem and "cannot be reached while" in problem and "\n" not in problem
    assert "run the same command again" in problem
    for file in out.rglob("*"):
        assert not file.is_file() or mortal_server.password.encode() not in file.read_bytes()

    # Still gone: the same sentence, by the command itself.
    file = tmp_path / "toy.yaml"
    told = CliRunner().invoke(app, ["run", str(file), "--out", str(out)])
    assert told.exit_code == 2 and "cannot be reached while opening the memory records" in " ".join(told.output.split())
    assert "Traceback" not in told.output

    mortal_server.start()
    again = run(make_plan(config), out)
    assert (again.exit_code, again.errors, again.finished, again.resumed) == (0, 0, 24, 15)
    assert comparable(out) == comparable(tmp_path / "plain")


def test_without_an_address_no_question_is_asked(
    configure: Configure, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(POSTGRES, raising=False)
    asked = tmp_path / "asked"
    config = configure({"echo": toy("Echo", asked=str(asked)), "memory": SERVER}, warmup=0)
    with pytest.raises(UserError, match=f"^memory: records.backend is 'postgres', .* {POSTGRES} is not set$"):
        run(make_plan(config), tmp_path / "out")
    assert not asked.exists()  # nor is one of the system before it


RAW: dict[str, Any] = {"use": "raw_log", "tiers": {"meaning": False}}


@pytest.mark.parametrize(
    ("system", "sentence"),
    [
        (SERVER, f"{POSTGRES} is not set"),
        (FAST | {"vectors": {"embedder": "tfidf_svd", "backend": "server"}}, "QDRANT_URL is not set"),
        (RAW | {"index": {"backend": "elasticsearch"}}, "ELASTICSEARCH_URL is not set"),
        (RAW | {"rerank": {"kind": "cross_encoder", "path": "no/such.onnx"}}, "rerank.path is 'no/such.onnx'"),
        ({"use": "hybrid", "structured": {"records": {"backend": "postgres"}}}, f"{POSTGRES} is not set"),
        ({"use": "hybrid", "raw_log": {"index": {"backend": "elasticsearch"}}}, "ELASTICSEARCH_URL is not set"),
        (toy("Careful", needs="no/such.file"), "no/such.file is missing"),
    ],
)
def test_what_is_missing_is_told_by_the_dry_run_and_before_the_first_question(
    system: dict[str, Any],
    sentence: str,
    configure: Configure,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in (POSTGRES, "QDRANT_URL", "ELASTICSEARCH_URL"):
        monkeypatch.delenv(name, raising=False)
    asked = tmp_path / "asked"
    configure({"echo": toy("Echo", asked=str(asked)), "memory": system}, warmup=0)
    for options in (["--dry-run"], ["--out", str(tmp_path / "out")]):
        told = CliRunner().invoke(app, ["run", str(tmp_path / "toy.yaml"), *options])
        error = told.exception
        assert isinstance(error, UserError)  # which the command prints alone, and exits with 2
        assert str(error).startswith("memory: ") and sentence in str(error) and "\n" not in str(error)
    assert not asked.exists()


def test_the_dry_run_tells_that_models_cannot_be_asked(
    configure: Configure, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure({"bm25": {}}, models={"default": {"model": "some-model"}})
    file = str(tmp_path / "toy.yaml")
    monkeypatch.setattr("memtrial.experiments.spending.find_spec", lambda name: None)
    told = CliRunner().invoke(app, ["run", file, "--dry-run"])
    assert "some-model" in told.stdout and isinstance(told.exception, MissingExtraError)
    assert CliRunner().invoke(app, ["run", file, "--dry-run", "--replay", "only"]).exit_code == 0  # nothing is asked


def test_a_finished_run_needs_nothing_any_more(
    configure: Configure, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    needed = tmp_path / "needed"
    needed.touch()
    config = configure({"memory": toy("Careful", needs=str(needed))}, warmup=0)
    assert run(make_plan(config), tmp_path / "out").exit_code == 0
    needed.unlink()
    assert run(make_plan(config), tmp_path / "out").exit_code == 0


def test_a_cache_folder_that_cannot_be_made(
    configure: Configure, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = configure({"memory": FAST}, warmup=0)
    (tmp_path / "file").touch()
    monkeypatch.setenv("MEMTRIAL_CACHE_DIR", str(tmp_path / "file" / "cache"))
    with pytest.raises(UserError, match=r"^MEMTRIAL_CACHE_DIR is '.*', which cannot be written \(Not a directory\)"):
        run(make_plan(config), tmp_path / "out")
    monkeypatch.setenv("MEMTRIAL_CACHE_DIR", str(tmp_path / "cache"))
    done = run(make_plan(config), tmp_path / "out")
    assert (done.exit_code, done.errors, done.resumed) == (0, 0, 0)


def test_a_disk_that_fills_up_in_the_middle_of_a_run(configure: Configure, tmp_path: Path) -> None:
    """The limit stands in for a full disk; the run stops at the question before, and goes on when there is room."""
    full = tmp_path / "full"
    config = configure(
        {"memory": toy("CrampedMemory", full=str(full), **{k: v for k, v in FAST.items() if k != "use"})}
    )
    full.touch()
    stopped = run(make_plan(config), tmp_path / "out")
    assert stopped.exit_code == 2 and stopped.errors == 0 and 0 < stopped.finished < 12
    problem = stopped.problems[0]
    assert "is full while writing" in problem and "free some space and run the same command again" in problem
    full.unlink()
    again = run(make_plan(config), tmp_path / "out")
    assert (again.exit_code, again.errors, again.finished, again.resumed) == (0, 0, 12, stopped.finished)
    assert (tmp_path / "out" / JOURNAL).exists() and read_run(tmp_path / "out").complete


def test_what_a_system_lacks_to_be_created_is_stored_for_no_question(configure: Configure, tmp_path: Path) -> None:
    needed = tmp_path / "needed"
    config = configure({"memory": toy("Awaited", needs=str(needed))}, warmup=0)
    stopped = run(make_plan(config), tmp_path / "out")
    assert (stopped.exit_code, stopped.errors, stopped.finished) == (2, 0, 0)
    assert stopped.problems[0] == f"{needed} is missing; make it"
    needed.touch()
    again = run(make_plan(config), tmp_path / "out")
    assert (again.exit_code, again.errors, again.finished, again.resumed) == (0, 0, 12, 0)


def test_a_failure_of_creating_that_is_the_systems_own_still_costs_its_questions(
    configure: Configure, tmp_path: Path
) -> None:
    done = run(make_plan(configure({"memory": toy("Failing", where="create")}, warmup=0)), tmp_path / "out")
    assert (done.errors, done.finished) == (12, 12)
