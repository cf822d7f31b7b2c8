"""The facts that fill a slot, in an order of how sure they are, and what their values are in words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from memtrial.systems.base import Query
from memtrial.systems.models.reader.text import language_of
from memtrial.systems.models.reader.values import extract_values
from memtrial.systems.stores.records import MemoryRecords
from memtrial.systems.structured.node import Fact, Node
from memtrial.systems.structured.slots import Slot
from memtrial.systems.structured.trust import Weighed

YES_NO = {"yes": ("Yes", "是"), "no": ("No", "否")}
STATES = {"open": ("still open", "处理中"), "resolved": ("closed", "已解决")}


@dataclass(frozen=True, slots=True)
class SlotFacts:
    """A question, its slot and the facts that fill it.

    Attributes:
        records: the truth, for earlier versions.
        query: the question.
        slot: what it asks for.
        filled: facts of the slot that stand, best first.
        name: tells what an entity of a tenant is called.
    """

    records: MemoryRecords
    query: Query
    slot: Slot
    filled: tuple[Weighed, ...]
    name: Callable[[str, str], str]

    @property
    def language(self) -> str:
        """``zh`` or ``en``, as the question is."""
        return language_of(self.query.text, self.query.language)

    def of(self, attribute: str, thing: str = "") -> list[Weighed]:
        """Return the facts of an attribute (and a thing), the surest and then the newest first."""
        found = [
            w
            for w in self.filled
            if w.node.fact.attribute == attribute
            and (not thing or thing in (*w.node.fact.entities, w.node.fact.subject))
        ]
        return sorted(found, key=sureness)


def sureness(weighed: Weighed) -> tuple[bool, float]:
    """Return a key that sorts the surest and then the newest first."""
    fact = weighed.node.fact
    return fact.state == "uncertain", -fact.recorded_at.timestamp()


def say(fact: Fact, language: str) -> str:
    """Return a fact's value in words, as its statement writes it where it does."""
    zh = language == "zh"
    if fact.value in YES_NO and fact.value_kind == "boolean":
        return YES_NO[fact.value][zh]
    if fact.attribute == "ticket_state" and fact.value in STATES:
        return STATES[fact.value][zh]
    if fact.attribute.startswith("supports:"):
        return f"仅{fact.value}支持" if zh else f"only the {fact.value}"
    if fact.value_kind in ("date", "money", "quantity"):
        written = [v for v in extract_values(fact.text, fact.recorded_at, language) if v.norm == fact.value]
        if written:
            return written[-1].say
    return fact.value


def was_told(node: Node, facts: SlotFacts) -> bool:
    """Tell whether a version had been stated, for sure, when the question was asked."""
    fact = node.fact
    return fact.state not in ("injected", "retracted", "uncertain") and fact.recorded_at <= facts.query.asked_at


def versions_of(facts: SlotFacts, standing: Sequence[Weighed]) -> list[Weighed]:
    """Return every version of some memories: a complaint was made even where another one came after it."""
    by_memory = {w.node.memory_id: w for w in standing}
    told = facts.records.histories(facts.query.tenant_id, by_memory)
    return [
        Weighed(node, by_memory[memory].score, by_memory[memory].trust)
        for memory, nodes in told.items()
        for node in nodes
        if was_told(node, facts)
    ]
