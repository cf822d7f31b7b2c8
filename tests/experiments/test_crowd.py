"""Passes with many questions under way: the same answers, each counted once, whatever goes wrong beside them."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import orjson
import pytest

from memtrial.datasets.errors import UserError
from memtrial.datasets.export import export_dataset
from memtrial.experiments import crowd_trial
from memtrial.experiments.models import ModelOptions
from memtrial.experiments.plan import make_plan
from memtrial.experiments.progress import RunSummary
from memtrial.experiments.runner import run
from memtrial.experiments.store import JOURNAL, Run, read_run
from tests.systems.llm.scripted import ScriptedServer, Seen, Step, error, says

from .conftest import Configure, make_dataset, toy
from .test_kill import comparable, without_measured, workers_of

PRICE = {"prompt": 1.0, "completion": 2.0}
AWAITING = ("latency_p50_ms", "latency_p95_ms", "latency_max_ms", "latency_own_p50_ms")


class Busy:
    """Answers in the reader's form after a while, tells its usage by the prompt, and counts what is under way."""

    def __init__(self, delay_s: float = 0.05, every: Any = None) -> None:
        self.delay_s, self.every = delay_s, every
        self.count = 0
        self.times: list[tuple[float, float]] = []

    def __call__(self, seen: Seen) -> Step:
        self.count += 1
        odd = self.every(self.count) if self.every is not None else None
        if odd is not None:
            return odd  # type: ignore[no-any-return]
        now = time.monotonic()
        self.times.append((now, now + self.delay_s))
        reply = json.dumps({"answer": f"of {len(seen.prompt)}", "citations": [], "confidence": 0.7, "abstain": False})
        usage = {"prompt_tokens": len(seen.prompt), "completion_tokens": 3, "total_tokens": len(seen.prompt) + 3}
        return says(reply, usage=usage, delay_s=self.delay_s)

    @property
    def most(self) -> int:
        """The most requests that were under way at a time."""
        edges = sorted([(start, 1) for start, _ in self.times] + [(end, -1) for _, end in self.times])
        now = most = 0
        for _, step in edges:
            now += step
            most = max(most, now)
        return most


def with_model(url: str, **more: Any) -> dict[str, Any]:
    default = {"model": "toy-1", "base_url": url, "api_key_env": "MY_ENDPOINT", "price": PRICE, **more}
    return {"models": {"default": default}}


def go(config: Any, out: Path, **options: Any) -> tuple[RunSummary, Run]:
    summary = run(make_plan(config), out, options=ModelOptions(**options))
    return summary, read_run(out)


def lines(out: Path) -> list[dict[str, Any]]:
    return [orjson.loads(line) for line in (out / JOURNAL).read_bytes().splitlines()]


def once(out: Path) -> bool:
    keys = [row["key"] for row in lines(out) if row["type"] == "result"]
    return len(keys) == len(set(keys))


@pytest.fixture
def wide(tmp_path: Path, toy_data: Path) -> None:
    """Many corpora, and in each the whole log before the first question."""
    shutil.rmtree(toy_data)
    export_dataset(make_dataset(6, 8, clock_usable=False), toy_data)


def test_the_answers_are_those_of_a_serial_pass(configure: Configure, wide: None, tmp_path: Path) -> None:
    server = Busy()
    with ScriptedServer(server) as endpoint:
        systems = {"bm25": {}, "recent": {"reader": {"kind": "extractive"}}}
        server.delay_s = 0.002
        serial = configure(systems, **with_model(endpoint.url))
        _, plain = go(serial, tmp_path / "serial")
        assert server.most == 1
        asked, server.delay_s = server.count, 0.05
        crowd = configure(systems, concurrency=16, **with_model(endpoint.url))
        summary, found = go(crowd, tmp_path / "crowd")
    assert (summary.exit_code, summary.problems, server.count) == (0, (), 2 * asked)
    assert 8 <= server.most <= 16
    assert once(tmp_path / "crowd")
    left = {key: value for key, value in comparable(tmp_path / "crowd").items() if key not in ("metrics", "trials")}
    right = {key: value for key, value in comparable(tmp_path / "serial").items() if key not in ("metrics", "trials")}
    assert left == right
    # Tokens and money stand with the question that used them, however the calls were interleaved.
    before = {r.result.key: r.result.trace.usage for r in plain.records}
    assert len({u.prompt for usage in before.values() for u in usage}) > 1
    for record in found.records:
        assert record.result.trace.usage == before[record.result.key]
    assert found.manifest["models"]["spent_usd"] == plain.manifest["models"]["spent_usd"]


def test_latency_comes_from_a_serial_pass_alone(configure: Configure, wide: None, tmp_path: Path) -> None:
    systems = {"bm25": {}, "recent": {"reader": {"kind": "extractive"}}}
    with ScriptedServer(Busy(0.0)) as endpoint:
        _, found = go(configure(systems, concurrency=4, **with_model(endpoint.url)), tmp_path / "out")
    rows = {(r.trial, r.metric): r for r in found.metrics if r.slice == "all"}
    for metric in AWAITING:
        row = rows["bm25", metric]
        assert (row.value, row.status) == (None, "unmeasurable:up to 4 questions were asked at a time")
        assert rows["recent", metric].value is not None  # no model is waited for, so nothing overlaps
    assert {r.result.trace.facts.get("concurrency") for r in found.records if r.trial == "bm25"} == {4}
    assert all(r.result.latency_ms is not None for r in found.records)
    assert found.manifest["models"]["latency"] == "not measured where up to 4 questions were asked at a time"
    (info,) = [trial for trial in found.trials if trial.trial == "bm25"]
    assert any("4 questions were asked at a time" in warning for warning in info.warnings)
    assert info.peak_rss_mb is None and info.ingest_s is not None


def test_nothing_is_handed_over_while_questions_are_under_way(configure: Configure, tmp_path: Path) -> None:
    """The toy waits before it looks at its log, so a message too many would be seen."""
    noted: dict[str, list[str]] = {}
    for name, sleep, at_once in (("serial", 0.0, 1), ("crowd", 0.03, 8)):
        file = tmp_path / f"{name}.txt"
        go(configure({"echo": toy("Awaiting", sleep=sleep, asked=str(file))}, concurrency=at_once), tmp_path / name)
        noted[name] = sorted(" ".join(line.split(" ")[1:]) for line in file.read_text().splitlines())
    assert noted["crowd"] == noted["serial"]
    before = {r.result.question_id: r.result for r in read_run(tmp_path / "serial").records}
    for record in read_run(tmp_path / "crowd").records:
        old = before[record.result.question_id]
        assert (record.result.text, record.result.log_size) == (old.text, old.log_size)


def test_one_question_of_many_small_corpora_overlaps_too(configure: Configure, toy_data: Path, tmp_path: Path) -> None:
    shutil.rmtree(toy_data)
    export_dataset(make_dataset(10, 2), toy_data)
    server = Busy(0.1)
    with ScriptedServer(server) as endpoint:
        config = configure({"bm25": {}}, concurrency=8, limit=10, **with_model(endpoint.url))
        summary, found = go(config, tmp_path / "out")
    assert (summary.finished, len({r.result.corpus_id for r in found.records})) == (10, 10)
    assert server.most > 3


def test_faults_of_the_service_lose_nothing_and_double_nothing(
    configure: Configure, wide: None, tmp_path: Path
) -> None:
    def odd(count: int) -> Step | None:
        return error(429, "slow down") if count % 9 == 0 else Step(act="reset") if count % 13 == 0 else None

    server = Busy(0.02, odd)
    with ScriptedServer(server) as endpoint:
        config = configure({"bm25": {}}, concurrency=16, **with_model(endpoint.url))
        summary, found = go(config, tmp_path / "out")
    assert (summary.exit_code, summary.errors, summary.finished) == (0, 0, 48)
    assert len(server.times) == 48 and once(tmp_path / "out")
    assert all(r.result.text.startswith("of ") for r in found.records)


@pytest.mark.parametrize("how", ["hang", "deaf", "block", "exit"])
def test_a_question_that_goes_wrong_costs_itself_alone(
    how: str, configure: Configure, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What is waited for below is waited for in vain.
    if how == "block":
        monkeypatch.setattr(crowd_trial, "SLACK_S", 2.0)
    if how == "deaf":
        monkeypatch.setattr(crowd_trial, "GRACE_S", 0.5)
    params = {how: "word3", "asked": str(tmp_path / "asked")}
    config = configure({"echo": toy("Awaiting", sleep=0.05, **params)}, concurrency=8, time_limit_s=1.0)
    summary, found = go(config, tmp_path / "out")
    # Both corpora hold one such question.
    errors = {r.result.question_id: r.result.error for r in found.records if r.result.error}
    assert {name[-2:] for name in errors} == {"q3"}
    assert set(errors.values()) == {"crashed" if how == "exit" else "timeout"}
    assert (len(errors), summary.finished) == (2, 12)
    assert once(tmp_path / "out")
    assert all(r.result.text for r in found.records if not r.result.error)
    kinds = {trial.trial: trial.warnings for trial in found.trials}
    assert not any("failed on a corpus" in warning for warning in kinds["echo"])
    if how == "hang":  # that one was cancelled, and nobody had to be asked again
        asked = Counter(line.split(" ")[0] for line in (tmp_path / "asked").read_text().splitlines())
        assert set(asked.values()) == {1}
        assert not any("--retry" in p for p in summary.problems) or "2 questions ended in errors" in summary.problems[0]


def test_a_system_that_always_hangs_is_given_up(configure: Configure, tmp_path: Path) -> None:
    config = configure({"echo": toy("Awaiting", hang="word")}, concurrency=4, time_limit_s=0.3)
    began = time.monotonic()
    summary, found = go(config, tmp_path / "out")
    assert (summary.exit_code, summary.finished) == (2, 12)
    assert {r.result.error for r in found.records} == {"timeout", "crashed"}
    assert sum(r.result.error_detail.startswith("not asked: given up") for r in found.records) >= 2
    assert time.monotonic() - began < 60


@pytest.mark.parametrize("where", ["create", "ingest", "ingest_exit", "close"])
def test_a_system_that_fails_outside_of_answering(where: str, configure: Configure, tmp_path: Path) -> None:
    system = {"echo": toy("Failing", where=where)}
    plain, _ = go(configure(system), tmp_path / "serial")
    summary, found = go(configure(system, concurrency=4), tmp_path / "crowd")
    assert (summary.exit_code, summary.finished, summary.errors) == (plain.exit_code, plain.finished, plain.errors)
    before = {r.result.question_id: r.result for r in read_run(tmp_path / "serial").records}
    for record in found.records:
        old = before[record.result.question_id]
        assert (record.result.error, record.result.error_detail) == (old.error, old.error_detail)


def test_a_class_can_insist_on_one_question_at_a_time(configure: Configure, tmp_path: Path) -> None:
    _, found = go(configure({"echo": toy("Serial", sleep=0.01)}, concurrency=8), tmp_path / "out")
    assert all("concurrency" not in r.result.trace.facts for r in found.records)


def test_the_budget_holds_however_many_are_under_way(configure: Configure, wide: None, tmp_path: Path) -> None:
    with ScriptedServer(Busy(0.02)) as endpoint:
        config = configure({"bm25": {}}, concurrency=16, **with_model(endpoint.url, max_tokens=50))
        _, whole = go(config, tmp_path / "whole")
        cost = whole.manifest["models"]["spent_usd"]
        # A reservation is a worst case many times the cost, so the last questions need room.
        stops, budget = [], 0.5 * cost
        for _ in range(40):
            summary, found = go(config, tmp_path / "out", budget_usd=budget)
            assert found.manifest["models"]["spent_usd"] <= budget
            if summary.exit_code == 0:
                break
            assert "--budget" in summary.problems[0]
            stops.append(summary.finished)
            budget += 0.5 * cost
    assert summary.exit_code == 0 and stops and 0 < stops[-1] < 48
    assert once(tmp_path / "out")
    assert found.manifest["models"]["spent_usd"] == pytest.approx(cost)


def test_a_quota_that_runs_out_keeps_what_was_answered(configure: Configure, wide: None, tmp_path: Path) -> None:
    server = Busy(0.02, lambda count: error(429, "no more", code="insufficient_quota") if count > 20 else None)
    with ScriptedServer(server) as endpoint:
        config = configure({"bm25": {}}, concurrency=8, **with_model(endpoint.url))
        summary, found = go(config, tmp_path / "out")
    assert summary.exit_code == 2 and "quota" in summary.problems[0]
    assert summary.finished == len(server.times) == 20
    assert {r.result.error for r in found.records} == {None}


_RUN = """
import sys
from pathlib import Path
from memtrial.experiments.config import load_config
from memtrial.experiments.plan import make_plan
from memtrial.experiments.models import ModelOptions
from memtrial.experiments.runner import run
budget = float(sys.argv[3]) if len(sys.argv) > 3 else None
run(make_plan(load_config(sys.argv[1])), Path(sys.argv[2]), options=ModelOptions(budget_usd=budget))
"""


def test_kills_lose_what_was_under_way_and_nothing_else(configure: Configure, wide: None, tmp_path: Path) -> None:
    out, kills = tmp_path / "out", 3
    codes: list[int] = []
    server = Busy(0.3)
    with ScriptedServer(server) as endpoint:
        configure({"bm25": {}}, concurrency=8, **with_model(endpoint.url))
        for number in range(kills + 1):
            args = [sys.executable, "-c", _RUN, str(tmp_path / "toy.yaml"), str(out)]
            process = subprocess.Popen(args, stderr=subprocess.DEVNULL)
            size = (out / JOURNAL).stat().st_size if (out / JOURNAL).exists() else 0
            while number < kills and process.poll() is None:
                if (out / JOURNAL).exists() and (out / JOURNAL).stat().st_size > size + 800:
                    time.sleep(0.05)
                    process.send_signal(signal.SIGKILL)
                time.sleep(0.005)
            codes.append(process.wait())
            deadline = time.monotonic() + 10
            while workers_of(out) and time.monotonic() < deadline:
                time.sleep(0.01)
        # On a busy machine the last kill may come after the run; with fewer than two nothing is shown.
        assert codes.count(-signal.SIGKILL) >= kills - 1 and codes[-1] == 0
        server.delay_s = 0.0
        summary, found = go(configure({"bm25": {}}, **with_model(endpoint.url)), tmp_path / "plain")
        assert server.count <= 2 * 48 + 8 * kills
    assert once(out)
    assert len(read_run(out).records) == summary.finished == 48
    before = {r.result.key: without_measured(r.model_dump()) for r in found.records}
    for record in read_run(out).records:
        assert without_measured(record.model_dump()) == before[record.result.key]


def test_a_kill_does_not_make_the_budget_forget_what_was_under_way(
    configure: Configure, wide: None, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    with ScriptedServer(lambda seen: Step(act="hang")) as endpoint:
        configure({"bm25": {}}, concurrency=4, **with_model(endpoint.url, max_tokens=50))
        args = [sys.executable, "-c", _RUN, str(tmp_path / "toy.yaml"), str(out), "1.0"]
        process = subprocess.Popen(args, stderr=subprocess.DEVNULL)
        while len(endpoint.requests) < 4 and process.poll() is None:
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.wait()
    with ScriptedServer(Busy(0.0)) as again:
        config = configure({"bm25": {}}, concurrency=4, **with_model(again.url, max_tokens=50))
        with pytest.raises(UserError):  # another address is another run
            go(config, out, budget_usd=1.0)
        lost = int((out / "budget.txt").read_text().split()[1]) / 1e12
        assert lost >= 4 * 50 * 2e-6  # four replies of 50 tokens, and the prompts
        plain = tmp_path / "plain"
        plain.mkdir()
        os.link(out / "budget.txt", plain / "budget.txt")
        _, found = go(config, plain, budget_usd=1.0)
    paid = sum(u.usd or 0.0 for r in found.records for u in r.result.trace.usage)
    assert found.manifest["models"]["spent_usd"] == pytest.approx(paid + lost)


def test_retrying_errors(configure: Configure, tmp_path: Path) -> None:
    def odd(count: int) -> Step | None:
        return {2: error(500, "no"), 3: says(None, message={"refusal": "no"})}.get(count)

    server = Busy(0.0, odd)
    with ScriptedServer(server) as endpoint:
        config = configure({"bm25": {}}, **with_model(endpoint.url, max_retries=0))
        summary, _ = go(config, tmp_path / "out")
        (told,) = summary.problems
        assert told.startswith("1 questions ended in errors of a service or a limit (1 model_server_error); the same")
        assert "--retry-errors" in told
        summary, _ = go(config, tmp_path / "out")
        assert server.count == 12  # not without being told to
        summary, found = go(config, tmp_path / "out", retry_errors=True)
    assert (server.count, summary.resumed, summary.problems) == (13, 11, ())
    # A refusal is the model's answer; to ask until there is another would be to choose.
    assert Counter(r.result.error for r in found.records) == {None: 11, "model_refused": 1}
    assert read_run(tmp_path / "out").manifest["journal"]["duplicate_lines"] == 0


@pytest.mark.parametrize("value", [0, 1.5, "many", 5000])
def test_what_is_no_number_of_questions(value: Any, configure: Configure) -> None:
    with pytest.raises(UserError, match="concurrency"):
        configure({"bm25": {}}, concurrency=value)


def test_how_many_at_a_time_does_not_make_another_run(configure: Configure) -> None:
    one, many = configure({"bm25": {}}), configure({"bm25": {}}, concurrency=9)
    assert one.resolved() == many.resolved() and many.concurrency == 9
