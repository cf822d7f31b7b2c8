"""What the harness itself costs, measured on a system that does nothing, as a ratio to a bare loop in the same run."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from pytest_benchmark.fixture import BenchmarkFixture

from memtrial.datasets.export import export_dataset
from memtrial.datasets.schema import Conversation, Corpus, Dataset, Message, Question
from memtrial.experiments.config import load_config
from memtrial.experiments.plan import Plan, make_plan
from memtrial.experiments.runner import run
from memtrial.systems.base import Answer, Query, Trace

QUESTIONS = 10_000
START = datetime(2024, 1, 1, tzinfo=UTC)


class DoNothing:
    """Keeps nothing and abstains at once."""

    @classmethod
    def create(cls, params: dict[str, Any], context: Any) -> DoNothing:
        return cls()

    async def ingest(self, messages: Any, trace: Trace) -> None:
        pass

    async def answer(self, query: Query, trace: Trace) -> Answer:
        return Answer(abstained=True)

    async def close(self) -> None:
        pass


def _dataset(questions: int) -> Dataset:
    messages = tuple(
        Message(f"m{i}", "c", "s", "t", "ana", "bob", START + timedelta(minutes=i), f"note {i}") for i in range(100)
    )
    asked = tuple(
        Question(
            id=f"q{i}",
            conversation_id="c",
            tenant_id="t",
            asker="ana",
            asked_at=START + timedelta(days=1),
            text=f"what is in note {i % 100}?",
            category="note",
            answerable=True,
            needs_memory=True,
            answer_type="span",
            answers=(f"note {i % 100}",),
            evidence=(f"m{i % 100}",),
            cluster_id=f"k{i % 20}",
        )
        for i in range(questions)
    )
    return Dataset("bare", (Corpus("one", (Conversation("c", "t", messages),), asked),))


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Plan:
    folder = tmp_path_factory.mktemp("harness")
    data = export_dataset(_dataset(QUESTIONS), folder / "data")
    config = {
        "name": "harness",
        "data": {"bare": {"name": "json", "path": str(data)}},
        "systems": {"nothing": {"use": f"{Path(__file__)}:DoNothing"}},
    }
    (folder / "harness.yaml").write_text(yaml.safe_dump(config))
    return make_plan(load_config(folder / "harness.yaml"))


def _bare_loop(plan: Plan) -> float:
    """Seconds a loop takes that does no more than call the system on every question."""
    system = DoNothing()
    (part,) = plan.data["bare"].corpora

    async def ask() -> None:
        for q in part.questions:
            query = Query(q.id, q.tenant_id, q.asker, q.asked_at, q.text)
            await system.answer(query, Trace())

    start = time.perf_counter()
    asyncio.run(ask())
    return time.perf_counter() - start


def test_ten_thousand_questions_of_a_system_that_does_nothing(
    benchmark: BenchmarkFixture, plan: Plan, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Ask, journal, judge, and write records, metrics and manifest, the worker's start included."""
    bare = _bare_loop(plan)
    summary = benchmark.pedantic(run, args=(plan, tmp_path_factory.mktemp("run") / "out"), rounds=1)
    assert (summary.finished, summary.errors) == (QUESTIONS, 0)
    if benchmark.stats is not None:
        seconds = benchmark.stats.stats.min
        benchmark.extra_info["ms_per_question"] = round(1000 * seconds / QUESTIONS, 4)
        benchmark.extra_info["bare_loop_ms_per_question"] = round(1000 * bare / QUESTIONS, 4)
        benchmark.extra_info["times_a_bare_loop"] = round(seconds / bare, 1)
