"""One run of raw-log search with a model as a pipeline and as an agent, against a scripted endpoint."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from memtrial.experiments.config import load_config
from memtrial.experiments.models import ModelOptions
from memtrial.experiments.plan import make_plan
from memtrial.experiments.priced_plan import priced
from memtrial.experiments.runner import run
from memtrial.experiments.store import Run, read_run
from memtrial.metrics.records import Record
from memtrial.reports import write_report
from tests.systems.llm.scripted import ScriptedServer, Seen, Step, says
from tests.systems.models.fake import block

USAGE = {"prompt_tokens": 500, "completion_tokens": 10}
DEAR = {"prompt_tokens": 9_000, "completion_tokens": 10}
PRICE = {"prompt": 1.0, "completion": 2.0}
EACH_USD = (500 * 1.0 + 10 * 2.0) / 1e6
FAST: dict[str, Any] = {"use": "raw_log", "meaning": {"embedder": "tfidf_svd", "dims": 16}}
STEPS, TOKENS, VOTES, LIMIT = 5, 10_000, 3, 6


def calls(tool: str, usage: Any = USAGE, **arguments: Any) -> Step:
    called = {"id": "x", "type": "function", "function": {"name": tool, "arguments": json.dumps(arguments)}}
    return says(None, finish="tool_calls", message={"tool_calls": [called]}, usage=usage)


def replies(value: Any) -> Step:
    return says(json.dumps(value), usage=USAGE)


def agent(seen: Seen) -> Step:
    """Search, look around the best hit, answer; for some questions it searches without an end, dearly or not."""
    said = [m for m in seen.body["messages"] if m["role"] == "assistant"]
    question = asked(seen)
    if kind(question):
        return calls("search", DEAR if kind(question) == "dear" else USAGE, text=f"{question} {len(said)}")
    if not said:
        return calls("search", text=question)
    if len(said) == 1:
        return calls("around", message="m1")
    return calls("answer", answer="Tuesday", citations=["m1"], abstain=False, confidence=0.7, open_points=[])


def asked(seen: Seen) -> str:
    return str(block(seen.body["messages"][1]["content"], "question")[0]["text"])


def kind(question: str) -> str:
    """Two of the six questions are told by a word: what the agent does then runs into a limit."""
    return "endless" if "coffee" in question else "dear" if "nag" in question else ""


def script(seen: Seen) -> Step:
    if "tools" in seen.body:
        return agent(seen)
    form = json.dumps(seen.body["response_format"])
    shown = seen.body["messages"][-1]["content"]
    if "PlanReply" in form:
        words = block(shown, "question")[0]["text"]
        return replies({"instructions": [{"kind": "concept", "value": words, "certain": False}]})
    if "CheckReply" in form:
        return replies({"verdicts": []})
    if "RerankReply" in form:
        return replies({"scores": [{"id": row["id"], "score": 5} for row in block(shown, "messages")]})
    assert "ReadReply" in form
    return replies({"answer": "Tuesday", "citations": [], "confidence": 0.7, "abstain": False})


CONFIG = {
    "name": "toy",
    "data": {"en": {"name": "handwritten", "language": "en"}},
    "systems": {
        "pipeline": FAST
        | {
            "planner": {"kind": "model", "votes": VOTES, "check": True, "temperature": 0.7},
            "rerank": {"kind": "model", "batch": 10},
            "reader": {"kind": "model"},
        },
        "agent": FAST | {"mode": "agent", "agent": {"steps": STEPS, "max_total_tokens": TOKENS}},
    },
    "metrics": {"resamples": 100},
}


class Ran:
    """The run and what was asked."""

    def __init__(self, folder: Path) -> None:
        with ScriptedServer(script) as server:
            models = {"default": {"model": "toy-1", "base_url": server.url, "price": PRICE, "max_tokens": 500}}
            file = folder / "toy.yaml"
            file.write_text(yaml.safe_dump({**CONFIG, "models": models}, sort_keys=False))
            plan = make_plan(load_config(file, limit=LIMIT))
            self.priced = {(row.trial, row.role): row for row in priced(plan)}
            self.summary = run(plan, folder / "out", options=ModelOptions())
            self.requests = server.requests
        self.run: Run = read_run(folder / "out")
        write_report(self.run, folder / "out")
        self.report = (folder / "out" / "report.md").read_text(encoding="utf-8")

    def of(self, trial: str) -> list[Record]:
        return [r for r in self.run.records if r.trial == trial]


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ran]:
    folder = tmp_path_factory.mktemp("agent")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MEMTRIAL_CACHE_DIR", str(folder / "cache"))
        yield Ran(folder)


def requests_of(ran: Ran, question: str) -> list[Seen]:
    """The agent's, in order."""
    return [seen for seen in ran.requests if "tools" in seen.body and asked(seen) == question]


def test_every_step_of_the_agent_is_in_its_trace(ran: Ran) -> None:
    records = ran.of("agent")
    assert len(records) == LIMIT
    for record in records:
        facts, question = record.result.trace.facts, record.labels.text
        sent = requests_of(ran, question)
        assert facts["agent_end"]["replies"] == len(sent) == record.result.trace.usage[0].calls
        assert [row["step"] for row in facts["agent"]] == list(range(1, len(sent) + 1))
        assert sum(row["tokens"] for row in facts["agent"]) == facts["agent_end"]["tokens"]
        assert {"agent", "agent_tools"} <= set(record.result.trace.spans)
        if not kind(question) and not record.result.trace.warnings:
            assert [row["tool"] for row in facts["agent"]] == ["search", "around", "answer"]
            assert record.result.citations == [item.message_ids[0] for item in record.result.context[:1]]
    # Every request of the agent's belongs to a question of its.
    assert sum(r.result.trace.usage[0].calls for r in records) == sum("tools" in seen.body for seen in ran.requests)


@pytest.mark.parametrize(("which", "replies"), [("endless", STEPS), ("dear", 4)])
def test_limits_of_steps_and_tokens_hold_and_running_into_them_is_an_error(ran: Ran, which: str, replies: int) -> None:
    (record,) = [r for r in ran.of("agent") if kind(r.labels.text) == which]
    facts = record.result.trace.facts
    assert (record.result.error, record.result.abstained) == ("model_invalid", False)
    assert record.judgement.outcome == "error"
    assert (facts["agent_end"]["end"], facts["agent_end"]["replies"]) == ("no_answer", replies)
    offered = [
        {tool["function"]["name"] for tool in seen.body["tools"]} for seen in requests_of(ran, record.labels.text)
    ]
    forced = 1 if which == "endless" else 2
    assert all(names == {"answer"} for names in offered[-forced:])
    assert all("search" in names for names in offered[:-forced])
    if which == "dear":  # two dear replies pass the limit; then it is told twice to answer
        assert sum(row["tokens"] for row in facts["agent"][:2]) > TOKENS


def test_tokens_and_money_are_counted_by_role(ran: Ran) -> None:
    for record in ran.of("pipeline"):
        usage = {u.role: u for u in record.result.trace.usage}
        batches = record.result.trace.facts["rerank"]["batches"]
        assert {role: u.calls for role, u in usage.items()} == {"plan": VOTES + 1, "rerank": batches, "read": 1}
        assert batches > 1
        assert all(u.prompt == 500 * u.calls and u.usd == pytest.approx(EACH_USD * u.calls) for u in usage.values())
    for record in ran.of("agent"):
        (only,) = record.result.trace.usage
        assert (only.role, only.phase) == ("agent", "query")


def test_both_stand_side_by_side_in_the_report(ran: Ran) -> None:
    rows = [
        [cell.strip() for cell in line.split("|")[1:-1]] for line in ran.report.splitlines() if line.startswith("|")
    ]
    told = {tuple(row[:2]): row for row in rows if len(row) > 10 and row[2:3] == ["query"]}
    asked_of = {("pipeline", "plan"), ("pipeline", "rerank"), ("pipeline", "read"), ("agent", "agent")}
    assert set(told) == asked_of
    for trial, role in asked_of:
        made = sum(u.calls for r in ran.of(trial) for u in r.result.trace.usage if u.role == role)
        assert told[trial, role][4] == str(made)
    assert any(row[:2] == ["pipeline", "agent"] for row in rows)  # compared question by question


def test_what_a_dry_run_tells_bounds_what_is_asked(ran: Ran) -> None:
    assert set(ran.priced) == {("pipeline", "plan"), ("pipeline", "rerank"), ("pipeline", "read"), ("agent", "agent")}
    for (trial, role), row in ran.priced.items():
        made = sum(u.calls for r in ran.of(trial) for u in r.result.trace.usage if u.role == role)
        sent = sum(r.result.trace.facts["prompt_tokens"][role] for r in ran.of(trial))
        assert row.calls is not None and row.least_calls is not None and row.prompt is not None and row.usd is not None
        assert row.least_calls <= made <= row.calls
        # A prompt is counted with the marks of its chat format, and neighbours may share a token.
        assert row.prompt[0] * 0.9 <= sent <= row.prompt[1]
        assert 0 < row.usd[0] < row.usd[1]
        assert ("an upper estimate" in str(row)) == (role != "read")
    assert ran.priced["pipeline", "plan"].least_calls == VOTES * LIMIT
    assert ran.priced["pipeline", "plan"].calls == (VOTES + 1) * LIMIT
    assert ran.priced["agent", "agent"].calls == STEPS * LIMIT
