"""A plan's filters, and messages, in the words of a text index."""

from __future__ import annotations

from collections.abc import Iterable

from memtrial.datasets.schema import Message
from memtrial.systems.models.analyze import terms
from memtrial.systems.raw_log.plan import Filters
from memtrial.systems.raw_log.plan.boolean import And, Leaf, Node, Not
from memtrial.systems.stores.textindex import All, Either, Has, InARow, TextDocument, TextQuery, Tree, Without


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


def text_document(message: Message, ranked: Iterable[str] | None = None) -> TextDocument:
    """Return a message as a text index keeps it; a tree is about its content alone.

    Args:
        message: the message.
        ranked: terms by which it is ranked, where these are more than its content's.
    """
    held = terms(message.content)
    return TextDocument(
        message.id,
        message.tenant_id,
        held if ranked is None else list(ranked),
        None if ranked is None else held,
        message.sender,
        message.recipient,
        message.conversation_id,
        message.session_id,
        message.timestamp,
    )
