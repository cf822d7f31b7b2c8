"""A system that learns from its answers stands after a kill where it would have stood without one."""

from __future__ import annotations

from pathlib import Path

import orjson

from memtrial.experiments.plan import make_plan
from memtrial.experiments.runner import run
from memtrial.experiments.store import JOURNAL, read_run
from memtrial.experiments.trial import may_overlap

from .conftest import Configure, toy


def texts(out: Path) -> list[str]:
    return [r.result.text for r in read_run(out).records]


def cut(out: Path, keep: int) -> None:
    """Leave the journal as a kill would have after so many answers."""
    lines = (out / JOURNAL).read_bytes().splitlines(keepends=True)
    kept, answers = [], 0
    for line in lines:
        is_answer = orjson.loads(line)["type"] == "result"
        if is_answer and answers == keep:
            break
        answers += is_answer
        kept.append(line)
    (out / JOURNAL).write_bytes(b"".join(kept))
    for name in ("records.parquet", "metrics.json"):
        (out / name).unlink(missing_ok=True)


def test_each_answer_is_handed_back_before_anything_else_is_said(configure: Configure, tmp_path: Path) -> None:
    config = configure({"learner": toy("Learner")})
    run(make_plan(config), tmp_path / "out")
    found = texts(tmp_path / "out")
    assert [text.partition(":")[0] for text in found[:6]] == [f"learnt {n}" for n in range(6)]
    assert [text.partition(":")[0] for text in found[6:]] == [f"learnt {n}" for n in range(6)]  # a log of its own
    for part in found[5].partition(": ")[2].split("; "):
        at, told = part.split(" at ")[1].split(" told")[0], part.rsplit(" ", 1)[1]
        assert at == told  # not a message came between


def test_made_up_questions_leave_nothing_behind(configure: Configure, tmp_path: Path) -> None:
    run(make_plan(configure({"learner": toy("Learner")}, warmup=3)), tmp_path / "out")
    assert texts(tmp_path / "out")[0] == "learnt 0: "


def test_a_run_cut_anywhere_goes_on_as_if_it_had_not_been(configure: Configure, tmp_path: Path) -> None:
    config = configure({"learner": toy("Learner", silent="word3")})
    run(make_plan(config), tmp_path / "whole")
    undisturbed = texts(tmp_path / "whole")
    assert "learnt 3: " in undisturbed[4]  # the answer to word3 established nothing
    for keep in (1, 4, 5, 8, 11):
        out = tmp_path / f"cut{keep}"
        run(make_plan(config), out)
        cut(out, keep)
        run(make_plan(config), out)
        assert texts(out) == undisturbed, keep


def test_a_worker_that_dies_is_told_everything_again(configure: Configure, tmp_path: Path) -> None:
    config = configure({"learner": toy("Learner", crash="word2")})
    run(make_plan(config), tmp_path / "out")
    found = read_run(tmp_path / "out").records
    crashed = [place for place, r in enumerate(found) if r.result.error]
    assert crashed == [2]
    assert [r.result.text.partition(":")[0] for r in found[3:6]] == ["learnt 2", "learnt 3", "learnt 4"]


def test_serial_may_depend_on_the_parameters(configure: Configure) -> None:
    plan = make_plan(configure({"echo": toy("Echo"), "learner": toy("Learner")}))
    echo, learner = plan.units
    assert may_overlap(echo) and may_overlap(learner)
    learner.factory.cls.serial = staticmethod(lambda params: params.get("alone", False))
    try:
        assert may_overlap(learner)
        learner.info.params["alone"] = True
        assert not may_overlap(learner)
    finally:
        del learner.factory.cls.serial
