"""The fast stand-in for scale runs: TF-IDF and truncated SVD (latent semantic analysis), fitted on the log itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memtrial.systems.base import Trace
from memtrial.systems.models.analyze import terms

_GROWTH = 1.5
_MAX_TERMS = 50_000


def fit_size(available: int) -> int:
    """Return on how many of the log's first texts to fit: the largest of 1, 2, 3, 4, 6, 9, 13, … that is there.

    Each size is half as large again as the one before, so that all fits together cost three times the last, and the
    sizes do not depend on the portions in which the log was handed over.
    """
    size = 1
    while (larger := max(size + 1, int(size * _GROWTH))) <= available:
        size = larger
    return size


class TfidfSvd:
    """Term weights of the log's first texts, reduced to ``dims`` dimensions; refitted as the log grows.

    Not a language model: a word that was not in the texts it was fitted on counts for nothing.

    Args:
        dims: length of a vector; a small log fills fewer and leaves the rest zero.
        seed: for the randomised decomposition.
    """

    name = "tfidf_svd"

    def __init__(self, dims: int, seed: int) -> None:
        """Start unfitted."""
        self.dims = dims
        self.fitted = 0
        self._seed = seed
        self._vectorizer: Any = None
        self._components: NDArray[np.float32] | None = None

    def fit(self, texts: Sequence[Sequence[str]]) -> None:
        """Learn weights and directions from texts given as terms."""
        decomposition: Any = import_module("sklearn.decomposition")
        self.fitted = len(texts)
        self._components = None
        self._vectorizer = _vectorizer(max_features=_MAX_TERMS)
        try:
            weights = self._vectorizer.fit_transform(texts)
        except ValueError:  # no term in any text
            self._vectorizer = None
            return
        rank = min(self.dims, weights.shape[0] - 1, weights.shape[1] - 1)
        if rank >= 1:
            svd = decomposition.TruncatedSVD(rank, n_iter=4, random_state=self._seed).fit(weights)
            self._components = svd.components_.astype(np.float32)

    def embed(self, texts: Sequence[Sequence[str]]) -> NDArray[np.float32]:
        """Embed texts given as terms; shape (len(texts), dims), rows of unit length or zero."""
        out = np.zeros((len(texts), self.dims), dtype=np.float32)
        if self._vectorizer is None or not len(texts):
            return out
        weights = self._vectorizer.transform(texts)
        reduced = weights[:, : self.dims].toarray() if self._components is None else weights @ self._components.T
        norms = np.linalg.norm(reduced, axis=1, keepdims=True)
        out[:, : reduced.shape[1]] = np.divide(reduced, norms, out=np.zeros_like(reduced), where=norms > 1e-9)
        return out

    def passages(self, texts: Sequence[str], trace: Trace) -> NDArray[np.float32]:
        """Embed passages with what was fitted last."""
        return self.embed([terms(text) for text in texts])

    def query(self, text: str) -> NDArray[np.float32]:
        """Embed a question."""
        row: NDArray[np.float32] = self.embed([terms(text)])[0]
        return row

    def state(self) -> dict[str, NDArray[Any]]:
        """Return what was fitted, to be kept in a file."""
        known = [] if self._vectorizer is None else self._vectorizer.get_feature_names_out()
        idf = np.zeros(0, np.float32) if self._vectorizer is None else self._vectorizer.idf_
        components = np.zeros((0, 0), np.float32) if self._components is None else self._components
        words = np.frombuffer("\n".join(known).encode("utf-8", "surrogatepass"), np.uint8)
        return {"fitted": np.array([self.fitted]), "words": words, "idf": idf, "components": components}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Take over what :meth:`state` returned."""
        self.fitted = int(state["fitted"][0])
        self._vectorizer = self._components = None
        if state["idf"].size:
            words = state["words"].tobytes().decode("utf-8", "surrogatepass").split("\n")
            self._vectorizer = _vectorizer(vocabulary={word: place for place, word in enumerate(words)})
            self._vectorizer.idf_ = state["idf"]
        if state["components"].size:
            self._components = state["components"]


def _vectorizer(**settings: Any) -> Any:
    extraction: Any = import_module("sklearn.feature_extraction.text")
    return extraction.TfidfVectorizer(analyzer=_as_is, sublinear_tf=True, dtype=np.float32, **settings)


def _as_is(document: Sequence[str]) -> Sequence[str]:
    return document
