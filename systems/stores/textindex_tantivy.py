"""A :class:`~memtrial.systems.stores.textindex.TextIndex` on disk, by Tantivy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from memtrial.systems.stores.fulltext import FullTextStore
from memtrial.systems.stores.textindex import (
    All,
    Either,
    Has,
    InARow,
    TextDocument,
    TextQuery,
    Tree,
    Without,
    is_term,
    joined,
    microseconds,
    safe,
    spans,
)

_VALUES = ("sender", "recipient", "conversation", "session")


class TantivyIndex(FullTextStore):
    """Documents with their times and people in one Tantivy index.

    It ranks by the same field as a :class:`~memtrial.systems.stores.fulltext.FullTextStore`, so :meth:`search` gives the
    same. Queries are put together of terms, values and ranges; Tantivy's query parser is never called.

    Args:
        folder: the index's own folder; made where missing.
        settings: whatever decides which terms a document gets, as plain JSON values.

    Raises:
        UserError: another process has the index open.
    """

    _kind: ClassVar[Mapping[str, str]] = {"fields": "messages"}

    def _add_fields(self, builder: Any) -> None:
        builder.add_text_field("held", tokenizer_name="whitespace", index_option="position")
        builder.add_integer_field("at", indexed=True, fast=True)
        for name in _VALUES:
            builder.add_text_field(name, tokenizer_name="raw", index_option="basic")

    def _fill(self, kept: Any, document: TextDocument) -> None:
        kept.add_text("held", joined(document.words))
        if document.timestamp is not None:
            kept.add_integer("at", microseconds(document.timestamp))
        for name in _VALUES:
            kept.add_text(name, safe(getattr(document, name)))

    def find(self, query: TextQuery, limit: int) -> list[tuple[str, float]]:
        """Return ids and scores of the documents that meet a query, best first; without terms, all score 0."""
        if not self._ids or limit <= 0:
            return []
        return self._best(self._asked(query), limit)

    def newest(self, query: TextQuery, limit: int) -> list[str]:
        """Return ids of the documents that meet a query, the one that came last first."""
        if not self._ids or limit <= 0:
            return []
        asked = self._asked(query)
        return [self._ids[key] for key, _ in self._searcher.search(asked, limit, False, order_by_field="key").hits]

    def count(self, query: TextQuery) -> int:
        """Return how many documents meet a query."""
        found: Any = self._searcher.search(self._asked(query), limit=1, count=True)
        return int(found.count or 0)

    def _asked(self, query: TextQuery) -> Any:
        import tantivy

        # one part is there always: a conjunction of nothing finds nothing here
        parts: list[Any] = [tantivy.Query.const_score_query(tantivy.Query.all_query(), 0.0)]
        if query.terms is not None:
            parts[0] = self._any_of(query.terms) or tantivy.Query.empty_query()
        if query.tenant is not None:
            parts.append(self._only("tenant", query.tenant))
        if query.dates is not None:
            whole = tantivy.FieldType.Integer
            parts.append(
                self._one_of(
                    tantivy.Query.range_query(self._schema, "at", whole, start, end, True, False)
                    for start, end in spans(query.dates)
                )
            )
        if query.senders is not None:
            parts.append(self._one_of(self._only("sender", id) for id in sorted(query.senders)))
        if query.parties is not None:
            fields = ("sender", "recipient")
            parts.append(self._one_of(self._only(name, id) for id in sorted(query.parties) for name in fields))
        for name in ("conversation", "session"):
            if (value := getattr(query, name)) is not None:
                parts.append(self._only(name, value))
        if query.tree is not None:
            parts.append(tantivy.Query.const_score_query(self._tree(query.tree), 0.0))
        return self._all_of(parts)

    @staticmethod
    def _one_of(queries: Iterable[Any]) -> Any:
        import tantivy

        listed = [(tantivy.Occur.Should, query) for query in queries]
        found = tantivy.Query.boolean_query(listed) if listed else tantivy.Query.empty_query()
        return tantivy.Query.const_score_query(found, 0.0)

    def _tree(self, tree: Tree) -> Any:
        import tantivy

        query, occur = tantivy.Query, tantivy.Occur
        if isinstance(tree, Has):
            return query.term_query(self._schema, "held", safe(tree.term), "basic")
        if isinstance(tree, InARow):
            if not tree.terms or not all(map(is_term, tree.terms)):
                return query.empty_query()
            words: list[Any] = [safe(term) for term in tree.terms]
            return (
                self._tree(Has(tree.terms[0])) if len(words) == 1 else query.phrase_query(self._schema, "held", words)
            )
        if isinstance(tree, Without):
            return query.boolean_query([(occur.Must, query.all_query()), (occur.MustNot, self._tree(tree.part))])
        if isinstance(tree, All):
            return self._all_of([query.all_query(), *(self._tree(part) for part in tree.parts)])
        assert isinstance(tree, Either)
        return self._one_of(self._tree(part) for part in tree.parts)
