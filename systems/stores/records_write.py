"""One transaction of the memory records: which facts are new, where they stand in their histories, and all their rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from memtrial.systems.stores.records_engine import Database
from memtrial.systems.stores.records_schema import (
    EDGES,
    ENTITIES,
    MESSAGES,
    NODE_ENTITIES,
    NODE_MESSAGES,
    NODES,
    OUTBOX,
    STAMP,
    TENANTS,
    edge_row,
    entity_row,
    microseconds,
    node_row,
    row_entity,
    short,
    stored,
)
from memtrial.systems.structured.node import Edge, Entity, Extraction, Fact, Node, memory_key, node_id

T = TypeVar("T")
_BATCH = 500


@dataclass(slots=True)
class _Version:
    """A fact's place among the versions of its memory."""

    id: str
    recorded_us: int
    seq: int
    version: int = 0
    parent_id: str | None = None


def portions(items: Sequence[T], size: int = _BATCH) -> Iterator[Sequence[T]]:
    """Cut a list into pieces that fit a statement."""
    for start in range(0, len(items), size):
        yield items[start : start + size]


def known_messages(connection: Connection, message_ids: Iterable[str]) -> set[str]:
    """Return those of the messages that were ingested before."""
    by_key = {short(id): id for id in message_ids}
    found: set[str] = set()
    for keys in portions(list(by_key)):
        found |= {by_key[key] for (key,) in connection.execute(sa.select(MESSAGES.c.id).where(MESSAGES.c.id.in_(keys)))}
    return found


class Writing:
    """What one ``MemoryRecords.write`` does, inside its transaction."""

    def __init__(self, database: Database, connection: Connection) -> None:
        """Take the number that the next row gets; other writers wait from here on."""
        self._database, self._connection = database, connection
        self._seq = int(connection.execute(sa.select(STAMP.c.next_seq).with_for_update()).scalar_one())

    def run(self, extraction: Extraction, message_ids: Sequence[str]) -> list[Node]:
        """Write all that is new of an extraction and return the new nodes, as they stand in their histories."""
        ids = list(dict.fromkeys(message_ids))
        known = known_messages(self._connection, ids)
        if ids and len(known) == len(ids):
            return []
        self._insert(MESSAGES, [{"id": key} for key in dict.fromkeys(short(id) for id in ids if id not in known)])
        self._add_tenants(extraction)
        nodes = self._add_facts(extraction.facts)
        self._add_entities(extraction.entities)
        self._add_edges(extraction.edges)
        self._connection.execute(sa.update(STAMP).values(next_seq=self._seq))
        return nodes

    def _next(self) -> int:
        self._seq += 1
        return self._seq - 1

    def _insert(self, table: sa.Table, rows: Sequence[dict[str, Any]]) -> None:
        if rows:
            self._connection.execute(sa.insert(table), rows)

    def _present(self, table: sa.Table, tenant: str, ids: Iterable[str]) -> set[str]:
        found: set[str] = set()
        for some in portions(list(dict.fromkeys(ids))):
            asked = sa.select(table.c.id).where(table.c.tenant_id == tenant, table.c.id.in_(some))
            found.update(self._connection.execute(asked).scalars())
        return found

    def _add_tenants(self, extraction: Extraction) -> None:
        items: list[Fact | Entity | Edge] = [*extraction.facts, *extraction.entities, *extraction.edges]
        met = dict.fromkeys(stored(item.tenant_id) for item in items)
        if not met:
            return
        there = set(self._connection.execute(sa.select(TENANTS.c.tenant_id)).scalars())
        for tenant in met:
            if tenant not in there:
                self._database.make_partition(self._connection, tenant, len(there))
                self._insert(TENANTS, [{"tenant_id": tenant}])
                there.add(tenant)

    def _add_facts(self, facts: Sequence[Fact]) -> list[Node]:
        by_id: dict[str, Fact] = {}
        by_tenant: dict[str, list[str]] = {}
        for fact in facts:
            id = node_id(fact)
            if id not in by_id:
                by_id[id] = fact
                by_tenant.setdefault(stored(fact.tenant_id), []).append(id)
        there = {id for tenant, ids in by_tenant.items() for id in self._present(NODES, tenant, ids)}
        new: dict[str, dict[str, list[_Version]]] = {}
        for id, fact in by_id.items():
            if id not in there:
                version = _Version(id, microseconds(fact.recorded_at), self._next())
                new.setdefault(stored(fact.tenant_id), {}).setdefault(memory_key(fact), []).append(version)
        placed: list[tuple[Node, int]] = []
        for tenant, memories in new.items():
            self._place(tenant, memories)
            placed += [
                (Node(v.id, memory, v.version, v.parent_id, by_id[v.id]), v.seq)
                for memory, versions in memories.items()
                for v in versions
            ]
        # In the order of the facts, over all tenants and memories.
        ordered = sorted(placed, key=lambda pair: pair[1])
        self._insert(NODES, [node_row(node, seq) for node, seq in ordered])
        self._insert(NODE_ENTITIES, [row for node, seq in ordered for row in _entity_links(node, seq)])
        self._insert(NODE_MESSAGES, [row for node, seq in ordered for row in _message_links(node, seq)])
        self._insert(
            OUTBOX,
            [{"seq": seq, "tenant_id": stored(node.fact.tenant_id), "node_id": node.id} for node, seq in ordered],
        )
        return [node for node, _ in ordered]

    def _place(self, tenant: str, new: dict[str, list[_Version]]) -> None:
        """Number new versions, by memory, after those that are there or between them."""
        last = self._last_versions(tenant, list(new))
        for memory, versions in new.items():
            versions.sort(key=lambda v: v.recorded_us)  # stable: equal times stay in the order of arrival
            before = last.get(memory)
            if before is not None and versions[0].recorded_us < before.recorded_us:
                self._slot_in(tenant, memory, versions)
                continue
            for version in versions:
                version.version = before.version + 1 if before else 1
                version.parent_id = before.id if before else None
                before = version

    def _last_versions(self, tenant: str, memories: Sequence[str]) -> dict[str, _Version]:
        found: dict[str, _Version] = {}
        n = NODES.c
        for some in portions(memories):
            newest = (
                sa.select(n.memory_id, sa.func.max(n.version))
                .where(n.tenant_id == tenant, n.memory_id.in_(some))
                .group_by(n.memory_id)
            )
            asked = sa.select(n.memory_id, n.id, n.recorded_us, n.seq, n.version, n.parent_id).where(
                n.tenant_id == tenant, sa.tuple_(n.memory_id, n.version).in_(newest)
            )
            found |= {row[0]: _Version(*row[1:]) for row in self._connection.execute(asked)}
        return found

    def _slot_in(self, tenant: str, memory: str, versions: Sequence[_Version]) -> None:
        n = NODES.c
        asked = sa.select(n.id, n.recorded_us, n.seq, n.version, n.parent_id).where(
            n.tenant_id == tenant, n.memory_id == memory
        )
        there = [_Version(*row) for row in self._connection.execute(asked)]
        old = {v.id: replace(v) for v in there}
        before: str | None = None
        moved: list[dict[str, Any]] = []
        for place, version in enumerate(sorted([*there, *versions], key=lambda v: (v.recorded_us, v.seq)), start=1):
            version.version, version.parent_id, before = place, before, version.id
            if version.id in old and version != old[version.id]:
                moved.append({"of": version.id, "place": place, "before": version.parent_id})
        if moved:
            change = (
                sa.update(NODES)
                .where(n.tenant_id == tenant, n.id == sa.bindparam("of"))
                .values(version=sa.bindparam("place"), parent_id=sa.bindparam("before"))
            )
            self._connection.execute(change, moved)

    def _add_entities(self, entities: Sequence[Entity]) -> None:
        """Add what is new; of an entity that is there, only aliases can grow."""
        by_tenant: dict[str, dict[str, Entity]] = {}
        for entity in entities:
            own = by_tenant.setdefault(stored(entity.tenant_id), {})
            key = short(entity.key)
            own[key] = _joined(own[key], entity) if key in own else entity
        e = ENTITIES.c
        for tenant, own in by_tenant.items():
            there: dict[str, Entity] = {}
            for some in portions(list(own)):
                asked = sa.select(ENTITIES).where(e.tenant_id == tenant, e.id.in_(some))
                there |= {row[1]: row_entity(row) for row in self._connection.execute(asked)}
            self._insert(ENTITIES, [entity_row(x, self._next()) for key, x in own.items() if key not in there])
            for key, before in there.items():
                after = _joined(before, own[key])
                if after != before:
                    aliases = entity_row(after, 0)["aliases"]
                    same = (e.tenant_id == tenant) & (e.id == key)
                    self._connection.execute(sa.update(ENTITIES).where(same).values(aliases=aliases))

    def _add_edges(self, edges: Sequence[Edge]) -> None:
        by_tenant: dict[str, dict[str, dict[str, Any]]] = {}
        for edge in edges:
            row = edge_row(edge, 0)
            by_tenant.setdefault(row["tenant_id"], {}).setdefault(row["id"], row)
        for tenant, rows in by_tenant.items():
            there = self._present(EDGES, tenant, rows)
            self._insert(EDGES, [row | {"seq": self._next()} for id, row in rows.items() if id not in there])


def _joined(before: Entity, after: Entity) -> Entity:
    return replace(before, aliases=tuple(sorted({*before.aliases, *after.aliases})))


def _entity_links(node: Node, seq: int) -> list[dict[str, Any]]:
    tenant, recorded = stored(node.fact.tenant_id), microseconds(node.fact.recorded_at)
    keys = dict.fromkeys(short(key) for key in (node.fact.subject, node.fact.owner, *node.fact.entities) if key)
    return [
        {"tenant_id": tenant, "entity": key, "recorded_us": recorded, "seq": seq, "node_id": node.id} for key in keys
    ]


def _message_links(node: Node, seq: int) -> list[dict[str, Any]]:
    tenant = stored(node.fact.tenant_id)
    keys = dict.fromkeys(short(id) for id in node.fact.message_ids)
    return [{"tenant_id": tenant, "message": key, "seq": seq, "node_id": node.id} for key in keys]
