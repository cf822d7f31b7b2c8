"""The truth of structured memory: versions of facts, entities, edges, and what the indexes still have to take in.

A fact is a row that never changes. Its place in the history of its memory (``version``, ``parent_id``) follows
``recorded_at``, then the order of arrival: a message that comes late slots in, and the later versions count up by one;
ids stay. So ``version`` says "as far as is known now", and ``id`` is what to refer to.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from memtrial.datasets.errors import UserError
from memtrial.systems.stores.records_engine import Database
from memtrial.systems.stores.records_read import RecordsReader
from memtrial.systems.stores.records_schema import (
    MESSAGES,
    NODES,
    OUTBOX,
    SCHEMA_VERSION,
    STAMP,
    restored,
    stored,
)
from memtrial.systems.stores.records_write import Writing, known_messages, portions
from memtrial.systems.structured.node import Extraction, Node


@dataclass(frozen=True, slots=True)
class OutboxEntry:
    """A node that the indexes have yet to take in; ``seq`` is its place in the order of writing."""

    seq: int
    tenant_id: str
    node_id: str


class MemoryRecords(RecordsReader):
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
        super().__init__(Database(folder, url, patience_s=patience_s))
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

    def waiting(self) -> int:
        """Return how many nodes the indexes have yet to take in."""
        with self._database.read("reading the outbox") as connection:
            return int(connection.execute(sa.select(sa.func.count()).select_from(OUTBOX)).scalar_one())

    def messages(self) -> int:
        """Return how many messages were written."""
        with self._database.read("counting messages") as connection:
            return int(connection.execute(sa.select(sa.func.count()).select_from(MESSAGES)).scalar_one())

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
