"""Which memories a question is shown with, and what stands beside them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from memtrial.metrics.records import Item
from memtrial.reports.text import render_question

GOLD, LURE = "desk-m1", "desk-m2"
SAID = "订单 1 是红色的，不是蓝色 (red)"


def memories(run: Any, items: Mapping[str, Sequence[Item]], shown: Mapping[str, Sequence[Item]]) -> list[list[str]]:
    """Return what ``show`` lists under q001 of desk, row by row, each as its lines."""
    records = [
        r.model_copy(update={"result": r.result.model_copy(update={
            "error": None, "retrieved": list(items.get(r.trial, ())), "context": list(shown.get(r.trial, ()))})})
        for r in run.records if r.result.dataset == "desk"
    ]  # fmt: skip
    text = render_question(replace(run, records=records), "q001").partition("first ten)\n\n")[2]
    rows: list[list[str]] = []
    for line in text.splitlines():
        if line.startswith("    "):
            rows[-1].append(line.strip())
        else:
            rows.append([line.strip()])
    return rows


def test_a_message_told_by_a_fact_stands_there_once(make_run: Callable[..., Any]) -> None:
    fact = Item(ids=[GOLD], kind="fact", text=f"order 1, colour: red\nann: {SAID}")
    rows = memories(make_run(), {"bm25": [fact]}, {"bm25": [fact]})
    assert [row[0].split(" · ")[0] for row in rows] == [f"GOLD {GOLD}", f"LURE stale {LURE}"]
    assert rows[0][-1] == "bm25 [1]"
    assert rows[1][-1] == "found by none"


def test_a_message_that_a_memory_tells_in_part_stays_and_says_so(make_run: Callable[..., Any]) -> None:
    summary = Item(ids=[GOLD, LURE], kind="summary", text="two orders, one of them red")
    rows = memories(make_run(), {"bm25": [summary]}, {})
    ends = {row[0].split(" · ")[0]: row[-1] for row in rows}
    inside = "found in memories made of it, not as it was written"
    assert ends == {f"GOLD {GOLD}, {LURE}": "bm25 1", f"GOLD {GOLD}": inside, f"LURE stale {LURE}": inside}


def test_a_message_found_as_written_by_another_system_keeps_its_row(make_run: Callable[..., Any]) -> None:
    fact, message = Item(ids=[GOLD], kind="fact", text=f"red: {SAID}"), Item(ids=[GOLD])
    rows = memories(make_run(), {"bm25": [fact], "oracle": [message]}, {"oracle": [message]})
    assert sorted(row[-1] for row in rows if GOLD in row[0]) == ["bm25 1", "oracle [1]"]


def test_a_lure_that_was_shown_and_not_ranked_among_the_first_is_listed(make_run: Callable[..., Any]) -> None:
    fact = Item(ids=[LURE], kind="fact", text="order 2, colour: blue")
    rows = memories(make_run(), {}, {"bm25": [fact]})
    ends = [row[-1] for row in rows if LURE in row[0]]
    assert sorted(ends) == ["bm25 [*]", "found in memories made of it, not as it was written"]
