from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from memtrial.datasets.errors import UserError
from memtrial.systems.stores.vectors import HnswParams, StoreOptions, VectorStore, open_vectors

SIZE = 32


def unit(rows: int, seed: int = 0) -> np.ndarray:
    drawn = np.random.default_rng(seed).normal(size=(rows, SIZE)).astype(np.float32)
    return drawn / np.linalg.norm(drawn, axis=1, keepdims=True)


def filled(folder: Path, hnsw: HnswParams, **more: object) -> tuple[VectorStore, np.ndarray]:
    vectors = unit(400)
    store = open_vectors(folder, SIZE, StoreOptions(hnsw=hnsw, **more))  # type: ignore[arg-type]
    store.add([f"m{n}" for n in range(400)], ["t1" if n % 2 else "t2" for n in range(400)], vectors)
    store.commit()
    return store, vectors


@pytest.mark.parametrize("quantization", ["none", "int8"])
def test_graph_and_exact_search_agree_and_return_all_that_match(tmp_path: Path, quantization: str) -> None:
    graph, vectors = filled(tmp_path / "graph", HnswParams(build_from=1, ef=400), quantization=quantization)
    assert graph.indexed() == 400
    query = unit(1, seed=1)[0]
    best = sorted((n for n in range(400) if n % 2), key=lambda n: -float(vectors[n] @ query))
    found, due = graph.search(query, "t1", 40)
    assert len(found) == due == 40
    agreed = {id for id, _ in found} & {f"m{n}" for n in best[:40]}
    assert len(agreed) >= 38  # a filter that an index does not know would lose far more
    assert graph.search(query, "nobody", 5) == ([], 0)
    everybody, _ = graph.search(query, None, 400)
    assert len(everybody) == 400


def test_below_the_threshold_nothing_is_indexed_and_search_is_exact(tmp_path: Path) -> None:
    store, vectors = filled(tmp_path / "v", HnswParams(build_from=1_000))
    assert store.indexed() == 0
    found, _ = store.search(vectors[7], "t1", 1)
    assert found[0][0] == "m7"
    assert found[0][1] == pytest.approx(1.0, abs=1e-5)


def test_restart_discard_and_clear(tmp_path: Path) -> None:
    store, vectors = filled(tmp_path / "v", HnswParams())
    store.close()
    again = open_vectors(tmp_path / "v", SIZE)
    assert len(again) == 400
    again.add(["m7"], ["t1"], vectors[7:8])
    again.commit()
    assert len(again.search(vectors[7], "t1", 400)[0]) == 200
    again.discard(["m7"])
    again.commit()
    assert "m7" not in {id for id, _ in again.search(vectors[7], "t1", 400)[0]}
    again.clear()
    assert len(again) == 0
    assert again.search(vectors[7], "t1", 5) == ([], 0)


def test_another_size_names_both_even_where_the_store_is_empty(tmp_path: Path) -> None:
    open_vectors(tmp_path / "v", 768).close()
    with pytest.raises(UserError, match=r"768.*384"):
        open_vectors(tmp_path / "v", 384)


def test_a_store_open_elsewhere_is_a_user_error(tmp_path: Path) -> None:
    _store, _ = filled(tmp_path / "v", HnswParams())
    with pytest.raises(UserError, match="already open"):
        open_vectors(tmp_path / "v", SIZE)
