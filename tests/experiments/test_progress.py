from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from memtrial.experiments.estimate import estimate, render_estimate, words
from memtrial.experiments.plan import make_plan
from memtrial.experiments.progress import Bar, Lines, RunSummary, Score
from memtrial.experiments.runner import run

from .conftest import Configure, toy


def test_score_shows_wrong_memory_beside_accuracy() -> None:
    score = Score()
    for outcome in ("correct", "correct_abstention", "wrong_memory", "error"):
        score.add(outcome)
    assert (score.done, score.errors, str(score)) == (4, 1, "accuracy 0.50, wrong memory 0.25")


def test_lines_come_now_and_then_and_at_the_end(configure: Configure, tmp_path: Path) -> None:
    out = io.StringIO()
    run(make_plan(configure({"echo": toy("Echo")})), tmp_path / "out", Lines(out))
    (line,) = out.getvalue().splitlines()
    assert line.startswith("12/12  ") and "errors 0  echo on toy: accuracy " in line


def test_a_resumed_run_says_so_and_problems_are_printed(configure: Configure, tmp_path: Path) -> None:
    config = configure({"f": toy("Failing", where="create")})
    run(make_plan(config), tmp_path / "out")
    out = io.StringIO()
    run(make_plan(config), tmp_path / "out", Lines(out))
    assert out.getvalue().splitlines()[0] == "12 of 12 questions were finished before; going on"
    assert (
        "f on toy: 12 of 12 questions are errors (12 never asked), mostly raised: create: ValueError: no such index; see "
        in out.getvalue()
    )


def test_the_bar_is_drawn_and_goes_away(configure: Configure, tmp_path: Path) -> None:
    screen = io.StringIO()
    bar = Bar(Console(file=screen, force_terminal=True, width=120))
    run(make_plan(configure({"echo": toy("Echo")})), tmp_path / "out", bar)
    assert "12/12" in screen.getvalue() and "━" * 24 in screen.getvalue()
    screen.seek(0)
    screen.truncate()
    bar.stopped()
    bar.finished(RunSummary(Path("x"), 1, 1, 0, 0, problems=("[red]mark-up is text[/red]",)))
    assert "[red]mark-up is text[/red]" in screen.getvalue()


def test_estimates_count_asks_and_messages(configure: Configure) -> None:
    plan = make_plan(configure({"echo": toy("Echo"), "bm25": {"use": "bm25"}}, repeats=2))
    echo, bm25 = estimate(plan)
    assert (echo.asks, echo.messages, echo.repeats, echo.measured, bm25.measured) == (24, 96, 2, False, True)
    shown = render_estimate(plan)
    assert (
        "(a guess)" in shown
        and "48 questions to ask" in shown
        and "12 questions over 48 messages in 2 corpora" in shown
    )


def test_what_is_embedded_once_is_counted_once(configure: Configure) -> None:
    systems: dict[str, Any] = {"vector": {"use": "vector"}, "again": {"use": "vector", "k": 5}}
    first, second = estimate(make_plan(configure(systems)))
    assert first.seconds - second.seconds == pytest.approx(48 / 25 - 48 / 500)


def test_times_are_rough() -> None:
    assert [words(s) for s in (3, 44, 400, 9000)] == ["a few s", "about 40 s", "about 7 min", "about 2.5 h"]
