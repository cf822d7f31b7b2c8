"""Vectors by content, on disk, shared by all runs and safe for several processes at once."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memtrial.datasets.errors import UnavailableError

_CHUNK = 500


class EmbeddingCache:
    """An SQLite file (write-ahead log) of vectors and of the seconds that each took.

    A key says everything the vector depends on: model, revision, dimensions, prefix, text.

    Args:
        path: the file; made with its folder where missing.
    """

    def __init__(self, path: Path) -> None:
        """Open the file.

        Raises:
            UnavailableError: it cannot be opened, or made.
        """
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(path, timeout=60.0, isolation_level=None, check_same_thread=False)
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=NORMAL")
            self._db.execute(
                "CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB NOT NULL, seconds REAL NOT NULL)"
                " WITHOUT ROWID"
            )
        except (OSError, sqlite3.Error) as error:
            said = error.strerror if isinstance(error, OSError) else str(error)
            raise UnavailableError(
                f"the cache of embeddings {path} cannot be opened ({said}); set MEMTRIAL_CACHE_DIR to a folder that can "
                "be written"
            ) from error

    def get(self, keys: Sequence[str]) -> dict[str, tuple[NDArray[np.float32], float]]:
        """Return vector and seconds for every key that is known."""
        names = {_digest(key): key for key in keys}
        digests = list(names)
        found: dict[str, tuple[NDArray[np.float32], float]] = {}
        for start in range(0, len(digests), _CHUNK):
            part = digests[start : start + _CHUNK]
            marks = ",".join("?" * len(part))
            rows = self._db.execute(f"SELECT key, vector, seconds FROM vectors WHERE key IN ({marks})", part)
            for digest, blob, seconds in rows:
                found[names[digest]] = (np.frombuffer(blob, dtype="<f4"), float(seconds))
        return found

    def put(self, entries: Iterable[tuple[str, NDArray[np.float32], float]]) -> None:
        """Add key, vector and seconds; a key that is there already keeps its first entry."""
        rows = [(_digest(key), vector.astype("<f4").tobytes(), seconds) for key, vector, seconds in entries]
        self._db.execute("BEGIN IMMEDIATE")
        self._db.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?, ?)", rows)
        self._db.execute("COMMIT")

    def close(self) -> None:
        """Close the file."""
        self._db.close()


def _digest(key: str) -> bytes:
    return hashlib.blake2b(key.encode("utf-8", "surrogatepass"), digest_size=16).digest()
