"""Shorter vectors by principal components, fitted on the vectors that are searched (Jolliffe 2002, chapters 2 and 6)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


class Pca:
    """Centres vectors, turns them into the directions of their largest variance, keeps the first few, renormalises.

    Up to ``dims`` vectors are not centred: their mean would be mostly themselves (one vector minus its mean is nothing).

    Args:
        dims: components that are kept; at most as many as the vectors have.

    Attributes:
        fitted: how many vectors it was fitted on; 0 before the first fit.
        explained_variance: share of the variance of those vectors that the kept components hold, in [0, 1].
    """

    def __init__(self, dims: int) -> None:
        """Start unfitted."""
        self.dims = dims
        self.fitted = 0
        self.explained_variance = 0.0
        self._mean: NDArray[np.float64] = np.zeros(0)
        self._components: NDArray[np.float64] = np.zeros((0, 0))

    def fit(self, vectors: Vectors) -> None:
        """Learn mean and components of vectors, shape (n, size), n ≥ 1, size ≥ dims.

        The eigenvectors of the covariance are a whole basis even where there are few vectors, so that what later texts
        say in directions not yet seen is cut but never all lost. The same vectors give the same components, signs too.

        Raises:
            ValueError: there are no vectors, or they have fewer dimensions than are to be kept.
        """
        n, size = vectors.shape
        if not n or size < self.dims:
            raise ValueError(f"{self.dims} components of {n} vectors of {size} dimensions are asked for")
        rows = vectors.astype(np.float64)
        self._mean = rows.mean(axis=0) if n > self.dims else np.zeros(size)
        rows -= self._mean
        variances, directions = np.linalg.eigh(rows.T @ rows / n)
        largest_first = np.argsort(-variances, kind="stable")[: self.dims]
        components = directions[:, largest_first].T
        heaviest = np.abs(components).argmax(axis=1)
        components *= np.sign(components[np.arange(self.dims), heaviest])[:, None]
        total = float(np.clip(variances, 0.0, None).sum())
        kept = float(np.clip(variances[largest_first], 0.0, None).sum())
        self.explained_variance = kept / total if total > 0 else 1.0
        self._components = components
        self.fitted = n

    def apply(self, vectors: Vectors) -> Vectors:
        """Reduce vectors, shape (n, size), to shape (n, dims), of unit length or zero; a zero vector stays zero."""
        rows = (vectors - self._mean) @ self._components.T
        norms = np.linalg.norm(rows, axis=1, keepdims=True)
        said = (norms > 1e-9) & vectors.any(axis=1, keepdims=True)
        reduced: NDArray[np.float64] = np.divide(rows, norms, out=np.zeros_like(rows), where=said)
        return reduced.astype(np.float32)

    def state(self) -> dict[str, NDArray[Any]]:
        """Return what was fitted, to be kept in a file."""
        told = np.array([self.fitted, self.explained_variance])
        return {"pca": told, "pca_mean": self._mean, "pca_components": self._components}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Take over what :meth:`state` returned."""
        self.fitted, self.explained_variance = int(state["pca"][0]), float(state["pca"][1])
        self._mean, self._components = state["pca_mean"], state["pca_components"]
