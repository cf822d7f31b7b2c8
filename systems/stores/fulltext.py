"""Full text on disk: Tantivy, holding for each document the terms that the caller made of it.

Terms go in and are asked for one by one; there is no query parser anywhere, so a user's text can hold any query syntax.
Documents are never changed once added: document frequencies then depend on what was added alone, not on when the
engine merged its segments, and a resumed run ranks like an undisturbed one.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from memtrial.datasets.errors import UserError
from memtrial.systems.stores.textindex import TextDocument, joined, safe

_WRITER_BYTES = 50_000_000
_FORMAT = 1


class FullTextStore:
    """Documents by id, each of one tenant, in one Tantivy index; of a :class:`TextDocument` only its terms are kept.

    :class:`~memtrial.systems.stores.textindex_tantivy.TantivyIndex` is the same with the rest of it, and queries over it.

    A folder that holds an index made with the same ``settings`` is reopened, with the documents it has; one made with
    others is emptied, since its terms mean something else.

    Args:
        folder: the index's own folder; made where missing.
        settings: whatever decides which terms a document gets, as plain JSON values.

    Raises:
        UserError: another process has the index open.
    """

    _kind: ClassVar[Mapping[str, str]] = {}

    def __init__(self, folder: Path, settings: Mapping[str, Any]) -> None:
        """Open or make the index."""
        self._folder = folder
        self._stamp = json.dumps({"format": _FORMAT, "settings": dict(settings), **self._kind}, sort_keys=True)
        self._ids: list[str] = []
        self._known: set[str] = set()
        self._pending = False
        self._open()

    def _open(self) -> None:
        import tantivy

        stamp = self._folder / "settings.json"
        data = self._folder / "index"
        if not stamp.exists() or stamp.read_text(encoding="utf-8") != self._stamp:
            shutil.rmtree(self._folder, ignore_errors=True)
            data.mkdir(parents=True)
            stamp.write_text(self._stamp, encoding="utf-8")
        builder = tantivy.SchemaBuilder()
        builder.add_unsigned_field("key", stored=True, fast=True)
        builder.add_text_field("id", stored=True, tokenizer_name="raw", index_option="basic")
        builder.add_text_field("tenant", tokenizer_name="raw", index_option="basic")
        builder.add_text_field("terms", tokenizer_name="whitespace", index_option="freq")
        self._add_fields(builder)
        self._schema = builder.build()
        self._index = tantivy.Index(self._schema, path=str(data))
        self._index.register_tokenizer(
            "whitespace", tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build()
        )
        try:
            self._writer: Any = self._index.writer(_WRITER_BYTES, 1)
        except ValueError as error:
            if "lock" not in str(error).lower():
                raise
            raise UserError(f"full-text index {self._folder} is already open, here or in another process") from None
        self._searcher = self._index.searcher()
        self._ids = self._stored_ids()
        self._known = set(self._ids)

    def _add_fields(self, builder: Any) -> None:
        """Add fields to the schema."""

    def _fill(self, kept: Any, document: TextDocument) -> None:
        """Put a document's values into those fields."""

    def _stored_ids(self) -> list[str]:
        import tantivy

        total = self._searcher.num_docs
        if not total:
            return []
        ids = [""] * total
        for _, address in self._searcher.search(tantivy.Query.all_query(), limit=total, count=False).hits:
            document = self._searcher.doc(address)
            ids[int(document["key"][0])] = str(document["id"][0])
        return ids

    def __len__(self) -> int:
        """Return the number of documents, uncommitted ones included."""
        return len(self._ids)

    def __contains__(self, id: str) -> bool:
        """Whether a document of this id was added, now or before a restart."""
        return id in self._known

    @property
    def ids(self) -> list[str]:
        """Ids of all documents in the order in which they came, uncommitted ones included."""
        return list(self._ids)

    def add(self, id: str, tenant: str, terms: Sequence[str]) -> None:
        """Add a document; one that is already there is left as it is. Visible after ``commit``."""
        self.load([TextDocument(id, tenant, terms)])

    def load(self, documents: Iterable[TextDocument]) -> int:
        """Add documents that are not there yet and return how many these were. Visible after ``commit``.

        Raises:
            ValueError: a term holds white space, or a timestamp has no zone.
        """
        import tantivy

        before = len(self._ids)
        for document in documents:
            if document.id in self._known:
                continue
            kept = tantivy.Document()
            kept.add_unsigned("key", len(self._ids))
            kept.add_text("id", document.id)
            kept.add_text("tenant", safe(document.tenant))
            kept.add_text("terms", joined(document.terms))
            self._fill(kept, document)
            self._writer.add_document(kept)
            self._ids.append(document.id)
            self._known.add(document.id)
            self._pending = True
        return len(self._ids) - before

    @property
    def pending(self) -> bool:
        """Whether anything was added since the last commit."""
        return self._pending

    def commit(self) -> None:
        """Make everything added durable and searchable."""
        if self._pending:
            self._writer.commit()
            self._index.reload()
            self._searcher = self._index.searcher()
            self._pending = False

    def clear(self) -> None:
        """Drop all documents."""
        self.close()
        shutil.rmtree(self._folder)
        self._open()

    def document_frequency(self, term: str) -> int:
        """Return in how many documents, of all tenants, a term stands."""
        return int(self._searcher.doc_freq("terms", safe(term)))

    def search(self, terms: Iterable[tuple[str, float]], tenant: str | None, limit: int) -> list[tuple[str, float]]:
        """Return ids and BM25 scores of the documents that hold at least one of the terms, best first.

        Args:
            terms: each with its weight.
            tenant: only this tenant's documents; None for everybody's.
            limit: how many at most.
        """
        wanted = self._any_of(terms)
        if wanted is None or not self._ids or limit < 1:
            return []
        if tenant is not None:
            wanted = self._all_of([wanted, self._only("tenant", tenant)])
        return self._best(wanted, limit)

    def _any_of(self, terms: Iterable[tuple[str, float]]) -> Any:
        """Return a query for documents that hold one of the terms, scored by them; None where there are none."""
        import tantivy

        query, occur = tantivy.Query, tantivy.Occur
        wanted = [
            (occur.Should, query.boost_query(query.term_query(self._schema, "terms", safe(term), "freq"), weight))
            for term, weight in terms
        ]
        return query.boolean_query(wanted) if wanted else None

    def _only(self, field: str, value: str) -> Any:
        """Return a query for a field's whole value, which adds nothing to a score."""
        import tantivy

        query = tantivy.Query
        return query.const_score_query(query.term_query(self._schema, field, safe(value), "basic"), 0.0)

    @staticmethod
    def _all_of(parts: Sequence[Any]) -> Any:
        import tantivy

        return tantivy.Query.boolean_query([(tantivy.Occur.Must, part) for part in parts])

    def _best(self, asked: Any, limit: int) -> list[tuple[str, float]]:
        """Return the best hits, of equal ones those added first.

        The engine orders equals by where they lie, and that depends on when its threads merged what was committed.
        """
        wide = limit + 1
        while True:
            hits = self._searcher.search(asked, limit=wide, count=False).hits
            if len(hits) < wide or hits[-1][0] < hits[limit - 1][0]:
                break
            wide *= 2  # equals stand on both sides of the cut
        keys = self._searcher.fast_field_values("key", [address for _, address in hits])
        found = sorted((-float(score), int(key or 0)) for key, (score, _) in zip(keys, hits, strict=True))
        return [(self._ids[key], -score) for score, key in found[:limit]]

    def close(self) -> None:
        """Commit and let go of the index's lock; safe to call twice."""
        if self._writer is not None:
            if self._pending:
                self._writer.commit()
                self._pending = False
            self._writer.wait_merging_threads()
            self._writer = None
