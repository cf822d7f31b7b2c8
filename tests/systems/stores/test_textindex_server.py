"""What goes wrong at an Elasticsearch server is said in one sentence, which shows no key."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest
from pytest_httpserver import HTTPServer

from memtrial.datasets.errors import MissingExtraError, UserError
from memtrial.systems.stores.textindex import TextDocument, TextQuery
from memtrial.systems.stores.textindex_mapping import MAPPING, SETTINGS, body_of
from memtrial.systems.stores.textindex_server import KEY, URL, Server

Opener = Callable[..., Any]
SECRET = "c2VjcmV0OmtleQ=="
ELASTIC = {"X-Elastic-Product": "Elasticsearch", "Content-Type": "application/vnd.elasticsearch+json;compatible-with=9"}
INFO = {"version": {"number": "9.1.0", "build_flavor": "default"}, "tagline": "You Know, for Search"}


@pytest.fixture
def elastic(httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch) -> HTTPServer:
    monkeypatch.setenv(URL, httpserver.url_for("/").rstrip("/"))
    monkeypatch.setenv(KEY, SECRET)
    return httpserver


def said() -> str:
    with pytest.raises(UserError) as caught:
        Server()
    text = str(caught.value)
    assert SECRET not in text
    assert "\n" not in text
    return text


@pytest.mark.parametrize(
    "url", ["", "localhost:9200", "ftp://h:1", "http://", "http://h:99999", "http://u:p@h:9200", "http://u@h"]
)
def test_an_address_that_is_none(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.setenv(URL, url)
    assert said().startswith(URL)
    assert "u:p" not in said()


def test_no_server_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(URL, "http://127.0.0.1:9")
    monkeypatch.setenv(KEY, SECRET)
    assert said().startswith(f"no Elasticsearch server answers at http://127.0.0.1:9 ({URL}): ")


def test_another_server_there(elastic: HTTPServer) -> None:
    elastic.expect_request("/").respond_with_json(INFO)
    assert "is not Elasticsearch" in said()


def test_a_web_page_there(elastic: HTTPServer) -> None:
    elastic.expect_request("/").respond_with_data("<h1>hello</h1>", content_type="text/html")
    assert "Elasticsearch" in said()


@pytest.mark.parametrize("status", [401, 403])
def test_a_wrong_key(elastic: HTTPServer, status: int) -> None:
    body = {"error": {"root_cause": [{"type": "security_exception", "reason": f"bad {SECRET}"}]}, "status": status}
    elastic.expect_request("/").respond_with_json(body, status=status, headers=ELASTIC)
    assert f"refuses the request ({status}), the key in the environment variable {KEY}" in said()


def test_no_key_where_one_is_needed(elastic: HTTPServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(KEY)
    elastic.expect_request("/").respond_with_json({"error": "denied"}, status=401, headers=ELASTIC)
    assert "without a key; put one into" in said()


def test_an_error_of_the_server_is_no_empty_answer_and_shows_no_key(elastic: HTTPServer) -> None:
    elastic.expect_request("/").respond_with_json(INFO, headers=ELASTIC)
    cause = {"type": "illegal_argument_exception", "reason": f"no such\nthing as {SECRET}"}
    elastic.expect_request("/x/_count").respond_with_json(
        {"error": {"root_cause": [cause], **cause}, "status": 400}, status=400, headers=ELASTIC
    )
    server = Server()
    with pytest.raises(UserError, match=r"answers 400: illegal_argument_exception: no such thing as \*\*\*$"):
        server.ask("count", index="x")
    assert SECRET not in repr(server)
    server.close()


def test_the_client_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(URL, "http://127.0.0.1:9")
    monkeypatch.setitem(sys.modules, "elasticsearch", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'memtrial\[elasticsearch\]'"):
        Server()


def test_every_portion_is_sent_and_refusals_are_counted(
    open_server_index: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = {10, 320, 630}

    def spoilt(document: TextDocument, key: int) -> dict[str, Any]:
        return body_of(document, key) | ({"at": "no number"} if key in bad else {})

    monkeypatch.setattr("memtrial.systems.stores.textindex_elasticsearch.body_of", spoilt)
    monkeypatch.setattr("memtrial.systems.stores.textindex_elasticsearch._BULK", 300)
    index = open_server_index()
    with pytest.raises(UserError, match=r"refused 3 of 900 documents; the first: m10: "):
        index.load([TextDocument(f"m{n}", "t", ["red"]) for n in range(900)])
    index.commit()
    assert (len(index), index.count(TextQuery(None)), "m10" in index, "m899" in index) == (897, 897, False, True)
    assert [id for id, _ in index.find(TextQuery(None), 900)] == index.ids
    index.close()
    again = open_server_index()
    assert again.ids == [f"m{n}" for n in range(900) if n not in bad]


def test_the_mapping_on_the_server_is_the_one_written_out(open_server_index: Opener) -> None:
    index = open_server_index()
    index.load([TextDocument("m0", "t", ["2019-07"])])
    kept = index._server.ask("indices.get", index=index.name)[index.name]
    assert kept["mappings"]["dynamic"] == "strict"
    assert {k: v["type"] for k, v in kept["mappings"]["properties"].items()} == {
        k: v["type"] for k, v in MAPPING["properties"].items()
    }
    okapi = kept["settings"]["index"]["similarity"]["okapi"]
    assert {k: str(v).lower() for k, v in SETTINGS["similarity"]["okapi"].items()} == {k: str(v).lower() for k, v in okapi.items()}  # fmt: skip
    with pytest.raises(UserError, match="strict"):
        index._server.ask("index", index=index.name, document={"surprise": 1})


def test_an_index_that_the_server_lost_is_made_again(open_server_index: Opener) -> None:
    index = open_server_index()
    index.load([TextDocument("m0", "t", ["red"])])
    index.commit()
    index._server.ask("indices.delete", index=index.name)
    index.close()
    again = open_server_index()
    assert len(again) == 0
    assert again.load([TextDocument("m0", "t", ["red"])]) == 1


def test_more_hits_than_a_page_holds(open_server_index: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memtrial.systems.stores.textindex_elasticsearch._PAGE", 7)
    index = open_server_index()
    index.load([TextDocument(f"m{n}", "t", ["red"] * (1 + n % 3)) for n in range(40)])
    index.commit()
    query = TextQuery("t", terms=(("red", 1.0),))
    assert sorted(id for id, _ in index.find(query, 100)) == sorted(index.ids)
    assert len(index.find(query, 20)) == 20
    assert index.newest(query, 15) == [f"m{n}" for n in range(39, 24, -1)]


def test_a_dropped_index_is_gone_from_the_server(open_server_index: Opener) -> None:
    index = open_server_index()
    index.load([TextDocument("a", "t", ["lamp"])])
    index.commit()
    index.drop()
    index.close()
    server = Server()
    assert not server.ask("indices.exists", index=index.name)
    server.close()
