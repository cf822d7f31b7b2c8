"""The client's side alone: no Qdrant server was there to run these against."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from pytest_httpserver import HTTPServer

from memtrial.datasets.errors import MissingExtraError, UserError
from memtrial.systems.stores import vectors_server
from memtrial.systems.stores.vectors import HnswParams, StoreOptions, VectorStore, open_vectors
from tests.systems.qdrant_double import QdrantDouble

SIZE = 8


@pytest.fixture
def double(httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch) -> QdrantDouble:
    pytest.importorskip("qdrant_client")
    monkeypatch.setenv("QDRANT_URL", httpserver.url_for(""))
    monkeypatch.delenv("QDRANT_API_KEY", raising=False)
    monkeypatch.setattr(vectors_server, "_POLL_S", 0.001)
    return QdrantDouble(httpserver)


def unit(rows: int, seed: int = 0) -> np.ndarray:
    drawn = np.random.default_rng(seed).normal(size=(rows, SIZE)).astype(np.float32)
    return drawn / np.linalg.norm(drawn, axis=1, keepdims=True)


def opened(folder: Path, options: StoreOptions | None = None, size: int = SIZE) -> VectorStore:
    return open_vectors(folder / "v", size, options, backend="server")


def filled(folder: Path, options: StoreOptions | None = None) -> tuple[VectorStore, np.ndarray]:
    vectors = unit(20)
    store = opened(folder, options)
    store.add([f"m{n}" for n in range(20)], ["t1" if n % 2 else "t2" for n in range(20)], vectors)
    store.commit()
    return store, vectors


@pytest.mark.parametrize("shared", [False, True])
def test_it_does_as_the_engine_in_the_process_does(tmp_path: Path, double: QdrantDouble, shared: bool) -> None:
    options = StoreOptions(hnsw=HnswParams(m=8, ef_construct=50, ef=70, build_from=5), shared=shared)
    store, vectors = filled(tmp_path, options)
    edge = open_vectors(tmp_path / "edge", SIZE, options)
    edge.add([f"m{n}" for n in range(20)], ["t1" if n % 2 else "t2" for n in range(20)], vectors)
    query = unit(1, seed=1)[0]
    for tenant in ("t1", None, "nobody"):
        found, due = store.search(query, tenant, 6)
        wanted, wanted_due = edge.search(query, tenant, 6, exact=True)
        assert ([id for id, _ in found], due) == ([id for id, _ in wanted], wanted_due)
    assert len(double.collections) == (1 if shared else 2)
    assert store.indexed() == 20
    assert store.indexed("t1") == (20 if shared else 10)
    for held in double.collections.values():
        assert held.payload_indexes == ["tenant"]
        assert held.config["hnsw_config"] == {"m": 8, "ef_construct": 50, "full_scan_threshold": 10}
        assert held.config["optimizers_config"] == {"indexing_threshold": 0}  # no graph before a commit asks for it
    asked = next(body for method, path, body in double.seen if path.endswith("/points/query"))
    assert asked["params"]["hnsw_ef"] == 70
    assert asked["filter"] == {"must": [{"key": "tenant", "match": {"value": "t1"}}]}
    store.close()


def test_a_restart_takes_up_the_collections_and_clear_drops_them(
    tmp_path: Path, double: QdrantDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors_server, "_PAGE", 3)
    store, vectors = filled(tmp_path)
    store.discard(["m3", "never there"])
    store.close()
    again = opened(tmp_path)
    assert sorted(again.ids) == sorted(f"m{n}" for n in range(20) if n != 3)
    assert again.search(vectors[3], "t1", 50)[1] == 9
    again.clear()
    assert (double.collections, again.ids) == ({}, [])
    again.close()


def test_other_settings_empty_its_own_collections_and_nobody_elses(tmp_path: Path, double: QdrantDouble) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    filled(tmp_path / "a")[0].close()
    other, _ = filled(tmp_path / "b")
    emptied = opened(tmp_path / "a", StoreOptions(hnsw=HnswParams(m=4)))
    assert len(emptied) == 0
    assert len(double.collections) == 2
    assert len(opened(tmp_path / "b")) == len(other) == 20


def test_another_size_names_both_also_where_the_folder_does_not_know(tmp_path: Path, double: QdrantDouble) -> None:
    filled(tmp_path)[0].close()
    with pytest.raises(UserError, match=r"made for vectors of 8 dimensions.*have 5"):
        opened(tmp_path, size=5)
    for held in double.collections.values():
        held.config["vectors"]["size"] = 768
    with pytest.raises(UserError, match=r"made for vectors of 768 dimensions.*have 8"):
        opened(tmp_path)


def test_an_error_of_the_server_is_raised_and_never_an_empty_list(tmp_path: Path, double: QdrantDouble) -> None:
    store, vectors = filled(tmp_path)
    double.refuse = ("/points/query",)
    with pytest.raises(UserError, match=r"answers 400: .*index required"):
        store.search(vectors[0], "t2", 3)


@pytest.mark.filterwarnings("ignore:Api key is used with an insecure connection")
def test_a_refused_key_names_the_variable_and_not_the_key(
    tmp_path: Path, double: QdrantDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    double.key = "the-right-one"
    monkeypatch.setenv("QDRANT_API_KEY", "a-wrong-secret")
    with pytest.raises(UserError, match="QDRANT_API_KEY") as told:
        opened(tmp_path)
    assert "secret" not in str(told.value)
    monkeypatch.setenv("QDRANT_API_KEY", "the-right-one")
    opened(tmp_path).close()
    assert "the-right-one" not in (tmp_path / "v" / "server.json").read_text()


def test_no_server_no_address_and_a_wrong_address_are_one_sentence_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("qdrant_client")
    for url, sentence in {
        "": "QDRANT_URL is not set",
        "localhost": "no address of a server",
        "http://me:secret@localhost:6333": "must hold no user or password",
        "http://127.0.0.1:9": "no Qdrant server answers at http://127.0.0.1:9",
    }.items():
        monkeypatch.setenv("QDRANT_URL", url)
        with pytest.raises(UserError, match=sentence) as told:
            opened(tmp_path)
        assert "secret" not in str(told.value)
        assert "\n" not in str(told.value)


def test_without_the_client_the_pip_command_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QDRANT_URL", "http://127.0.0.1:9")
    monkeypatch.setitem(sys.modules, "qdrant_client", None)
    with pytest.raises(MissingExtraError, match=r"memtrial\[qdrant\]"):
        opened(tmp_path)


def test_a_graph_that_is_never_built_ends_in_a_sentence(
    tmp_path: Path, double: QdrantDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors_server, "_BUILD_S", 0.02)
    double.slow = 1_000_000
    store = opened(tmp_path, StoreOptions(hnsw=HnswParams(build_from=5)))
    store.add([f"m{n}" for n in range(6)], ["t1"] * 6, unit(6))
    with pytest.raises(UserError, match="has not built the graph"):
        store.commit()
