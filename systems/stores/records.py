"""The truth of structured memory: versions of facts, entities, edges, and what the indexes still have to take in.

A fact is a row that never changes. Its place in the history of its memory (``version``, ``parent_id``) follows
``recorded_at``, then the order of arrival: a message that comes late slots in, and the later versions count up by one;
ids stay. So ``version`` says "as far as is known now", and ``id`` is what to refer to.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from memtrial.datasets.errors import UserError
from memtrial.systems.stores.records_engine import Database
from memtrial.systems.stores.records_schema import (
    EDGES,
    ENTITIES,
    NODE_ENTITIES,
    NODE_MESSAGES,
    NODES,
    OUTBOX,
    SCHEMA_VERSION,
    STAMP,
    TENANTS,
    microseconds,
    restored,
    row_edge,
    row_entity,
    row_node,
    short,
    stored,
)
from memtrial.systems.stores.records_write import Writing, known_messages, portions
from memtrial.systems.structured.history import standing
from memtrial.systems.structured.node import Edge, Entity, Extraction, Node

_RECENT = 32


@dataclass(frozen=True, slots=True)
class OutboxEntry:
    """A node that the indexes have yet to take in; ``seq`` is its place in the order of writing."""

    seq: int
    tenant_id: str
    node_id: str


class MemoryRecords:
    """Facts as versions, entities and edges, in a SQLite file or on a PostgreSQL server.

    Args:
        folder: the system's own folder. It holds the SQLite file; for a server, the name of the schema that is its own.
        settings: whatever decides what a fact looks like (extraction), as plain JSON values.
        url: of a PostgreSQL server, ``postgresql+psycopg://user:password@host:port/database``; "" for SQLite.
        patience_s: how long to wait for a lock that another process holds.

    Raises:
        MissingExtraError: PostgreSQL is asked for and its driver is not installed.
        UserError: the store is of another schema version or was made with other settings, or cannot be reached. All
            methods raise it where a lock, a full disk or a server that went away keeps them from finishing; nothing of
            that call is kept then, and everything before it is.
    """

    def __init__(
        self, folder: Path, settings: Mapping[str, Any] | None = None, *, url: str = "", patience_s: float = 10.0
    ) -> None:
        """Open the store of the folder, or make it."""
        self._database = Database(folder, url, patience_s=patience_s)
        try:
            with self._database.write("opening the memory records") as connection:
                self._check(connection, dict(settings or {}))
        except BaseException:
            self.close()
            raise

    def __repr__(self) -> str:
        """Name the place, never a password."""
        return f"MemoryRecords({self._database.place})"

    @property
    def place(self) -> str:
        """The file, or host and database, for messages."""
        return self._database.place

    def _check(self, connection: Connection, settings: dict[str, Any]) -> None:
        told = json.dumps(settings, sort_keys=True, ensure_ascii=True)
        if not self._database.make_tables(connection):
            connection.execute(sa.insert(STAMP).values(schema_version=SCHEMA_VERSION, settings=told, next_seq=1))
            return
        # Only what every version has: another version's other columns are unknown here.
        version = connection.execute(sa.select(STAMP.c.schema_version)).scalar_one()
        if version != SCHEMA_VERSION:
            raise UserError(
                f"{self.place} has schema version {version}, this memtrial reads and writes {SCHEMA_VERSION}; "
                "use another folder and ingest again, or the memtrial that made it"
            )
        made = connection.execute(sa.select(STAMP.c.settings)).scalar_one()
        if made != told:
            raise UserError(
                f"{self.place} was made with other settings ({_difference(json.loads(made), json.loads(told))}); "
                "use another folder and ingest again, or the settings it was made with"
            )

    def write(self, extraction: Extraction, message_ids: Sequence[str] = ()) -> list[Node]:
        """Write what is new, in one transaction: versions, entities, edges, and outbox entries for the indexes.

        Facts, entities and edges that are there already change nothing (an entity may gain aliases). Where every one of
        ``message_ids`` was written before, nothing is done at all, whatever the extraction says this time.

        Args:
            extraction: what was taken from the messages.
            message_ids: the messages; empty for facts from elsewhere (such as what a search established).

        Returns:
            The new nodes in the order of the facts.
        """
        with self._database.write(f"writing {len(extraction.facts)} facts") as connection:
            return Writing(self._database, connection).run(extraction, message_ids)

    def known(self, message_ids: Iterable[str]) -> set[str]:
        """Return those of the messages that were written before."""
        with self._database.read("looking up messages") as connection:
            return known_messages(connection, message_ids)

    def pending(self, limit: int, after: int = -1) -> list[OutboxEntry]:
        """Return up to ``limit`` outbox entries with a ``seq`` above ``after``, in order."""
        o = OUTBOX.c
        asked = sa.select(o.seq, o.tenant_id, o.node_id).where(o.seq > after).order_by(o.seq).limit(limit)
        with self._database.read("reading the outbox") as connection:
            return [OutboxEntry(seq, restored(tenant), id) for seq, tenant, id in connection.execute(asked)]

    def done(self, seqs: Sequence[int]) -> None:
        """Take entries out of the outbox: the indexes hold their nodes durably."""
        with self._database.write("clearing the outbox") as connection:
            for some in portions(seqs):
                connection.execute(sa.delete(OUTBOX).where(OUTBOX.c.seq.in_(some)))

    def requeue(self, tenant: str, ids: Sequence[str]) -> None:
        """Put nodes into the outbox again; those that wait there already stay once."""
        n = NODES.c
        waiting = sa.exists().where(OUTBOX.c.seq == n.seq)
        with self._database.write("filling the outbox") as connection:
            for some in portions(ids):
                asked = sa.select(n.seq, n.tenant_id, n.id).where(
                    n.tenant_id == stored(tenant), n.id.in_(some), ~waiting
                )
                connection.execute(sa.insert(OUTBOX).from_select(["seq", "tenant_id", "node_id"], asked))

    def nodes(self, tenant: str | None, ids: Iterable[str]) -> dict[str, Node]:
        """Return nodes by id; ids that are not there, or another tenant's, are left out.

        Args:
            tenant: whose; None for everybody's.
            ids: any number.
        """
        found: dict[str, Node] = {}
        asked_ids = list(dict.fromkeys(ids))
        with self._database.read("reading memories") as connection:
            for some in portions(asked_ids):
                asked = sa.select(NODES).where(NODES.c.id.in_(some))
                if tenant is not None:
                    asked = asked.where(NODES.c.tenant_id == stored(tenant))
                found |= {row[1]: row_node(row) for row in connection.execute(asked)}
        return {id: found[id] for id in asked_ids if id in found}

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
        ids = list(dict.fromkeys(memory_ids))
        with self._database.read("reading versions") as connection:
            found = self._versions(connection, tenant, ids, until, _RECENT)
            held: dict[str, list[Node]] = {}
            for id, versions in found.items():
                places, sure = standing(versions, complete=versions[0].version == 1)
                if not sure:  # a long list of additions or retractions: rare
                    versions = self._versions(connection, tenant, [id], until, None)[id]
                    places, _ = standing(versions)
                if places:
                    held[id] = [versions[place] for place in places]
        return held

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

    def waiting(self) -> int:
        """Return how many nodes the indexes have yet to take in."""
        with self._database.read("reading the outbox") as connection:
            return int(connection.execute(sa.select(sa.func.count()).select_from(OUTBOX)).scalar_one())

    def drop(self) -> None:
        """Remove the store for good, on the server too."""
        self._database.drop()

    def close(self) -> None:
        """Let go of file or server; safe to call twice."""
        self._database.close()


def _difference(made: Mapping[str, Any], told: Mapping[str, Any]) -> str:
    names = sorted(name for name in {*made, *told} if made.get(name) != told.get(name))
    first = names[0]
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    return f"{first} {made.get(first)!r} there, {told.get(first)!r} here{more}"
