from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from memtrial.systems.base import Context, Query, Span, Trace
from memtrial.systems.models.llm.outcome import Reply
from memtrial.systems.models.llm.structured import UnusableError, read_object
from memtrial.systems.models.prompts.shapes import PlanReply
from memtrial.systems.models.role import ModelRole, ModelRoleError
from memtrial.systems.raw_log.plan import (
    AnyPlanParams,
    DateRange,
    Keyword,
    ModelPlanParams,
    Person,
    Plan,
    Planner,
    PlanParams,
    holds,
)
from memtrial.systems.raw_log.plan.boolean import leaves, show
from memtrial.systems.raw_log.plan.model import ModelPlanner
from memtrial.systems.raw_log.plan.reply import read_reply
from tests.systems.models.fake import FakeClient, Script, block
from tests.systems.raw_log.plan.people import ASKED, question, view

LOG = view(["the tent cost 40 euros"])
ASK = question("What did Mark say last week about the price of the tent?")


def row(
    kind: str, value: str, start: str | None = None, end: str | None = None, *, certain: bool = False
) -> dict[str, Any]:
    return {"kind": kind, "value": value, "start": start, "end": end, "certain": certain}


GOOD = [
    row("date_range", "last week", "2024-05-13", "2024-05-19", certain=True),
    row("person", "Mark", certain=True),
    row("keyword", "tent AND (price OR cost)"),
    row("concept", "The tent costs so and so much."),
    row("topic", "tent price"),
]


def run(script: Script, query: Query = ASK, **params: Any) -> tuple[Plan, Trace, FakeClient]:
    client = FakeClient(script)
    planner = ModelPlanner(ModelPlanParams.model_validate(params), ModelRole("plan", client, repeat=1))
    trace = Trace()
    return asyncio.run(planner.plan(query, LOG, trace, Span("plan", 0.0))), trace, client


def planned(*rows: dict[str, Any], query: Query = ASK, **params: Any) -> Plan:
    return run(lambda prompt: {"instructions": list(rows)}, query, **params)[0]


def kinds(plan: Plan) -> list[str]:
    return [one.kind for one in plan.instructions]


def test_a_good_plan_is_taken_over() -> None:
    plan, trace, client = run(lambda prompt: {"instructions": GOOD})
    assert plan.source == "model"
    assert kinds(plan) == ["date_range", "person", "keyword", "concept", "topic"]
    assert plan.dropped == ()
    when, who, words = plan.instructions[:3]
    assert isinstance(when, DateRange) and isinstance(who, Person) and isinstance(words, Keyword)
    assert (when.start, when.end, when.certain) == (
        datetime(2024, 5, 13, tzinfo=UTC),
        datetime(2024, 5, 20, tzinfo=UTC),
        True,
    )
    assert (who.ids, who.role, who.certain) == (("u5",), "sender", True)
    assert {leaf.text: leaf.weight for leaf in leaves(words.tree)} == {"tent": 1.0, "price": 1.0, "cost": 0.5}
    assert trace.llm_calls[0].role == "plan"
    assert trace.facts["prompts"]["plan"].startswith("plan.en@2#")
    (shown,) = block(client.calls[0]["messages"][-1]["content"], "question")
    assert (shown["text"], shown["asked_at"]) == (ASK.text, "2024-05-22 10:30, Wednesday")


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        (row("date_range", "yesterday", "2024-05-21", "2024-05-21", certain=True), "the question names no such time"),
        (row("date_range", "last week", "soon", "later", certain=True), "soon to later is no range of days"),
        (row("date_range", "last week", "2024-02-31", None), "2024-02-31 to None is no range of days"),
        (row("date_range", "last week"), "it names no day"),
        (row("date_range", "all", None, "2999-01-01"), "it takes in everything"),
        (
            row("date_range", "then", "2024-06-01", "2024-06-03"),
            "lies ahead of the question: nothing was said then yet",
        ),
        (row("person", "Ann", certain=True), "the question does not name them"),
        (row("person", "Zed"), "nobody of that name takes part"),
        (row("keyword", "boat OR ship", certain=True), "it has no word of the question"),
        (row("keyword", "NOT tent", certain=True), "it has no word that could be found"),
        (row("cue", "argued"), "the question does not say so"),
        (row("cue", "sang"), "no known way of speaking"),
        (row("topic", "  "), "it is empty"),
    ],
)
def test_what_the_question_does_not_bear_out_is_dropped_and_told(bad: dict[str, Any], why: str) -> None:
    plan = planned(bad, *GOOD)
    assert [reason for _, reason in plan.dropped] == [why]
    assert kinds(plan) == ["date_range", "person", "keyword", "concept", "topic"]


def test_without_validation_the_model_is_believed() -> None:
    plan = planned(
        row("date_range", "x", "2024-05-21", "2024-05-21", certain=True),
        row("person", "Ann", certain=True),
        validation=False,
    )
    when, who = plan.instructions[:2]
    assert isinstance(when, DateRange) and isinstance(who, Person)
    assert when.certain and who.certain
    assert who.ids == ("u8",)


def test_a_range_takes_the_days_that_the_words_have_and_filters_only_if_both_are_certain() -> None:
    (when,) = planned(row("date_range", "last week", "2024-05-15", "2024-05-25", certain=True)).of("date_range")
    assert isinstance(when, DateRange)
    assert (when.start.day, when.end.day, when.certain) == (13, 20, True)
    (unsure,) = planned(row("date_range", "last week", "2024-05-13", "2024-05-19")).of("date_range")
    assert not unsure.certain
    asked = question("Where did Mark go last week?")
    (event,) = planned(row("date_range", "last week", "2024-05-13", "2024-05-19", certain=True), query=asked).of(
        "date_range"
    )
    assert isinstance(event, DateRange)
    assert (event.certain, event.about) == (False, "event")


def test_of_words_with_two_readings_the_model_may_pick_one() -> None:
    asked = question("What did Mark say last Monday?")
    (when,) = planned(row("date_range", "last Monday", "2024-05-20", "2024-05-20", certain=True), query=asked).of(
        "date_range"
    )
    assert isinstance(when, DateRange)
    assert (when.start.day, when.end.day, when.certain) == (20, 21, False)


def test_a_range_that_is_the_wrong_way_round_or_open_is_mended() -> None:
    (when,) = planned(row("date_range", "last week", "2024-05-19", "2024-05-13")).of("date_range")
    assert isinstance(when, DateRange) and (when.start.day, when.end.day) == (13, 20)
    asked = question("What did Mark say at Diwali?")
    (since,) = planned(row("date_range", "Diwali", "2023-11-12", None, certain=True), query=asked).of("date_range")
    assert isinstance(since, DateRange)
    assert (since.start.day, since.end, since.certain) == (12, ASKED + timedelta(days=1), False)


def test_a_person_may_stand_in_the_dialogue_and_then_does_not_filter() -> None:
    asked = question("And what did it cost?", history=[("u1", "Did Ann buy the tent?")])
    (who,) = planned(row("person", "Ann", certain=True), query=asked).of("person")
    assert isinstance(who, Person)
    assert (who.ids, who.certain) == (("u8",), False)


def test_an_expression_filters_only_if_it_is_made_of_phrases_and_numbers_of_the_question() -> None:
    asked = question('Who spoke of the "blue boat"?')
    plan = planned(row("keyword", '"blue boat"', certain=True), row("keyword", "spoke", certain=True), query=asked)
    assert [(show(k.tree), k.certain) for k in plan.instructions if isinstance(k, Keyword)] == [
        ('"blue boat"', True),
        ("spoke", False),
    ]


def test_the_rules_fill_in_what_no_plan_is_without() -> None:
    plan = planned(row("topic", "tent"), query=question("Which tent has KD-2219?"))
    assert kinds(plan) == ["topic", "keyword", "keyword", "concept"]
    first = plan.of("keyword")[0]
    assert isinstance(first, Keyword) and first.certain
    assert kinds(planned(row("topic", "tent"))) == ["topic", "keyword", "concept"]


@pytest.mark.parametrize("status", ["refused", "invalid", "truncated", "empty", "filtered"])
def test_where_the_model_says_nothing_of_use_the_rules_plan(status: Any) -> None:
    plan, trace, _ = run(lambda prompt: Reply(status, "", None))
    assert plan.source == "rules"
    assert kinds(plan)[:2] == ["date_range", "person"]
    assert trace.warnings[-1] == "planned by rules, as the model's plan could not be used"


def test_where_the_model_is_not_reached_it_is_an_error() -> None:
    with pytest.raises(ModelRoleError):
        run(lambda prompt: Reply("unavailable", "", None))


def voting(*plans: list[dict[str, Any]]) -> Script:
    turns = iter(plans)
    return lambda prompt: {"instructions": next(turns)}


def test_votes_keep_what_most_plans_have() -> None:
    week, who = GOOD[0], GOOD[1]
    plans = [
        [
            week,
            row("person", "Mark"),
            row("keyword", "tent AND (price OR cost OR canvas)"),
            row("concept", "one"),
            row("topic", "tent price"),
        ],
        [week, who, row("keyword", "tent AND (cost OR price)"), row("concept", "two"), row("topic", "price tent")],
        [row("person", "Mark"), row("keyword", "tent OR canopy"), row("topic", "holidays")],
    ]
    plan, _, client = run(voting(*plans), votes=3)
    assert [call["repeat"] for call in client.calls] == [3, 4, 5]
    assert kinds(plan) == ["date_range", "person", "keyword", "concept", "topic"]
    assert [one.certain for one in plan.instructions] == [True, False, False, False, False]
    assert [show(k.tree) for k in plan.instructions if isinstance(k, Keyword)] == ["tent AND (price OR cost)"]
    assert ("topic holidays", "in 1 of 3 plans") in plan.dropped


def test_one_plan_of_several_that_cannot_be_used_does_not_vote() -> None:
    turns = iter([Reply("invalid", "", None), {"instructions": GOOD}])
    plan, trace, _ = run(lambda prompt: next(turns), votes=2)
    assert plan.source == "model"
    assert kinds(plan) == ["date_range", "person", "keyword", "concept", "topic"]
    assert len(trace.warnings) == 1


def test_the_check_drops_what_is_wrong_and_keeps_from_filtering_what_is_only_possible() -> None:
    def script(prompt: str) -> Any:
        if "<instructions>" not in prompt:
            return {"instructions": GOOD}
        assert [r["kind"] for r in block(prompt, "instructions")] == [
            "date_range",
            "person",
            "keyword",
            "concept",
            "topic",
        ]
        return {
            "verdicts": [
                {"number": 1, "verdict": "certain"},
                {"number": 5, "verdict": "wrong"},
                {"number": 99, "verdict": "wrong"},
            ]
        }

    plan, trace, client = run(script, check=True)
    assert kinds(plan) == ["date_range", "person", "keyword", "concept"]
    assert [one.certain for one in plan.instructions] == [True, False, False, False]
    assert plan.dropped == (("topic tent price", "the check found it wrong"),)
    assert {call["role"] for call in client.calls} == {"plan"}
    assert sorted(trace.facts["prompts"]) == ["check", "plan"]


def test_a_check_that_fails_leaves_the_plan_as_it_is() -> None:
    plan, trace, _ = run(
        lambda prompt: Reply("refused", "", None) if "<instructions>" in prompt else {"instructions": GOOD}, check=True
    )
    assert [one.certain for one in plan.instructions][:2] == [True, True]
    assert trace.warnings[0].startswith("the plan was not checked")


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ('{"instructions": [{"kind": "keyword", "value": "tent"}]}', ["keyword"]),
        (
            'Sure! Here is the plan:\n```json\n{"instructions": [{"kind": "topic", "value": "x", "certain": "yes"}]}\n```\nHope it helps.',
            ["topic"],
        ),
        ('{"instructions": {"kind": "keyword", "value": ["a", "b"]}}', ["keyword"]),
        (
            '{"instructions": [{"type": "Participants", "value": "Kim"}, {"kind": "mood", "value": "x"}, "tent", null, 3]}',
            ["person"],
        ),
        ('{"instructions": [{"kind": "date", "value": 2024, "start": 20240501, "end": null}]}', ["date_range"]),
        ('{"instructions": []}', []),
    ],
)
def test_what_models_write_is_read(text: str, read: list[str]) -> None:
    reply = read_object(text, PlanReply)
    assert isinstance(reply, PlanReply)
    assert [one.kind for one in reply.instructions] == read


def test_what_cannot_be_read_is_told() -> None:
    plan, _, _ = run(lambda prompt: {"instructions": [{"kind": "mood", "value": "x"}, *GOOD]})
    assert plan.dropped == (("unread {'kind': 'mood', 'value': 'x'}", "no instruction of a known kind"),)


@pytest.mark.parametrize(
    "text", ["no plan", "[1, 2]", '{"plan": []}', '{"instructions": "tent"}', '{"instructions": [{"kind"']
)
def test_what_is_no_plan_at_all_is_unusable(text: str) -> None:
    with pytest.raises(UnusableError):
        read_object(text, PlanReply)


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
VALUE = st.one_of(
    ANYTHING,
    st.sampled_from(
        [
            "tent NOT price",
            "NOT tent",
            "(((",
            "Mark",
            "I",
            "u1",
            "我",
            "last week",
            '"',
            "decided",
            "*",
            "tent OR NOT Mark",
        ]
    ),
)
DAYS = st.one_of(
    ANYTHING,
    st.sampled_from(
        ["2024-05-13", "2024-05-19", "0001-01-01", "9999-12-31", "2024-13-40", "2024-05-13T10:00", "2024年5月3日"]
    ),
)
ROWS = st.lists(
    st.one_of(
        ANYTHING,
        st.fixed_dictionaries(
            {
                "kind": st.one_of(
                    ANYTHING, st.sampled_from(["date_range", "person", "keyword", "concept", "topic", "cue", "dates"])
                ),
                "value": VALUE,
            },
            optional={"start": DAYS, "end": DAYS, "certain": st.one_of(ANYTHING, st.just(True))},
        ),
    ),
    max_size=8,
)


@settings(max_examples=200, deadline=None)
@given(ROWS, st.booleans(), st.sampled_from([ASKED, datetime(1, 1, 2, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC)]))
def test_no_reply_crashes_the_planner_or_makes_it_match_everything(
    rows: list[Any], validation: bool, asked: datetime
) -> None:
    query = question(ASK.text, asked=asked)
    reply = PlanReply.model_validate({"instructions": rows})
    read_reply(reply, query, LOG)
    plan, _, _ = run(lambda prompt: json.loads(json.dumps({"instructions": rows})), query, validation=validation)
    for one in plan.instructions:
        if isinstance(one, Keyword):
            assert not holds(one.tree, [])
        if isinstance(one, DateRange):
            assert one.start < one.end
            assert one.start <= asked
        if isinstance(one, Person):
            assert one.ids
    assert [*plan.relaxations()][-1].empty


def test_a_prompt_in_the_questions_language() -> None:
    _, trace, _ = run(lambda prompt: {"instructions": []}, question("上周小明说了什么"))
    assert trace.facts["prompts"]["plan"].startswith("plan.zh@")


def test_the_planner_by_rules_traces_its_plan() -> None:
    planner = Planner(PlanParams(), Context.__new__(Context))
    trace = Trace()
    plan = asyncio.run(planner.plan(ASK, LOG, trace))
    assert plan.source == "rules"
    assert trace.facts["plan"] == plan.summary()
    assert json.loads(json.dumps(trace.facts["plan"])) == trace.facts["plan"]
    assert [span.stage for span in trace.spans] == ["plan"]
    asyncio.run(planner.aclose())


def test_kinds_of_parameters() -> None:
    params: TypeAdapter[Any] = TypeAdapter(AnyPlanParams)
    assert isinstance(params.validate_python({}), PlanParams)
    made = params.validate_python({"kind": "model", "votes": 3, "rules": {"expansion": {"on": False}}})
    assert isinstance(made, ModelPlanParams)
    assert (made.votes, made.rules.expansion.on) == (3, False)
    # a stored configuration of the other kind comes with its defaults
    stored = params.validate_python({}).model_dump() | {"kind": "model"}
    assert isinstance(params.validate_python(stored), ModelPlanParams)
    with pytest.raises(ValidationError, match="votes"):
        params.validate_python({"kind": "rules", "votes": 3})
