from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from memtrial.systems.base import Trace
from memtrial.systems.models.analyze import terms
from memtrial.systems.raw_log.plan import Concept, DateRange, Filters, Keyword, Leaf, Person, Plan, relax
from tests.systems.raw_log.plan.people import ASKED, message

WEEK = DateRange("last week", ASKED - timedelta(days=9), ASKED - timedelta(days=2), "said", True)
KIM = Person("Kim", ("u2",), ("Kim Lee",), "sender", True)
TENT = Keyword('"tent"', Leaf("tent"), True)
PLAN = Plan((WEEK, KIM, TENT, Concept("the tent"), replace(KIM, ids=("u3",), certain=False)))


def test_filters_give_way_in_a_fixed_order() -> None:
    steps = list(PLAN.relaxations())
    assert [step.relaxed for step in steps] == [
        (),
        ("date_range widened",),
        ("date_range widened", "person"),
        ("date_range widened", "person", "date_range"),
        ("date_range widened", "person", "date_range", "keyword"),
    ]
    assert steps[0].senders == ("u2",)
    assert steps[1].dates[0].start == WEEK.start - timedelta(days=1)
    assert steps[1].dates[0].end == WEEK.end + timedelta(days=1)
    assert [bool(s.dates) for s in steps] == [True, True, True, False, False]
    assert steps[-1].empty


def test_a_plan_without_filters_has_none_to_relax() -> None:
    assert list(Plan((Concept("x"),)).relaxations()) == [Filters()]


def test_the_filters_admit_what_meets_all_kinds() -> None:
    filters = PLAN.filters
    text = "the tent is red"
    assert filters.admits(message(1, "u2", text, days_ago=5), terms(text))
    assert not filters.admits(message(1, "u3", text, days_ago=5), terms(text))
    assert not filters.admits(message(1, "u2", text, days_ago=1), terms(text))
    assert not filters.admits(message(1, "u2", "red", days_ago=5), terms("red"))
    # half open
    assert filters.admits(message(1, "u2", text, days_ago=9), terms(text))
    assert not filters.admits(message(1, "u2", text, days_ago=2), terms(text))


def test_relaxing_stops_where_enough_is_left_and_says_what_gave_way() -> None:
    trace = Trace()
    counts = {(): 0, ("date_range widened",): 1, ("date_range widened", "person"): 4}
    chosen = relax(PLAN, lambda filters: counts[filters.relaxed], 2, trace)
    assert chosen.relaxed == ("date_range widened", "person")
    assert trace.facts["plan"]["relaxed"] == ["date_range widened", "person"]
    assert trace.warnings == ["plan: too few candidates, relaxed in this order: date_range widened, person"]


def test_what_is_enough_is_not_relaxed_and_nothing_leaves_the_candidates_empty() -> None:
    trace = Trace()
    assert relax(PLAN, lambda filters: 1, 1, trace) == PLAN.filters
    assert trace.warnings == []
    assert relax(PLAN, lambda filters: 0, 1, trace).empty
    assert relax(PLAN, lambda filters: 0, 0, Trace()).empty


def test_a_plan_is_told_in_the_trace() -> None:
    told = PLAN.summary()
    assert told["instructions"][0]["start"] == WEEK.start.isoformat()
    assert told["instructions"][2]["expression"] == "tent"
    assert told["source"] == "rules"
