"""A :class:`~memtrial.systems.stores.textindex.TextIndex` on an Elasticsearch server."""

from __future__ import annotations

import json
import shutil
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from memtrial.datasets.errors import UserError
from memtrial.systems.stores.textindex import TextDocument, TextQuery, Weights, safe
from memtrial.systems.stores.textindex_mapping import MAPPING, SETTINGS, asked, body_of
from memtrial.systems.stores.textindex_server import Server

_FORMAT = 1
_BULK, _BULK_CHARS = 2_000, 8_000_000
_PAGE = 10_000


class ElasticsearchIndex:
    """Documents in one index of a server, whose name begins with ``memtrial-text-`` and stands in the folder.

    The ids of all documents are kept in memory besides. Nobody but :meth:`drop`, :meth:`clear` and other settings delete the
    index: a folder that is thrown away leaves it on the server.

    Args:
        folder: holds the index's name.
        settings: whatever decides which terms a document gets, as plain JSON values.

    Raises:
        UserError: ELASTICSEARCH_URL is not set, or the server cannot be used.
        MissingExtraError: the client is not installed.
    """

    def __init__(self, folder: Path, settings: Mapping[str, Any]) -> None:
        """Connect, and take up what is there."""
        self._stamp = json.dumps({"format": _FORMAT, "settings": dict(settings)}, sort_keys=True)
        self._ids: list[str] = []
        self._known: set[str] = set()
        self._pending = False
        self._closed = False
        self._server = Server()
        try:
            self._take_up(folder)
        except BaseException:
            self._server.close()
            raise

    def _take_up(self, folder: Path) -> None:
        file = folder / "server.json"
        told = json.loads(file.read_text(encoding="utf-8")) if file.exists() else None
        self.name = str(told["index"]) if told else f"memtrial-text-{uuid.uuid4().hex[:12]}"
        there = bool(self._server.ask("indices.exists", index=self.name))
        if told is not None and told["stamp"] != self._stamp and there:
            self._server.ask("indices.delete", index=self.name)
            there = False
        if told is None or told["stamp"] != self._stamp:
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            file.write_text(json.dumps({"index": self.name, "stamp": self._stamp}), encoding="utf-8")
        if not there:
            self._server.ask("indices.create", index=self.name, mappings=MAPPING, settings=SETTINGS)
            return
        self._server.ask("indices.refresh", index=self.name)
        for hit in self._pages({"match_all": {}}, [{"key": "asc"}], None, source=["id"]):
            key = int(hit["sort"][-1])
            self._ids += [""] * (key + 1 - len(self._ids))
            self._ids[key] = str(hit["_source"]["id"])
        self._known = set(self._ids) - {""}

    def __len__(self) -> int:
        """Return the number of documents, uncommitted ones included."""
        return len(self._known)

    def __contains__(self, id: str) -> bool:
        """Whether a document of this id was added, now or before a restart."""
        return id in self._known

    @property
    def ids(self) -> list[str]:
        """Ids of all documents in the order in which they came, uncommitted ones included."""
        return [id for id in self._ids if id in self._known]

    def add(self, id: str, tenant: str, terms: Sequence[str]) -> None:
        """Add a document of terms alone; one that is already there is left as it is."""
        self.load([TextDocument(id, tenant, terms)])

    def load(self, documents: Iterable[TextDocument]) -> int:
        """Add documents that are not there yet and return how many these were. Visible after ``commit``.

        Raises:
            UserError: the server refused documents; all others were sent.
            ValueError: a term holds white space, or a timestamp has no zone.
        """
        before, refused, tried = len(self._known), list[str](), 0
        portion: list[dict[str, Any]] = []
        length = 0
        for document in documents:
            if document.id in self._known:
                continue
            body = body_of(document, len(self._ids))
            self._ids.append(document.id)
            self._known.add(document.id)
            tried += 1
            portion.append(body)
            length += len(body["terms"]) + len(body["held"])
            if len(portion) == _BULK or length > _BULK_CHARS:
                refused += self._send(portion)
                portion, length = [], 0
        refused += self._send(portion)
        if refused:
            raise UserError(
                f"the Elasticsearch server at {self._server.where} refused {len(refused)} of {tried} documents; the first: {refused[0]}"
            )
        return len(self._known) - before

    def _send(self, bodies: Sequence[Mapping[str, Any]]) -> list[str]:
        """Send documents and return what was said of those that were refused; these count as not there."""
        if not bodies:
            return []
        self._pending = True
        operations: list[Mapping[str, Any]] = []
        for body in bodies:
            operations += [{"index": {"_id": str(body["key"])}}, body]
        # The call itself raises nothing where single documents fail.
        answered = self._server.ask("bulk", index=self.name, operations=operations)["items"]
        if len(answered) != len(bodies):
            raise UserError(
                f"the Elasticsearch server at {self._server.where} answered for {len(answered)} of {len(bodies)} documents"
            )
        refused = []
        for body, item in zip(bodies, answered, strict=True):
            if error := item["index"].get("error"):
                self._known.discard(str(body["id"]))
                self._ids[int(body["key"])] = ""
                refused.append(self._server.clean(f"{body['id']}: {error.get('type')}: {error.get('reason')}"))
        return refused

    def commit(self) -> None:
        """Make everything added searchable; the server wrote it down when it took it."""
        if self._pending:
            self._server.ask("indices.refresh", index=self.name)
            self._pending = False

    def clear(self) -> None:
        """Drop all documents."""
        self._server.ask("indices.delete", index=self.name)
        self._server.ask("indices.create", index=self.name, mappings=MAPPING, settings=SETTINGS)
        self._ids, self._known, self._pending = [], set(), False

    def drop(self) -> None:
        """Delete the index from the server and close the connection."""
        self._server.ask("indices.delete", index=self.name, ignore_unavailable=True)
        self._pending = False
        self.close()

    def document_frequency(self, term: str) -> int:
        """Return in how many documents, of all tenants, a term stands among those that rank."""
        return self._count({"term": {"terms": safe(term)}})

    def search(self, terms: Weights, tenant: str | None, limit: int) -> list[tuple[str, float]]:
        """Return ids and scores of the documents that hold at least one of the terms, best first."""
        return self.find(TextQuery(tenant, terms=tuple(terms)), limit)

    def find(self, query: TextQuery, limit: int) -> list[tuple[str, float]]:
        """Return ids and scores of the documents that meet a query, best first; without terms, all score 0."""
        order = [{"_score": "desc"}, {"key": "asc"}]
        found = self._pages(asked(query), order, limit)
        return [(self._ids[int(hit["sort"][-1])], float(hit["sort"][0])) for hit in found]

    def newest(self, query: TextQuery, limit: int) -> list[str]:
        """Return ids of the documents that meet a query, the one that came last first."""
        return [self._ids[int(hit["sort"][-1])] for hit in self._pages(asked(query), [{"key": "desc"}], limit)]

    def count(self, query: TextQuery) -> int:
        """Return how many documents meet a query."""
        return self._count(asked(query))

    def _count(self, query: Mapping[str, Any]) -> int:
        return int(self._server.ask("count", index=self.name, query=query)["count"])

    def _pages(
        self, query: Mapping[str, Any], sort: Sequence[Any], limit: int | None, source: Sequence[str] | bool = False
    ) -> Iterator[Any]:
        """Yield hits in order; a server gives no more than 10,000 at once."""
        left, after = limit, None
        while left is None or left > 0:
            size = _PAGE if left is None else min(_PAGE, left)
            hits = self._server.ask(
                "search",
                index=self.name,
                query=query,
                sort=sort,
                size=size,
                search_after=after,
                source=source,
                track_total_hits=False,
            )["hits"]["hits"]
            yield from hits
            if len(hits) < size:
                return
            left = None if left is None else left - len(hits)
            after = hits[-1]["sort"]

    def close(self) -> None:
        """Commit and close the connection; safe to call twice."""
        if not self._closed:
            self._closed = True
            try:
                self.commit()
            finally:
                self._server.close()
