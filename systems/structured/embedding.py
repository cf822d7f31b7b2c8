"""From texts to the vectors of memories: one of several embedders, and what is fitted as memories come in."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal, cast
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from memtrial.systems.base import Context, Trace
from memtrial.systems.models.analyze import ANALYZER_VERSION, terms
from memtrial.systems.models.embedders import E5, EmbedderName, make_embedder
from memtrial.systems.models.embedders_fitted import TfidfSvd, fit_size
from memtrial.systems.models.pca import Pca
from memtrial.systems.models.role import ModelParams, model_span

Vectors = NDArray[np.float32]
_BETWEEN = "\x1f"


class EndpointParams(ModelParams):
    """An embedding model behind an OpenAI-compatible endpoint; without ``model``, the run's for the role ``embed``."""

    kind: Literal["model"] = "model"


class MemoryEmbedder:
    """Makes of a text the bytes that are kept of it, and of those bytes a vector.

    What an embedder that is fitted keeps is the text's terms; what another keeps is its vector, in half precision, which is
    a thousandth of a component, and is less than what four-bit weights lose.

    Attributes:
        dims: of a vector; None for an endpoint that has not been asked yet.
        meaning: whatever decides what a vector means.
    """

    def __init__(self, which: EmbedderName | EndpointParams, dims: int, context: Context) -> None:
        """Make the embedder; an endpoint is not asked before there is something to embed."""
        self.dims: int | None
        self._client: Any = None
        self.fitted: TfidfSvd | None = None
        if isinstance(which, EndpointParams):
            from memtrial.systems.models.llm.factory import client_for  # a keyless run loads no client

            self._client = client_for("embed", context, which.overrides())
            self._trial = str(context.models.get("_trial", ""))
            self.dims = None
            settings = self._client.settings
            self.meaning: dict[str, Any] = {"embedder": "endpoint", "model": settings.model, "at": settings.public_url}
            return
        made = make_embedder(which, dims=dims, seed=context.seed, cache_dir=context.cache_dir)
        self.dims = made.dims
        self.meaning = {"embedder": which}
        if isinstance(made, TfidfSvd):
            self.fitted = made
            self.meaning |= {"dims": dims, "seed": context.seed, "analyzer": ANALYZER_VERSION}
        else:
            self._whole: E5 = made

    async def passages(self, texts: Sequence[str], trace: Trace) -> list[bytes]:
        """Return the bytes to keep of each text."""
        if self.fitted is not None:
            return [_BETWEEN.join(terms(text)).encode("utf-8", "surrogatepass") for text in texts]
        vectors = await self._ask(texts, "ingest", trace) if self._client else self._whole.passages(texts, trace)
        return [row.astype(np.float16).tobytes() for row in vectors]

    async def query(self, text: str, trace: Trace) -> Vectors:
        """Embed a question; shape (dims,)."""
        if self._client:
            vector: Vectors = (await self._ask([text], "query", trace))[0]
            return vector
        return self.fitted.query(text) if self.fitted is not None else self._whole.query(text)

    def vectors(self, kept: Sequence[bytes]) -> Vectors:
        """Return the vectors of kept bytes, shape (len(kept), dims)."""
        if self.fitted is not None:
            return self.fitted.embed([terms_of(row) for row in kept])
        if not kept:
            return np.zeros((0, self.dims or 0), dtype=np.float32)
        return np.frombuffer(b"".join(kept), dtype=np.float16).reshape(len(kept), -1).astype(np.float32)

    async def _ask(self, texts: Sequence[str], phase: Literal["ingest", "query"], trace: Trace) -> Vectors:
        with model_span(trace, "embed_model") as span:
            began = time.perf_counter()
            rows = np.array(await self._client.embed(texts, phase=phase, trial=self._trial), dtype=np.float32)
            span.model_ms += (time.perf_counter() - began) * 1000.0
        if self.dims is not None and rows.shape[1] != self.dims:
            from memtrial.datasets.errors import UserError

            raise UserError(
                f"the embedding endpoint gave vectors of {rows.shape[1]} dimensions after such of {self.dims}; "
                "one store holds vectors of one model"
            )
        self.dims = int(rows.shape[1])
        norms = np.linalg.norm(rows, axis=1, keepdims=True)
        unit: Vectors = np.divide(rows, norms, out=np.zeros_like(rows), where=norms > 1e-9)
        return unit

    async def aclose(self) -> None:
        """Close the connections of an endpoint."""
        if self._client:
            await self._client.aclose()


class Fitting:
    """What is learnt from the memories themselves: the weights of ``tfidf_svd`` and the components of PCA.

    Args:
        embedder: is fitted too where it can be.
        pca: components to keep, as a number or a share of the embedder's dimensions; None for no reduction.
        at_most: so many of the first memories are fitted on.
        file: where the fit is kept.
        cache: folder shared by all runs, where the slow part of a fit is kept by its content.

    Attributes:
        pca: where vectors are reduced.
        fitted: on how many memories.
        dims: of the vectors that are stored.
        warning: what a reader of the report must know of the reduction, or "".
    """

    def __init__(
        self, embedder: MemoryEmbedder, pca: float | None, at_most: int, file: Path, cache: Path | None
    ) -> None:
        """Start unfitted."""
        self._embedder, self._wanted, self._at_most, self._file, self._cache = embedder, pca, at_most, file, cache
        self.pca: Pca | None = None
        self.fitted = 0
        self.dims = 0
        self.warning = ""
        self._saved = 0

    @property
    def needed(self) -> bool:
        """Whether anything is fitted at all."""
        return self._wanted is not None or self._embedder.fitted is not None

    def start(self, size: int) -> None:
        """Settle the dimensions, of an embedder with vectors of ``size``."""
        wanted = self._wanted
        if wanted is not None and self.pca is None:
            self.pca = Pca(min(size, max(2, round(wanted * size)) if isinstance(wanted, float) else wanted))
        self.dims = self.pca.dims if self.pca is not None else size
        if wanted is not None and self.dims == size:
            self.warning = (
                f"pca.dims is {wanted:g}, but the embedder's vectors have {size} dimensions: nothing was cut from them"
            )

    def due(self, available: int) -> int:
        """Return on how many memories to fit when so many are there, in steps that no portion can move; 0 for never."""
        return fit_size(min(available, self._at_most)) if self.needed and available else 0

    def fit(self, kept: Sequence[bytes], trace: Trace | None) -> None:
        """Fit on the first of what is there."""
        first = kept[: self.due(len(kept))]
        self.fitted = len(first)
        if not first:
            return
        if self._embedder.fitted is not None:
            self._fit_embedder(self._embedder.fitted, first, trace)
        if self.pca is not None:
            self.pca.fit(self._embedder.vectors(first))

    def _fit_embedder(self, model: TfidfSvd, first: Sequence[bytes], trace: Trace | None) -> None:
        file = self._cache / "fits" / f"{self._key(first)}.npz" if self._cache is not None else None
        if file is not None and (state := _load(file)) is not None:
            model.restore(state)
            if trace is not None:
                trace.replayed_ms += float(state["seconds"][0]) * 1000.0
                trace.cache_hits["fits"] = trace.cache_hits.get("fits", 0) + 1
            return
        began = time.perf_counter()
        model.fit([terms_of(row) for row in first])
        if file is not None:
            _save(file, model.state() | {"seconds": np.array([time.perf_counter() - began])})

    def _key(self, first: Iterable[bytes]) -> str:
        digest = hashlib.blake2b(repr((self._embedder.meaning, version("scikit-learn"))).encode(), digest_size=16)
        for row in first:
            digest.update(len(row).to_bytes(4, "little") + row)
        return digest.hexdigest()

    def apply(self, vectors: Vectors) -> Vectors:
        """Reduce vectors, shape (n, size), to shape (n, dims)."""
        return vectors if self.pca is None else self.pca.apply(vectors)

    def save(self) -> None:
        """Keep what was fitted."""
        if self.fitted and self._saved != self.fitted:
            state: dict[str, Any] = {"on": np.array([self.fitted])}
            if self._embedder.fitted is not None:
                state |= self._embedder.fitted.state()
            if self.pca is not None:
                state |= self.pca.state()
            _save(self._file, state)
            self._saved = self.fitted

    def load(self) -> None:
        """Take up what was kept, if it is there and whole."""
        state = _load(self._file)
        if state is None or (self.pca is not None and state["pca_components"].shape[0] != self.pca.dims):
            return
        if self._embedder.fitted is not None:
            self._embedder.fitted.restore(state)
        if self.pca is not None:
            self.pca.restore(state)
        self.fitted = self._saved = int(state["on"][0])


def terms_of(kept: bytes) -> list[str]:
    """Return the terms that were kept of a text."""
    return kept.decode("utf-8", "surrogatepass").split(_BETWEEN) if kept else []


def _load(file: Path) -> Mapping[str, NDArray[Any]] | None:
    try:
        with np.load(file, allow_pickle=False) as held:
            return {name: held[name] for name in held.files}
    except (OSError, ValueError, EOFError, KeyError, BadZipFile):
        return None  # not there, or cut short: it is fitted again


def _save(file: Path, state: Mapping[str, NDArray[Any]]) -> None:
    """Write beside and rename: another process reads a whole file or none."""
    file.parent.mkdir(parents=True, exist_ok=True)
    beside = file.with_suffix(f".{os.getpid()}.tmp")
    with beside.open("wb") as out:
        np.savez(out, **cast(Any, dict(state)))
    beside.replace(file)
