"""What systems warned of stands in the report: by system, each once, with a count."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from memtrial.metrics.records import TraceSummary
from memtrial.reports.content import build
from memtrial.reports.html import render_html
from memtrial.reports.markdown import render_markdown
from memtrial.reports.view import View
from memtrial.reports.warned import in_short, warnings_section

BINARY = "vectors of 384 dimensions are kept as one bit each: below 1024 dimensions that loses neighbours"


def warning(run: Any, said: Callable[[str, int], Sequence[str]]) -> Any:
    """Return the run with warnings of every answer of desk, by trial and place of the question."""
    count: dict[str, int] = {}
    records = []
    for record in run.records:
        place = count[record.trial] = count.get(record.trial, -1) + 1
        trace = TraceSummary(warnings=list(said(record.trial, place)))
        records.append(record.model_copy(update={"result": record.result.model_copy(update={"trace": trace})}))
    return replace(run, records=records, trials=[t.model_copy(update={"warnings": []}) for t in run.trials])


def test_nothing_warned_is_no_section(make_run: Callable[..., Any]) -> None:
    run = warning(make_run(), lambda trial, place: [])
    assert not warnings_section(View(run))
    content = build(run)
    assert "Warnings" not in render_html(content) + render_markdown(content)


def test_each_warning_stands_once_with_its_answers(make_run: Callable[..., Any]) -> None:
    def said(trial: str, place: int) -> list[str]:
        if trial != "bm25":
            return [BINARY] if trial == "oracle" else []
        return [f"returned {place} of 50", f"returned {place + 1} of 50", *([BINARY] if place < 4 else [])]

    run = warning(make_run(), said)
    run.trials[0].warnings.append("2 messages were empty")
    assert warnings_section(View(run)).grids[0].rows == (
        ("bm25", "2 messages were empty", "taking in the log"),
        ("bm25", "returned … of …", "32 of 32 answers"),
        ("bm25", BINARY, "4 of 32 answers"),
        ("oracle", BINARY, "32 of 32 answers"),
    )
    content = build(run)
    page, text = render_html(content), render_markdown(content)
    assert '<details class="more"><summary>By system</summary>' in page.partition('id="warned"')[2]
    assert page.count(f"<td>{BINARY}</td>") == 2
    assert text.partition("## Warnings")[2].partition("\n## ")[0].count("kept as one bit each") == 2


def test_many_warnings_are_cut_and_counted(make_run: Callable[..., Any]) -> None:
    run = warning(
        make_run(), lambda trial, place: [f"fault {'abcdefghij'[k]}" for k in range(10)] if trial == "bm25" else []
    )
    section = warnings_section(View(run), most=8)
    assert len(section.grids[0].rows) == 8 and section.notes == [
        "bm25: 2 more warnings; memtrial show tells those of a question"
    ]
    short = in_short(section)
    assert [row[1] for row in short.grids[0].rows] == ["fault a", "fault b", "fault c"]
    assert short.notes[0] == "5 more rows in report.html" and len(section.grids[0].rows) == 8
