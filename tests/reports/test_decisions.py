"""What a trace decided, told in lines that a page can hold."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memtrial.metrics.records import TraceSummary
from memtrial.reports.decisions import decisions


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
        'slot: attributes ["serial"]',
        "from cache: results 1",
        "warning: 2 memories cut",
    ]


@given(facts=st.dictionaries(st.sampled_from(["slot", "plan", "trust", "arbiter", "odd"]), st.recursive(
    st.none() | st.booleans() | st.text(max_size=400), lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3))))  # fmt: skip
def test_whatever_a_system_records_the_lines_stay_short(facts: dict[str, object]) -> None:
    lines = decisions(TraceSummary(facts=facts, warnings=["x\ny"] * 30))
    assert len(lines) <= 10
    assert all(len(line) <= 200 and "\n" not in line for line in lines)
