"""Tables of the memory records, and how facts, entities and edges become their rows and come back.

Times are whole microseconds since 1970 in UTC: both engines order them alike, and nothing is rounded. Rows of one tenant
lie together: its id leads every key, and on PostgreSQL its facts are a partition of their own.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, cast

from sqlalchemy import BigInteger, Boolean, Column, Index, Integer, MetaData, Table, Text

from memtrial.systems.structured.node import Edge, Entity, EntityKind, Fact, FactType, Node, State

SCHEMA_VERSION = 2
"""Counts up with every change of the tables below; a store of another version is refused."""

METADATA = MetaData()

STAMP = Table(
    "stamp",
    METADATA,
    Column("schema_version", Integer, primary_key=True, autoincrement=False),
    Column("settings", Text, nullable=False),
    Column("next_seq", BigInteger, nullable=False),
)
TENANTS = Table("tenants", METADATA, Column("tenant_id", Text, primary_key=True))
NODES = Table(
    "nodes",
    METADATA,
    Column("tenant_id", Text, primary_key=True),
    Column("id", Text, primary_key=True),
    Column("memory_id", Text, nullable=False),
    Column("version", Integer, nullable=False),
    Column("parent_id", Text),
    Column("seq", BigInteger, nullable=False),
    Column("recorded_us", BigInteger, nullable=False),
    Column("event_us", BigInteger),
    Column("text", Text, nullable=False),
    Column("fact_type", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("attribute", Text, nullable=False),
    Column("owner", Text, nullable=False),
    Column("value", Text, nullable=False),
    Column("value_kind", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("source", Text, nullable=False),
    Column("speaker", Text, nullable=False),
    Column("conversation_id", Text, nullable=False),
    Column("adds", Boolean, nullable=False),
    Column("message_ids", Text, nullable=False),
    Column("entities", Text, nullable=False),
    Column("details", Text, nullable=False),
    # Not unique: a fact that comes late moves the numbers of later ones, row by row.
    Index("nodes_by_memory", "tenant_id", "memory_id", "version"),
    postgresql_partition_by="LIST (tenant_id)",
)
NODE_ENTITIES = Table(
    "node_entities",
    METADATA,
    Column("tenant_id", Text, primary_key=True),
    Column("entity", Text, primary_key=True),
    Column("recorded_us", BigInteger, primary_key=True, autoincrement=False),
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    Column("node_id", Text, nullable=False),
    sqlite_with_rowid=False,
)
NODE_MESSAGES = Table(
    "node_messages",
    METADATA,
    Column("tenant_id", Text, primary_key=True),
    Column("message", Text, primary_key=True),
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    Column("node_id", Text, nullable=False),
    sqlite_with_rowid=False,
)
ENTITIES = Table(
    "entities",
    METADATA,
    Column("tenant_id", Text, primary_key=True),
    Column("id", Text, primary_key=True),
    Column("seq", BigInteger, nullable=False),
    Column("key", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("aliases", Text, nullable=False),
)
EDGES = Table(
    "edges",
    METADATA,
    Column("tenant_id", Text, primary_key=True),
    Column("id", Text, primary_key=True),
    Column("seq", BigInteger, nullable=False),
    Column("source", Text, nullable=False),
    Column("relation", Text, nullable=False),
    Column("target", Text, nullable=False),
    Column("message_ids", Text, nullable=False),
    Column("recorded_us", BigInteger, nullable=False),
)
MESSAGES = Table("messages", METADATA, Column("id", Text, primary_key=True))
OUTBOX = Table(
    "outbox",
    METADATA,
    Column("seq", BigInteger, primary_key=True, autoincrement=False),
    Column("tenant_id", Text, nullable=False),
    Column("node_id", Text, nullable=False),
)

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LONGEST_KEY = 512
_UNSTORABLE = re.compile("[\x00\x1a\ud800-\udfff]")
_ESCAPED = re.compile("\x1a([0-9a-f]{4})")
_encode = json.JSONEncoder(ensure_ascii=False).encode


def stored(text: str) -> str:
    """Return text as both engines can hold it.

    Chat text may hold NUL (which PostgreSQL refuses) or half a surrogate pair (which is no UTF-8); each becomes U+001A and
    four hex digits, and ``restored`` turns it back.
    """
    return _UNSTORABLE.sub(lambda found: f"\x1a{ord(found[0]):04x}", text) if _UNSTORABLE.search(text) else text


def restored(text: str) -> str:
    """Undo ``stored``."""
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text) if "\x1a" in text else text


def short(text: str) -> str:
    """Return a text as a key: itself, or its beginning and a hash where it is too long for an index of PostgreSQL."""
    text = stored(text)
    if len(text.encode()) <= _LONGEST_KEY:
        return text
    return f"{text[:100]}#{hashlib.sha256(text.encode()).hexdigest()}"


def microseconds(time: datetime) -> int:
    """Return a time as whole microseconds since 1970 in UTC.

    Raises:
        ValueError: the time has no zone, so that nobody can tell which moment it means.
    """
    if time.tzinfo is None:
        raise ValueError(f"{time} has no time zone")
    return (time - _EPOCH) // timedelta(microseconds=1)


def moment(us: int) -> datetime:
    """Undo ``microseconds``; the zone is UTC."""
    return _EPOCH + timedelta(microseconds=us)


def _listed(texts: Iterable[str]) -> str:
    return stored(_encode(list(texts)))


def _unlisted(text: str) -> tuple[str, ...]:
    return tuple(json.loads(restored(text)))


def node_row(node: Node, seq: int) -> dict[str, Any]:
    """Return a node as a row of ``NODES``."""
    fact = node.fact
    return {
        "tenant_id": stored(fact.tenant_id),
        "id": node.id,
        "memory_id": node.memory_id,
        "version": node.version,
        "parent_id": node.parent_id,
        "seq": seq,
        "recorded_us": microseconds(fact.recorded_at),
        "event_us": None if fact.event_time is None else microseconds(fact.event_time),
        "text": stored(fact.text),
        "fact_type": fact.fact_type,
        "subject": stored(fact.subject),
        "attribute": stored(fact.attribute),
        "owner": stored(fact.owner),
        "value": stored(fact.value),
        "value_kind": fact.value_kind,
        "state": fact.state,
        "source": stored(fact.source),
        "speaker": stored(fact.speaker),
        "conversation_id": stored(fact.conversation_id),
        "adds": fact.adds,
        "message_ids": _listed(fact.message_ids),
        "entities": _listed(fact.entities),
        "details": stored(fact.details),
    }


def row_node(row: Sequence[Any]) -> Node:
    """Return the node of a row of ``NODES``, its columns in the order of the table."""
    return _made(tuple(row))


# A question reads the same row for several channels and once more for its history, and nothing of a node ever changes.
@lru_cache(maxsize=8_192)
def _made(row: tuple[Any, ...]) -> Node:
    (
        tenant, id, memory, version, parent, _seq, recorded, event, text, fact_type, subject, attribute, owner, value,
        value_kind, state, source, speaker, conversation, adds, message_ids, entities, details,
    ) = row  # fmt: skip
    fact = Fact(
        text=restored(text),
        tenant_id=restored(tenant),
        message_ids=_unlisted(message_ids),
        recorded_at=moment(recorded),
        fact_type=cast(FactType, fact_type),
        subject=restored(subject),
        attribute=restored(attribute),
        owner=restored(owner),
        value=restored(value),
        value_kind=value_kind,
        state=cast(State, state),
        entities=_unlisted(entities),
        source=restored(source),
        speaker=restored(speaker),
        conversation_id=restored(conversation),
        event_time=None if event is None else moment(event),
        adds=bool(adds),
        details=restored(details),
    )
    return Node(id, memory, version, parent, fact)


def entity_row(entity: Entity, seq: int) -> dict[str, Any]:
    """Return an entity as a row of ``ENTITIES``."""
    return {
        "tenant_id": stored(entity.tenant_id),
        "id": short(entity.key),
        "seq": seq,
        "key": stored(entity.key),
        "kind": entity.kind,
        "name": stored(entity.name),
        "aliases": _listed(entity.aliases),
    }


def row_entity(row: Sequence[Any]) -> Entity:
    """Return the entity of a row of ``ENTITIES``."""
    tenant, _id, _seq, key, kind, name, aliases = row
    return Entity(restored(key), cast(EntityKind, kind), restored(name), restored(tenant), _unlisted(aliases))


def edge_row(edge: Edge, seq: int) -> dict[str, Any]:
    """Return an edge as a row of ``EDGES``; its id is a hash of all that it says."""
    said = "\x1f".join((edge.source, edge.relation, edge.target, *edge.message_ids))
    return {
        "tenant_id": stored(edge.tenant_id),
        "id": hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:32],
        "seq": seq,
        "source": stored(edge.source),
        "relation": edge.relation,
        "target": stored(edge.target),
        "message_ids": _listed(edge.message_ids),
        "recorded_us": microseconds(edge.recorded_at),
    }


def row_edge(row: Sequence[Any]) -> Edge:
    """Return the edge of a row of ``EDGES``."""
    tenant, _id, _seq, source, relation, target, message_ids, recorded = row
    return Edge(
        restored(tenant), restored(source), relation, restored(target), _unlisted(message_ids), moment(recorded)
    )
