"""Two memories under one roof: which answers, who helps out, and what is kept apart."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memtrial.datasets.errors import UserError
from memtrial.datasets.schema import Message
from memtrial.systems.base import Answer, Context, Query, Trace
from memtrial.systems.conformance import check_system
from memtrial.systems.hybrid.system import Hybrid
from memtrial.systems.registry import resolve

from .conftest import FAST, Run

Ask = Callable[..., Query]
DATE = "What is the delivery date of order KD-2219?"
LISBON = "Where does Carol live?"


class Scripted:
    """A part that gives one answer and counts how often it was asked."""

    def __init__(self, answer: Answer) -> None:
        self.said, self.asked = answer, 0

    async def ingest(self, messages: Sequence[Message], trace: Trace) -> None:
        pass

    async def answer(self, query: Query, trace: Trace) -> Answer:
        self.asked += 1
        trace.facts["candidates"] = ["scripted"]
        trace.cache_hits["plans"] = 1
        with trace.span("search"):
            return self.said

    async def close(self) -> None:
        pass


def scripted(
    context: Context, log: list[Message], query: Query, answer: Answer, **params: Any
) -> tuple[Answer, Trace, Scripted]:
    """Ask a hybrid whose raw log is scripted."""

    async def go() -> tuple[Answer, Trace, Scripted]:
        system = Hybrid.create({**FAST, **params}, context)
        await system._raw_log.close()
        part = system._raw_log = Scripted(answer)
        try:
            await system.ingest(log, Trace())
            trace = Trace()
            return await system.answer(query, trace), trace, part
        finally:
            await system.close()

    return asyncio.run(go())


def test_it_keeps_the_contract() -> None:
    report = check_system("hybrid", {**FAST, "write_back": {"enabled": True, "min_confidence": 0}})
    assert report.passed, report.rows


def test_each_kind_of_question_is_answered_where_its_answer_is(run: Run, ask: Ask, log: list[Message]) -> None:
    [(typed, first), (free, second)] = run(log, ask(DATE), ask(LISBON))
    assert "16 May" in typed.text
    assert (first.facts["answered_by"], first.facts["fell_back"]) == ("structured", False)
    assert "Lisbon" in free.text
    assert (second.facts["answered_by"], second.facts["fell_back"]) == ("raw_log", False)
    assert all(item.kind == "message" for item in free.context)
    assert all(item.kind == "fact" for item in typed.context)


def test_structured_answers_where_the_log_abstains(context: Context, ask: Ask, log: list[Message]) -> None:
    answer, trace, part = scripted(context, log, ask(DATE), Answer(abstained=True), router={"kind": "raw_first"})
    assert part.asked == 1
    assert "16 May" in answer.text
    assert trace.facts["fell_back"] is True
    assert trace.facts["answered_by"] == "structured"
    assert trace.facts["candidates"] != ["scripted"]
    assert trace.cache_hits["plans"] == 1  # what the first part used was used
    assert "search" in [span.stage for span in trace.spans]


def test_the_log_answers_where_structured_abstains(context: Context, ask: Ask, log: list[Message]) -> None:
    said = Answer("in the hall", citations=("m10",))
    unknown = ask("What do the contract terms say about returns?")
    answer, trace, part = scripted(context, log, unknown, said)
    assert (part.asked, answer) == (1, said)
    assert trace.facts["route"]["to"] == "structured"
    assert (trace.facts["answered_by"], trace.facts["fell_back"]) == ("raw_log", True)


def test_where_both_abstain_the_first_one_s_word_stands(context: Context, ask: Ask, log: list[Message]) -> None:
    unknown = ask("What do the contract terms say about returns?")
    answer, trace, part = scripted(context, log, unknown, Answer("no idea", abstained=True))
    assert part.asked == 1
    assert answer.abstained
    assert answer.text != "no idea"
    assert (trace.facts["answered_by"], trace.facts["fell_back"]) == ("structured", True)
    assert trace.facts["candidates"] != ["scripted"]


SERIAL = "What is the serial number on KD-2219?"  # of an order on record, whose serial number nobody told


@pytest.mark.parametrize(("confidence", "stands"), [(0.95, True), (0.9, True), (0.89, False), (None, True)])
def test_where_the_facts_are_silent_the_log_must_be_sure(
    context: Context, ask: Ask, log: list[Message], confidence: float | None, stands: bool
) -> None:
    said = Answer("KD-2219", citations=("m5",), confidence=confidence)
    answer, trace, part = scripted(context, log, ask(SERIAL), said)
    assert (part.asked, trace.facts["route"]["rule"]) == (1, "slot_silent")
    assert (answer == said) is stands
    assert answer.abstained is not stands
    assert trace.facts["fell_back"] is not stands
    if not stands:
        assert (answer.citations, "KD-2219" in answer.text) == ((), False)
        assert trace.facts["doubted"] == {"answer": "KD-2219", "confidence": 0.89, "least": 0.9}


def test_a_doubted_answer_is_none_even_without_fallback(context: Context, ask: Ask, log: list[Message]) -> None:
    said = Answer("KD-2219", citations=("m5",), confidence=0.3)
    answer, trace, _ = scripted(context, log, ask(SERIAL), said, fallback=False)
    assert (answer.abstained, trace.facts["answered_by"], trace.facts["fell_back"]) == (True, "raw_log", False)
    answer, _, _ = scripted(context, log, ask(SERIAL), said, router={"silence": 0})
    assert answer == said


@pytest.mark.parametrize("params", [{"fallback": False}, {"router": {"kind": "always_structured"}}])
def test_without_fallback_the_other_is_not_asked(
    context: Context, ask: Ask, log: list[Message], params: dict[str, Any]
) -> None:
    unknown = ask("What do the contract terms say about returns?")
    answer, trace, part = scripted(context, log, unknown, Answer("yes"), **params)
    assert part.asked == 0
    assert answer.abstained
    assert trace.facts["fell_back"] is False


def test_what_needs_no_memory_is_looked_up_in_neither(context: Context, ask: Ask, log: list[Message]) -> None:
    answer, trace, part = scripted(context, log, ask("Thanks a lot!"), Answer("yes"))
    assert part.asked == 0
    assert answer.context == ()
    assert [gate.open for gate in trace.gates] == [False]
    assert trace.facts["route"]["to"] == "none"


def test_the_gate_decides_once(run: Run, ask: Ask, log: list[Message]) -> None:
    [(_, trace)] = run(log, ask(DATE))
    assert [gate.gate for gate in trace.gates] == ["lookup"]


def test_what_a_failing_part_used_is_counted(context: Context, ask: Ask, log: list[Message]) -> None:
    class Broken(Scripted):
        async def answer(self, query: Query, trace: Trace) -> Answer:
            await super().answer(query, trace)
            raise RuntimeError("no engine")

    async def go() -> Trace:
        system = Hybrid.create(FAST, context)
        await system._raw_log.close()
        system._raw_log = Broken(Answer())
        trace = Trace()
        try:
            await system.ingest(log, Trace())
            with pytest.raises(RuntimeError, match="no engine"):
                await system.answer(ask(LISBON), trace)
        finally:
            await system.close()
        return trace

    assert "search" in [span.stage for span in asyncio.run(go()).spans]


def test_tenants_never_see_each_other(run: Run, ask: Ask, log: list[Message]) -> None:
    south = [replace(m, id=f"s{m.id}", tenant_id="t2", content=m.content.replace("Lisbon", "Oslo")) for m in log]
    written = {"enabled": True, "min_confidence": 0, "scope": "tenant"}
    asked = run([*log, *south], *(ask(LISBON, tenant) for tenant in ("t1", "t2", "t1", "t2")), write_back=written)
    for (answer, _), tenant, place in zip(asked, ("t1", "t2") * 2, ("Lisbon", "Oslo") * 2, strict=True):
        assert place in answer.text
        assert {item.tenant_id for item in (*answer.retrieved, *answer.context)} == {tenant}


def test_both_parts_keep_a_folder_of_their_own(run: Run, ask: Ask, log: list[Message], context: Context) -> None:
    run(log, ask(DATE))
    assert {path.name for path in context.folder.iterdir()} == {"structured", "raw_log"}
    assert any(Path(context.folder / "structured").iterdir()) and any(Path(context.folder / "raw_log").iterdir())


def test_every_parameter_of_the_parts_can_be_reached() -> None:
    factory = resolve("hybrid")
    made = factory.validate({"structured": {"vectors": {"hnsw": {"m": 32}}}, "raw_log": {"k": 7}})
    assert (made["structured"]["vectors"]["hnsw"]["m"], made["raw_log"]["k"]) == (32, 7)
    with pytest.raises(UserError, match=r"'structured\.vectors\.hnsw\.n'"):
        factory.validate({"structured": {"vectors": {"hnsw": {"n": 32}}}})
    with pytest.raises(UserError, match=r"'router\.kind' is 'rule'.*did you mean 'rules'"):
        factory.validate({"router": {"kind": "rule"}})


def test_only_write_back_needs_one_question_at_a_time() -> None:
    factory = resolve("hybrid")
    assert Hybrid.serial(factory.validate({"write_back": {"enabled": True}}))
    assert not Hybrid.serial(factory.validate({}))
