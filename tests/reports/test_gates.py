"""The section on gates: counts that add up to the questions, and nothing where nobody gates."""

from __future__ import annotations

from dataclasses import replace

from memtrial.reports.gates import gates_section
from memtrial.reports.view import View
from tests.reports.conftest import make_run


def test_without_a_gate_there_is_no_section() -> None:
    assert not gates_section(View(make_run()))


def test_a_matrix_adds_up_to_the_questions() -> None:
    run = make_run()
    trial = run.records[0].trial
    records = []
    for number, record in enumerate(run.records):
        if record.trial == trial:
            trace = record.result.trace.model_copy(update={"gates": [("lookup", number % 2 == 0, "rules")]})
            record = record.model_copy(update={"result": record.result.model_copy(update={"trace": trace})})
        records.append(record)
    section = gates_section(View(replace(run, records=records)))
    own = {(r.result.dataset, r.trial) for r in records if r.trial == trial}
    assert len(section.grids) == len({dataset for dataset, _ in own})
    for grid in section.grids:
        assert [row[0] for row in grid.rows] == [trial]
        asked = sum(r.trial == trial and grid.title.endswith(r.result.dataset) for r in records)
        assert sum(int(cell) for cell in grid.rows[0][1:6]) == asked
