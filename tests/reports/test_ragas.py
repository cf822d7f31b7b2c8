"""The section about ragas: traceable to ragas.json, with what is missing in sight, and part of no other figure."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest

from memtrial.experiments.ragas_file import RAGAS, RagasFile
from memtrial.experiments.rejudge import answers_hash
from memtrial.experiments.store import Run
from memtrial.metrics.ragas.samples import RULES
from memtrial.metrics.ragas.scores import Score, summarise
from memtrial.metrics.ragas.scoring import Row
from memtrial.reports import write_report
from memtrial.reports.ragas import ragas_section
from memtrial.reports.view import View
from tests.reports.conftest import make_run

METRICS = ("faithfulness", "context_recall")


def scored(run: Run, **scores: Any) -> RagasFile:
    """ragas.json of a run in which every answer of a metric has the scores given, in turn."""
    rows = []
    for record in run.records:
        place = int(record.result.question_id[1:])
        own = {m: scores[m][place % len(scores[m])] for m in METRICS}
        r = record.result
        rows.append(
            Row(trial=record.trial, dataset=r.dataset, corpus_id=r.corpus_id, question_id=r.question_id, scores=own)
        )
    groups = {(row.trial, row.dataset) for row in rows}
    summaries = [
        summarise(
            (r.scores[m] for r in rows if (r.trial, r.dataset) == (trial, dataset)),
            trial=trial,
            dataset=dataset,
            metric=m,
        )
        for trial, dataset in sorted(groups)
        for m in METRICS
    ]
    return RagasFile(
        answers=answers_hash(run.records),
        ragas="0.4.3",
        model={"model": "grader", "base_url": "http://h/v1", "temperature": 0.0, "seed": 0},
        embeddings="e5",
        strictness=1,
        questions={"scored": 16, "in_run": 16, "run_complete": True},
        rules=RULES,
        usage={"bm25": {"prompt": 100, "completion": 20, "usd": None}},
        summaries=summaries,
        rows=rows,
    )


def value(number: float) -> Score:
    return Score.of(number)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    made = make_run()
    return replace(made, folder=tmp_path)


def write(run: Run, file: RagasFile) -> None:
    (run.folder / RAGAS).write_bytes(orjson.dumps(file.model_dump(mode="json")))


def test_means_have_intervals_and_what_is_missing_becomes_bounds(run: Run) -> None:
    write(
        run,
        scored(
            run,
            faithfulness=[value(1.0), value(0.5)],
            context_recall=[value(1.0), Score.missing("nan"), value(0.0), Score.missing("truncated")],
        ),
    )
    section = ragas_section(View(run))
    grid = next(g for g in section.grids if g.title == "ragas, desk")
    assert grid.head == ("system", "faithfulness", "context recall", "hallucination rate (memtrial's own)")
    row = next(r for r in grid.rows if r[0] == "bm25")
    assert row[1].startswith("0.750 (") and row[1].endswith("; 16 of 16 scored")
    low, high = (float(end) for end in row[1].split("(")[1].split(")")[0].split("–"))
    assert low < 0.75 < high
    # Of 16 answers 4 score 1, 4 score 0 and 8 have none: from 4/16 to 12/16, and no mean of the rest.
    assert row[2] == "0.250 to 0.750; 8 of 16 scored"
    assert "bm25, context recall: 8 of 16 unscored (nan 4, truncated 4)" in grid.notes
    assert any(note.startswith("faithfulness: share of an answer's statements") for note in grid.notes)
    assert any("fewer than 8 clusters" in note.lower() for note in grid.notes)
    assert any("Model grader at http://h/v1, temperature 0.0" in note for note in section.notes)
    assert any("120 tokens; no system is charged" in note for note in section.notes)


def test_the_page_shows_it_and_no_other_figure_moves(run: Run, tmp_path: Path) -> None:
    write_report(run, tmp_path / "without")
    write(run, scored(run, faithfulness=[value(1.0)], context_recall=[value(0.5)]))
    write_report(run, tmp_path / "with")
    page, text = ((tmp_path / "with" / name).read_text() for name in ("report.html", "report.md"))
    assert '<section id="ragas">' in page and "## ragas" in text and "ragas.json" in text
    before = (tmp_path / "without" / "report.md").read_text()
    start, end = text.index("## ragas"), text.index("## ", text.index("## ragas") + 4)
    while not text.startswith(("## Cost", "## Method"), end):
        end = text.index("## ", end + 3)
    assert text[:start] + text[end:] == before
    write_report(run, tmp_path / "again")
    assert (tmp_path / "again" / "report.html").read_text() == page


def test_a_metric_that_applies_to_no_answer_is_no_zero(run: Run) -> None:
    write(run, scored(run, faithfulness=[Score.ruled(None, "abstained")], context_recall=[value(1.0)]))
    section = ragas_section(View(run))
    assert all(row[1] == "n/a (16 left out)" for row in section.grids[0].rows)
    assert all(row[2].startswith("1.000 (0.") for row in section.grids[0].rows)  # never of zero width


@pytest.mark.parametrize("fault", ["other answers", "torn", "old"])
def test_what_cannot_be_used_is_said_and_not_shown(run: Run, fault: str) -> None:
    file = scored(run, faithfulness=[value(1.0)], context_recall=[value(0.5)])
    if fault == "torn":
        (run.folder / RAGAS).write_text('{"answers": ')
    elif fault == "old":
        content = file.model_dump(mode="json")
        del content["answers"]
        (run.folder / RAGAS).write_bytes(orjson.dumps(content))
    else:
        write(run, file.model_copy(update={"answers": "0" * 64}))
    section = ragas_section(View(run))
    assert section.grids == [] and len(section.notes) == 1
    assert ("other answers" in section.notes[0]) is (fault == "other answers")
    assert "--replay only writes it anew" in section.notes[0]


def test_a_run_without_ragas_has_no_section(run: Run) -> None:
    assert not ragas_section(View(run))
