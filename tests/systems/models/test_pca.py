from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.decomposition import PCA

from memtrial.systems.models.pca import Pca


def drawn(rows: int, size: int, seed: int = 0) -> np.ndarray:
    """Unit vectors whose variance falls from the first direction to the last."""
    made = np.random.default_rng(seed).normal(size=(rows, size)) * np.linspace(3.0, 0.2, size) + 0.5
    return (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float32)


def test_components_and_explained_variance_are_those_of_sklearn() -> None:
    vectors = drawn(200, 12)
    model = Pca(5)
    model.fit(vectors)
    golden = PCA(5, svd_solver="full").fit(vectors.astype(np.float64))
    assert model.explained_variance == pytest.approx(golden.explained_variance_ratio_.sum(), abs=1e-9)
    wanted = golden.transform(drawn(7, 12, seed=1).astype(np.float64))
    wanted /= np.linalg.norm(wanted, axis=1, keepdims=True)
    # Signs of components are free; cosines between reduced vectors are not.
    reduced = model.apply(drawn(7, 12, seed=1))
    assert reduced @ reduced.T == pytest.approx(wanted @ wanted.T, abs=1e-5)


def test_points_on_a_line_by_hand() -> None:
    model = Pca(1)
    model.fit(np.array([[0, 0], [3, 4], [6, 8]], dtype=np.float32))
    assert model.explained_variance == pytest.approx(1.0)
    # Mean (3, 4); along (0.6, 0.8) the first point is 5 before it and the last 5 after, renormalised to 1.
    assert model.apply(np.array([[0, 1], [6, 8]], dtype=np.float32)).ravel().tolist() == pytest.approx([-1.0, 1.0])


def test_few_vectors_are_not_centred_away() -> None:
    model = Pca(3)
    one = np.array([[0.6, 0.8, 0.0, 0.0]], dtype=np.float32)
    model.fit(one)
    assert model.apply(one) @ model.apply(one).T == pytest.approx(1.0)
    assert not model.apply(np.zeros((1, 4), dtype=np.float32)).any()
    with pytest.raises(ValueError, match="3 components of 5 vectors of 2"):
        model.fit(np.ones((5, 2), dtype=np.float32))


@given(rows=st.integers(1, 40), kept=st.integers(1, 6), seed=st.integers(0, 5))
@settings(max_examples=40, deadline=None)
def test_any_fit_gives_unit_vectors_again_and_restores_to_the_same(rows: int, kept: int, seed: int) -> None:
    vectors = drawn(rows, 6, seed)
    model, again, restored = Pca(kept), Pca(kept), Pca(kept)
    model.fit(vectors)
    again.fit(vectors.copy())
    restored.restore(model.state())
    reduced = model.apply(vectors)
    assert reduced.shape == (rows, kept)
    lengths = np.linalg.norm(reduced, axis=1)
    assert np.all(np.isclose(lengths, 1.0, atol=1e-5) | (lengths == 0))
    assert (again.apply(vectors) == reduced).all()
    assert (restored.apply(vectors) == reduced).all()
    assert 0.0 <= model.explained_variance <= 1.0 + 1e-12
    assert restored.explained_variance == model.explained_variance
