from __future__ import annotations

from dataclasses import replace

import pytest

from memtrial.metrics.compare import compare
from tests.reports.conftest import make_run
from tools.pooled import pooled


def test_runs_stand_together_with_their_tenants_apart() -> None:
    run = make_run(8)
    records, trials = pooled([run, run, run], "desk")
    alone = [r for r in run.records if r.result.dataset == "desk"]
    assert len(records) == 3 * len(alone)
    assert [t.planned for t in trials] == [3 * t.planned for t in run.trials if t.dataset == "desk"]
    own = {c.metric: c for c in compare(alone, [t for t in run.trials if t.dataset == "desk"], resamples=200)}
    for together in compare(records, trials, resamples=200):
        one = own[together.metric]
        if (one.a, one.b) == (together.a, together.b):
            # Thrice the same runs: the same difference over thrice the clusters and questions.
            assert together.difference == pytest.approx(one.difference)
            assert (together.n, together.clusters) == (3 * one.n, 3 * one.clusters)


def test_runs_of_other_trials_are_refused() -> None:
    run = make_run(4)
    with pytest.raises(ValueError, match="run 2 has not the same trials on desk"):
        pooled([run, replace(run, trials=run.trials[1:])], "desk")
    with pytest.raises(ValueError, match="run 1 has not the same trials on nothing"):
        pooled([run], "nothing")
