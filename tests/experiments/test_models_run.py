"""Runs whose systems read with a model, against a scripted endpoint."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
import yaml

from memtrial.datasets.errors import UserError
from memtrial.experiments.config import Config, load_config
from memtrial.experiments.estimate import render_estimate
from memtrial.experiments.models import ModelOptions
from memtrial.experiments.plan import make_plan
from memtrial.experiments.priced_plan import priced
from memtrial.experiments.progress import RunSummary, Silent
from memtrial.experiments.runner import finish, run
from memtrial.experiments.store import (
    CALLS,
    CONFIG,
    JOURNAL,
    MANIFEST,
    MEASURED_METRICS,
    METRICS,
    Run,
    read_run,
)
from tests.experiments.conftest import toy
from tests.systems.llm.scripted import ScriptedServer, Seen, Step, error, says

KEY = "sk-test-0123456789-do-not-write-me"
PRICE = {"prompt": 1.0, "completion": 2.0}

Make = Callable[..., Config]


@pytest.fixture(autouse=True)
def _environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMTRIAL_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("MY_ENDPOINT", KEY)


def replying(seen: Seen) -> Step:
    """Answer as the reader's form wants it."""
    return says(json.dumps({"answer": "Tuesday", "citations": [], "confidence": 0.7, "abstain": False}))


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer(replying) as found:
        yield found


def configured(tmp_path: Path, url: str, limit: int | None = 6, **more: Any) -> Config:
    default = {"model": "toy-1", "base_url": url, "api_key_env": "MY_ENDPOINT", "max_retries": 0, "price": PRICE}
    default |= more.pop("default", {})
    content = {
        "name": "toy",
        # Chinese, in a question or a warm-up, loads a dictionary, in each worker anew.
        "data": {"hand": {"name": "handwritten", "language": "en"}},
        "systems": {"bm25": {}},
        "models": {"default": default},
        "metrics": {"resamples": 100},
        "warmup": 0,
        **more,
    }
    file = tmp_path / "toy.yaml"
    file.write_text(yaml.safe_dump(content, sort_keys=False))
    return load_config(file, limit=limit)


def go(config: Config, out: Path, **options: Any) -> tuple[RunSummary, Run]:
    summary = run(make_plan(config), out, options=ModelOptions(**options))
    return summary, read_run(out)


def unmeasured(out: Path) -> list[dict[str, Any]]:
    rows = orjson.loads((out / METRICS).read_bytes())
    return [row for row in rows if not row["metric"].startswith(MEASURED_METRICS)]


def value(found: Run, metric: str, trial: str = "bm25") -> Any:
    return next(r for r in found.metrics if (r.trial, r.metric, r.slice) == (trial, metric, "all"))


def test_each_question_is_asked_once_and_paid_once(server: ScriptedServer, tmp_path: Path) -> None:
    out = tmp_path / "out"
    summary, found = go(configured(tmp_path, server.url, warmup=2), out)
    assert (summary.exit_code, summary.errors, summary.problems) == (0, 0, ())
    assert len(server.requests) == 6
    assert {r.result.text for r in found.records} == {"Tuesday"}
    (usage,) = found.records[0].result.trace.usage
    assert (usage.role, usage.model, usage.phase, usage.prompt, usage.completion) == ("read", "toy-1", "query", 12, 3)
    assert (usage.calls, usage.replayed) == (1, 0)
    assert usage.usd == pytest.approx(18e-6)
    assert found.records[0].result.trace.facts["prompts"]["read"].startswith("read.")
    assert value(found, "prompt_tokens").value == 12
    assert value(found, "completion_tokens").value == 3
    assert value(found, "cost_per_1k_questions_usd").value == pytest.approx(0.018)
    told = found.manifest["models"]
    assert (told["calls"], told["replayed"], told["spent_usd"]) == (6, 0, pytest.approx(6 * 18e-6))
    assert "toy-1" in found.manifest["language_model"]
    assert any(p.startswith("read.en@") for p in told["prompts"])
    again, _ = go(configured(tmp_path, server.url, warmup=2), out)
    assert (again.resumed, again.exit_code, len(server.requests)) == (6, 0, 6)


def test_a_second_trial_that_asks_the_same_pays_nothing(server: ScriptedServer, tmp_path: Path) -> None:
    config = configured(tmp_path, server.url, systems={"bm25": {}, "twin": {"use": "bm25"}})
    _, found = go(config, tmp_path / "out")
    assert len(server.requests) == 6
    twin = [r.result for r in found.records if r.trial == "twin"]
    assert all(u.replayed == u.calls == 1 for r in twin for u in r.trace.usage)
    # It would have cost the same alone.
    assert value(found, "cost_per_1k_questions_usd", "twin").value == pytest.approx(0.018)
    told = found.manifest["models"]
    assert (told["calls"], told["replayed"], told["replayed_share"]) == (12, 6, 0.5)
    assert told["spent_usd"] == pytest.approx(6 * 18e-6)
    assert told["latency"].startswith("6 of 12 calls were served from the record")


def test_replay_in_an_empty_folder_with_the_server_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = tmp_path / "first", tmp_path / "second"

    def mixed(seen: Seen) -> Step:
        if len(endpoint.requests) == 2:
            return says(None, message={"refusal": "I will not."})
        return replying(seen)

    with ScriptedServer(mixed) as endpoint:
        config = configured(tmp_path, endpoint.url, systems={"bm25": {}, "recent": {}})
        go(config, first)
        count = len(endpoint.requests)
    second.mkdir()
    shutil.copy(first / CALLS, second / CALLS)
    shutil.copy(first / CONFIG, second / CONFIG)
    monkeypatch.delenv("MY_ENDPOINT")
    again = load_config(second / CONFIG, limit=6)
    summary, found = go(again, second, replay="only")
    assert summary.finished == 12
    assert unmeasured(second) == unmeasured(first)
    assert len(endpoint.requests) == count
    told = found.manifest["models"]
    assert (told["replay"], told["replayed_share"]) == ("only", 1.0)
    assert told["latency"].startswith("all calls were served from the record")
    before = {r.result.key: r.result for r in read_run(first).records}
    for record in found.records:
        result, old = record.result, before[record.result.key]
        assert (result.text, result.error, result.citations) == (old.text, old.error, old.citations)
        assert [u.usd for u in result.trace.usage] == [u.usd for u in old.trace.usage]
        if result.error is None:
            assert result.latency_ms is not None
            assert result.latency_ms >= result.trace.facts["replayed_ms"] > 0
    assert {r.result.error for r in found.records} == {None, "model_refused"}
    assert (second / CALLS).read_bytes() == (first / CALLS).read_bytes()


def test_what_is_not_recorded_is_asked_later(server: ScriptedServer, tmp_path: Path) -> None:
    out = tmp_path / "out"
    config = configured(tmp_path, server.url)
    summary, found = go(config, out, replay="only")
    assert {r.result.error for r in found.records} == {"model_not_recorded"}
    assert summary.exit_code == 2
    assert not server.requests
    summary, found = go(config, out)
    assert (summary.exit_code, summary.errors, len(server.requests)) == (0, 0, 6)
    assert {r.result.text for r in read_run(out).records} == {"Tuesday"}


def test_replay_off_asks_again_what_another_run_has_recorded(server: ScriptedServer, tmp_path: Path) -> None:
    go(configured(tmp_path, server.url), tmp_path / "one")
    (tmp_path / "two").mkdir()
    shutil.copy(tmp_path / "one" / CALLS, tmp_path / "two" / CALLS)
    go(configured(tmp_path, server.url), tmp_path / "two", replay="off")
    assert len(server.requests) == 12


def test_the_key_is_in_no_file(tmp_path: Path) -> None:
    def telling(seen: Seen) -> Step:
        if len(endpoint.requests) == 1:
            return error(400, f"Incorrect API key provided: {KEY}")
        if len(endpoint.requests) == 2:
            return says(
                json.dumps({"answer": f"your key is {KEY}", "citations": [], "confidence": 0.7, "abstain": False})
            )
        return replying(seen)

    with ScriptedServer(telling) as endpoint:
        go(configured(tmp_path, endpoint.url), tmp_path / "out")
        assert endpoint.requests[0].headers["authorization"] == f"Bearer {KEY}"
    files = [file for file in (tmp_path / "out").rglob("*") if file.is_file()]
    assert {CALLS, JOURNAL, MANIFEST, CONFIG} <= {file.name for file in files}
    assert not [file for file in files if KEY.encode() in file.read_bytes()]
    assert KEY not in str(read_run(tmp_path / "out").records)  # parquet is compressed


def test_a_budget_stops_the_run_and_a_larger_one_goes_on(tmp_path: Path) -> None:
    out = tmp_path / "out"
    reply = json.dumps({"answer": "x", "citations": [], "confidence": 0.7, "abstain": False})
    dear = {"prompt_tokens": 5000, "completion_tokens": 50}
    each = 5000e-6 + 50 * 2e-6
    stops, budget = [], 3.5 * each
    with ScriptedServer([says(reply, usage=dear)]) as endpoint:
        config = configured(tmp_path, endpoint.url, default={"max_tokens": 50})
        while True:
            summary, found = go(config, out, budget_usd=budget)
            spent = found.manifest["models"]["spent_usd"]
            assert spent <= budget
            assert spent == pytest.approx(each * summary.finished)
            if summary.exit_code == 0:
                break
            assert summary.exit_code == 2
            assert "budget" in summary.problems[0] and "--budget" in summary.problems[0]
            stops.append(summary.finished)
            budget += 3 * each
        assert len(endpoint.requests) == 6
    assert stops and 0 < stops[0] < 6
    assert value(found, "cost_per_1k_questions_usd").value == pytest.approx(1000 * each)


def test_a_budget_needs_a_price(server: ScriptedServer, tmp_path: Path) -> None:
    config = configured(tmp_path, server.url, default={"price": None})
    with pytest.raises(UserError, match="price"):
        go(config, tmp_path / "out", budget_usd=1.0)
    assert not (tmp_path / "out").exists()
    table = tmp_path / "prices.json"
    table.write_text(json.dumps({"as_of": "2026-01-02", "source": "mine", "prices": {"toy-1": PRICE}}))
    summary, found = go(config, tmp_path / "out", budget_usd=1.0, prices=table)
    assert summary.exit_code == 0
    assert found.manifest["models"]["prices"]["as_of"] == "2026-01-02"
    assert value(found, "cost_per_1k_questions_usd").value == pytest.approx(0.018)


def test_a_budget_counts_what_earlier_segments_paid(server: ScriptedServer, tmp_path: Path) -> None:
    out = tmp_path / "out"
    go(configured(tmp_path, server.url, limit=3), out)
    asked = len(server.requests)
    summary, _ = go(configured(tmp_path, server.url, limit=6), out, budget_usd=50e-6)
    assert (summary.exit_code, len(server.requests)) == (2, asked)


def test_an_exhausted_quota_ends_the_run_at_once(tmp_path: Path) -> None:
    def script(seen: Seen) -> Step:
        if len(endpoint.requests) > 2:
            return error(429, "You exceeded your current quota", code="insufficient_quota")
        return replying(seen)

    with ScriptedServer(script) as endpoint:
        config = configured(tmp_path, endpoint.url, systems={"bm25": {}, "recent": {}})
        summary, found = go(config, tmp_path / "out")
        assert (summary.finished, summary.exit_code, len(endpoint.requests)) == (2, 2, 3)
        assert "quota" in summary.problems[0]
        assert found.manifest["status"] == "incomplete"
        assert {r.result.error for r in found.records} == {None}


def test_a_rejected_key_ends_the_run_at_once(tmp_path: Path) -> None:
    with ScriptedServer([error(401, f"Incorrect API key provided: {KEY}", code="invalid_api_key")]) as endpoint:
        summary, _ = go(configured(tmp_path, endpoint.url), tmp_path / "out")
        assert (summary.finished, summary.exit_code, len(endpoint.requests)) == (0, 2, 1)
    assert "MY_ENDPOINT" in summary.problems[0]
    assert KEY not in summary.problems[0]


def test_an_endpoint_that_is_not_there_ends_the_run_soon(server: ScriptedServer, tmp_path: Path) -> None:
    out = tmp_path / "out"
    gone = configured(tmp_path, "http://127.0.0.1:9/v1")
    summary, found = go(gone, out)
    assert (summary.finished, summary.exit_code) == (0, 2)
    assert summary.problems[0].startswith("nothing can be reached at http://127.0.0.1:9/v1 (")
    assert found.manifest["models"]["calls"] == 0
    summary, _ = go(gone, out)
    assert summary.resumed == 0  # nobody was asked, so nothing is known


@pytest.mark.parametrize("code", [404, 401, 403])
def test_an_endpoint_that_does_not_serve_the_model_ends_the_run_at_once(code: int, tmp_path: Path) -> None:
    with ScriptedServer([error(code, "The model `toy-1` does not exist")]) as endpoint:
        config = configured(tmp_path, endpoint.url, systems={"bm25": {}, "recent": {}})
        summary, found = go(config, tmp_path / "out")
        assert (summary.finished, summary.exit_code, len(endpoint.requests)) == (0, 2, 1)
        assert "toy-1" in summary.problems[0] and endpoint.url in summary.problems[0]
        assert len(summary.problems[0].splitlines()) == 1
    assert not [row for row in found.metrics if row.metric == "cost_per_1k_questions_usd" and row.value is not None]


def test_a_key_that_a_system_swallows_the_refusal_of_still_ends_the_run(tmp_path: Path) -> None:
    with ScriptedServer([error(401, "no")]) as endpoint:
        config = configured(tmp_path, endpoint.url, systems={"deaf": toy("Deaf")})
        summary, _ = go(config, tmp_path / "out")
        assert (summary.finished, summary.exit_code, len(endpoint.requests)) == (0, 2, 1)
    assert "MY_ENDPOINT" in summary.problems[0]


@pytest.mark.parametrize(
    ("step", "kind"),
    [
        (says(None, message={"refusal": "no"}), "model_refused"),
        (says("", finish="content_filter"), "model_filtered"),
        (says('{"answer": "Tue', finish="length"), "model_truncated"),
        (says("well, maybe"), "model_invalid"),
        (error(500), "model_server_error"),
        (error(400, "no"), "model_bad_request"),
    ],
)
def test_failures_of_a_model_are_errors_and_never_abstentions(step: Step, kind: str, tmp_path: Path) -> None:
    with ScriptedServer([step]) as endpoint:
        _, found = go(configured(tmp_path, endpoint.url, limit=2), tmp_path / "out")
    assert {r.result.error for r in found.records} == {kind}
    assert {r.judgement.outcome for r in found.records} == {"error"}
    assert not any(r.result.abstained for r in found.records)
    row = value(found, "cost_per_1k_questions_usd")
    if kind == "model_bad_request":  # nothing was answered, so there is no cost to know
        assert (row.value, row.status) == (None, "unmeasurable:no model has answered")
        assert value(found, "prompt_tokens").value is None
    if step.code == 200:  # what was answered was paid for, useless or not
        assert all(r.result.trace.usage[0].prompt > 0 for r in found.records)


def test_who_was_turned_away_is_asked_again_by_the_same_command(tmp_path: Path) -> None:
    def script(seen: Seen) -> Step:
        return error(429, "slow down") if len(endpoint.requests) == 2 else replying(seen)

    with ScriptedServer(script) as endpoint:
        config = configured(tmp_path, endpoint.url)
        _, found = go(config, tmp_path / "out")
        assert sorted(str(r.result.error) for r in found.records) == ["None"] * 5 + ["model_rate_limited"]
        summary, found = go(config, tmp_path / "out")
        assert (summary.resumed, len(endpoint.requests)) == (5, 7)
    assert {r.result.error for r in found.records} == {None}


def test_an_unknown_price_is_unknown(server: ScriptedServer, tmp_path: Path) -> None:
    _, found = go(configured(tmp_path, server.url, default={"price": None}), tmp_path / "out")
    row = value(found, "cost_per_1k_questions_usd")
    assert (row.value, row.status) == (None, "unmeasurable:no price is known")
    assert value(found, "prompt_tokens").value == 12


def test_usage_that_was_not_told_is_marked(tmp_path: Path) -> None:
    reply = json.dumps({"answer": "x", "citations": [], "confidence": 0.7, "abstain": False})
    with ScriptedServer([says(reply, usage=None)]) as endpoint:
        _, found = go(configured(tmp_path, endpoint.url), tmp_path / "out")
    row = value(found, "prompt_tokens")
    assert row.value > 100 and "estimated_tokens" in row.status
    assert all(u.estimated and u.without_usage == 1 for r in found.records for u in r.result.trace.usage)


def test_taking_in_a_log_has_a_price_of_its_own(tmp_path: Path) -> None:
    def script(seen: Seen) -> Step:
        if "summary" in seen.body["messages"][0]["content"].lower()[:400]:
            return says(json.dumps({"lines": [{"text": "They talked.", "sources": []}]}))
        return replying(seen)

    with ScriptedServer(script) as endpoint:
        config = configured(tmp_path, endpoint.url, systems={"summary": {"turns": 2, "fold": 5}}, limit=2)
        assert config.systems["summary"]["summariser"]["kind"] == "model"
        _, found = go(config, tmp_path / "out")
    (trial,) = found.trials
    (usage,) = trial.facts["ingest_usage"]
    assert (usage["role"], usage["phase"]) == ("summarise", "ingest")
    assert usage["calls"] > 1 and usage["usd"] == pytest.approx(usage["calls"] * 18e-6)
    assert value(found, "prompt_tokens", "summary").value == 12
    assert len(endpoint.requests) == usage["calls"] + 2


def test_a_dry_run_prices_the_very_prompts_that_are_sent(server: ScriptedServer, tmp_path: Path) -> None:
    systems: dict[str, Any] = {"no_memory": {}, "recent": {}, "full_context": {}, "oracle": {}, "bm25": {}}
    config = configured(tmp_path, server.url, systems=systems, limit=8, data=["handwritten"])
    plan = make_plan(config)
    rows = {row.trial: row for row in priced(plan)}
    _, found = go(config, tmp_path / "out")
    for trial, row in rows.items():
        sent = [r.result.trace.facts["prompt_tokens"]["read"] for r in found.records if r.trial == trial]
        assert row.calls == len(sent) == 8
        assert row.prompt is not None and row.usd is not None
        low, high = row.prompt
        marks = high - low if trial == "bm25" else 0
        assert (trial == "bm25") == (marks > 0)
        # A prompt is counted with the marks of its chat format, and neighbours may share a token.
        assert low * 0.9 <= sum(sent) <= high
        if trial != "bm25":
            assert sum(sent) >= 0.95 * high
        assert 0 < row.usd[0] < row.usd[1]
    text = render_estimate(plan, ModelOptions(budget_usd=2.0))
    assert "language model: bm25 on handwritten: read with toy-1, 8 calls" in text
    assert "list prices as of" in text
    assert "budget: $2.00" in text
    unpriced = make_plan(configured(tmp_path, server.url, default={"price": None}))
    assert "cost unknown" in render_estimate(unpriced)


def test_the_display_counts(server: ScriptedServer, tmp_path: Path) -> None:
    seen: list[str] = []

    class Kept(Silent):
        def counted(self, line: str) -> None:
            seen.append(line)

    run(make_plan(configured(tmp_path, server.url)), tmp_path / "out", Kept(), ModelOptions(budget_usd=5.0))
    assert len(seen) == 6
    assert seen[-1].startswith("6 calls, 0 from the record, 90 tokens")
    assert seen[-1].endswith("of $5.00")


def test_settling_again_keeps_what_the_manifest_says_of_models(server: ScriptedServer, tmp_path: Path) -> None:
    out = tmp_path / "out"
    _, found = go(configured(tmp_path, server.url), out)
    finish(out)
    assert orjson.loads((out / MANIFEST).read_bytes())["models"] == found.manifest["models"]


def test_the_connection_is_open_before_the_first_question(server: ScriptedServer, tmp_path: Path) -> None:
    config = configured(tmp_path, server.url, systems={"bm25": {}, "twin": {"use": "recent"}})
    go(config, tmp_path / "out")
    # One for each worker, and none for the system of each corpus.
    assert server.connections == 2
    before = server.connections
    (tmp_path / "again").mkdir()
    shutil.copy(tmp_path / "out" / CALLS, tmp_path / "again" / CALLS)
    go(config, tmp_path / "again", replay="only")
    assert server.connections == before
