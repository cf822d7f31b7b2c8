"""Reading the memory records: by id, by memory now or as of a time, by entity, by message."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from memtrial.systems.stores.records_engine import Database
from memtrial.systems.stores.records_schema import (
    EDGES,
    ENTITIES,
    NODE_ENTITIES,
    NODE_MESSAGES,
    NODES,
    TENANTS,
    microseconds,
    restored,
    row_edge,
    row_entity,
    row_node,
    short,
    stored,
)
from memtrial.systems.stores.records_write import portions
from memtrial.systems.structured.history import standing
from memtrial.systems.structured.node import Edge, Entity, Node

_RECENT = (1, 32, None)
"""How many of the latest versions are read to tell which hold: mostly one will do; additions and retractions need more."""


class RecordsReader:
    """The reading half of ``MemoryRecords``; each method is one read of its own."""

    def __init__(self, database: Database) -> None:
        """Read from a database that has the tables."""
        self._database = database

    def nodes(self, tenant: str | None, ids: Iterable[str]) -> dict[str, Node]:
        """Return nodes by id; ids that are not there, or another tenant's, are left out.

        Args:
            tenant: whose; None for everybody's.
            ids: any number.
        """
        asked = list(dict.fromkeys(ids))
        with self._database.read("reading memories") as connection:
            found = {row[1]: row_node(row) for row in self._by_id(connection, sa.select(NODES), tenant, asked)}
        return {id: found[id] for id in asked if id in found}

    def present(self, ids: Iterable[str]) -> set[str]:
        """Return those of the ids that are nodes, of any tenant."""
        with self._database.read("reading ids") as connection:
            return {row[0] for row in self._by_id(connection, sa.select(NODES.c.id), None, list(dict.fromkeys(ids)))}

    @staticmethod
    def _by_id(connection: Connection, asked: Any, tenant: str | None, ids: Sequence[str]) -> Iterator[Any]:
        # The tenant leads the index, so that even everybody's nodes are looked up tenant by tenant.
        whose: sa.ColumnElement[bool] = NODES.c.tenant_id.in_(sa.select(TENANTS.c.tenant_id))
        if tenant is not None:
            whose = NODES.c.tenant_id == stored(tenant)
        for some in portions(ids):
            yield from connection.execute(asked.where(whose, NODES.c.id.in_(some)))

    def history(self, tenant: str, memory_id: str) -> list[Node]:
        """Return all versions of a memory, oldest first, retracted ones included."""
        return self.histories(tenant, [memory_id]).get(memory_id, [])

    def histories(self, tenant: str, memory_ids: Iterable[str]) -> dict[str, list[Node]]:
        """Return all versions of some memories, oldest first; memories that are not there are left out."""
        with self._database.read("reading histories") as connection:
            return self._versions(connection, tenant, list(dict.fromkeys(memory_ids)), None, None)

    def newest(self, tenant: str, memory_ids: Iterable[str]) -> dict[str, list[Node]]:
        """Return the versions that hold now, oldest first: one, or several where the later ones add to the first.

        A memory whose every version was retracted is left out, as is one that is not there.
        """
        return self._standing(tenant, memory_ids, None)

    def as_of(self, tenant: str, memory_ids: Iterable[str], time: datetime) -> dict[str, list[Node]]:
        """Return the versions that held by what had been said until ``time`` (``recorded_at``, that moment included)."""
        return self._standing(tenant, memory_ids, microseconds(time))

    def _standing(self, tenant: str, memory_ids: Iterable[str], until: int | None) -> dict[str, list[Node]]:
        asked = unsure = list(dict.fromkeys(memory_ids))
        held: dict[str, list[Node]] = {}
        with self._database.read("reading versions") as connection:
            for recent in _RECENT:
                found = self._versions(connection, tenant, unsure, until, recent)
                unsure = []
                for id, versions in found.items():
                    places, sure = standing(versions, complete=versions[0].version == 1)
                    if sure:
                        held[id] = [versions[place] for place in places]
                    else:
                        unsure.append(id)
        return {id: held[id] for id in asked if held.get(id)}

    def _versions(
        self, connection: Connection, tenant: str, memory_ids: Sequence[str], until: int | None, recent: int | None
    ) -> dict[str, list[Node]]:
        """Return versions by memory, oldest first; only the last ``recent`` of each, where that is given."""
        n = NODES.c
        found: dict[str, list[Node]] = {id: [] for id in memory_ids}
        for some in portions(memory_ids):
            own = [n.tenant_id == stored(tenant), n.memory_id.in_(some)]
            if until is not None:
                own.append(n.recorded_us <= until)
            asked = sa.select(NODES).where(*own)
            if recent is not None:
                last = sa.select(n.memory_id, sa.func.max(n.version).label("last")).where(*own).group_by(n.memory_id)
                of = last.subquery()
                asked = asked.join(of, (of.c.memory_id == n.memory_id) & (n.version > of.c.last - recent))
            for row in connection.execute(asked.order_by(n.memory_id, n.version)):
                found[row[2]].append(row_node(row))
        return {id: versions for id, versions in found.items() if versions}

    def by_entity(
        self, tenant: str, keys: Iterable[str], limit: int, *, every: bool = False, until: datetime | None = None
    ) -> list[str]:
        """Return ids of nodes that name an entity, as subject, owner or otherwise; the latest first.

        Args:
            tenant: whose.
            keys: of entities.
            limit: how many nodes at most.
            every: only nodes that name all of the entities, rather than any.
            until: only what had been said until then.
        """
        wanted = list(dict.fromkeys(short(key) for key in keys))
        e = NODE_ENTITIES.c
        asked = (
            sa.select(e.node_id)
            .where(e.tenant_id == stored(tenant), e.entity.in_(wanted))
            .group_by(e.node_id, e.recorded_us, e.seq)
            .order_by(e.recorded_us.desc(), e.seq.desc())
            .limit(limit)
        )
        if every:
            asked = asked.having(sa.func.count() == len(wanted))
        if until is not None:
            asked = asked.where(e.recorded_us <= microseconds(until))
        with self._database.read("looking up entities") as connection:
            return list(connection.execute(asked).scalars())

    def by_message(self, tenant: str, message_ids: Iterable[str]) -> list[str]:
        """Return ids of the nodes that came from any of the messages, in the order of writing."""
        m = NODE_MESSAGES.c
        found: dict[str, int] = {}
        with self._database.read("looking up messages") as connection:
            for some in portions([short(id) for id in message_ids]):
                asked = sa.select(m.node_id, m.seq).where(m.tenant_id == stored(tenant), m.message.in_(some))
                found |= {row[0]: row[1] for row in connection.execute(asked)}
        return sorted(found, key=found.__getitem__)

    def entities(self, tenant: str | None = None) -> list[Entity]:
        """Return a tenant's entities, or everybody's, in the order in which they were met."""
        return [row_entity(row) for row in self._all(ENTITIES, tenant)]

    def edges(self, tenant: str | None = None) -> list[Edge]:
        """Return a tenant's edges, or everybody's, as they were said: the same two things may be joined many times."""
        return [row_edge(row) for row in self._all(EDGES, tenant)]

    def _all(self, table: sa.Table, tenant: str | None) -> list[Any]:
        asked = sa.select(table).order_by(table.c.seq)
        if tenant is not None:
            asked = asked.where(table.c.tenant_id == stored(tenant))
        with self._database.read(f"reading {table.name}") as connection:
            return list(connection.execute(asked))

    def tenants(self) -> list[str]:
        """Return all tenants that anything was written of."""
        with self._database.read("reading tenants") as connection:
            return sorted(restored(tenant) for tenant in connection.execute(sa.select(TENANTS.c.tenant_id)).scalars())

    def ids(self, size: int = 10_000) -> Iterator[tuple[str, list[str]]]:
        """Yield the ids of all nodes, ``size`` at a time, each portion with the tenant it belongs to."""
        n = NODES.c
        for tenant in self.tenants():
            last = ""
            while True:
                asked = sa.select(n.id).where(n.tenant_id == stored(tenant), n.id > last).order_by(n.id).limit(size)
                with self._database.read("reading ids") as connection:
                    found = list(connection.execute(asked).scalars())
                if not found:
                    break
                yield tenant, found
                last = found[-1]

    def count(self, tenant: str | None = None) -> int:
        """Return how many nodes there are, of a tenant or in all."""
        asked = sa.select(sa.func.count()).select_from(NODES)
        if tenant is not None:
            asked = asked.where(NODES.c.tenant_id == stored(tenant))
        with self._database.read("counting memories") as connection:
            return int(connection.execute(asked).scalar_one())
