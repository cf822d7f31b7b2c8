"""Vectors on disk: Qdrant's engine in this process, one shard per tenant or one for all."""

from __future__ import annotations

import fcntl
import hashlib
import json
import shutil
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from memtrial.datasets.errors import UserError
from memtrial.systems.stores.vectors import REBUILD, StoreOptions, best, check_vectors, other_size, point_id

_UPSERT = 1_000
_EVERYBODY = ""


class EdgeVectors:
    """A :class:`~memtrial.systems.stores.vectors.VectorStore` of Qdrant Edge shards.

    Args:
        folder: the store's own folder; made where missing, reopened where it holds shards.
        size: dimensions of a vector.
        options: how vectors are kept and searched.

    Raises:
        UserError: the folder was made for another vector size, or another process has it open.
    """

    def __init__(self, folder: Path, size: int, options: StoreOptions) -> None:
        """Open or make the store."""
        self._folder, self._size, self._options = folder, size, options
        self._shards: dict[str, Any] = {}
        self._tenant: dict[str, str] = {}
        self._counts: Counter[str] = Counter()
        self._indexed: dict[str, int] = {}
        self._unflushed: set[str] = set()
        self._lock: IO[str] | None = None
        self._open()

    def _open(self) -> None:
        self._folder.parent.mkdir(parents=True, exist_ok=True)
        # Shards without a write-ahead log take no lock of their own.
        self._lock = self._folder.with_suffix(".lock").open("w")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._lock.close()
            raise UserError(f"vector store {self._folder} is already open, here or in another process") from None
        try:
            self._check_settings()
        except UserError:
            self.close()
            raise
        for names in sorted(self._folder.glob("*/tenant.txt")):
            self._shard(names.read_text(encoding="utf-8"))

    def _check_settings(self) -> None:
        file, wanted = self._folder / "settings.json", self._options.stamp(self._size)
        if file.exists():
            made_for = int(json.loads(file.read_text(encoding="utf-8"))["size"])
            if made_for != self._size:
                raise other_size(str(self._folder), made_for, self._size)
        if not file.exists() or file.read_text(encoding="utf-8") != wanted:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder.mkdir(parents=True)
            file.write_text(wanted, encoding="utf-8")

    def _home(self, tenant: str) -> str:
        return _EVERYBODY if self._options.shared else tenant

    def _shard(self, home: str) -> Any:
        if home in self._shards:
            return self._shards[home]
        import qdrant_edge as qdrant

        folder = self._folder / hashlib.sha256(home.encode()).hexdigest()[:24]
        data = folder / "shard"
        if (folder / "tenant.txt").exists():
            shard = qdrant.EdgeShard.load(str(data))
        else:
            shutil.rmtree(folder, ignore_errors=True)  # a crash before the name was written
            data.mkdir(parents=True)
            shard = qdrant.EdgeShard.create(str(data), self._config())
            # Before any graph is built: one built without it searches a filtered neighbourhood too thinly.
            shard.update(qdrant.UpdateOperation.create_field_index("tenant", qdrant.PayloadSchemaType.Keyword))
            (folder / "tenant.txt").write_text(home, encoding="utf-8")
        self._shards[home] = shard
        total = shard.info().points_count
        if total:
            points, _ = shard.scroll(qdrant.ScrollRequest(limit=total, with_payload=True, with_vector=False))
            for point in points:
                payload = point.payload or {}
                self._note(str(payload["id"]), str(payload["tenant"]))
        return shard

    def _note(self, id: str, tenant: str) -> None:
        if id in self._tenant:
            self._counts[self._tenant[id]] -= 1
        self._tenant[id] = tenant
        self._counts[tenant] += 1

    def _config(self) -> Any:
        import qdrant_edge as qdrant

        hnsw = self._options.hnsw
        small: Any = None
        if self._options.quantization == "int8":
            small = qdrant.ScalarQuantizationConfig(type=qdrant.ScalarType.Int8, always_ram=True)
        elif self._options.quantization == "binary":
            small = qdrant.BinaryQuantizationConfig(always_ram=True)
        return qdrant.EdgeConfig(
            vectors=qdrant.EdgeVectorParams(size=self._size, distance=qdrant.Distance.Cosine),
            # One build thread: the same vectors give the same graph. Thresholds of 1 KB: a build is asked for by
            # ``commit`` alone, and a graph that was built is used.
            hnsw_config=qdrant.HnswIndexConfig(
                m=hnsw.m, ef_construct=hnsw.ef_construct, full_scan_threshold=1, max_indexing_threads=1
            ),
            optimizers=qdrant.EdgeOptimizersConfig(indexing_threshold=1, default_segment_number=1),
            quantization_config=small,
            wal_enabled=False,
        )

    def __len__(self) -> int:
        """Return the number of vectors, of all tenants."""
        return len(self._tenant)

    def __contains__(self, id: str) -> bool:
        """Whether there is a vector of this id."""
        return id in self._tenant

    @property
    def ids(self) -> list[str]:
        """Ids of all vectors."""
        return list(self._tenant)

    def indexed(self, tenant: str | None = None) -> int:
        """How many vectors of what is searched for a tenant stand in a graph; the others are compared one by one."""
        for home, shard in self._shards.items():
            if home not in self._indexed:
                self._indexed[home] = int(shard.info().indexed_vectors_count)
        return sum(self._indexed.values()) if tenant is None else self._indexed.get(self._home(tenant), 0)

    def add(self, ids: Sequence[str], tenants: Sequence[str], vectors: NDArray[np.float32]) -> None:
        """Add vectors, shape (len(ids), size), in place of those the ids had; durable after ``commit``."""
        import qdrant_edge as qdrant

        check_vectors(ids, vectors, self._size)
        self.discard([id for id, tenant in zip(ids, tenants, strict=True) if self._tenant.get(id, tenant) != tenant])
        rows: dict[str, list[int]] = {}
        for row, tenant in enumerate(tenants):
            rows.setdefault(self._home(tenant), []).append(row)
        for home, own in rows.items():
            shard = self._shard(home)
            for start in range(0, len(own), _UPSERT):
                points = [
                    qdrant.Point(point_id(ids[row]), vectors[row].tolist(), {"id": ids[row], "tenant": tenants[row]})
                    for row in own[start : start + _UPSERT]
                ]
                shard.update(qdrant.UpdateOperation.upsert_points(points))
            for row in own:
                self._note(ids[row], tenants[row])
            self._changed(home)

    def _changed(self, home: str) -> None:
        self._unflushed.add(home)
        self._indexed.pop(home, None)

    def discard(self, ids: Sequence[str]) -> None:
        """Take vectors out; ids that are not there are passed over."""
        import qdrant_edge as qdrant

        by_home: dict[str, list[Any]] = {}
        for id in ids:
            tenant = self._tenant.pop(id, None)
            if tenant is not None:
                self._counts[tenant] -= 1
                by_home.setdefault(self._home(tenant), []).append(point_id(id))
        for home, points in by_home.items():
            self._shard(home).update(qdrant.UpdateOperation.delete_points(points))
            self._changed(home)

    def commit(self) -> None:
        """Make what was added durable, and build the graphs that are due."""
        for home in sorted(self._unflushed):
            shard = self._shards[home]
            info = shard.info()
            if info.points_count >= max(self._options.hnsw.build_from, info.indexed_vectors_count * REBUILD):
                shard.optimize()
                self._indexed.pop(home, None)
            shard.flush()
        self._unflushed.clear()

    def clear(self) -> None:
        """Drop all vectors."""
        self.close()
        shutil.rmtree(self._folder)
        self._tenant.clear()
        self._counts.clear()
        self._indexed.clear()
        self._unflushed.clear()
        self._open()

    def search(
        self, vector: NDArray[np.float32], tenant: str | None, limit: int, *, exact: bool | None = None
    ) -> tuple[list[tuple[str, float]], int]:
        """Return the nearest ids with their cosine, best first, and how many there should be.

        Args:
            vector: shape (size,).
            tenant: only this tenant's vectors; None for everybody's.
            limit: how many at most.
            exact: compare with every vector; None does as the store's options say.
        """
        import qdrant_edge as qdrant

        exact = self._options.exact if exact is None else exact
        homes = list(self._shards) if tenant is None else [self._home(tenant)]
        found: list[tuple[str, float]] = []
        for home in homes:
            if home not in self._shards:
                continue
            owner = tenant if tenant is not None else None if self._options.shared else home
            own = qdrant.FieldCondition("tenant", match=qdrant.MatchValue(owner)) if owner is not None else None
            request = qdrant.QueryRequest(
                limit=limit,
                query=qdrant.Query.Nearest(vector.tolist()),
                filter=None if own is None else qdrant.Filter(must=[own]),
                params=qdrant.SearchParams(
                    hnsw_ef=max(self._options.hnsw.ef, limit),
                    exact=exact,
                    quantization=qdrant.QuantizationSearchParams(ignore=exact, rescore=self._options.rescore),
                ),
                with_payload=["id"],
            )
            points = self._shards[home].query(request)
            found += [(str((point.payload or {})["id"]), float(point.score)) for point in points]
        due = len(self._tenant) if tenant is None else self._counts[tenant]
        return best(found, limit), min(limit, due)

    def close(self) -> None:
        """Flush and let go of the shards' locks; safe to call twice."""
        for shard in self._shards.values():
            shard.flush()
            shard.close()
        self._shards.clear()
        if self._lock is not None:
            self._lock.close()
            self._lock = None
