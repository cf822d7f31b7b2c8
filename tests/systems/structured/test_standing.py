from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from memtrial.systems.stores.records import MemoryRecords
from memtrial.systems.structured.node import Extraction, Fact, memory_key
from memtrial.systems.structured.standing import believed
from memtrial.systems.structured.trust import SourceParams

Claim = Callable[..., Fact]


def read(open_records: Callable[..., MemoryRecords], *facts: Fact, days: int = 30) -> list[str]:
    records: Any = open_records()
    records.write(Extraction(facts=list(facts)), [])
    memory = memory_key(facts[0])
    when = facts[0].recorded_at + timedelta(days=days)
    newest = records.as_of("t1", [memory], when)
    return [node.fact.value for node in believed(records, "t1", newest, when, SourceParams())[memory]]


def test_a_guess_does_not_replace_what_is_sure(open_records: Any, claim: Claim) -> None:
    sure = claim(1, "yes", source="erp", owner="person:ann")
    assert read(open_records, sure, claim(2, "no", source="chat_log", owner="person:ann", state="uncertain")) == ["yes"]


def test_a_guess_stands_where_nothing_is_sure(open_records: Any, claim: Claim) -> None:
    assert read(open_records, claim(1, "yes", state="uncertain"), claim(2, "no", state="uncertain")) == ["no"]


def test_a_rule_is_the_wikis_to_change(open_records: Any, claim: Claim) -> None:
    wiki = {"source": "wiki", "fact_type": "policy"}
    chat = {"source": "chat_log", "fact_type": "policy"}
    assert read(open_records, claim(1, "30", **wiki), claim(2, "90", **chat)) == ["30"]
    assert read(open_records, claim(1, "30", **wiki), claim(2, "90", **chat), claim(3, "14", **wiki)) == ["14"]


def test_ones_own_matter_is_changed_by_whoever_speaks_last(open_records: Any, claim: Claim) -> None:
    before = claim(1, "old street", source="erp", owner="person:ann", fact_type="state")
    after = claim(2, "new street", source="chat_log", owner="person:ann", fact_type="state")
    assert read(open_records, before, after) == ["new street"]


def test_what_was_taken_back_does_not_come_back_behind_a_guess(open_records: Any, claim: Claim) -> None:
    facts = [claim(1, "a"), claim(2, "b"), claim(3, "b", state="retracted"), claim(4, "c", state="uncertain")]
    assert read(open_records, *facts) == ["a"]


def test_what_was_said_later_is_not_known_yet(open_records: Any, claim: Claim) -> None:
    facts = [claim(1, "a"), claim(2, "b", state="uncertain"), claim(20, "c")]
    assert read(open_records, *facts, days=5) == ["a"]
