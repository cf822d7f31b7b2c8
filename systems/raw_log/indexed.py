"""The text index of a log, and a plan's filters in its words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from memtrial.systems.models.analyze import terms
from memtrial.systems.raw_log.params import IndexParams
from memtrial.systems.raw_log.plan import Filters
from memtrial.systems.raw_log.plan.boolean import And, Leaf, Node, Not
from memtrial.systems.stores.textindex import All, Either, Has, InARow, TextIndex, TextQuery, Tree, Without
from memtrial.systems.stores.textindex_tantivy import TantivyIndex


def open_index(params: IndexParams, folder: Path, settings: Mapping[str, Any]) -> TextIndex:
    """Open the index of a folder, or make it.

    Args:
        params: which engine.
        folder: the index's own; with a server it holds the index's name.
        settings: whatever decides which terms a message gets.

    Raises:
        UserError: another process has the index open, or the server cannot be used.
        MissingExtraError: the server's client is not installed.
    """
    if params.backend == "elasticsearch":
        from memtrial.systems.stores.textindex_elasticsearch import ElasticsearchIndex

        return ElasticsearchIndex(folder, settings)
    return TantivyIndex(folder, settings)


def text_query(filters: Filters, tenant: str | None, weights: Iterable[tuple[str, float]] | None = None) -> TextQuery:
    """Return the query that finds what :meth:`Filters.admits` admits.

    Args:
        filters: of a plan.
        tenant: only this tenant's messages; None for everybody's.
        weights: terms that rank, and of which a message must hold one; None where nothing ranks.
    """
    return TextQuery(
        tenant,
        terms=None if weights is None else tuple(weights),
        tree=Either(tuple(tree_of(k.tree) for k in filters.keywords)) if filters.keywords else None,
        dates=tuple((d.start, d.end) for d in filters.dates) if filters.dates else None,
        senders=frozenset(filters.senders) if filters.people else None,
    )


def tree_of(node: Node) -> Tree:
    """Return a plan's keyword tree for an engine: every leaf as the terms that the log is indexed with."""
    if isinstance(node, Leaf):
        wanted = node.terms
        if not wanted:
            return Either(())  # a leaf of punctuation alone holds for no text
        if node.phrase and len(wanted) > 1:
            return InARow(tuple(terms(node.text)))
        return All(tuple(map(Has, wanted)))
    if isinstance(node, Not):
        return Without(tree_of(node.part))
    parts = tuple(map(tree_of, node.parts))
    return All(parts) if isinstance(node, And) else Either(parts)
