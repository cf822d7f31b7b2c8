"""SIGKILL at random moments: the resumed run equals an undisturbed one, and nothing finished is asked again."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import orjson
import pytest

from memtrial.experiments.runner import finish
from memtrial.experiments.store import JOURNAL, MEASURED_FIELDS, MEASURED_METRICS, read_run

from .conftest import Configure, toy

_RUN = """
import sys
from pathlib import Path
from memtrial.experiments.config import load_config
from memtrial.experiments.plan import make_plan
from memtrial.experiments.runner import run
run(make_plan(load_config(sys.argv[1])), Path(sys.argv[2]))
"""


def without_measured(value: Any) -> Any:
    """Drop what a resumed run may differ in, wherever it stands."""
    if isinstance(value, dict):
        return {k: without_measured(v) for k, v in value.items() if k not in MEASURED_FIELDS}
    if isinstance(value, list):
        return [without_measured(v) for v in value]
    return value


def comparable(folder: Path) -> dict[str, Any]:
    found = read_run(folder)
    return {
        "records": [without_measured(r.model_dump()) for r in found.records],
        "trials": [without_measured(t.model_dump()) for t in found.trials],
        "manifest": without_measured({k: v for k, v in found.manifest.items() if k != "trials"}),
        "messages": found.messages,
        "metrics": [m.model_dump(exclude=_measured(m.metric)) for m in found.metrics],
        "config": found.config,
    }


def _measured(metric: str) -> set[str]:
    if metric == "other_work_cores":  # unknown where a corpus was done before the clock ticked
        return {"value", "low", "high", "n", "status"}
    return {"value", "low", "high"} if metric.startswith(MEASURED_METRICS) else set()


def start(config: Path, out: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", _RUN, str(config), str(out)], stderr=subprocess.DEVNULL)


def workers_of(out: Path) -> list[int]:
    found = []
    for entry in os.listdir("/proc"):
        try:
            if entry.isdigit() and os.readlink(f"/proc/{entry}/fd/2").startswith(str(out)):
                found.append(int(entry))
        except OSError:
            continue
    return found


def kill_and_resume(config: Path, out: Path, kills: int, seed: int) -> int:
    """Kill ``kills`` times at random moments of the work, then let the run end; return how often it was really killed."""
    rng = random.Random(seed)
    done = 0
    for _ in range(kills):
        process = start(config, out)
        size = (out / JOURNAL).stat().st_size if (out / JOURNAL).exists() else 0
        while process.poll() is None and (not (out / JOURNAL).exists() or (out / JOURNAL).stat().st_size <= size):
            time.sleep(0.005)
        time.sleep(rng.uniform(0.0, 0.6))
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
            done += 1
        process.wait()
        deadline = time.monotonic() + 10
        while workers_of(out) and time.monotonic() < deadline:
            time.sleep(0.01)
        assert not workers_of(out), "a worker outlived its runner"
    assert start(config, out).wait() == 0
    return done


def check(
    configure: Configure, tmp_path: Path, kills: int, seed: int, sleep: float, repeats: int, more: dict[str, Any]
) -> None:
    asked, plain = tmp_path / "asked", tmp_path / "plain"
    systems = {
        "echo": toy("Echo", sleep=sleep, asked=str(asked)),
        "wild": toy("Misbehaving", how="exiting", word="word3", asked=str(asked)),
        **more,
    }
    configure(systems, warmup=1, repeats=repeats)
    file = tmp_path / "toy.yaml"
    assert start(file, plain).wait() == 0
    once = sorted(line.split(" ", 1)[0] for line in asked.read_text().splitlines())
    asked.unlink()
    killed = kill_and_resume(file, tmp_path / "killed", kills, seed)
    assert killed >= kills - 1, "the run was too short to be killed"
    again = [line.split(" ", 1)[0] for line in asked.read_text().splitlines()]
    # A question in flight at a kill may be asked a second time; no other, and none is left out.
    assert sorted(set(again)) == once
    assert len(again) - len(once) <= killed
    rows = [orjson.loads(line) for line in (tmp_path / "killed" / JOURNAL).read_bytes().splitlines()]
    keys = [row["key"] for row in rows if row["type"] == "result"]
    assert len(keys) == len(set(keys)) == len(systems) * repeats * 12
    assert comparable(tmp_path / "killed") == comparable(plain)


def test_five_kills(configure: Configure, tmp_path: Path) -> None:
    check(configure, tmp_path, kills=5, seed=1, sleep=0.2, repeats=1, more={})


@pytest.mark.slow
def test_twenty_kills(configure: Configure, tmp_path: Path) -> None:
    """``pytest -m slow tests/experiments/test_kill.py`` runs this one."""
    check(configure, tmp_path, kills=20, seed=2, sleep=0.3, repeats=3, more={"bm25": {"use": "bm25"}})


def test_a_journal_cut_at_every_line_settles_and_resumes_to_the_same(configure: Configure, tmp_path: Path) -> None:
    from memtrial.experiments.plan import make_plan
    from memtrial.experiments.runner import run

    plan = make_plan(configure({"echo": toy("Echo")}, warmup=0))
    run(plan, tmp_path / "plain")
    expected = comparable(tmp_path / "plain")
    lines = (tmp_path / "plain" / JOURNAL).read_bytes().splitlines(keepends=True)
    for cut in (1, 8, len(lines) - 1):
        out = tmp_path / f"cut{cut}"
        out.mkdir()
        for name in ("config.yaml", "manifest.json"):
            (out / name).write_bytes((tmp_path / "plain" / name).read_bytes())
        (out / JOURNAL).write_bytes(b"".join(lines[:cut]) + lines[min(cut, len(lines) - 1)][:40])
        assert finish(out).finished == sum(b'"type":"result"' in line for line in lines[:cut])
        run(plan, out)
        assert comparable(out) == expected
