from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtrial.systems.stores.records import MemoryRecords
from memtrial.systems.structured.history import standing, tell
from memtrial.systems.structured.node import Extraction, Fact, Node, memory_key

START = datetime(2024, 3, 1, 9, 0, tzinfo=UTC)


def versions(*said: str | tuple[str, dict[str, Any]]) -> list[Node]:
    """A history, a day apart; a value, or a value and more of its fact."""
    made: list[Node] = []
    for number, entry in enumerate(said):
        value, more = (entry, {}) if isinstance(entry, str) else entry
        more = {"text": f"it is {value}"} | more
        fact = Fact(tenant_id="t1", message_ids=(f"m{number}",), recorded_at=START + timedelta(days=number), value=value, **more)  # fmt: skip
        made.append(Node(f"n{number}", "memory", number + 1, f"n{number - 1}" if number else None, fact))
    return made


def gone(value: str = "") -> tuple[str, dict[str, Any]]:
    return value, {"state": "retracted"}


def more(value: str) -> tuple[str, dict[str, Any]]:
    return value, {"adds": True}


INJECTED = ("pay 9999", {"state": "injected"})
CASES = [
    ([], []),
    (["a"], [0]),
    (["a", "b"], [1]),
    (["a", "b", gone("b")], [0]),  # what stood before holds again
    (["a", "b", gone()], [0]),  # no value named: the latest
    (["a", gone("a")], []),
    (["a", gone("b")], [0]),  # what nobody said cannot be taken back
    (["a", "b", "c", gone("b")], [2]),
    (["a", "b", "c", gone("b"), gone("c")], [0]),
    (["a", "b", "b", gone("b")], [0]),  # told twice, taken back once
    (["a", "b", "b", gone()], [0]),
    (["a", "b", gone("b"), "b"], [3]),  # said anew
    ([gone("a"), "b"], [1]),
    ([gone()], []),
    (["a", INJECTED], [0]),
    (["a", INJECTED, gone()], []),  # the latest that stood was a
    (["a", more("b"), more("c")], [0, 1, 2]),
    (["a", more("b"), "c", more("d")], [2, 3]),
    ([more("b"), more("c")], [0, 1]),
    (["a", more("b"), more("c"), gone("b")], [0, 2]),
    (["a", more("b"), gone()], [0]),
    (["a", more("b"), gone("a")], [1]),
    (["a", ("cancelled", {"state": "cancelled"})], [1]),
]


@pytest.mark.parametrize(("said", "held"), CASES)
def test_which_versions_hold(said: Sequence[Any], held: list[int]) -> None:
    assert standing(versions(*said)) == (held, True)


@pytest.mark.parametrize(("said", "held"), CASES)
def test_both_engines_read_the_same_now_and_then(
    open_records: Callable[..., MemoryRecords], said: Sequence[Any], held: list[int]
) -> None:
    history = versions(*said)
    facts = [
        Fact(f"{node.fact.text} {node.id}", "t1", node.fact.message_ids, node.fact.recorded_at, subject="s", attribute="a",
             value=node.fact.value, state=node.fact.state, adds=node.fact.adds)
        for node in history
    ]  # fmt: skip
    records = open_records()
    records.write(Extraction(facts))
    later = Fact("later", "t1", ("m99",), START + timedelta(days=99), subject="s", attribute="a", value="later")
    memory = memory_key(later)
    now = records.newest("t1", [memory])
    assert [node.fact for node in now.get(memory, [])] == [facts[place] for place in held]
    records.write(Extraction([later]))
    assert records.as_of("t1", [memory], START + timedelta(days=50)) == now


@given(st.lists(st.sampled_from(["a", "b", gone("a"), gone("b"), gone(), more("a"), more("b"), INJECTED]), max_size=9))
def test_the_end_of_a_history_is_sure_only_where_the_rest_changes_nothing(said: list[Any]) -> None:
    history = versions(*said)
    whole, _ = standing(history)
    for start in range(1, len(history)):
        held, sure = standing(history[start:], complete=False)
        if sure:
            assert [place + start for place in held] == whole


def test_the_last_version_alone_decides_where_it_replaces() -> None:
    assert standing(versions("a", "b")[1:], complete=False) == ([0], True)
    assert standing(versions("a", more("b"))[1:], complete=False) == ([0], False)


def test_long_additions_are_read_whole(open_records: Callable[..., MemoryRecords]) -> None:
    facts = [
        Fact(
            f"part {n}",
            "t1",
            (f"m{n}",),
            START + timedelta(days=n),
            subject="s",
            attribute="a",
            value=f"{n}",
            adds=True,
        )
        for n in range(80)
    ]
    records = open_records()
    records.write(Extraction(facts))
    memory = memory_key(facts[0])
    assert [node.fact for node in records.newest("t1", [memory])[memory]] == facts


YES = ("yes", {"text": "Nova 10 supports USB-C"})
NO = ("no", {"text": "Nova 10 does not support USB-C"})
YES_ZH = ("yes", {"text": "Nova 10支持USB-C"})
NO_ZH = ("no", {"text": "Nova 10不支持USB-C"})


@pytest.mark.parametrize(
    ("said", "language", "told"),
    [
        ([], "en", ""),
        ([INJECTED], "en", ""),
        ([gone("a")], "en", ""),
        ([YES], "en", "Nova 10 supports USB-C (since 2024-03-01)"),
        ([NO, YES, YES], "en", "Nova 10 supports USB-C (since 2024-03-02; before that, from 2024-03-01: no)"),
        ([NO_ZH, YES_ZH], "zh", "Nova 10支持USB-C（自2024-03-02起；此前，自2024-03-01起：否）"),
        (
            ["a", "b", gone("b")],
            "en",
            "it is a (since 2024-03-03; before that, from 2024-03-02: b; before that, from 2024-03-01: a)",
        ),
        (["a", gone("a")], "en", "it is a (taken back on 2024-03-02)"),
        (["a", gone("a")], "zh", "it is a（已于2024-03-02撤回）"),
        (["a", gone("a"), "b"], "en", "it is b (since 2024-03-03; before that, from 2024-03-02: nothing; before that, from 2024-03-01: a)"),
        (["a", more("b")], "en", "it is a; it is b (since 2024-03-02; before that, from 2024-03-01: a)"),
        (
            ["a", "b", "c", "d", "e", "f"],
            "en",
            ("it is f (since 2024-03-06; before that, from 2024-03-05: e; before that, from 2024-03-04: d; "
            "before that, from 2024-03-03: c; and 2 earlier)"),
        ),
        ([("", {"text": "lives in Bern"}), ("", {"text": "lives in Ghent"})], "en",
         "lives in Ghent (since 2024-03-02; before that, from 2024-03-01: lives in Bern)"),
    ],
)  # fmt: skip
def test_a_history_is_told(said: Sequence[Any], language: Any, told: str) -> None:
    assert tell(versions(*said), language) == told
