"""``nox -s bench`` runs the main job, ``nox -s tests`` the test suite, ``nox -s lint`` style, types and layering.

``nox -s ragas`` runs the tests of an extra that the others do without."""

from __future__ import annotations

import nox

nox.needs_version = ">=2024.4"
nox.options.sessions = ["lint", "tests"]
nox.options.reuse_existing_virtualenvs = True
nox.options.default_venv_backend = "venv"

PYPROJECT = nox.project.load_toml("pyproject.toml")
DEV = nox.project.dependency_groups(PYPROJECT, "dev")


def _install(session: nox.Session, *extra: str) -> None:
    session.install("-q", "-e", ".", *extra)


@nox.session
def bench(session: nox.Session) -> None:
    """Run experiments/configs/bench.yaml and the pytest-benchmark suite; print the report's first lines."""
    _install(session, *DEV)
    session.run(
        "pytest", "tests/benchmarks", "--benchmark-only", "--benchmark-columns=min,mean,rounds", "-p", "no:xdist"
    )
    session.run("memtrial", "run", "bench", "--out", "runs/bench", *session.posargs)


@nox.session
def tests(session: nox.Session) -> None:
    """Run the whole suite, two workers; timing never decides a test."""
    _install(session, *DEV)
    session.run("pytest", "-n", "2", "--dist", "worksteal", *session.posargs, env={"OMP_NUM_THREADS": "1"})


@nox.session
def ragas(session: nox.Session) -> None:
    """Run the tests of the ragas extra with ragas itself, in an environment of its own: it brings half a hundred packages."""
    session.install("-q", "-e", ".[ragas]", "pytest>=8", "pytest-httpserver>=1.1", "pytest-benchmark>=5")
    session.run(
        "pytest",
        "-p",
        "no:xdist",
        "tests/metrics/test_ragas_run.py",
        "tests/metrics/test_ragas_scores.py",
        *session.posargs,
    )


@nox.session
def lint(session: nox.Session) -> None:
    """Ruff (lint and format), mypy strict, import-linter."""
    _install(session, *DEV)
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("mypy")
    session.run("lint-imports")
