"""What structured memory is made of: facts as versions, the things they are about, and what joins those."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

FactType = Literal[
    "profile", "preference", "event", "plan", "state", "complaint", "product", "stock", "policy", "promotion", "other"
]
State = Literal["active", "open", "resolved", "cancelled", "retracted", "uncertain", "injected"]
EntityKind = Literal["person", "organisation", "product", "order", "ticket", "place", "contact", "topic"]


@dataclass(frozen=True, slots=True)
class Entity:
    """A thing that facts are about.

    Attributes:
        key: identity inside a tenant, such as ``person:ann lee`` or ``order:kd-2219``; case and width folded.
        kind: what sort of thing.
        name: as people write it.
        tenant_id: whose log it was met in; the same name in another tenant is another thing.
        aliases: other ways it is written, folded (a first name, a customer number, a product without its brand).
    """

    key: str
    kind: EntityKind
    name: str
    tenant_id: str
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Edge:
    """Two entities and what joins them, with the messages that say so.

    ``relation`` is one of few: ``ordered``, ``owns``, ``about``, ``reported``, ``assigned_to``, ``part_of``,
    ``works_for``, ``knows``, ``located_in``, ``related``.
    """

    tenant_id: str
    source: str
    relation: str
    target: str
    message_ids: tuple[str, ...]
    recorded_at: datetime


@dataclass(frozen=True, slots=True)
class Fact:
    """A statement as extraction hands it over; the store makes a version of a memory out of it.

    Attributes:
        text: stands by itself: subject kept, pronouns resolved, relative days as dates.
        details: of a typed fact, what was said: the message with its speaker, relative days resolved; "" where ``text`` is that.
        fact_type: decides its half-life.
        subject: key of the entity it is about; "" where none was found.
        attribute: what of the subject it tells, a short term such as ``delivery_date``; "" for a plain statement.
            Facts of one tenant with equal subject, attribute and ``owner`` are versions of one memory.
        owner: key of the person whose matter it is (the customer of an order), "" where it is everybody's.
        value: the typed value in a normal form (ISO day, amount with currency, ``yes``/``no``, an id), or "".
        value_kind: ``money``, ``quantity``, ``date``, ``id``, ``boolean``, ``name``, ``text`` or "".
        state: how the matter stands.
        entities: keys of all entities it names, the subject included.
        source: the source system of its messages (``crm``, ``chat_log``, …).
        speaker: id of who said it.
        message_ids: the messages it came from; never empty.
        conversation_id: the conversation they stand in.
        event_time: when what it tells happens or holds, if it says so.
        recorded_at: time of the last of its messages.
        adds: joins the memory's earlier value rather than replacing it (one more part that is missing).
    """

    text: str
    tenant_id: str
    message_ids: tuple[str, ...]
    recorded_at: datetime
    fact_type: FactType = "other"
    subject: str = ""
    attribute: str = ""
    owner: str = ""
    value: str = ""
    value_kind: str = ""
    state: State = "active"
    entities: tuple[str, ...] = ()
    source: str = ""
    speaker: str = ""
    conversation_id: str = ""
    event_time: datetime | None = None
    adds: bool = False
    details: str = ""

    @property
    def whole(self) -> str:
        """The statement and what was said: what the indexes hold."""
        return f"{self.text}\n{self.details}" if self.details else self.text


@dataclass(frozen=True, slots=True)
class Node:
    """One immutable version of a memory.

    Attributes:
        id: of this version; the same fact from the same messages always gets the same id.
        memory_id: of the memory, the same for all its versions.
        version: 1, 2, …
        parent_id: ``id`` of the version before, None for the first.
        fact: what it says.
    """

    id: str
    memory_id: str
    version: int
    parent_id: str | None
    fact: Fact


@dataclass(slots=True)
class Extraction:
    """What was taken from some messages.

    ``skipped``: message id to why nothing was kept of it (``small_talk``, ``injected``, ``empty``, …). ``flagged``: message
    id to why a fact from it was refused by the support check.
    """

    facts: list[Fact] = field(default_factory=list)
    entities: list[Entity] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)
    flagged: dict[str, str] = field(default_factory=dict)


def memory_key(fact: Fact) -> str:
    """Return the identity of the memory a fact belongs to: a hash of tenant, owner, subject and attribute.

    A plain statement (no attribute) is a memory of its own, known by its messages and text.
    """
    parts: tuple[str, ...]
    if fact.attribute and fact.subject:
        parts = (fact.tenant_id, fact.owner, fact.subject, fact.attribute)
    else:
        parts = (fact.tenant_id, *fact.message_ids, fact.text)
    return _digest("memory", parts)


def node_id(fact: Fact) -> str:
    """Return the id of the version that a fact makes; equal facts of equal messages have equal ids."""
    return _digest(
        "node", (fact.tenant_id, fact.subject, fact.attribute, fact.owner, fact.text, fact.details, *fact.message_ids)
    )


def _digest(kind: str, parts: tuple[str, ...]) -> str:
    return hashlib.sha256("\x1f".join((kind, *parts)).encode("utf-8", "surrogatepass")).hexdigest()[:32]
