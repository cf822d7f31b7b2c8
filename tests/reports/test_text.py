from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from memtrial.datasets.errors import UserError
from memtrial.reports.text import align, first_lines, render_overview, render_question


def test_first_lines_are_few_and_lead_with_warnings(make_run: Callable[..., Any]) -> None:
    lines = first_lines(make_run()).split("\n")
    assert 4 <= len(lines) <= 12
    assert lines[0].startswith("! ")
    assert any("No language model was used." in line for line in lines)
    heads = [line.partition(" (")[0] for line in lines if not line.startswith((" ", "!", "No"))]
    assert heads == ["手写", "desk"], "handwritten data stands before generated data"


def test_plain_text_cannot_steer_a_terminal(make_run: Callable[..., Any]) -> None:
    run = make_run()
    for text in (first_lines(run), render_overview(run), render_question(run, "q000")):
        assert not [c for c in text if (ord(c) < 32 and c != "\n") or ord(c) in range(0x7F, 0xA0) or c == "\u202e"]


def test_a_question_shows_everything_about_it(make_run: Callable[..., Any]) -> None:
    text = render_question(make_run(), "q001")
    assert "订单 1 的颜色是什么？" in text
    assert "gold: 红色" in text
    assert "lure (stale): blue in desk-m2" in text
    assert "GOLD desk-m1" in text
    assert "LURE stale desk-m2" in text
    assert "bm25 [1]" in text
    assert text.count("corpus corpus") == 2, "the question stands in both data sets"


def test_an_unknown_question_names_the_near_miss(make_run: Callable[..., Any]) -> None:
    with pytest.raises(UserError, match=r"holds no question 'q01'; it holds 16 questions, such as q000.*did you mean"):
        render_question(make_run(), "q01")


def test_overview_sums_outcomes_and_shows_intervals(make_run: Callable[..., Any]) -> None:
    text = render_overview(make_run())
    row = next(line for line in text.split("\n") if line.startswith("  bm25") and "(" not in line)
    assert sum(int(x) for x in row.split()[1:]) == 16
    assert "90.0 (85.0–95.0)" in text


def test_an_unfinished_run_says_so_first(make_run: Callable[..., Any]) -> None:
    run = make_run()
    cut = replace(run, records=run.records[:-5])
    assert first_lines(cut).startswith("! This run is not finished. 5 of 96 planned answers are missing")


def test_wide_characters_keep_columns_aligned() -> None:
    assert align([["a", "b"], ["中文", "1"]]) == ["a     b", "中文  1"]
