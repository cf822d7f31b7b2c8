from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from memtrial.systems.base import Trace
from memtrial.systems.models.analyze import terms
from memtrial.systems.models.embedders import E5
from memtrial.systems.models.embedders_cache import EmbeddingCache
from memtrial.systems.models.embedders_fitted import TfidfSvd, fit_size

TEXTS = ["The kettle arrives in March.", "水壶三月到货。", "Our dog likes long walks."]


def test_e5_finds_the_same_matter_in_both_languages_and_cuts_long_text() -> None:
    model = E5(None)
    trace = Trace()
    vectors = model.passages([*TEXTS, "long " * 1_500], trace)
    assert vectors.shape == (4, 384)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0, abs=1e-3)
    for question in ("When does the kettle come?", "水壶什么时候到？"):
        assert set(np.argsort(-(vectors[:3] @ model.query(question)))[:2]) == {0, 1}
    assert trace.facts["passages_cut"] == 1
    assert trace.replayed_ms == 0


def test_a_warm_cache_gives_the_same_vectors_and_adds_the_time_they_took(tmp_path: Path) -> None:
    cold, warm = Trace(), Trace()
    first = E5(tmp_path).passages(TEXTS, cold)
    second = E5(tmp_path).passages(TEXTS, warm)
    assert (first == second).all()
    assert cold.replayed_ms == 0
    assert warm.replayed_ms > 0
    assert warm.cache_hits == {"embeddings": 3}


def test_two_openers_share_a_cache_and_the_first_entry_stays(tmp_path: Path) -> None:
    one, two = EmbeddingCache(tmp_path / "c.sqlite"), EmbeddingCache(tmp_path / "c.sqlite")
    one.put([("k", np.ones(2, dtype=np.float32), 0.5)])
    two.put([("k", np.zeros(2, dtype=np.float32), 9.0), ("\ud800", np.zeros(2, dtype=np.float32), 1.0)])
    found = one.get(["k", "\ud800", "unknown"])
    assert set(found) == {"k", "\ud800"}
    assert found["k"][0].tolist() == [1.0, 1.0]
    assert found["k"][1] == 0.5


@pytest.mark.parametrize(("available", "size"), [(1, 1), (2, 2), (4, 4), (5, 4), (8, 6), (9, 9), (18, 13)])
def test_fit_sizes_grow_by_half(available: int, size: int) -> None:
    assert fit_size(available) == size


def test_tfidf_svd_ranks_by_shared_words_and_survives_texts_without_any() -> None:
    model = TfidfSvd(dims=8, seed=0)
    documents = [terms(text) for text in [*TEXTS, "!!"]]
    model.fit(documents)
    vectors = model.embed(documents)
    assert vectors.shape == (4, 8)
    assert int(np.argmax(vectors @ model.query("walks with the dog"))) == 2
    assert not model.query("nothing shared").any()
    model.fit([[], []])
    assert not model.embed([["x"]]).any()
