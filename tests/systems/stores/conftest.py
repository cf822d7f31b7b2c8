from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from memtrial.systems.stores.textindex import TextIndex
from memtrial.systems.stores.textindex_elasticsearch import ElasticsearchIndex
from memtrial.systems.stores.textindex_server import KEY, URL, Server
from memtrial.systems.stores.textindex_tantivy import TantivyIndex

Opener = Callable[..., TextIndex]

REAL = os.environ.get(URL, "")


ENGINES = ["noida", *(["server"] if REAL else [])]


def _use(engine: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the address be the test engine's, or leave the one that the environment names."""
    if engine == "noida":
        monkeypatch.setenv(URL, str(request.getfixturevalue("noida")))
        monkeypatch.delenv(KEY, raising=False)


def _opener(kind: type[Any], folder: Path) -> Iterator[Opener]:
    opened: list[Any] = []

    def open_index(folder: Path = folder, **settings: Any) -> TextIndex:
        index: TextIndex = kind(folder, settings)
        opened.append(index)
        return index

    yield open_index
    for index in opened:
        index.close()
    if names := {index.name for index in opened if hasattr(index, "name")}:
        server = Server()
        server.ask("indices.delete", index=",".join(names), ignore_unavailable=True)
        server.close()


@pytest.fixture(params=ENGINES)
def open_server_index(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[Opener]:
    """Opens indexes by the Elasticsearch client, in one folder unless another is named; they are dropped at the end."""
    _use(request.param, request, monkeypatch)
    yield from _opener(ElasticsearchIndex, tmp_path / "index")


@pytest.fixture(params=["tantivy", *ENGINES])
def open_index(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Opener]:
    """Opens indexes of one engine, in one folder unless another is named; what a server holds is dropped at the end."""
    _use(request.param, request, monkeypatch)
    yield from _opener(TantivyIndex if request.param == "tantivy" else ElasticsearchIndex, tmp_path / "index")
