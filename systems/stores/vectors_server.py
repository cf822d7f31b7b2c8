"""Vectors on a Qdrant server or cluster: the same store where one process is not enough.

The address is read from QDRANT_URL and the key, if there is one, from QDRANT_API_KEY, so that neither gets into a run's
files. Written against the client's REST calls and tested with a scripted double of them; no figure here was measured on a
real server.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import time
import uuid
from collections import Counter
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from memtrial.datasets.errors import MissingExtraError, UnavailableError, UserError
from memtrial.systems.stores.vectors import REBUILD, StoreOptions, best, check_vectors, other_size, point_id

URL, KEY = "QDRANT_URL", "QDRANT_API_KEY"
_UPSERT, _PAGE = 500, 1_000
_POLL_S, _BUILD_S = 0.2, 3_600.0
_EVERYBODY = ""


class ServerVectors:
    """A :class:`~memtrial.systems.stores.vectors.VectorStore` of a server's collections.

    The collections' names begin with ``memtrial-`` and eight digits that stand in the folder; nobody else deletes them.

    Args:
        folder: the store's own folder; it holds the collections' names, not the vectors.
        size: dimensions of a vector.
        options: how vectors are kept and searched.

    Raises:
        UnavailableError: QDRANT_URL is not set, no server answers there or refuses the key.
        UserError: the collections were made for another vector size.
        MissingExtraError: the client is not installed.
    """

    def __init__(self, folder: Path, size: int, options: StoreOptions) -> None:
        """Connect, and take up what is there."""
        self._size, self._options = size, options
        self._file = folder / "server.json"
        self._tenant: dict[str, str] = {}
        self._counts: Counter[str] = Counter()
        self._indexed: dict[str, int] = {}
        self._homes: set[str] = set()
        self._unbuilt: set[str] = set()
        self._client, self._models, self._where = _connect()
        try:
            self._take_up(folder)
        except BaseException:
            self.close()
            raise

    def _take_up(self, folder: Path) -> None:
        stamp = self._options.stamp(self._size)
        told = json.loads(self._file.read_text(encoding="utf-8")) if self._file.exists() else None
        if told is not None and (made_for := int(json.loads(told["stamp"])["size"])) != self._size:
            raise other_size(f"{told['prefix']} at {self._where}", made_for, self._size)
        self._prefix = str(told["prefix"]) if told else f"memtrial-{uuid.uuid4().hex[:8]}"
        listed = self._ask("get_collections").collections
        own = [c.name for c in listed if c.name.startswith(f"{self._prefix}-")]
        if told is not None and told["stamp"] != stamp:
            for name in own:
                self._ask("delete_collection", name)
            own = []
        if told is None or told["stamp"] != stamp:
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            self._file.write_text(json.dumps({"prefix": self._prefix, "stamp": stamp}), encoding="utf-8")
        for name in own:
            held = self._ask("get_collection", name)
            if (made_for := int(held.config.params.vectors.size)) != self._size:
                raise other_size(f"{name} at {self._where}", made_for, self._size)
            self._homes.add(name)
            self._read_ids(name)

    def _read_ids(self, name: str) -> None:
        after: Any = None
        while True:
            points, after = self._ask("scroll", name, limit=_PAGE, offset=after, with_payload=True, with_vectors=False)
            for point in points:
                self._note(str(point.payload["id"]), str(point.payload["tenant"]))
            if after is None:
                return

    def _note(self, id: str, tenant: str) -> None:
        if id in self._tenant:
            self._counts[self._tenant[id]] -= 1
        self._tenant[id] = tenant
        self._counts[tenant] += 1

    def _name(self, tenant: str) -> str:
        home = _EVERYBODY if self._options.shared else tenant
        return f"{self._prefix}-{hashlib.sha256(home.encode()).hexdigest()[:24]}"

    def _make(self, name: str) -> None:
        if name in self._homes:
            return
        models, hnsw = self._models, self._options.hnsw
        small: Any = None
        if self._options.quantization == "int8":
            config = models.ScalarQuantizationConfig(type=models.ScalarType.INT8, always_ram=True)
            small = models.ScalarQuantization(scalar=config)
        elif self._options.quantization == "binary":
            small = models.BinaryQuantization(binary=models.BinaryQuantizationConfig(always_ram=True))
        self._ask(
            "create_collection",
            name,
            vectors_config=models.VectorParams(size=self._size, distance=models.Distance.COSINE),
            # 10 KB is the least that a server takes. No graph before ``commit`` asks for one: an indexing
            # threshold of 0 means none.
            hnsw_config=models.HnswConfigDiff(m=hnsw.m, ef_construct=hnsw.ef_construct, full_scan_threshold=10),
            optimizers_config=models.OptimizersConfigDiff(indexing_threshold=0),
            quantization_config=small,
        )
        # Before any graph is built: one built without it searches a filtered neighbourhood too thinly.
        self._ask("create_payload_index", name, "tenant", models.PayloadSchemaType.KEYWORD)
        self._homes.add(name)

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
        for name in self._homes - set(self._indexed):
            self._indexed[name] = int(self._info(name).indexed_vectors_count or 0)
        return sum(self._indexed.values()) if tenant is None else self._indexed.get(self._name(tenant), 0)

    def _info(self, name: str) -> Any:
        return self._ask("get_collection", name)

    def add(self, ids: Sequence[str], tenants: Sequence[str], vectors: NDArray[np.float32]) -> None:
        """Add vectors, shape (len(ids), size), in place of those the ids had; durable when this returns."""
        check_vectors(ids, vectors, self._size)
        self.discard([id for id, tenant in zip(ids, tenants, strict=True) if self._tenant.get(id, tenant) != tenant])
        rows: dict[str, list[int]] = {}
        for row, tenant in enumerate(tenants):
            rows.setdefault(self._name(tenant), []).append(row)
        for name, own in rows.items():
            self._make(name)
            for start in range(0, len(own), _UPSERT):
                part = own[start : start + _UPSERT]
                points = [
                    self._models.PointStruct(
                        id=point_id(ids[row]),
                        vector=vectors[row].tolist(),
                        payload={"id": ids[row], "tenant": tenants[row]},
                    )
                    for row in part
                ]
                self._ask("upsert", name, points, wait=True)
                for row in part:
                    self._note(ids[row], tenants[row])
            self._changed(name)

    def _changed(self, name: str) -> None:
        self._unbuilt.add(name)
        self._indexed.pop(name, None)

    def discard(self, ids: Sequence[str]) -> None:
        """Take vectors out; ids that are not there are passed over."""
        by_name: dict[str, list[str]] = {}
        for id in ids:
            if id in self._tenant:
                by_name.setdefault(self._name(self._tenant[id]), []).append(id)
        for name, own in by_name.items():
            gone = self._models.PointIdsList(points=[point_id(id) for id in own])
            self._ask("delete", name, gone, wait=True)
            for id in own:
                self._counts[self._tenant.pop(id)] -= 1
            self._changed(name)

    def commit(self) -> None:
        """Build the graphs that are due and wait for them; what was added is on the server already.

        Raises:
            UserError: a graph is not built within an hour.
        """
        for name in sorted(self._unbuilt):
            info = self._info(name)
            indexed = int(info.indexed_vectors_count or 0)
            if int(info.points_count or 0) >= max(self._options.hnsw.build_from, indexed * REBUILD):
                at_once = self._models.OptimizersConfigDiff(indexing_threshold=1)
                self._ask("update_collection", name, optimizers_config=at_once)
                self._wait(name)
        self._unbuilt.clear()
        self._indexed.clear()

    def _wait(self, name: str) -> None:
        until = time.monotonic() + _BUILD_S
        while True:
            info = self._info(name)
            # Green alone is not enough: a server says so too before it has begun.
            if str(getattr(info.status, "value", info.status)) == "green" and (info.indexed_vectors_count or 0) > 0:
                return
            if time.monotonic() > until:
                raise UserError(
                    f"the Qdrant server at {self._where} has not built the graph of {name} within "
                    f"{_BUILD_S / 60:.0f} minutes; its status is {info.status}"
                )
            time.sleep(_POLL_S)

    def clear(self) -> None:
        """Drop all vectors."""
        for name in sorted(self._homes):
            self._ask("delete_collection", name)
        for held in (self._homes, self._tenant, self._counts, self._indexed, self._unbuilt):
            held.clear()

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
        models, options = self._models, self._options
        exact = options.exact if exact is None else exact
        own: Any = None
        if tenant is not None:
            match = models.FieldCondition(key="tenant", match=models.MatchValue(value=tenant))
            own = models.Filter(must=[match])
        wide = models.SearchParams(
            hnsw_ef=max(options.hnsw.ef, limit),
            exact=exact,
            quantization=models.QuantizationSearchParams(ignore=exact, rescore=options.rescore),
        )
        found: list[tuple[str, float]] = []
        for name in sorted(self._homes if tenant is None else self._homes & {self._name(tenant)}):
            reply = self._ask(
                "query_points",
                name,
                query=vector.tolist(),
                query_filter=own,
                limit=limit,
                search_params=wide,
                with_payload=["id"],
            )
            found += [(str(point.payload["id"]), float(point.score)) for point in reply.points]
        due = len(self._tenant) if tenant is None else self._counts[tenant]
        return best(found, limit), min(limit, due)

    def close(self) -> None:
        """Close the connection; safe to call twice."""
        self._client.close()

    def _ask(self, what: str, *given: Any, **named: Any) -> Any:
        """Ask the server, and say in one sentence what became of it; an error is never an empty list."""
        from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

        try:
            return getattr(self._client, what)(*given, **named)
        except UnexpectedResponse as error:
            if error.status_code in (401, 403):
                raise UnavailableError(
                    f"the Qdrant server at {self._where} refuses the request ({error.status_code}); put its key into "
                    f"the environment variable {KEY}"
                ) from None
            said = (error.content or b"").decode("utf-8", "replace")[:300]
            kind = UnavailableError if error.status_code == 429 or (error.status_code or 0) >= 500 else UserError
            raise kind(f"the Qdrant server at {self._where} answers {error.status_code}: {said}") from None
        except (ResponseHandlingException, OSError) as error:
            raise UnavailableError(
                f"no Qdrant server answers at {self._where} ({URL}): {str(error)[:200]}; start one, or set "
                "backend to 'edge'"
            ) from None


def require() -> None:
    """See that a server is named and its client installed; the server itself is not asked.

    Raises:
        UnavailableError: QDRANT_URL is not set, or is no address.
        MissingExtraError: the client is not installed.
    """
    _address()
    if find_spec("qdrant_client") is None:
        raise MissingExtraError("a Qdrant server", "qdrant")


def _address() -> tuple[str, str]:
    """Return the server's address, and what comes before the paths there."""
    url = os.environ.get(URL, "").strip()
    if not url:
        raise UnavailableError(
            f"backend is 'server', but {URL} is not set; set it to the server's address, or use 'edge'"
        )
    parts = urlsplit(url)
    try:
        port = parts.port
    except ValueError:
        port = -1
    if parts.scheme not in ("http", "https") or not parts.hostname or port == -1:
        raise UnavailableError(f"{URL} is no address of a server; it looks like http://localhost:6333")
    if parts.username or parts.password:
        raise UnavailableError(f"{URL} must hold no user or password; the key's place is {KEY}")
    return f"{parts.scheme}://{parts.hostname}:{port or 6333}", parts.path.strip("/")


def _connect() -> tuple[Any, Any, str]:
    where, prefix = _address()
    try:
        from qdrant_client import QdrantClient, models
    except ImportError:
        raise MissingExtraError("a Qdrant server", "qdrant") from None
    client = QdrantClient(
        url=where,
        prefix=prefix or None,
        api_key=os.environ.get(KEY) or None,
        prefer_grpc=False,
        timeout=60,
        check_compatibility=False,
    )
    return client, models, where
