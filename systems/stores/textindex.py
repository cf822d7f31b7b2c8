"""Full text of messages with who, when and where: what an engine behind :class:`TextIndex` takes in and is asked.

Documents come as terms that an analyser made of them, and are asked for by terms: there is no query language on the way,
so nothing that a user writes can be read as one. What a query means is written down twice: by :func:`met` in Python, and
by each engine in its own queries, which must agree with it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Protocol

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LONGEST = 200

Dates = tuple[tuple[datetime, datetime], ...]
Weights = Iterable[tuple[str, float]]


@dataclass(frozen=True, slots=True)
class Has:
    """The text holds a term."""

    term: str


@dataclass(frozen=True, slots=True)
class InARow:
    """The text holds these terms one after the other."""

    terms: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class All:
    """Every part holds; without parts: always."""

    parts: tuple[Tree, ...]


@dataclass(frozen=True, slots=True)
class Either:
    """At least one part holds; without parts: never."""

    parts: tuple[Tree, ...]


@dataclass(frozen=True, slots=True)
class Without:
    """The part does not hold."""

    part: Tree


Tree = Has | InARow | All | Either | Without


@dataclass(frozen=True, slots=True)
class TextDocument:
    """A message as an engine keeps it.

    Attributes:
        id: of the message; a document is never changed, so a second one of the same id is passed over.
        tenant: whose it is.
        terms: index terms in order, repeats kept, by which it is ranked; none holds white space.
        held: index terms in order that a :class:`TextQuery`'s tree is about, where these are others: a message ranks by its
            sender's name and its date too, but does not hold them. None: the same.
        sender: id.
        recipient: id.
        conversation: id.
        session: id within the conversation.
        timestamp: aware; kept to the microsecond. None: it lies in no time.
    """

    id: str
    tenant: str
    terms: Sequence[str]
    held: Sequence[str] | None = None
    sender: str = ""
    recipient: str = ""
    conversation: str = ""
    session: str = ""
    timestamp: datetime | None = None

    @property
    def words(self) -> Sequence[str]:
        """What a tree is about."""
        return self.terms if self.held is None else self.held


@dataclass(frozen=True, slots=True)
class TextQuery:
    """What documents must meet, and which terms rank them. None asks for nothing; an empty set of values lets nothing through.

    Attributes:
        tenant: whose documents; None for everybody's.
        terms: with weights of 0 and more; a document must hold one of them. None: ranked by nothing.
        tree: must hold.
        dates: the time lies in one of these half-open intervals.
        senders: the sender is one of these.
        parties: the sender or the recipient is one of these.
        conversation: the conversation's id.
        session: the session's id.
    """

    tenant: str | None
    terms: tuple[tuple[str, float], ...] | None = None
    tree: Tree | None = None
    dates: Dates | None = None
    senders: frozenset[str] | None = None
    parties: frozenset[str] | None = None
    conversation: str | None = None
    session: str | None = None


class TextIndex(Protocol):
    """Documents that are searched by terms, time and people.

    Scores are BM25 with k1 = 1.2 and b = 0.75 (Robertson and Zaragoza 2009; Lucene's variant, whose idf is never
    negative), a term's idf counted over the documents of all tenants. Of equal scores the document that came first leads.
    """

    def __len__(self) -> int:
        """Return the number of documents, uncommitted ones included."""
        ...

    def __contains__(self, id: str) -> bool:
        """Whether a document of this id was added, now or before a restart."""
        ...

    @property
    def ids(self) -> list[str]:
        """Ids of all documents in the order in which they came, uncommitted ones included."""
        ...

    def load(self, documents: Iterable[TextDocument]) -> int:
        """Add documents that are not there yet and return how many these were. Visible after ``commit``.

        Raises:
            UserError: a server refused documents; all others were sent.
            ValueError: a term holds white space, or a timestamp has no zone.
        """
        ...

    def commit(self) -> None:
        """Make everything added durable and searchable."""
        ...

    def clear(self) -> None:
        """Drop all documents."""
        ...

    def document_frequency(self, term: str) -> int:
        """Return in how many documents, of all tenants, a term stands among those that rank."""
        ...

    def search(self, terms: Weights, tenant: str | None, limit: int) -> list[tuple[str, float]]:
        """Return ids and scores of the documents that hold at least one of the terms, best first."""
        ...

    def find(self, query: TextQuery, limit: int) -> list[tuple[str, float]]:
        """Return ids and scores of the documents that meet a query, best first; by its terms None, all score 0."""
        ...

    def newest(self, query: TextQuery, limit: int) -> list[str]:
        """Return ids of the documents that meet a query, the one that came last first."""
        ...

    def count(self, query: TextQuery) -> int:
        """Return how many documents meet a query."""
        ...

    def close(self) -> None:
        """Commit and let go of the engine; safe to call twice."""
        ...


def met(query: TextQuery, document: TextDocument) -> bool:
    """Whether a document meets a query. This is what every engine must agree with."""
    if query.tenant is not None and document.tenant != query.tenant:
        return False
    if query.terms is not None and not {term for term, _ in query.terms}.intersection(document.terms):
        return False
    if query.dates is not None:
        when = document.timestamp
        if when is None or not any(start <= when < end for start, end in query.dates):
            return False
    if query.senders is not None and document.sender not in query.senders:
        return False
    if query.parties is not None and query.parties.isdisjoint((document.sender, document.recipient)):
        return False
    for wanted, have in ((query.conversation, document.conversation), (query.session, document.session)):
        if wanted is not None and wanted != have:
            return False
    return query.tree is None or holds(query.tree, document.words)


def holds(tree: Tree, words: Sequence[str]) -> bool:
    """Whether a tree holds for index terms in order."""
    if isinstance(tree, Has):
        return tree.term in words
    if isinstance(tree, InARow):
        size = len(tree.terms)
        return size > 0 and any(tuple(words[n : n + size]) == tree.terms for n in range(len(words) - size + 1))
    if isinstance(tree, Without):
        return not holds(tree.part, words)
    if isinstance(tree, All):
        return all(holds(part, words) for part in tree.parts)
    return any(holds(part, words) for part in tree.parts)


def terms_of(query: TextQuery) -> frozenset[str]:
    """Return the terms that speak for a document, from the weights and the tree: what is highlighted."""
    found = {term for term, weight in query.terms or () if weight > 0}
    if query.tree is not None:
        found |= _positive(query.tree, True)
    return frozenset(found)


def _positive(tree: Tree, positive: bool) -> set[str]:
    if isinstance(tree, Has):
        return {tree.term} if positive else set()
    if isinstance(tree, InARow):
        return set(tree.terms) if positive else set()
    if isinstance(tree, Without):
        return _positive(tree.part, not positive)
    return {term for part in tree.parts for term in _positive(part, positive)}


def microseconds(when: datetime) -> int:
    """Return a moment as whole microseconds since 1970, in which no engine's rounding of dates can move it.

    Raises:
        ValueError: it has no zone.
    """
    if when.tzinfo is None:
        raise ValueError(f"the time {when.isoformat()} has no zone")
    return (when - _EPOCH) // timedelta(microseconds=1)


def spans(dates: Dates) -> list[tuple[int, int]]:
    """Return the intervals that hold a moment, in microseconds."""
    found = [(microseconds(start), microseconds(end)) for start, end in dates]
    return [(start, end) for start, end in found if start < end]


def safe(text: str) -> str:
    """Return a term or id as engines take it; one that is too long for some, or no Unicode text, by a hash."""
    if len(text) <= _LONGEST:
        if text.isascii():
            return text
        try:
            text.encode()
        except UnicodeEncodeError:
            pass
        else:
            return text
    return f"{text[:50].encode('ascii', 'replace').decode()}~{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()}"


def joined(terms: Sequence[str]) -> str:
    """Return terms as the text that an engine cuts at white space.

    Raises:
        ValueError: a term is empty or holds white space.
    """
    text = " ".join(map(safe, terms))
    if len(text.split()) != len(terms):
        bad = next((t for t in terms if not is_term(t)), "")
        raise ValueError(f"an index term holds no white space, but {bad!r} does")
    return text


def is_term(text: str) -> bool:
    """Whether a text may stand in an index at all."""
    return text.split() == [text]
