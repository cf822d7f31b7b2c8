"""Vectors on disk: Qdrant's engine in this process, one shard per tenant."""

from __future__ import annotations

import fcntl
import hashlib
import json
import shutil
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from memtrial.datasets.errors import UserError

Quantization: TypeAlias = Literal["none", "int8"]
_UPSERT = 1_000
_REBUILD = 1.2


class HnswParams(BaseModel):
    """The graph index: links per node, width of the search at build and at query time.

    ``build_from``: vectors of a tenant from which on a graph is built; below it, search is exact. An exact search of
    10,000 vectors takes well under a millisecond, so that a graph has nothing to win there.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    m: int = Field(default=16, ge=2, le=256)
    ef_construct: int = Field(default=100, ge=4, le=4_096)
    ef: int = Field(default=128, ge=1, le=4_096)
    build_from: int = Field(default=10_000, ge=1)


class VectorStore:
    """Vectors by id, each of one tenant.

    Args:
        folder: the store's own folder; made where missing, reopened where it holds shards.
        size: dimensions of a vector.
        hnsw: settings of the graph.
        quantization: ``int8`` keeps a small copy of the vectors of a built graph.
        exact: compare with every vector, even where a graph is built.
        settings: whatever else decides what a vector means; a folder made with others is emptied.

    Raises:
        UserError: the folder was made for another vector size, or another process has it open.
    """

    def __init__(
        self,
        folder: Path,
        size: int,
        hnsw: HnswParams,
        *,
        quantization: Quantization = "none",
        exact: bool = False,
        settings: dict[str, Any] | None = None,
    ) -> None:
        """Open or make the store."""
        self._folder, self._size, self._hnsw = folder, size, hnsw
        self._quantization: Quantization = quantization
        self._exact = exact
        self._shards: dict[str, Any] = {}
        self._ids: dict[str, str] = {}
        self._unflushed: set[str] = set()
        stamp = {"size": size, "hnsw": hnsw.model_dump(exclude={"ef"}), "quantization": quantization} | (settings or {})
        self._stamp = json.dumps(stamp, sort_keys=True)
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
        stamp = self._folder / "settings.json"
        if stamp.exists():
            old = json.loads(stamp.read_text(encoding="utf-8"))
            if old["size"] != self._size:
                raise UserError(
                    f"vector store {self._folder} was made for vectors of {old['size']} dimensions, "
                    f"but the embedder's have {self._size}; use another folder or the embedder it was made with"
                )
        if not stamp.exists() or stamp.read_text(encoding="utf-8") != self._stamp:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder.mkdir(parents=True)
            stamp.write_text(self._stamp, encoding="utf-8")
        for names in sorted(self._folder.glob("*/tenant.txt")):
            self._shard(names.read_text(encoding="utf-8"))

    def _shard(self, tenant: str) -> Any:
        if tenant in self._shards:
            return self._shards[tenant]
        import qdrant_edge as qdrant

        folder = self._folder / hashlib.sha256(tenant.encode()).hexdigest()[:24]
        data = folder / "shard"
        if (folder / "tenant.txt").exists():
            shard = qdrant.EdgeShard.load(str(data))
        else:
            shutil.rmtree(folder, ignore_errors=True)  # a crash before the name was written
            data.mkdir(parents=True)
            shard = qdrant.EdgeShard.create(str(data), self._config())
            # Before any graph is built: one built without it searches a filtered neighbourhood too thinly.
            shard.update(qdrant.UpdateOperation.create_field_index("tenant", qdrant.PayloadSchemaType.Keyword))
            (folder / "tenant.txt").write_text(tenant, encoding="utf-8")
        self._shards[tenant] = shard
        total = shard.info().points_count
        if total:
            points, _ = shard.scroll(qdrant.ScrollRequest(limit=total, with_payload=["id"], with_vector=False))
            self._ids |= {str((point.payload or {})["id"]): tenant for point in points}
        return shard

    def _config(self) -> Any:
        import qdrant_edge as qdrant

        small = qdrant.ScalarQuantizationConfig(type=qdrant.ScalarType.Int8, always_ram=True)
        return qdrant.EdgeConfig(
            vectors=qdrant.EdgeVectorParams(size=self._size, distance=qdrant.Distance.Cosine),
            # One build thread: the same vectors give the same graph. Thresholds of 1 KB: a build is asked for by
            # ``commit`` alone, and a graph that was built is used.
            hnsw_config=qdrant.HnswIndexConfig(
                m=self._hnsw.m, ef_construct=self._hnsw.ef_construct, full_scan_threshold=1, max_indexing_threads=1
            ),
            optimizers=qdrant.EdgeOptimizersConfig(indexing_threshold=1, default_segment_number=1),
            quantization_config=small if self._quantization == "int8" else None,
            wal_enabled=False,
        )

    def __len__(self) -> int:
        """Return the number of vectors, of all tenants."""
        return len(self._ids)

    def __contains__(self, id: str) -> bool:
        """Whether there is a vector of this id."""
        return id in self._ids

    @property
    def ids(self) -> list[str]:
        """Ids of all vectors."""
        return list(self._ids)

    @property
    def indexed(self) -> int:
        """How many vectors stand in a graph; the others are compared one by one."""
        return sum(shard.info().indexed_vectors_count for shard in self._shards.values())

    def add(self, ids: Sequence[str], tenants: Sequence[str], vectors: NDArray[np.float32]) -> None:
        """Add vectors, shape (len(ids), size), in place of those the ids had; durable after ``commit``."""
        import qdrant_edge as qdrant

        if vectors.shape != (len(ids), self._size):
            raise ValueError(f"{len(ids)} vectors of {self._size} dimensions expected, got shape {vectors.shape}")
        rows: dict[str, list[int]] = {}
        for row, tenant in enumerate(tenants):
            rows.setdefault(tenant, []).append(row)
        for tenant, own in rows.items():
            shard = self._shard(tenant)
            for start in range(0, len(own), _UPSERT):
                points = [
                    qdrant.Point(_point_id(ids[row]), vectors[row].tolist(), {"id": ids[row], "tenant": tenant})
                    for row in own[start : start + _UPSERT]
                ]
                shard.update(qdrant.UpdateOperation.upsert_points(points))
            self._ids |= {ids[row]: tenant for row in own}
            self._unflushed.add(tenant)

    def discard(self, ids: Sequence[str]) -> None:
        """Take vectors out."""
        import qdrant_edge as qdrant

        for id in ids:
            tenant = self._ids.pop(id)
            self._shard(tenant).update(qdrant.UpdateOperation.delete_points([_point_id(id)]))
            self._unflushed.add(tenant)

    def commit(self) -> None:
        """Make what was added durable, and build the graphs that are due."""
        for tenant in sorted(self._unflushed):
            shard = self._shards[tenant]
            info = shard.info()
            if info.points_count >= max(self._hnsw.build_from, info.indexed_vectors_count * _REBUILD):
                shard.optimize()
            shard.flush()
        self._unflushed.clear()

    def clear(self) -> None:
        """Drop all vectors."""
        self.close()
        shutil.rmtree(self._folder)
        self._ids.clear()
        self._open()

    def search(
        self, vector: NDArray[np.float32], tenant: str | None, limit: int
    ) -> tuple[list[tuple[str, float]], int]:
        """Return the nearest ids with their cosine, best first, and how many there should be.

        Args:
            vector: shape (size,).
            tenant: only this tenant's vectors; None for everybody's.
            limit: how many at most.
        """
        import qdrant_edge as qdrant

        shards = self._shards if tenant is None else {tenant: self._shards[tenant]} if tenant in self._shards else {}
        found: list[tuple[str, float]] = []
        due = 0
        for owner, shard in shards.items():
            own = qdrant.Filter(must=[qdrant.FieldCondition("tenant", match=qdrant.MatchValue(owner))])
            due += shard.count(qdrant.CountRequest(filter=own, exact=True))
            request = qdrant.QueryRequest(
                limit=limit,
                query=qdrant.Query.Nearest(vector.tolist()),
                filter=own,
                params=qdrant.SearchParams(hnsw_ef=max(self._hnsw.ef, limit), exact=self._exact),
                with_payload=["id"],
            )
            found += [(str((point.payload or {})["id"]), float(point.score)) for point in shard.query(request)]
        found.sort(key=lambda pair: (-pair[1], pair[0]))
        return found[:limit], min(limit, due)

    def close(self) -> None:
        """Flush and let go of the shards' locks; safe to call twice."""
        for shard in self._shards.values():
            shard.flush()
            shard.close()
        self._shards.clear()
        if self._lock is not None:
            self._lock.close()
            self._lock = None


def _point_id(id: str) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_OID, id.encode("utf-8", "replace").decode("utf-8")))
