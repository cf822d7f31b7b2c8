"""Vectors of memories, searched within a tenant: what a store can do, its settings, and where one is opened."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from memtrial.datasets.errors import UserError

Quantization: TypeAlias = Literal["none", "int8", "binary"]
Backend: TypeAlias = Literal["edge", "server"]

REBUILD = 1.5
"""A graph is built anew when so many times its vectors are there: all builds together cost three times the last.

Until then the newest vectors, a third at most, are compared one by one beside the graph, which loses none of them.
"""

_BINARY_FROM = 1_024


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


@dataclass(frozen=True, slots=True)
class StoreOptions:
    """How vectors are kept and searched.

    Attributes:
        hnsw: settings of the graph.
        quantization: ``int8`` or ``binary`` keeps a small copy of the vectors of a built graph.
        rescore: compare what the small copies proposed again by the whole vectors.
        exact: compare with every vector, even where a graph is built.
        shared: one collection for all tenants, told apart by a filter, rather than one for each.
        meaning: whatever else decides what a vector means; a store made with another meaning is emptied.
    """

    hnsw: HnswParams = field(default_factory=HnswParams)
    quantization: Quantization = "none"
    rescore: bool = True
    exact: bool = False
    shared: bool = False
    meaning: Mapping[str, Any] = field(default_factory=dict)

    def stamp(self, size: int) -> str:
        """Return what a store on disk was made with; what only a query uses is left out."""
        kept = {"size": size, "hnsw": self.hnsw.model_dump(exclude={"ef"}), "quantization": self.quantization}
        if self.shared:
            kept["shared"] = True
        return json.dumps(kept | dict(self.meaning), sort_keys=True)

    def warning(self, size: int) -> str:
        """Return what a reader of the report must know of these settings, or ""."""
        if self.quantization != "binary" or size >= _BINARY_FROM:
            return ""
        again = "" if self.rescore else ", and nothing is compared again by whole vectors"
        return (
            f"vectors of {size} dimensions are kept as one bit each{again}: below {_BINARY_FROM} dimensions that loses "
            "neighbours, which is the store's loss and not the memory's"
        )


class VectorStore(Protocol):
    """Vectors by id, each of one tenant."""

    def __len__(self) -> int:
        """Return the number of vectors, of all tenants."""
        ...

    def __contains__(self, id: str) -> bool:
        """Whether there is a vector of this id."""
        ...

    @property
    def ids(self) -> list[str]:
        """Ids of all vectors."""
        ...

    def indexed(self, tenant: str | None = None) -> int:
        """How many vectors of what is searched for a tenant stand in a graph; the others are compared one by one."""
        ...

    def add(self, ids: Sequence[str], tenants: Sequence[str], vectors: NDArray[np.float32]) -> None:
        """Add vectors, shape (len(ids), size), in place of those the ids had; durable after ``commit``."""
        ...

    def discard(self, ids: Sequence[str]) -> None:
        """Take vectors out; ids that are not there are passed over."""
        ...

    def commit(self) -> None:
        """Make what was added durable, and build the graphs that are due."""
        ...

    def clear(self) -> None:
        """Drop all vectors."""
        ...

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
        ...

    def close(self) -> None:
        """Let go of files or connections; safe to call twice."""
        ...


def open_vectors(
    folder: Path, size: int, options: StoreOptions | None = None, *, backend: Backend = "edge"
) -> VectorStore:
    """Open the store of a folder, or make it.

    Args:
        folder: of the store's own; a server's collections are named by a file in it.
        size: dimensions of a vector.
        options: how vectors are kept and searched.
        backend: ``edge`` is Qdrant's engine inside this process; ``server`` is a Qdrant server at ``QDRANT_URL``.

    Raises:
        UserError: the store was made for another vector size, another process has it open, or no server answers.
        MissingExtraError: the client of a server is not installed.
    """
    if backend == "server":
        from memtrial.systems.stores.vectors_server import ServerVectors

        return ServerVectors(folder, size, options or StoreOptions())
    from memtrial.systems.stores.vectors_edge import EdgeVectors

    return EdgeVectors(folder, size, options or StoreOptions())


def other_size(where: str, made_for: int, size: int) -> UserError:
    """Return the error for a store that was made for vectors of another size."""
    return UserError(
        f"vector store {where} was made for vectors of {made_for} dimensions, "
        f"but the embedder's have {size}; use another folder or the embedder it was made with"
    )


def check_vectors(ids: Sequence[str], vectors: NDArray[np.float32], size: int) -> None:
    """Refuse vectors that a store would take in part, or would never find again.

    Raises:
        ValueError: they are not as many as the ids, or not of the size.
        UserError: one holds a number that is none; nothing of the batch is stored.
    """
    if vectors.shape != (len(ids), size):
        raise ValueError(f"{len(ids)} vectors of {size} dimensions expected, got shape {vectors.shape}")
    broken = [id for id, whole in zip(ids, _finite(vectors), strict=True) if not whole]
    if broken:
        raise UserError(
            f"{len(broken)} of {len(ids)} vectors hold a value that is no finite number, the first is that of "
            f"{broken[0]!r}; none of them was stored"
        )


def _finite(vectors: NDArray[np.float32]) -> list[bool]:
    return cast(list[bool], np.isfinite(vectors).all(axis=1).tolist())


def point_id(id: str) -> str:
    """Return the UUID under which Qdrant keeps an id, which may be any text."""
    return str(uuid.uuid5(uuid.NAMESPACE_OID, id.encode("utf-8", "replace").decode("utf-8")))


def best(found: list[tuple[str, float]], limit: int) -> list[tuple[str, float]]:
    """Return the nearest of what several collections found; equals in order of their ids."""
    return sorted(found, key=lambda pair: (-pair[1], pair[0]))[:limit]
