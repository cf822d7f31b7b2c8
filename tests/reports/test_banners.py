from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from memtrial.experiments.store import Run
from memtrial.reports.banners import banners
from memtrial.reports.view import View


@pytest.mark.parametrize(
    ("cores", "said"),
    [
        ((0.0, 0.1), ""),
        ((None, None), ""),
        ((0.1, 1.62), "between 0.1 and 1.6 cores busy"),
        ((None, 0.8), "between 0.8 and 0.8"),
    ],
)
def test_other_work_on_the_machine_is_said_before_any_latency(
    make_run: Callable[..., Run], cores: tuple[float | None, ...], said: str
) -> None:
    run = make_run(4)
    trials = [t.model_copy(update={"other_work_cores": c}) for t, c in zip(run.trials, cores, strict=False)]
    found = [b.text for b in banners(View(replace(run, trials=trials))) if b.head == "The machine was not quiet."]
    assert [said in text for text in found] == ([True] if said else [])
