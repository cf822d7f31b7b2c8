"""What the words of a question demand."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtrial.systems.base import Query, Trace
from memtrial.systems.structured.policy import Policy, PolicyParams, demand_authority, make_policy
from memtrial.systems.structured.trust import SourceParams
from tests.systems.structured.judged import NOW, candidate

ALL = PolicyParams()


def policy(text: str, params: PolicyParams = ALL) -> Policy:
    return make_policy(Query("q", "t1", "ann", NOW, text), params)


@pytest.mark.parametrize(
    "text",
    [
        "Does the headset I looked at last time cancel noise?",
        "What was my last order?",
        "你们上次怎么答复我的？",
        "之前看的蓝牙耳机有降噪吗",
    ],
)
def test_last_time_makes_old_facts_fade(text: str) -> None:
    assert policy(text).last
    assert not policy(text, PolicyParams(last=False)).last
    assert len(policy(text).reasons) == 1


@pytest.mark.parametrize(
    "text", ["3月5日之前能送到吗？", "How long does the lamp last?", "周五之前要付吗", "Is this the last step?"]
)
def test_a_deadline_and_lasting_are_not_last_time(text: str) -> None:
    assert not policy(text).last


@pytest.mark.parametrize(
    "text",
    [
        "What does the contract say about delay?",
        "Which terms and conditions apply?",
        "合同里违约金是多少？",
        "退货条款是什么？",
    ],
)
def test_contract_words_demand_authority(text: str) -> None:
    assert policy(text).min_authority == 0.9
    assert policy(text, PolicyParams(min_authority=0.8)).min_authority == 0.8
    assert policy(text, PolicyParams(authority=False)).min_authority is None


def test_terms_of_speech_are_no_terms_of_contract() -> None:
    assert policy("In terms of weight, which lamp is better? I agree with both.").min_authority is None


@pytest.mark.parametrize(
    ("text", "reading"),
    [
        ("What price did you originally quote?", "first"),
        ("At first, which day was planned?", "first"),
        ("最初说的是哪天送？", "first"),
        ("When did the return period change?", "history"),
        ("Since when does the lamp support fast charging?", "history"),
        ("这个型号什么时候开始支持快充的？", "history"),
        ("从哪天起有访客权限", "history"),
        ("When did you deliver the lamp?", "newest"),
        ("灯什么时候送到？", "newest"),
    ],
)
def test_first_version_or_history(text: str, reading: str) -> None:
    found = policy(text)
    assert found.reading == reading
    assert found.wants == ("current" if reading == "newest" else "history")
    assert policy(text, PolicyParams(first=False)).reading == "newest"


@pytest.mark.parametrize(
    ("text", "state"),
    [
        ("Is my complaint still open?", True),
        ("What is the status of order 12?", True),
        ("我的投诉还在处理吗", True),
        ("What did I complain about?", False),
        ("我投诉了什么", False),
    ],
)
def test_a_question_about_how_a_matter_stands(text: str, state: bool) -> None:
    assert (policy(text).wants == "state") is state


@pytest.mark.parametrize(
    ("text", "as_of"),
    [
        ("As of 5 March, what did the lamp cost?", "2024-03-05T23:59:59.999999+00:00"),
        ("What was the price of the lamp on 5 March 2024?", "2024-03-05T23:59:59.999999+00:00"),
        ("Back in February 2024, who was my account manager?", "2024-02-29T23:59:59.999999+00:00"),
        ("Back in 2023, what was the fee?", "2023-12-31T23:59:59.999999+00:00"),
        ("截至3月5日，台灯卖多少钱？", "2024-03-05T23:59:59.999999+00:00"),
        ("What was the reason for my call on 5 March?", None),
        ("What did I buy on 5 March?", None),
        ("As of 5 August 2024, what will the lamp cost?", None),  # not past
        ("What did the lamp cost back then?", None),  # no time named
    ],
)
def test_a_past_time_is_read_at(text: str, as_of: str | None) -> None:
    assert policy(text).as_of == (as_of and datetime.fromisoformat(as_of))
    assert policy(text, PolicyParams(as_of=False)).as_of is None


def test_who_asks_for_the_beginning_does_not_want_old_things_to_fade() -> None:
    assert not policy("What did you originally tell me last time?").last
    assert not policy("As of 5 March, what was the latest price?").last


def test_off_means_off_and_reasons_reach_the_trace() -> None:
    text = "What did the contract originally say?"
    assert policy(text, PolicyParams(enabled=False)) == Policy()
    trace = Trace()
    policy(text).record(trace)
    assert trace.facts["policy"] == [
        "'originally' asks for the first version",
        "'contract' demands sources of an authority above 0.9",
    ]
    policy("Hello").record(empty := Trace())
    assert empty.facts == {}


DEMAND = Policy(min_authority=0.9)
CRM, WIKI, CHAT = (candidate(s, source=s, fact_type="event") for s in ("crm", "wiki", "chat"))


def test_only_sources_above_the_bound_are_kept() -> None:
    found = demand_authority([WIKI, CRM, CHAT], DEMAND, SourceParams())
    assert found.kept == (CRM,)
    assert found.dropped == (WIKI, CHAT)
    assert found.reason == "only sources of an authority above 0.9; 2 of 3 dropped"


def test_where_no_source_is_above_it_the_best_is_kept_and_said() -> None:
    found = demand_authority([CHAT, WIKI], DEMAND, SourceParams())
    assert found.kept == (WIKI,)
    assert found.reason == "no source of an authority above 0.9: the best there is has 0.85; 1 of 2 dropped"
    # a policy is the wiki's to state
    rule = replace(WIKI, node=candidate("rule", source="wiki", fact_type="policy").node)
    assert demand_authority([CHAT, rule], DEMAND, SourceParams()).reason.startswith("only sources")


def test_without_a_demand_nothing_is_dropped() -> None:
    assert demand_authority([CHAT], Policy(), SourceParams()).kept == (CHAT,)
    assert demand_authority([], DEMAND, SourceParams()).kept == ()


@given(st.lists(st.sampled_from(["crm", "wiki", "chat", "forum", ""]), min_size=1), st.floats(0, 1))
def test_a_demand_never_empties_the_candidates(sources: list[str], bound: float) -> None:
    candidates = [candidate(f"{i}", source=s) for i, s in enumerate(sources)]
    found = demand_authority(candidates, Policy(min_authority=bound), SourceParams())
    assert found.kept
    assert len(found.kept) + len(found.dropped) == len(candidates)


@given(st.text(max_size=300))
def test_any_text_has_a_policy(text: str) -> None:
    found = policy(text)
    assert found.as_of is None or found.as_of < NOW
