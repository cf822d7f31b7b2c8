"""What a trace decided, told in lines that a page can hold."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from memtrial.metrics.records import TraceSummary
from memtrial.reports.browser import shelves
from memtrial.reports.content import build
from memtrial.reports.decisions import CHARS, MOST, decisions
from memtrial.reports.html import render_html
from memtrial.reports.text import render_question
from memtrial.reports.view import View
from tests.reports.conftest import HOSTILE, make_run

STRUCTURED: dict[str, Any] = {
    "gates": {
        "semantic": {"open": False, "reason": "probability 0.110, threshold 0.395"},
        "context": {"open": True, "reason": "delivery under way"},
        "cost": {"open": None, "reason": "off"},
        "max_items": 3,
    },
    "policy": ["'last time' switches decay on"],
    "slot": {
        "attributes": ["address"],
        "shape": "value",
        "things": ["order:a-1"],
        "owner": "person:ann",
        "cue": "where",
        "filled": 2,
        "computed": False,
        "left_out": 4,
    },
    "filtered": {"state": 1, "rivals": 22},
    "fusion": {"weights": {"keyword": 0.3, "vector": 0.7, "graph": 0.0}, "found": {"keyword": 6}, "reason": "a code"},
    "candidates": ["m1", "m2"],
    "arbiter": [{"lost": "n2", "to": "n1", "reason": "order:a-1 address: recorded 2024-01-01, the other 2024-02-01"}],
    "trust": {"n1": {"score": 0.905, "authority": 0.95, "recency": 0.9}, "n2": {"score": 0.4, "authority": 0.2}},
    "trust_messages": {"n1": ["m7", "m9"], "n2": ["m1"]},
    "search": "hnsw",
    "vectors": 1337,
    "vectors_indexed": 1300,
    "dims": 192,
    "ef": 128,
    "explained_variance": 0.994,
    "history": ["first red, then blue"],
    "answer_kind": "place",
    "reader_confidence": 0.5876,
}


def test_gates_facts_caches_and_warnings_are_told_in_order() -> None:
    trace = TraceSummary(
        gates=[("lookup", False, "semantic: arithmetic")],
        facts={"slot": {"attributes": ["serial"], "owner": ""}, "policy": ["'last time' lifts floors"], "vectors": 5},
        cache_hits={"results": 1},
        warnings=["2 memories cut"],
    )
    assert decisions(trace) == [
        "lookup shut: semantic: arithmetic",
        "policy: 'last time' lifts floors",
        "slot: serial",
        "from cache: results 1",
        "warning: 2 memories cut",
        "vectors: 5",
    ]


def test_every_decision_of_structured_memory_is_told_in_words() -> None:
    lines = decisions(TraceSummary(gates=[("lookup", True, "context: delivery under way")], facts=STRUCTURED), most=40)
    assert lines == [
        "lookup open: context: delivery under way",
        "gates: semantic shut (probability 0.110, threshold 0.395); context open (delivery under way); at most 3 memories",
        "policy: 'last time' switches decay on",
        "slot: address (value) of order:a-1 for person:ann by the words “where”; facts that fit: 2; memories of other matters left out: 4",
        "arbiter: 1 gave way; order:a-1 address: recorded 2024-01-01, the other 2024-02-01",
        "filtered out: 1 injected or retracted, 22 about something else than the question names",
        "trust of the first ranked: 0.905 of m7, m9 (authority 0.95, recency 0.9), 0.4",
        "fusion: keyword 0.3 (6 found), vector 0.7; a code",
        "candidates: 2 messages recorded",
        "history: first red, then blue",
        "vector search: by the graph index (1,337 vectors, 192 dimensions, 99.4% of the variance kept, ef 128)",
        "reader: answer of type place, confidence 0.588",
    ]


def test_a_plan_tells_first_what_gave_way() -> None:
    plan = {
        "source": "rules",
        "instructions": [
            {"kind": "date_range", "words": "last week", "certain": True, "start": "2024-05-01T00:00:00+00:00", "end": "2024-05-08"},
            {"kind": "person", "words": "Ann", "certain": False},
        ],
        "dropped": [{"what": "person Bob", "why": "nobody of that name"}],
        "relaxed": ["person", "date_range"],
    }  # fmt: skip
    told = (
        "plan by rules: relaxed: person, date_range; date range “last week” 2024-05-01–2024-05-08 (certain), person “Ann”; "
        "dropped: person Bob, as nobody of that name"
    )
    assert decisions(TraceSummary(facts={"plan": plan})) == [told]


def test_a_hybrid_tells_who_was_asked_and_who_answered() -> None:
    facts = {"route": {"to": "structured", "rule": "slot", "reason": "3 facts"}, "answered_by": "raw_log", "fell_back": True}  # fmt: skip
    assert decisions(TraceSummary(facts=facts)) == [
        "route: structured by rule slot: 3 facts; structured abstained, raw_log answered"
    ]
    facts["answered_by"] = "structured"
    assert decisions(TraceSummary(facts=facts))[0].endswith("structured abstained, and so did the other part")


def test_steps_of_an_agent_are_told_with_what_they_found() -> None:
    steps = [
        {"tool": "search", "arguments": '{"text": "x"}', "hits": 4},
        {"tool": "around", "arguments": "{}", "hits": 0, "error": "no such message"},
    ]
    facts = {"agent": steps, "agent_end": {"protocol": "tools", "end": "answered"}}
    assert decisions(TraceSummary(facts=facts)) == [
        'agent, 2 steps: search {"text": "x"} → 4 hits; around {} → failed: no such message',
        'agent end: {"protocol": "tools", "end": "answered"}',
    ]


def test_facts_of_other_systems_are_shown_by_name_and_cut() -> None:
    facts = {"my_score": {"a": [1, 2.5, None]}, "note": "plain", "long": "x" * 5000, "empty": [], "route": "west"}
    lines = decisions(TraceSummary(facts=facts))
    assert lines[:2] == ['my score: {"a": [1, 2.5, null]}', "note: plain"]
    assert lines[2].startswith("long: xxx")
    assert lines[2].endswith("…")
    assert lines[3:] == ["route: west"]


def test_what_does_not_fit_is_counted() -> None:
    lines = decisions(TraceSummary(facts={f"fact{i}": i for i in range(20)}), most=5)
    assert lines == ["fact0: 0", "fact1: 1", "fact2: 2", "fact3: 3", "and 16 more, which memtrial show tells"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=300),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=9), inner, max_size=4),
    max_leaves=12,
)
KEYS = ("reason", "open", "to", "rule", "score", "attributes", "weights", "found", "instructions", "kind", "items")
SHAPED = st.dictionaries(st.sampled_from(KEYS), JSON, max_size=5)


@given(st.dictionaries(st.sampled_from([*STRUCTURED, "route", "plan", "agent", "open", "graph", "rerank", "odd"]),
                       JSON | SHAPED | st.lists(SHAPED, max_size=3) | st.dictionaries(st.text(max_size=5), SHAPED, max_size=3)))  # fmt: skip
def test_whatever_a_system_records_the_lines_stay_few_and_short(facts: dict[str, Any]) -> None:
    lines = decisions(TraceSummary(facts=facts, warnings=["x\ny"] * 30))
    assert len(lines) <= MOST
    assert all(line and len(line) <= CHARS and "\n" not in line for line in lines)


@given(st.sampled_from(sorted(STRUCTURED)), JSON)
def test_a_known_fact_of_another_shape_is_never_lost(name: str, value: Any) -> None:
    told = decisions(TraceSummary(facts={name: value}))
    if name in ("gates", "filtered") and isinstance(value, dict):
        return  # of these a part may say nothing: a gate without a decision, a filter that took nothing away
    silent = value in (None, "", [], {}) and name != "candidates"
    assert bool(told) is not silent or (name, value) in (("candidates", None), ("candidates", ""), ("candidates", {}))


def _with_facts(facts: dict[str, Any]) -> Any:
    run = make_run()
    trace = TraceSummary(gates=[("lookup", True, HOSTILE)], facts=facts, warnings=[HOSTILE], cache_hits={"<b>": 1})
    kept = [r.model_copy(update={"result": r.result.model_copy(update={"trace": trace})}) for r in run.records]
    return replace(run, records=kept)


def test_a_page_folds_the_reasons_away_and_runs_none_of_them() -> None:
    page = render_html(build(_with_facts({"slot": {"attributes": [HOSTILE]}, HOSTILE: HOSTILE})))
    assert page.count('<details class="why">') == 2 * 3 * 16
    assert "<script>alert" not in page
    assert "<img src=x" not in page
    assert "\u202e" not in page


def test_show_tells_all_of_it_wrapped() -> None:
    shown = render_question(_with_facts(STRUCTURED), "q001")
    assert "    why:\n      lookup open: " in shown
    assert "      reader: answer of type place, confidence 0.588" in shown


def test_with_many_answers_each_gets_fewer_lines() -> None:
    few = shelves(View(_with_facts(STRUCTURED)))
    assert {len(a.why) for shelf in few for q in shelf.questions for a in q.answers} == {MOST}
    run = _with_facts(STRUCTURED)
    trials = [replace_trial(t, number) for number in range(220) for t in run.trials[:1]]
    records = [r.model_copy(update={"trial": t.trial}) for t in trials for r in run.records if r.trial == "bm25"]
    many = shelves(View(replace(run, trials=trials, records=records)))
    assert {len(a.why) for shelf in many for q in shelf.questions for a in q.answers} == {5}


def replace_trial(trial: Any, number: int) -> Any:
    """Return the trial under another name."""
    return trial.model_copy(update={"trial": f"bm25-{number}"})
