"""Memories by meaning: embedded, reduced, kept in a vector store, and found again within a tenant."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator

from memtrial.systems.base import Context, Trace
from memtrial.systems.baselines.parts import Part
from memtrial.systems.models.embedders import EmbedderName
from memtrial.systems.stores.vectors import (
    Backend,
    HnswParams,
    Quantization,
    StoreOptions,
    VectorStore,
    open_vectors,
)
from memtrial.systems.structured.embedding import EndpointParams, Fitting, MemoryEmbedder
from memtrial.systems.structured.vector_log import Row, VectorLog

_MEASURED = 10
_TIE = 1e-6


class PcaParams(Part):
    """How far vectors are shortened by principal components.

    ``dims``: components that are kept, as a number (128) or as a share of the embedder's dimensions (0.5); None keeps the
    vectors as they are. As many as the embedder has, or more, cut nothing, which a warning says.
    """

    dims: Annotated[int, Field(ge=2, le=4_096)] | Annotated[float, Field(gt=0, lt=1)] | None = None

    @field_validator("dims", mode="before")
    @classmethod
    def _number_or_share(cls, dims: Any) -> Any:
        number = isinstance(dims, int | float) and not isinstance(dims, bool)
        if dims is None or (number and (0 < dims < 1 or (2 <= dims <= 4_096 and dims == int(dims)))):
            return dims
        raise ValueError(
            "must be a whole number of dimensions from 2 to 4096, or a share of the embedder's between 0 and 1, such as 0.5"
        )


class VectorPartParams(Part):
    """Parameters of memories by meaning.

    ``embedder``: ``e5`` (a small language model, 384 dimensions), ``tfidf_svd`` (fitted on the memories themselves, fast),
    or ``{kind: model, model: NAME, …}`` for an OpenAI-compatible endpoint; ``dims``: dimensions of ``tfidf_svd``;
    ``fit_on``: what is fitted (``tfidf_svd``, PCA) is fitted on so many of the first memories at most. ``quantization``:
    ``int8`` or ``binary`` copies in a built graph, with ``rescore`` compared again by whole vectors. ``exact``: compare with
    every vector even where a graph is built. ``tenancy``: a collection for each tenant, or one that all share and a filter
    tells apart; ``tenant_filter: false`` leaves the filter out and so shows what it is for. ``backend``: ``edge`` in this
    process, or ``server`` at the address in QDRANT_URL. ``measure_ann``: run the exact search beside the approximate one
    and record how much of its first ten was found; its time is no part of an answer's.
    """

    embedder: EmbedderName | EndpointParams = "e5"
    dims: int = Field(default=128, ge=2, le=4_096)
    fit_on: int = Field(default=50_000, ge=1)
    pca: PcaParams = Field(default_factory=PcaParams)
    hnsw: HnswParams = Field(default_factory=HnswParams)
    quantization: Quantization = "none"
    rescore: bool = True
    exact: bool = False
    tenancy: Literal["separate", "shared"] = "separate"
    tenant_filter: bool = True
    backend: Backend = "edge"
    measure_ann: bool = False


class MemoryVectors:
    """Vectors of memories in a folder, with the log of what they were made from.

    What is added is durable after ``commit``; a folder that a crash left half written comes back as of the last commit,
    without embedding anything again. Calling ``add`` again with what is there changes nothing.
    """

    def __init__(self, params: VectorPartParams, folder: Path, context: Context) -> None:
        """Open the vectors of a folder, or make it.

        Raises:
            UserError: the folder was made for other dimensions, is open elsewhere, or no server answers.
            MissingExtraError: the client of a server is not installed.
        """
        self._params, self._folder = params, folder
        self._embedder = MemoryEmbedder(params.embedder, params.dims, context)
        self._fitting = Fitting(
            self._embedder, params.pca.dims, params.fit_on, folder / "fit.npz", cache=context.cache_dir
        )
        self._store: VectorStore | None = None
        self._warnings: list[str] = []
        self._log = VectorLog(folder / "memories.sqlite", self._embedder.meaning, keep=self._fitting.needed)
        try:
            if size := self._embedder.dims or self._log.size:
                self._reopen(self._open_store(size))
        except BaseException:
            self._close_files()
            raise

    def _open_store(self, size: int) -> VectorStore:
        if self._store is None:
            params = self._params
            self._fitting.start(size)
            dims = self._fitting.dims
            options = StoreOptions(
                hnsw=params.hnsw,
                quantization=params.quantization,
                rescore=params.rescore,
                exact=params.exact,
                shared=params.tenancy == "shared",
                meaning={**self._embedder.meaning, "pca": self._fitting.pca is not None, "fit_on": params.fit_on},
            )
            self._store = open_vectors(self._folder / "vectors", dims, options, backend=params.backend)
            self._log.reset()  # not before the store has said that it can be used
            self._log.note_size(size)
            self._warnings = list(filter(None, (options.warning(dims), self._fitting.warning)))
        return self._store

    def _reopen(self, store: VectorStore) -> None:
        """Bring the store to what the log says; the log is written last, so it never says more than was kept."""
        self._fitting.load()
        if self._fitting.needed and (self._log.settled != self._fitting.fitted or len(store) < len(self._log)):
            self._rebuild(None)
        else:
            # Without bytes nothing can be made again: what the store lacks has to be added again.
            self._log.discard([id for id in self._log.ids if id not in store])
        store.discard([id for id in store.ids if id not in self._log])
        self.commit()

    def __len__(self) -> int:
        """Return how many memories have a vector."""
        return len(self._log)

    def __contains__(self, id: str) -> bool:
        """Whether a memory has a vector."""
        return id in self._log

    @property
    def ids(self) -> list[str]:
        """Ids of all memories that have a vector, in the order in which they came.

        A memory that is not among them when a folder is opened has to be added again: other settings empty a folder.
        """
        return self._log.ids

    async def add(self, ids: Sequence[str], tenants: Sequence[str], texts: Sequence[str], trace: Trace) -> None:
        """Embed and index memories; those that are there already are passed over.

        What is fitted is fitted anew when so many memories are there that a size is due which does not depend on the
        portions in which they came; all vectors are then made again, from what was kept of the texts.

        Args:
            ids: of the memories, n.
            tenants: whose they are, n.
            texts: what is embedded, n.
            trace: gets the time of embedding and fitting.

        Raises:
            ModelCallError: an endpoint gives no vectors; nothing is kept of these memories.
        """
        fresh = {id: (tenant, text) for id, tenant, text in zip(ids, tenants, texts, strict=True) if id not in self}
        if not fresh:
            return
        with trace.span("embed"):
            made = await self._embedder.passages([text for _, text in fresh.values()], trace)
        store = self._open_store(self._embedder.dims or 0)
        rows = [Row(id, tenant, kept) for (id, (tenant, _)), kept in zip(fresh.items(), made, strict=True)]
        self._log.add(rows)
        if self._fitting.due(len(self._log)) > self._fitting.fitted:
            with trace.span("fit"):
                self._rebuild(trace)
            return
        try:
            self._put(store, rows)
        except BaseException:
            self._log.discard(list(fresh))  # what has no vector has to be added again
            raise

    def _put(self, store: VectorStore, rows: Sequence[Row]) -> None:
        if rows:
            vectors = self._fitting.apply(self._embedder.vectors([row.base for row in rows]))
            store.add([row.id for row in rows], [row.tenant for row in rows], vectors)

    def _rebuild(self, trace: Trace | None) -> None:
        """Fit on the first memories and make all vectors anew."""
        store = self._store
        assert store is not None
        # Until the next commit the folder says that its vectors are of no fit: a crash ends in another rebuild.
        self._log.unsettle()
        if store.indexed():
            store.clear()  # rather than carry a graph of vectors that are no more
        rows = self._log.rows()
        self._fitting.fit([row.base for row in rows], trace)
        self._put(store, rows)

    def discard(self, ids: Sequence[str]) -> None:
        """Take memories out; ids that are not there are passed over."""
        self._log.discard(ids)
        if self._store is not None:
            self._store.discard(ids)
            if self._fitting.due(len(self._log)) < self._fitting.fitted:
                self._rebuild(None)  # what is gone must not speak through a fit

    def commit(self) -> None:
        """Make everything durable and build the graphs that are due."""
        if self._store is not None:
            self._store.commit()
            self._fitting.save()
        self._log.settle(self._fitting.fitted)

    async def search(self, text: str, tenant: str, k: int, trace: Trace) -> list[tuple[str, float]]:
        """Return the nearest memories of a tenant with their cosine, best first.

        Args:
            text: what is asked, with whatever of the dialogue belongs to it.
            tenant: whose memories; with ``tenant_filter`` off, only a name in the trace.
            k: how many at most. A graph is searched at least that wide, whatever ``hnsw.ef`` says.
            trace: gets ``vectors``, ``vectors_indexed``, ``search`` (``exact`` or ``hnsw``), ``dims``, with a
                graph ``ef`` as it was, with PCA
                ``explained_variance``, and with ``measure_ann`` ``ann_recall@10``.

        Raises:
            ModelCallError: an endpoint gives no vector.
        """
        with trace.span("embed"):
            asked = await self._embedder.query(text, trace)
        store = self._store
        if store is None or not len(store):
            trace.facts |= {"vectors": 0, "vectors_indexed": 0, "search": "exact"}
            return []
        vector = self._fitting.apply(asked[None, :])[0]
        whose = tenant if self._params.tenant_filter else None
        approximate = not self._params.exact and store.indexed(whose) > 0
        trace.facts |= {
            "vectors": len(store),
            "vectors_indexed": store.indexed(),
            "search": "hnsw" if approximate else "exact",
            "dims": self._fitting.dims,
        }
        if approximate:
            trace.facts["ef"] = max(self._params.hnsw.ef, k)
        if self._fitting.pca is not None:
            trace.facts["explained_variance"] = round(self._fitting.pca.explained_variance, 6)
        for warning in self._warnings:
            trace.warn(warning)
        if not vector.any():
            return []
        with trace.span("search"):
            found, due = store.search(vector, whose, k)
        if len(found) < due:
            trace.warn(f"the vector search returned {len(found)} of {due} matching vectors")
        if approximate and self._params.measure_ann:
            with trace.instrument():
                note_recall(found, store.search(vector, whose, _MEASURED, exact=True)[0], trace)
        return found

    async def aclose(self) -> None:
        """Let go of files and connections; what was not committed is not kept."""
        self._close_files()
        await self._embedder.aclose()

    def _close_files(self) -> None:
        with contextlib.ExitStack() as stack:
            stack.callback(self._log.close)
            if self._store is not None:
                stack.callback(self._store.close)
                self._store = None


def note_recall(found: Sequence[tuple[str, float]], exact: Sequence[tuple[str, float]], trace: Trace) -> None:
    """Record which share of the exact first ten the approximate first ten hold; of several searches, the mean.

    An item as near as the last of the exact ten counts as found: which of equals comes first is chance.
    """
    if not exact:
        return
    wanted, last = {id for id, _ in exact}, exact[-1][1]
    right = sum(id in wanted or score >= last - _TIE for id, score in found[: len(exact)])
    searches = trace.facts.get("ann_searches", 0)
    before = trace.facts.get("ann_recall@10", 0.0) * searches
    trace.facts["ann_recall@10"] = (before + right / len(exact)) / (searches + 1)
    trace.facts["ann_searches"] = searches + 1
