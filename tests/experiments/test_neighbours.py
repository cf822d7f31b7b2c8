from __future__ import annotations

import subprocess
import sys
import time
from typing import Any

import pytest

from memtrial.experiments import neighbours
from memtrial.experiments.neighbours import Neighbours


def test_what_others_kept_busy_is_the_rest_over_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    readings = iter([(10.0, 100.0, 7.0), (14.0, 107.0, 9.0)])
    monkeypatch.setattr(neighbours, "_counted", lambda: next(readings))
    assert Neighbours().cores() == pytest.approx((7.0 - 2.0) / 4.0)


@pytest.mark.parametrize(
    ("after", "cores"), [((14.0, 101.0, 9.0), 0.0), ((10.0, 100.0, 7.0), None), (None, None)], ids=str
)
def test_clocks_that_disagree_make_no_nonsense(
    monkeypatch: pytest.MonkeyPatch, after: Any, cores: float | None
) -> None:
    readings = iter([(10.0, 100.0, 7.0), after])
    monkeypatch.setattr(neighbours, "_counted", lambda: next(readings))
    assert Neighbours().cores() == cores


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_own_work_and_that_of_children_is_not_others() -> None:
    """Another program at work would only raise what is counted besides, so that is what is looked at."""

    def counted() -> tuple[float, float]:
        found = neighbours._counted()
        assert found is not None
        return found[1:]

    busy, own = counted()
    ends = time.process_time() + 0.3
    while time.process_time() < ends:
        pass
    subprocess.run([sys.executable, "-c", "sum(range(10**7))"], check=True)
    busy_after, own_after = counted()
    assert own_after - own > 0.3
    assert busy_after - busy >= 0.8 * (own_after - own)
