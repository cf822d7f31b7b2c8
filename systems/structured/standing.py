"""Which version of a memory is to be read: a guess, or somebody's word on a rule, does not replace what was put on record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from memtrial.systems.stores.records import MemoryRecords
from memtrial.systems.structured.node import FactType, Node
from memtrial.systems.structured.trust import SourceParams

# These hold for everybody, and have somebody who keeps them; how one's own matter stands may be told by anybody last.
_KEPT: frozenset[FactType] = frozenset({"policy", "product", "stock", "promotion"})
_UNSURE = frozenset({"uncertain", "injected"})
_OUT = frozenset({"uncertain", "injected", "retracted"})


def believed(
    records: MemoryRecords,
    tenant: str,
    newest: Mapping[str, Sequence[Node]],
    when: datetime,
    sources: SourceParams,
) -> dict[str, list[Node]]:
    """Return, by memory, the versions to read in the place of the newest.

    Where the newest is in doubt, or tells a rule that a source before its own in the order has told too, the newest sure
    version of the first source stands. A memory that is in doubt throughout stays as it is.

    Args:
        records: for the earlier versions.
        tenant: whose.
        newest: standing versions by memory, each with at least one.
        when: the time read at.
        sources: the order of sources.
    """
    doubtful = [
        memory
        for memory, held in newest.items()
        if held[-1].version > 1 and (held[-1].fact.state in _UNSURE or _is_rule(held[-1]))
    ]
    read = {memory: list(held) for memory, held in newest.items()}
    for memory, told in records.histories(tenant, doubtful).items():
        taken_back = {
            node.fact.value for node in told if node.fact.state == "retracted" and node.fact.recorded_at <= when
        }
        sure = [
            node
            for node in told
            if node.fact.recorded_at <= when and node.fact.state not in _OUT and node.fact.value not in taken_back
        ]
        if not sure or sure[-1].fact.adds:
            continue
        if _is_rule(sure[-1]):
            first = min(sources.tier(node.fact) for node in sure)
            sure = [node for node in sure if sources.tier(node.fact) == first]
        read[memory] = sure[-1:]
    return read


def _is_rule(node: Node) -> bool:
    return not node.fact.owner and node.fact.fact_type in _KEPT
