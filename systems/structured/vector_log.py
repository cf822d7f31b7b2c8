"""What the vectors of memories are made from, kept so that fitting anew and restarting need no text again."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memtrial.datasets.errors import UserError


@dataclass(frozen=True, slots=True)
class Row:
    """A memory: its id, its tenant, and the bytes that an embedder made of its text."""

    id: str
    tenant: str
    base: bytes


_UNSETTLED = -1


class VectorLog:
    """An SQLite file of rows in the order in which they came, and of which fit the vector store's vectors are.

    Args:
        path: the file; what stands in one that was made with another meaning is not read, and goes with ``reset``.
        meaning: whatever decides what the bytes of a row mean.
        keep: the bytes are kept; without it only who is there.
    """

    def __init__(self, path: Path, meaning: Mapping[str, Any], *, keep: bool) -> None:
        """Open or make the file.

        Raises:
            UserError: the file cannot be opened, or is no such file.
        """
        path.parent.mkdir(parents=True, exist_ok=True)
        self._keep = keep
        self._stamp = json.dumps({**meaning, "keep": keep}, sort_keys=True)
        try:
            self._db = sqlite3.connect(path, timeout=60.0, isolation_level=None, check_same_thread=False)
            self._start()
        except sqlite3.DatabaseError as error:
            raise UserError(f"the log of vectors {path} cannot be used: {error}") from error
        places = [] if self._stale else self._db.execute("SELECT id, place FROM rows ORDER BY place").fetchall()
        self._known: dict[str, int] = dict(places)
        self._next = max(self._known.values(), default=-1) + 1

    def _start(self) -> None:
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute("PRAGMA synchronous=NORMAL")
        self._db.execute("BEGIN")
        self._db.execute(
            "CREATE TABLE IF NOT EXISTS rows (place INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,"
            " tenant TEXT NOT NULL, base BLOB NOT NULL)"
        )
        self._db.execute("CREATE TABLE IF NOT EXISTS told (name TEXT PRIMARY KEY, value TEXT NOT NULL)")
        self._stale = self._told("meaning", self._stamp) != self._stamp
        if not self._stale:
            self._tell("meaning", self._stamp)
            self.commit()

    def reset(self) -> None:
        """Drop what was made with another meaning, if there is anything."""
        if self._stale:
            self._db.execute("DELETE FROM rows")
            self._db.execute("DELETE FROM told")
            self._tell("meaning", self._stamp)
            self._stale, self._next = False, 0

    def _told(self, name: str, default: str) -> str:
        row = self._db.execute("SELECT value FROM told WHERE name = ?", (name,)).fetchone()
        return default if row is None else str(row[0])

    def _tell(self, name: str, value: str) -> None:
        self._db.execute("INSERT OR REPLACE INTO told VALUES (?, ?)", (name, value))

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self._known)

    def __contains__(self, id: str) -> bool:
        """Whether there is a row of this id."""
        return id in self._known

    @property
    def ids(self) -> list[str]:
        """Ids in the order in which they came."""
        return list(self._known)

    @property
    def size(self) -> int:
        """Dimensions of the embedder's vectors as they were noted; 0 where they were not."""
        return 0 if self._stale else int(self._told("size", "0"))

    def note_size(self, size: int) -> None:
        """Note the dimensions of the embedder's vectors."""
        self._tell("size", str(size))

    @property
    def settled(self) -> int:
        """On how many rows that was fitted by which the store's vectors are made; -1 while they are being made anew."""
        return int(self._told("settled", "0"))

    def settle(self, fitted: int) -> None:
        """Make all rows durable, with the fit by which their vectors are made."""
        self._tell("settled", str(fitted))
        self.commit()

    def unsettle(self) -> None:
        """Make all rows durable, with the word that the store's vectors are of no fit."""
        self.settle(_UNSETTLED)

    def commit(self) -> None:
        """Make everything durable."""
        self._db.execute("COMMIT")
        self._db.execute("BEGIN")

    def add(self, rows: Sequence[Row]) -> None:
        """Append rows whose ids are not there yet."""
        places = range(self._next, self._next + len(rows))
        entries = [
            (place, row.id, row.tenant, row.base if self._keep else b"")
            for place, row in zip(places, rows, strict=True)
        ]
        self._db.executemany("INSERT INTO rows VALUES (?, ?, ?, ?)", entries)
        self._known |= {row.id: place for place, row in zip(places, rows, strict=True)}
        self._next += len(rows)

    def rows(self) -> list[Row]:
        """Return all rows in the order in which they came."""
        found = self._db.execute("SELECT id, tenant, base FROM rows ORDER BY place")
        return [Row(id, tenant, base) for id, tenant, base in found]

    def discard(self, ids: Sequence[str]) -> None:
        """Take rows out; ids that are not there are passed over."""
        places = [(self._known.pop(id),) for id in ids if id in self._known]
        self._db.executemany("DELETE FROM rows WHERE place = ?", places)

    def close(self) -> None:
        """Close the file; what was not made durable is not kept. Safe to call twice."""
        self._db.close()
