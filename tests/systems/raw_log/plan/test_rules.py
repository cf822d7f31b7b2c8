from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memtrial.systems.models.analyze import terms
from memtrial.systems.raw_log.plan import DateRange, Filters, Keyword, Person, Plan, PlanParams, holds
from memtrial.systems.raw_log.plan.boolean import leaves, show
from memtrial.systems.raw_log.plan.rules import plan_by_rules
from tests.systems.raw_log.plan.people import ASKED, KIM, message, question, view

LOG = view()


def plan(text: str, asker: str = "u1", **params: object) -> Plan:
    return plan_by_rules(question(text, asker), LOG, PlanParams.model_validate(params))


def dates(made: Plan) -> list[DateRange]:
    return [i for i in made.instructions if isinstance(i, DateRange)]


def people(made: Plan) -> list[Person]:
    return [i for i in made.instructions if isinstance(i, Person)]


def words(made: Plan) -> list[Keyword]:
    return [i for i in made.instructions if isinstance(i, Keyword)]


@pytest.mark.parametrize(
    ("text", "about", "certain"),
    [
        ("What did Mark say last week?", "said", True),
        ("What did we discuss last week?", "said", True),
        ("Last week, what did Mark say about the tent?", "said", True),
        ("上周小明说了什么", "said", True),
        ("上周三下午我和小王关于预算的讨论", "said", True),
        # the time may be that of what was said
        ("What did Mark say he did last week?", "event", False),
        ("What did Mark say about the party last week?", "event", False),
        ("王小明说他上周去了哪里", "event", False),
        ("Where did Mark go last week?", "event", False),
        ("上周去了哪里", "event", False),
        ("When did Mark mention the party of last week?", "event", False),
        ("上周的会什么时候说的", "event", False),
        # read in two ways, or a guess
        ("What did Mark say last Monday?", "said", False),
        ("What did Mark say recently?", "said", False),
    ],
)
def test_only_a_time_of_saying_filters(text: str, about: str, certain: bool) -> None:
    (found,) = dates(plan(text))
    assert (found.about, found.certain) == (about, certain)


def test_an_event_is_told_of_for_some_days_after_it() -> None:
    (told,) = dates(plan("Where did Mark go on 3 May?"))
    assert (told.start, told.end) == (datetime(2024, 5, 3, tzinfo=UTC), datetime(2024, 5, 11, tzinfo=UTC))
    (shorter,) = dates(plan("Where did Mark go on 3 May?", event_lag_days=0))
    assert shorter.end == datetime(2024, 5, 4, tzinfo=UTC)


def test_a_question_for_a_time_has_none_and_what_lies_ahead_is_left_out() -> None:
    assert dates(plan("When did Mark buy the tent?")) == []
    made = plan("Will Mark come on 3 June?")
    assert dates(made) == []
    assert made.dropped == (("date_range 3 June", "lies ahead of the question: nothing was said then yet"),)


def test_without_validation_every_time_and_speaker_filters() -> None:
    (found,) = dates(plan("Where did Mark go last week?", validation=False))
    assert found.certain


@pytest.mark.parametrize(
    ("text", "asker", "ids", "role", "certain"),
    [
        ("What did Mark Will say?", "u1", ("u5",), "sender", True),
        ("What did mark will say?", "u1", ("u5",), "sender", True),
        ("What did Jo tell me?", "u2", ("u1",), "sender", True),
        ("Is there a message from Ann about it?", "u1", ("u8",), "sender", True),
        ("Where does Ann live?", "u1", ("u8",), "mentioned", False),
        ("What did Kim say?", "u1", KIM, "sender", False),
        ("What did Lee say?", "u1", ("u2", "u8"), "sender", False),
        ("What did I say?", "u1", ("u1",), "sender", True),
        ("Where do I write to?", "u1", ("u1",), "mentioned", False),
        ("my tent", "u1", ("u1",), "mentioned", False),
        ("小明上周说了什么", "u4", ("u3",), "sender", True),
        ("王小明的回复", "u4", ("u3",), "sender", True),
        ("小王说了什么", "u4", ("u3", "u6"), "sender", False),
        ("周乔喜欢什么", "u3", ("u4",), "mentioned", False),
        ("我说过什么", "u4", ("u4",), "sender", True),
        ("我和王芳的聊天", "u4", ("u4", "u6"), "party", True),
        ("What did Ann and I talk about?", "u1", ("u8", "u1"), "party", True),
        ("我跟小周讨论的事", "u3", ("u3", "u4"), "party", True),
    ],
)
def test_people(text: str, asker: str, ids: tuple[str, ...], role: str, certain: bool) -> None:
    found = {p.ids: p for p in people(plan(text, asker))}
    assert ids in found, found
    assert (found[ids].role, found[ids].certain) == (role, certain)


@pytest.mark.parametrize("text", ["Will it rain?", "a mark on the table", "我们的计划", "Anna and Leela"])
def test_no_people(text: str) -> None:
    assert [p for p in people(plan(text)) if "u1" not in p.ids] == []


def test_a_pronoun_is_the_last_one_named_before() -> None:
    asked = question("What did she want?", history=[("u1", "Did Mark call?"), ("assistant", "No, Ann did.")])
    (she,) = people(plan_by_rules(asked, LOG, PlanParams()))
    assert (she.ids, she.role, she.certain) == (("u8",), "mentioned", False)


def test_phrases_and_numbers_filter_and_words_do_not() -> None:
    made = words(plan('Who spoke of the "blue boat" and order KD-2219, model X2?'))
    assert [(k.words, k.certain) for k in made[:3]] == [('"blue boat"', True), ("KD-2219", True), ("X2", False)]
    assert not made[3].certain
    assert made[3].words.split()[:2] == ["spoke", "blue"]
    assert holds(made[1].tree, terms("your order kd-2219 is late"))
    assert not holds(made[1].tree, terms("your order kd-2218 is late"))


def test_times_and_speakers_that_filter_are_no_key_words() -> None:
    made = words(plan("What did Mark say last week about the tent?"))
    assert show(made[-1].tree) == "tent"
    assert "may" in words(plan("What happened in May with the tent?"))[-1].words.split()


@pytest.mark.parametrize(
    ("text", "left_out"),
    [
        ("Who came to the party besides Ann?", "Ann"),
        ("除了周乔，还有谁参加了聚会", "周乔"),
        ("What fruit apart from apples is there?", "apples"),
    ],
)
def test_what_is_excepted_speaks_against_a_message_and_filters_none(text: str, left_out: str) -> None:
    made = plan(text)
    (keyword,) = words(made)
    assert next(leaf.text for leaf in leaves(keyword.tree, positive=False)).split()[0] == left_out
    assert made.filters == Filters()
    assert not [p for p in people(made) if left_out in p.words]


def test_a_questions_text_is_never_read_as_syntax() -> None:
    made = words(plan('tent OR 1=1) NOT (boat* AND title:secret~2 "'))
    assert [leaf.text for leaf in leaves(made[-1].tree)] == ["tent", "1", "boat", "titl", "secret", "2"]
    assert not list(leaves(made[-1].tree, positive=False))


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("What did we decide?", ["decide"]),
        ("上周争论的预算最后怎么决定的", ["argue", "decide"]),
        ("Who complained?", ["complain"]),
        ("Where is it?", []),
    ],
)
def test_cues(text: str, names: list[str]) -> None:
    assert [i.name for i in plan(text).of("cue") if i.kind == "cue"] == names


def test_parts_can_be_switched_off() -> None:
    made = plan("What did Mark argue last week?", dates=False, people=False, cues=False)
    assert {i.kind for i in made.instructions} == {"keyword", "concept", "topic"}


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                "Kim",
                "Mark",
                "I",
                "小王",
                "我",
                "和",
                " ",
                "said",
                "说",
                "last week",
                "上周",
                "除了",
                "besides",
                '"',
                "KD-2219",
                "except",
                "Will",
                "AND",
                "NOT",
                "(",
                "周乔",
                "的",
                "?",
                "3 May",
                "before",
                "之前",
            ]
        ),
        max_size=12,
    ),
    st.text(max_size=20),
)
def test_no_plan_crashes_or_matches_everything_silently(parts: list[str], more: str) -> None:
    text = "".join(parts) + more
    made = plan_by_rules(question(text), LOG, PlanParams())
    for one in words(made):
        assert not holds(one.tree, [])
        assert not holds(one.tree, ["zulu"]) or "zulu" in text.lower()
    for when in dates(made):
        assert when.start < when.end
        assert when.start <= ASKED
        assert not (when.start.year <= 1000 and when.end > ASKED + timedelta(days=7) and when.certain)
    steps = list(made.relaxations())
    assert steps[0] == made.filters
    assert steps[-1].empty
    assert all(step.relaxed for step in steps[1:])
    stranger = message(1, "nobody", "zulu", days_ago=-4000)
    assert made.filters.empty or not made.filters.admits(stranger, ["zulu"])
