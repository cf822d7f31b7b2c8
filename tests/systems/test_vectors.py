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


@pytest.mark.parametrize("shared", [False, True])
def test_a_filter_finds_as_many_as_there_are_and_the_graph_agrees_with_the_exact_search(
    tmp_path: Path, shared: bool
) -> None:
    vectors = unit(80, seed=3)
    store = open_vectors(tmp_path / "v", SIZE, StoreOptions(hnsw=HnswParams(build_from=1, ef=64), shared=shared))
    store.add([f"p{n}" for n in range(80)], ["user_a" if n % 2 else "user_b" for n in range(80)], vectors)
    store.commit()
    assert store.indexed("user_a") == (80 if shared else 40)
    for query in unit(5, seed=4):
        found, due = store.search(query, "user_a", 40)
        exact, _ = store.search(query, "user_a", 40, exact=True)
        assert len(found) == due == 40
        assert {id for id, _ in found} == {f"p{n}" for n in range(1, 80, 2)} == {id for id, _ in exact}
    store.close()


def test_in_a_shared_collection_only_the_filter_keeps_tenants_apart(tmp_path: Path) -> None:
    store = open_vectors(tmp_path / "v", SIZE, StoreOptions(shared=True))
    vectors = unit(2, seed=5)
    store.add(["mine", "theirs"], ["t1", "t2"], vectors)
    store.commit()
    assert [id for id, _ in store.search(vectors[1], "t1", 5)[0]] == ["mine"]
    assert [id for id, _ in store.search(vectors[1], None, 5)[0]] == ["theirs", "mine"]
    store.close()
    again = open_vectors(tmp_path / "v", SIZE, StoreOptions(shared=True))
    assert [id for id, _ in again.search(vectors[1], "t1", 5)[0]] == ["mine"]
    again.add(["mine"], ["t2"], vectors[:1])  # an id that moves leaves nothing behind
    assert again.search(vectors[0], "t1", 5) == ([], 0)


def test_one_bit_a_dimension_is_warned_of_below_1024_dimensions_and_loses_neighbours(tmp_path: Path) -> None:
    binary = StoreOptions(hnsw=HnswParams(build_from=1), quantization="binary", rescore=False)
    assert "256 dimensions" in binary.warning(256)
    assert "nothing is compared again" in binary.warning(256)
    assert binary.warning(1_024) == ""
    assert StoreOptions(quantization="int8").warning(256) == ""
    store, _ = filled(tmp_path / "v", binary.hnsw, quantization="binary", rescore=False)
    wanted = kept = 0
    for query in unit(20, seed=6):
        exact = {id for id, _ in store.search(query, "t1", 10, exact=True)[0]}
        kept += len(exact & {id for id, _ in store.search(query, "t1", 10)[0]})
        wanted += 10
    assert kept < 0.9 * wanted


def test_a_batch_with_broken_vectors_is_refused_whole_and_the_first_is_named(tmp_path: Path) -> None:
    vectors = unit(900)
    vectors[[10, 20, 30], 0] = np.nan
    store = open_vectors(tmp_path / "v", SIZE)
    with pytest.raises(UserError, match=r"3 of 900 vectors .* 'm10'; none of them was stored"):
        store.add([f"m{n}" for n in range(900)], ["t1"] * 900, vectors)
    assert len(store) == 0
    good = [n for n in range(900) if n not in (10, 20, 30)]
    store.add([f"m{n}" for n in good], ["t1"] * 897, vectors[good])
    assert len(store) == len(store.search(vectors[0], "t1", 1_000)[0]) == 897
