"""The two indexes over memories: by words and by meaning. SQL holds the truth; both can be made again from it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from memtrial.systems.base import Context, Query, Trace
from memtrial.systems.models.analyze import ANALYZER_VERSION, date_words, has_han, terms
from memtrial.systems.stores.fulltext import FullTextStore
from memtrial.systems.structured.node import Node
from memtrial.systems.structured.vectors import MemoryVectors, VectorPartParams

_EARLIER = 0.5
_AT_ONCE = 8


class WordIndex:
    """Full text of memories, an index for each tenant: not even a term's frequency crosses between them."""

    def __init__(self, folder: Path) -> None:
        """Open the indexes of a folder."""
        self._folder = folder
        self._stores: dict[str, FullTextStore] = {}
        for named in sorted(folder.glob("*/tenant.txt")):
            self._store(named.read_text(encoding="utf-8"))

    def _store(self, tenant: str) -> FullTextStore:
        store = self._stores.get(tenant)
        if store is None:
            home = self._folder / hashlib.sha256(tenant.encode("utf-8", "surrogatepass")).hexdigest()[:24]
            home.mkdir(parents=True, exist_ok=True)
            store = self._stores[tenant] = FullTextStore(home / "words", {"analyzer": ANALYZER_VERSION})
            (home / "tenant.txt").write_text(tenant, encoding="utf-8", errors="surrogatepass")
        return store

    def __len__(self) -> int:
        """Return how many memories are indexed."""
        return sum(len(store) for store in self._stores.values())

    def __contains__(self, id: str) -> bool:
        """Whether a memory is indexed."""
        return any(id in store for store in self._stores.values())

    @property
    def ids(self) -> list[str]:
        """Ids of all memories that are indexed."""
        return [id for store in self._stores.values() for id in store.ids]

    async def add(self, nodes: Sequence[Node], trace: Trace) -> None:
        """Index memories with the day they are from; those that are there are passed over."""
        with trace.span("index_words"):
            for node in nodes:
                fact = node.fact
                said = f"{fact.whole}\n{date_words(fact.recorded_at, chinese=has_han(fact.text))}"
                self._store(fact.tenant_id).add(node.id, fact.tenant_id, terms(said))

    def discard(self, ids: Sequence[str]) -> None:
        """Drop every index that holds one of these: a document cannot be taken out, and what is missing is added again."""
        gone = set(ids)
        for store in self._stores.values():
            if not gone.isdisjoint(store.ids):
                store.clear()

    def commit(self) -> None:
        """Make everything durable and searchable."""
        changed = [store for store in self._stores.values() if store.pending]
        if len(changed) < 2:
            for store in changed:
                store.commit()
            return
        # A commit mostly waits for the disk, and waits for several at a time are one wait.
        with ThreadPoolExecutor(min(len(changed), _AT_ONCE)) as pool:
            for done in [pool.submit(store.commit) for store in changed]:
                done.result()

    def search(self, query: Query, limit: int) -> list[tuple[str, float]]:
        """Return ids and BM25 scores of the tenant's memories, best first; earlier turns count half."""
        store = self._stores.get(query.tenant_id)
        if store is None:
            return []
        weights = {term: _EARLIER for turn in query.history for term in terms(turn.text)}
        weights.update(dict.fromkeys(terms(query.text), 1.0))
        return store.search(weights.items(), query.tenant_id, limit)

    def close(self) -> None:
        """Let go of the indexes."""
        for store in self._stores.values():
            store.close()


class MeaningIndex:
    """Vectors of memories."""

    def __init__(self, params: VectorPartParams, folder: Path, context: Context) -> None:
        """Open the vectors of a folder."""
        self.vectors = MemoryVectors(params, folder, context)

    def __len__(self) -> int:
        """Return how many memories have a vector."""
        return len(self.vectors)

    def __contains__(self, id: str) -> bool:
        """Whether a memory has a vector."""
        return id in self.vectors

    @property
    def ids(self) -> list[str]:
        """Ids of all memories that have a vector."""
        return self.vectors.ids

    async def add(self, nodes: Sequence[Node], trace: Trace) -> None:
        """Embed memories with the day they are from."""
        texts = [f"[{node.fact.recorded_at:%Y-%m-%d}] {node.fact.whole}" for node in nodes]
        await self.vectors.add([node.id for node in nodes], [node.fact.tenant_id for node in nodes], texts, trace)

    def discard(self, ids: Sequence[str]) -> None:
        """Take memories out."""
        self.vectors.discard(ids)

    def commit(self) -> None:
        """Make everything durable and build the graphs that are due."""
        self.vectors.commit()

    async def search(self, query: Query, limit: int, trace: Trace) -> list[tuple[str, float]]:
        """Return the nearest memories with their cosine, best first; earlier turns are embedded with the question."""
        asked = "\n".join([*(turn.text for turn in query.history), query.text])
        return await self.vectors.search(asked, query.tenant_id, limit, trace)

    async def aclose(self) -> None:
        """Let go of the vectors."""
        await self.vectors.aclose()
