"""The gates together: dialogue, cost, model, and what is recorded."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from memtrial.datasets.errors import UserError
from memtrial.datasets.schema import Turn
from memtrial.metrics.gates import decision as decided
from memtrial.systems.base import Context, Query, Trace
from memtrial.systems.models.role import ModelRoleError
from memtrial.systems.structured.gates import Decision, GateParams, Gates, Knows, read_dialogue
from memtrial.systems.structured.node import Entity
from tests.systems.llm.scripted import ScriptedServer, error, says

ASKED = datetime(2024, 5, 6, 9, 0, tzinfo=UTC)
HALO = Entity("product:halo 3", "product", "Halo 3", "t1")
VEGA = Entity("product:vega", "product", "Vega", "t1")
ME = Entity("person:jo kern", "person", "Jo Kern", "t1", aliases=("jo",))
STRICT = {"kind": "rules", "min_points": 1.0}


def knows(text: str) -> list[Entity]:
    found = [e for e in (HALO, VEGA) if e.name.lower() in text.lower()]
    # as the extraction does: "my" is the asker's
    return [*found, ME] if "my" in text or "Jo" in text else found


def query(text: str, *history: str) -> Query:
    """Turns alternate, the asker first."""
    turns = tuple(Turn("assistant" if i % 2 else "u1", said) for i, said in enumerate(history))
    return Query("q", "t1", "u1", ASKED, text, turns)


def decide(asked: Query, find: Knows | None = knows, **params: Any) -> tuple[Decision, Trace]:
    trace = Trace()
    gates = Gates(GateParams.model_validate(params), Context(Path()))
    state = read_dialogue(asked, find)
    return asyncio.run(gates.decide(asked, state, trace)), trace


@pytest.mark.parametrize(
    ("asked", "lookup"),
    [
        # goes on with what needed memory
        (query("and the shipping?", "What did my order cost?", "€40."), True),
        (query("那物流呢？", "我的订单多少钱", "40元。"), True),
        (query("with which one?", "When does my parcel come?", "Friday."), True),
        (query("要多少钱", "多少天之内能退？", "30天。"), True),
        (query("and the cheap one?", "When is the Vega due?", "Monday.", "and the dear one?", "Friday."), True),
        # goes on with what did not
        (query("and half of it?", "What's 15% of 80?", "12."), False),
        (query("那一半呢", "80元的15%是多少", "12元。"), False),
        # a matter of its own after a sum
        (query("When's the recital?", "What's 15% of 80?", "12."), True),
        # a matter under way does not make a sum a matter of record
        (query("What's 15% of 80?", "I want to return the Halo 3", "Of course."), False),
        (query("80元的15%是多少", "我要退货", "好的。"), False),
        # the seed's own pair
        (query("What do you say to my advice?"), False),
        (query("What do you say to my order?"), True),
        (query("你觉得我的建议怎么样"), False),
        (query("我的订单怎么样"), True),
        # a closed matter leaves nothing to go on with
        (query("and times three?", "What did my order cost?", "€40.", "thanks, that's all", "Bye!"), True),
    ],
)
def test_the_dialogue_decides_what_words_leave_open(asked: Query, lookup: bool) -> None:
    assert decide(asked)[0].lookup is lookup


def test_the_context_gate_opens_what_the_semantic_gate_keeps_shut_and_can_be_taken_away() -> None:
    asked = query("with which one?", "When does my parcel come?", "Friday.")
    on, trace = decide(asked, semantic=STRICT)
    assert on.lookup
    assert trace.facts["gates"]["semantic"]["open"] is False
    assert trace.facts["gates"]["context"] == {
        "open": True,
        "reason": "goes on with a question that needed memory",
    }
    assert [(g.gate, g.open) for g in trace.gates] == [("lookup", True)]
    assert trace.gates[0].reason.startswith("context: goes on")
    off, trace = decide(asked, semantic=STRICT, context={"kind": "off"})
    assert not off.lookup
    assert trace.facts["gates"]["context"] == {"open": None, "reason": "off"}


def test_it_shuts_what_the_semantic_gate_opens() -> None:
    asked = query("What about my idea?")
    assert decide(asked, context={"kind": "off"})[0].lookup
    asked = query("Is my advice any good?")
    assert decide(asked, context={"kind": "off"})[0].lookup
    shut, trace = decide(asked)
    assert not shut.lookup
    assert trace.gates[0].reason == "context: what is called mine is nothing on record"


def test_the_state_of_a_dialogue() -> None:
    asked = query("Is my Halo 3 there?", "I want to return the Vega", "Sure.", "and the Halo 3?", "Yes.")
    state = read_dialogue(asked, knows)
    # "my" names nobody, so the asker is not among what the question names
    assert state.named == (HALO,)
    assert state.active == (HALO, VEGA)
    assert (state.task, state.asked_before, state.needed) == ("return", "and the Halo 3?", True)
    assert read_dialogue(query("Is Jo there?"), knows).named == (ME,)


def test_a_finished_task_closes_and_thanks_close_everything() -> None:
    done = read_dialogue(query("x", "I want to return the Vega", "Your return has been processed."), knows)
    assert (done.task, done.active, done.needed) == ("", (VEGA,), True)
    over = read_dialogue(query("x", "I want to return the Vega", "Done.", "Thanks, that's all", "Bye"), knows)
    assert (over.task, over.active, over.asked_before, over.needed) == ("", (), "", None)
    zh = read_dialogue(query("x", "我要退货", "已经办好了"), knows)
    assert (zh.task, zh.needed) == ("", True)
    # no goodbye: it asks for something
    assert read_dialogue(query("x", "thanks, but where is my parcel?", "Here."), knows).task == "delivery"


def test_only_the_newest_turns_are_read() -> None:
    said = ["When does the Vega come?", "Monday.", "ok", "Yes?"]
    assert read_dialogue(query("x", *said), knows, turns=4).needed is True
    gates = Gates(GateParams.model_validate({"context": {"turns": 2}}), Context(Path()))
    assert gates.state(query("x", *said), knows).needed is None


def test_a_question_that_names_what_the_dialogue_is_about_is_open() -> None:
    asked = query("Vega: nice?", "Tell me about Vega", "A lamp.")
    got, trace = decide(asked, semantic={"kind": "rules", "min_points": 20})
    assert got.lookup
    assert trace.gates[0].reason == "context: names what the dialogue is about"


@pytest.mark.parametrize(
    ("cost", "expected"),
    [
        ({"kind": "off", "tokens": 9000}, (True, None, False)),
        ({"kind": "on"}, (True, None, False)),
        ({"kind": "on", "tokens": 4001}, (True, 3, True)),
        ({"kind": "on", "tokens": 4001, "newest": 5}, (True, 5, True)),
        ({"kind": "on", "tokens": 4000, "load": 0.7}, (True, None, False)),
        ({"kind": "on", "load": 0.71}, (True, 3, True)),
        ({"kind": "on", "load": 0.71, "over": "none"}, (False, 0, False)),
        # YAML's own truth values
        ({"kind": True, "budget_tokens": 0, "over": "none"}, (False, 0, False)),
        ({"kind": False, "budget_tokens": 0, "over": "none"}, (True, None, False)),
    ],
)
def test_the_cost_gate(cost: dict[str, Any], expected: tuple[bool, int | None, bool]) -> None:
    got, trace = decide(query("Where is my parcel?"), cost=cost)
    assert (got.lookup, got.max_items, got.newest_only) == expected
    assert [g.open for g in trace.gates] == [expected[0]]
    assert trace.gates[0].reason.startswith("semantic" if expected[0] else "cost: ")


def test_load_and_tokens_may_be_measured_and_are_not_where_nothing_is_looked_up() -> None:
    asked: list[str] = []

    def load() -> float:
        asked.append("load")
        return 0.9

    gates = Gates(
        GateParams.model_validate({"cost": {"kind": "on"}}), Context(Path()), load=load, tokens=lambda q: len(q.text)
    )

    def run(text: str) -> Decision:
        return asyncio.run(gates.decide(query(text), read_dialogue(query(text)), Trace()))

    assert run("Where is my parcel?").max_items == 3
    assert "load 0.90 above 0.70" in run("Where is my parcel?").reasons["cost"]
    assert run("Good morning").max_items == 0
    assert asked == ["load", "load"]


def test_with_everything_off_every_question_is_looked_up_and_that_is_recorded() -> None:
    off = {"kind": "off"}
    got, trace = decide(query("What's 2 + 2?"), semantic=off, context=off, cost=off)
    assert got.lookup
    assert [(g.gate, g.open) for g in trace.gates] == [("lookup", True)]


def test_metrics_read_the_final_decision() -> None:
    for text, expected in (("What's 2 + 2?", False), ("Where is my parcel?", True)):
        _, trace = decide(query(text), cost={"kind": "on", "load": 1.0})
        gates = tuple((g.gate, g.open, g.reason) for g in trace.gates)
        record: Any = SimpleNamespace(result=SimpleNamespace(trace=SimpleNamespace(gates=gates), error=""))
        assert decided(record) is expected


# -- the model decides


def model_gates(url: str) -> Gates:
    params = GateParams.model_validate({"semantic": {"kind": "model"}, "context": {"kind": "off"}})
    return Gates(params, Context(Path(), models={"gate": {"model": "m", "base_url": url, "max_retries": 0}}))


def ask(gates: Gates, asked: Query) -> tuple[Decision, Trace]:
    trace = Trace()

    async def run() -> Decision:
        try:
            return await gates.decide(asked, read_dialogue(asked), trace)
        finally:
            await gates.aclose()

    return asyncio.run(run()), trace


@pytest.mark.parametrize("lookup", [True, False])
def test_a_model_decides(lookup: bool) -> None:
    with ScriptedServer([says(json.dumps({"reason": "because", "lookup": lookup}))] * 2) as server:
        asked = query("and the shipping?", "What did my order cost?", "€40.")
        got, trace = ask(model_gates(server.url), asked)
        prompt = server.requests[-1].prompt
    assert got.lookup is lookup
    assert trace.gates[0].reason == "semantic: the model: because"
    assert '"text": "and the shipping?"' in prompt
    assert "What did my order cost?" in prompt
    assert trace.llm_calls[0].role == "gate"
    assert trace.facts["prompts"]["gate"].startswith("gate.en@1#")


def test_a_model_that_fails_is_an_error_and_no_decision() -> None:
    with ScriptedServer([error(500, "no")]) as server, pytest.raises(ModelRoleError, match=r"^gate: "):
        ask(model_gates(server.url), query("Where is my parcel?"))


def test_a_model_must_be_named() -> None:
    with pytest.raises(UserError, match="the role 'gate' has no model"):
        Gates(GateParams.model_validate({"semantic": {"kind": "model"}}), Context(Path()))


def test_an_experiment_finds_the_model_its_role_and_its_prompts() -> None:
    from memtrial.experiments.models import ROLES, model_parts, prompts_of

    params = GateParams.model_validate({"semantic": {"kind": "model"}}).model_dump(mode="json")
    assert list(model_parts({"gates": params})) == [(("gates", "semantic"), "gate")]
    assert "gate" in ROLES
    assert [ident.split("@")[0] for ident in prompts_of("gate")] == ["gate.en", "gate.zh"]
    rules = GateParams().model_dump(mode="json")
    assert list(model_parts({"gates": rules})) == []


def test_an_axis_over_kinds_takes_stored_defaults_along() -> None:
    stored = GateParams().model_dump(mode="json")
    for kind in ("off", "rules", "classifier", "model"):
        changed = {**stored, "semantic": {**stored["semantic"], "kind": kind}}
        assert GateParams.model_validate(changed).semantic.kind == kind
    with pytest.raises(ValidationError, match="min_points"):
        GateParams.model_validate({"semantic": {"kind": "classifier", "min_points": 2}})
    with pytest.raises(ValidationError, match="'off', 'rules', 'classifier', 'model'"):
        GateParams.model_validate({"semantic": {"kind": "llm"}})


turn = st.builds(Turn, st.sampled_from(["u1", "assistant", ""]), st.text(max_size=60))


@settings(deadline=None, max_examples=150)
@given(st.text(max_size=80), st.lists(turn, max_size=5))
def test_any_dialogue_gets_the_same_decision_twice(text: str, turns: list[Turn]) -> None:
    asked = Query("q", "t1", "u1", ASKED, text, tuple(turns))
    first, trace = decide(asked)
    assert decide(asked)[0] == first
    assert len(trace.gates) == 1
