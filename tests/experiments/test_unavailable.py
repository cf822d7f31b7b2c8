"""A run whose server of records, disk or package gives way: it stops with one sentence, and the same command finishes it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from memtrial.cli import app
from memtrial.experiments.plan import make_plan
from memtrial.experiments.progress import Silent
from memtrial.experiments.runner import run
from memtrial.experiments.store import JOURNAL, read_run
from memtrial.systems.structured.system import POSTGRES

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
    summary = run(make_plan(configure({"memory": SERVER}, warmup=0)), tmp_path / "out")
    assert (summary.exit_code, summary.finished) == (2, 0)
    problem = summary.problems[0]
    assert f"the environment variable {POSTGRES} is not set" in problem


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
