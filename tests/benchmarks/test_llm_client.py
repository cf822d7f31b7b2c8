"""What the model client adds to the time its server takes: questions of 4 calls each, 64 connections, 200 ms a reply.

The measure is wall time over the ideal in which every connection is busy all the time. ``python tools/llm_bench.py`` prints
the same without pytest. Time is shown and never asserted; what is asserted is that nothing is lost or asked twice.
"""

from __future__ import annotations

from importlib import import_module, util
from pathlib import Path
from typing import Any

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

QUESTIONS = 1000


def _bench() -> Any:
    path = Path(__file__).resolve().parents[2] / "tools" / "llm_bench.py"
    spec = util.spec_from_file_location("llm_bench", path)
    if spec is None or spec.loader is None or not path.exists():
        pytest.skip("tools/ is not here")
    sys: Any = import_module("sys")
    module = sys.modules["llm_bench"] = util.module_from_spec(spec)
    # The server's process imports the module by name.
    sys.path.append(str(path.parent))
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("faults", [False, True], ids=["clean", "429s and resets"])
def test_wall_time_over_the_ideal(benchmark: BenchmarkFixture, faults: bool) -> None:
    figures = benchmark.pedantic(_bench().measure, args=(QUESTIONS,), kwargs={"faults": faults}, rounds=1)
    benchmark.extra_info["times_the_ideal"] = round(figures.ratio, 3)
    benchmark.extra_info["cpu_ms_per_call"] = round(figures.cpu_ms, 2)
    assert figures.ok == figures.calls == QUESTIONS * 4
    assert figures.again == 0
    assert figures.requests == figures.calls + figures.refused + figures.resets
