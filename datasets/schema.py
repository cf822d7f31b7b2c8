"""What labelled chat logs look like to every other part of memtrial.

Slotted frozen dataclasses, because a corpus may hold a million messages. Loaders validate; past this
point everything is typed, every timestamp is aware and in UTC, and every id is a string.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from types import MappingProxyType
from typing import Any, Literal, get_args

LureKind = Literal[
    "stale", "other_entity", "other_person", "other_tenant", "low_authority", "closed", "retracted", "injected"
]
LURE_KINDS: tuple[str, ...] = get_args(LureKind)

AnswerType = Literal["span", "number", "money", "date", "duration", "boolean", "list", "choice", "free"]
ANSWER_TYPES: tuple[str, ...] = get_args(AnswerType)

_EMPTY: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Message:
    """One utterance or record of the log. ``content`` is untrusted text.

    ``extra`` may hold ``sender_name``, ``recipient_name`` and ``sender_role`` (display names where ``sender`` is
    an id), ``caption`` (text derived from an attached picture) and other things a loader found; nothing in it is a label.
    """

    id: str
    conversation_id: str
    session_id: str
    tenant_id: str
    sender: str
    recipient: str
    timestamp: datetime
    content: str
    source: str = "chat_log"
    reply_to: str | None = None
    extra: Mapping[str, Any] = field(default_factory=lambda: _EMPTY)

    @property
    def sender_name(self) -> str:
        """Display name of the sender, or its id where there is none."""
        return str(self.extra.get("sender_name") or self.sender)


@dataclass(frozen=True, slots=True)
class Participant:
    """Somebody who takes part in a conversation."""

    id: str
    name: str = ""
    role: str = ""


@dataclass(frozen=True, slots=True)
class Conversation:
    """Messages in time order (file order breaks ties) between the same people, over one or many sessions."""

    id: str
    tenant_id: str
    messages: tuple[Message, ...]
    language: str = ""
    title: str = ""
    participants: tuple[Participant, ...] = ()


@dataclass(frozen=True, slots=True)
class Turn:
    """An earlier turn of the dialogue in which a question is asked."""

    speaker: str
    text: str


@dataclass(frozen=True, slots=True)
class Lure:
    """A wrong memory that is tempting for one question.

    ``values``: what an answer would say if it used the lure (may be empty: exposure can then be measured, use cannot).
    """

    kind: str
    message_ids: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    why: str = ""


@dataclass(frozen=True, slots=True)
class ScorePoint:
    """One gradable part of an open answer (LifeBench)."""

    description: str
    score: float


@dataclass(frozen=True, slots=True)
class Question:
    """A question with its labels. Never handed to a system: a system sees a ``Query``.

    ``official_evidence`` counts only in ``official_recall@K`` (LoCoMo category 5, whose evidence is a lure's).
    ``evidence_sessions`` (session ids within ``conversation_id``) is filled where a set labels sessions rather than
    messages; otherwise sessions follow from ``evidence``. ``contested`` says why the gold label is in doubt, where the set or an audit says so.
    """

    id: str
    conversation_id: str
    tenant_id: str
    asker: str
    asked_at: datetime
    text: str
    category: str
    answerable: bool
    needs_memory: bool
    answer_type: str
    answers: tuple[str, ...]
    evidence: tuple[str, ...]
    cluster_id: str
    lures: tuple[Lure, ...] = ()
    history: tuple[Turn, ...] = ()
    language: str = ""
    options: tuple[str, ...] = ()
    score_points: tuple[ScorePoint, ...] = ()
    official_evidence: tuple[str, ...] = ()
    evidence_sessions: tuple[str, ...] = ()
    contested: str = ""


@dataclass(frozen=True, slots=True)
class Corpus:
    """What lives together in one memory: one system instance per corpus and trial."""

    id: str
    conversations: tuple[Conversation, ...]
    questions: tuple[Question, ...]

    def messages(self) -> list[Message]:
        """All messages in time order; conversation order, then file order, break ties (the sort is stable)."""
        merged = [m for c in self.conversations for m in c.messages]
        merged.sort(key=lambda m: m.timestamp)
        return merged

    @property
    def tenants(self) -> tuple[str, ...]:
        """Tenant ids in first-seen order."""
        return tuple(dict.fromkeys(c.tenant_id for c in self.conversations))


@dataclass(frozen=True, slots=True)
class Note:
    """Something a loader mended or left out, for the data sheet of a report."""

    kind: str
    where: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Dataset:
    """Corpora that are reported together under one label.

    ``clock_usable`` is False where a set's question times may lie before its own evidence; the runner then
    hands over the whole log before the first question and the report says so.
    """

    name: str
    corpora: tuple[Corpus, ...]
    notes: tuple[Note, ...] = ()
    clock_usable: bool = True
    licence: str = ""
    description: str = ""

    def questions(self) -> Iterator[tuple[Corpus, Question]]:
        """Yield every question with the corpus it belongs to."""
        for corpus in self.corpora:
            for question in corpus.questions:
                yield corpus, question

    def fingerprint(self) -> str:
        """Return a SHA-256 over every message and every label: equal data, equal hex digest, on any machine."""
        digest = hashlib.sha256()
        for corpus in self.corpora:
            digest.update(f"corpus\x1f{corpus.id}\x1e".encode())
            for conversation in corpus.conversations:
                for message in conversation.messages:
                    digest.update(_canonical(message))
            for question in corpus.questions:
                digest.update(_canonical(question))
        return digest.hexdigest()


def _canonical(record: Message | Question) -> bytes:
    """Flatten a record to bytes that do not depend on hash seeds, platform or dict order."""
    parts = [f"{f.name}={_plain(getattr(record, f.name))}" for f in fields(record)]
    return ("\x1f".join(parts) + "\x1e").encode("utf-8", "surrogatepass")


def _plain(value: object) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{k}:{_plain(value[k])}" for k in sorted(value, key=str)) + "}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "[" + ",".join(_plain(v) for v in value) + "]"
    if isinstance(value, (Lure, ScorePoint, Turn)):
        return "(" + ",".join(_plain(getattr(value, f.name)) for f in fields(value)) + ")"
    return str(value)
