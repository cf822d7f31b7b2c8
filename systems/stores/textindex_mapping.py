"""Messages and queries as Elasticsearch takes them.

The mapping is written out and strict, so the server guesses no type; terms are cut at white space alone, as the analyser has
done its work before. Queries are term, phrase and range queries in JSON: no query_string, so no text is read as syntax.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from memtrial.systems.stores.textindex import (
    All,
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

_NOTHING: dict[str, Any] = {"match_none": {}}
_VALUES = ("tenant", "sender", "recipient", "conversation", "session")
_TEXT: dict[str, Any] = {"type": "text", "analyzer": "given"}
MAPPING: dict[str, Any] = {
    "dynamic": "strict",
    "properties": {
        "key": {"type": "long"},
        "id": {"type": "keyword", "index": False, "doc_values": False},
        "terms": _TEXT | {"similarity": "okapi", "index_options": "freqs"},
        "held": _TEXT | {"norms": False, "index_options": "positions"},
        "at": {"type": "long"},
        **{name: {"type": "keyword"} for name in _VALUES},
    },
}
SETTINGS: dict[str, Any] = {
    # One shard: a term's document frequency is then of all documents, and equal documents score alike.
    "number_of_shards": 1,
    "number_of_replicas": 0,
    "similarity": {"okapi": {"type": "BM25", "k1": 1.2, "b": 0.75, "discount_overlaps": False}},
    "analysis": {
        "analyzer": {"given": {"type": "custom", "tokenizer": "given"}},
        "tokenizer": {"given": {"type": "whitespace", "max_token_length": 1_000}},
    },
}


def body_of(document: TextDocument, key: int) -> dict[str, Any]:
    """Return a document as the mapping has it; ``key`` is its place in the order in which documents came."""
    body: dict[str, Any] = {
        "key": key,
        "id": document.id,
        "terms": joined(document.terms),
        "held": joined(document.words),
        **{name: safe(getattr(document, name)) for name in _VALUES},
    }
    if document.timestamp is not None:
        body["at"] = microseconds(document.timestamp)
    return body


def asked(query: TextQuery) -> dict[str, Any]:
    """Return a query in Elasticsearch's words."""
    filters: list[dict[str, Any]] = []
    for name in ("tenant", "conversation", "session"):
        if (value := getattr(query, name)) is not None:
            filters.append({"term": {name: safe(value)}})
    if query.dates is not None:
        filters.append(_one_of([{"range": {"at": {"gte": start, "lt": end}}} for start, end in spans(query.dates)]))
    if query.senders is not None:
        filters.append(_value_of(("sender",), query.senders))
    if query.parties is not None:
        filters.append(_value_of(("sender", "recipient"), query.parties))
    if query.tree is not None:
        filters.append(_tree(query.tree))
    if query.terms is None:  # a filter alone scores 0
        return {"bool": {"filter": filters or [{"match_all": {}}]}}
    wanted = [{"term": {"terms": {"value": safe(term), "boost": weight}}} for term, weight in query.terms]
    return {"bool": {"must": [_one_of(wanted)], "filter": filters}}


def _one_of(queries: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return {"bool": {"should": list(queries), "minimum_should_match": 1}} if queries else _NOTHING


def _value_of(fields: Sequence[str], values: frozenset[str]) -> dict[str, Any]:
    return _one_of([{"terms": {name: sorted(map(safe, values))}} for name in fields]) if values else _NOTHING


def _tree(tree: Tree) -> dict[str, Any]:
    if isinstance(tree, Has):
        return {"term": {"held": safe(tree.term)}}
    if isinstance(tree, InARow):
        if not tree.terms or not all(map(is_term, tree.terms)):
            return _NOTHING
        return {"match_phrase": {"held": " ".join(map(safe, tree.terms))}}
    if isinstance(tree, Without):
        return {"bool": {"must_not": [_tree(tree.part)]}}
    parts = [_tree(part) for part in tree.parts]
    if isinstance(tree, All):
        return {"bool": {"filter": parts}} if parts else {"match_all": {}}
    return _one_of(parts)
