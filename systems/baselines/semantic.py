"""Ranking by meaning: a vector for each turn, nearest to the question's first."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pydantic import Field

from memtrial.datasets.schema import Message
from memtrial.systems.base import Context, Trace
from memtrial.systems.baselines.log import Log, caption
from memtrial.systems.baselines.parts import Part
from memtrial.systems.models.analyze import terms
from memtrial.systems.models.embedders import EmbedderName, make_embedder
from memtrial.systems.models.embedders_fitted import TfidfSvd, fit_size
from memtrial.systems.stores.vectors import HnswParams, Quantization, StoreOptions, open_vectors


class TextParams(Part):
    """What is embedded for a turn besides its content: who said it, the day, and how many turns before it."""

    speaker: bool = True
    date: bool = True
    previous: int = Field(default=0, ge=0, le=10)


class SemanticParams(Part):
    """Parameters of ranking by meaning.

    ``dims``: dimensions of a fitted embedder; ``history``: earlier turns of the dialogue are embedded with the
    question; ``candidates``: how many nearest turns are looked up.
    """

    embedder: EmbedderName = "e5"
    dims: int = Field(default=128, ge=2, le=4_096)
    text: TextParams = Field(default_factory=TextParams)
    history: bool = True
    candidates: int = Field(default=500, ge=1, le=100_000)
    hnsw: HnswParams = Field(default_factory=HnswParams)
    quantization: Quantization = "none"
    exact: bool = False


class SemanticRanker:
    """Vectors of a log, on disk in a folder."""

    def __init__(self, params: SemanticParams, log: Log, folder: Path, context: Context, *, captions: bool) -> None:
        """Open the store of ``folder``, or make it."""
        self._params = params
        self._log = log
        self._captions = captions
        self._embedder = make_embedder(
            params.embedder, dims=params.dims, seed=context.seed, cache_dir=context.cache_dir
        )
        options = StoreOptions(
            hnsw=params.hnsw,
            quantization=params.quantization,
            exact=params.exact,
            meaning={"embedder": params.embedder, "text": params.text.model_dump(), "captions": captions},
        )
        self._store = open_vectors(folder, self._embedder.dims, options)
        self._warning = options.warning(self._embedder.dims)
        self._terms: list[list[str]] = []
        if isinstance(self._embedder, TfidfSvd) and len(self._store):
            self._store.clear()  # what it was fitted with is not kept

    def add(self, positions: Sequence[int], trace: Trace) -> None:
        """Embed and index messages by their positions in the log, which must come in order."""
        texts = [self._text(position) for position in positions]
        if isinstance(self._embedder, TfidfSvd):
            self._terms += [terms(text) for text in texts]
            size = fit_size(len(self._terms))
            if size != self._embedder.fitted:
                with trace.span("fit"):
                    self._embedder.fit(self._terms[:size])
                positions = range(len(self._log))
            vectors = self._embedder.embed([self._terms[p] for p in positions])
            messages = [self._log.messages[p] for p in positions]
        else:
            new = [p for p, position in enumerate(positions) if self._log.messages[position].id not in self._store]
            with trace.span("embed"):
                vectors = self._embedder.passages([texts[p] for p in new], trace)
            messages = [self._log.messages[positions[p]] for p in new]
        self._store.add([m.id for m in messages], [m.tenant_id for m in messages], vectors)
        self._store.commit()

    def _text(self, position: int) -> str:
        text, log = self._params.text, self._log
        lines: list[str] = []
        before = position
        for _ in range(text.previous):
            before = log.previous[before] if before >= 0 else -1
            if before >= 0:
                lines.insert(0, self._line(log.messages[before]))
        lines.append(self._line(log.messages[position]))
        day = f"[{log.messages[position].timestamp:%Y-%m-%d}] " if text.date else ""
        return day + "\n".join(lines)

    def _line(self, message: Message) -> str:
        said = " ".join(filter(None, (message.content, caption(message) if self._captions else "")))
        return f"{message.sender_name}: {said}" if self._params.text.speaker else said

    def rank(self, question: str, history: Sequence[str], tenant: str | None, trace: Trace) -> list[tuple[int, float]]:
        """Return positions and cosines of the nearest turns, best first.

        Args:
            question: any text.
            history: earlier turns of the dialogue.
            tenant: only this tenant's messages; None for everybody's.
            trace: gets the number of vectors, how many stand in a graph, and whether the search was exact.
        """
        if len(self._store) > len(self._log):  # reopened with a shorter log: what was not handed over must not be found
            self._store.discard([id for id in self._store.ids if id not in self._log.position])
            self._store.commit()
        asked = "\n".join([*history, question]) if self._params.history else question
        with trace.span("embed"):
            vector = self._embedder.query(asked)
        indexed = self._store.indexed()
        exact = self._params.exact or self._store.indexed(tenant) == 0
        if self._warning:
            trace.warn(self._warning)
        trace.facts |= {"vectors": len(self._store), "vectors_indexed": indexed, "search": "exact" if exact else "hnsw"}
        if not vector.any():
            return []
        with trace.span("search"):
            found, due = self._store.search(vector, tenant, self._params.candidates)
        if len(found) < due:
            trace.warn(f"the vector search returned {len(found)} of {due} matching vectors")
        return [(self._log.position[id], score) for id, score in found]

    def close(self) -> None:
        """Let go of the store."""
        self._store.close()
