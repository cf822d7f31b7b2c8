"""What a search in the log established, as a memory: a statement with its provenance, or the reason why it is none."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from memtrial.datasets.schema import Message
from memtrial.systems.base import Answer, Query
from memtrial.systems.hybrid.params import WriteBackParams
from memtrial.systems.models.reader.instructions import is_instruction
from memtrial.systems.models.reader.kinds import predict_kind
from memtrial.systems.models.reader.text import language_of
from memtrial.systems.structured.node import Entity, Fact

DERIVED = "derived"
_BLANKS = re.compile(r"\s+")
_END = "?？!！.。 "
_MOST = 500


@dataclass(frozen=True, slots=True)
class Refused:
    """Why an answer does not become a memory."""

    why: str


def established(
    query: Query, answer: Answer, named: Sequence[Entity], log: Mapping[str, Message], params: WriteBackParams
) -> Fact | Refused:
    """Make a memory of an answer that a search in the log gave.

    It has no attribute: a plain statement is a memory of its own and never a version of one that sources made, so it can
    replace nothing. Its time is that of the newest message it rests on, so that it looks no fresher than that.

    Args:
        query: the question.
        answer: what the search answered.
        named: entities that the question names.
        log: the messages handed over so far, by id.
        params: what is written at all.
    """
    if answer.abstained or not answer.text.strip():
        return Refused("no answer")
    if answer.confidence is None or answer.confidence < params.min_confidence:
        return Refused("confidence too low or not stated")
    cited = [log[id] for id in dict.fromkeys(answer.citations) if id in log]
    if not cited or any(m.tenant_id != query.tenant_id for m in cited):
        return Refused("no message of this tenant is cited")
    if query.history:
        return Refused("the question leans on earlier turns")
    text = statement(query.text, answer.text, query.language)
    if is_instruction(text):
        return Refused("it gives orders to its reader")
    keys = tuple(dict.fromkeys(entity.key for entity in named))
    return Fact(
        text=text,
        tenant_id=query.tenant_id,
        message_ids=tuple(m.id for m in cited),
        recorded_at=max(m.timestamp for m in cited),
        subject=keys[0] if keys else "",
        state=params.state,
        entities=keys,
        source=DERIVED,
        speaker=query.asker,
        conversation_id=cited[-1].conversation_id,
    )


def statement(question: str, answer: str, language: str) -> str:
    """Join a question and its answer to one clause, cut to a length that an index bears: ``Which colour: red``."""
    asked = _BLANKS.sub(" ", question).strip().rstrip(_END)[:_MOST]
    said = _BLANKS.sub(" ", answer).strip()[:_MOST]
    return f"{asked}{'：' if language_of(question, language) == 'zh' else ': '}{said}"


def told(fact: Fact) -> dict[str, Any]:
    """Return a memory as a trace keeps it; :func:`restored` makes the same memory of it."""
    return {
        "text": fact.text,
        "message_ids": list(fact.message_ids),
        "recorded_at": fact.recorded_at.isoformat(),
        "subject": fact.subject,
        "state": fact.state,
        "entities": list(fact.entities),
        "conversation_id": fact.conversation_id,
    }


def restored(query: Query, kept: Mapping[str, Any]) -> Fact:
    """Return the memory that a trace tells of.

    Args:
        query: the question whose answer it was.
        kept: from :func:`told`.
    """
    return Fact(
        text=kept["text"],
        tenant_id=query.tenant_id,
        message_ids=tuple(kept["message_ids"]),
        recorded_at=datetime.fromisoformat(kept["recorded_at"]),
        subject=kept["subject"],
        state=kept["state"],
        entities=tuple(kept["entities"]),
        source=DERIVED,
        speaker=query.asker,
        conversation_id=kept["conversation_id"],
    )


class Planting:
    """Chooses, for an experiment, which memories get another question's answer: a mistake whose place is known.

    Args:
        share: of all memories.
        seed: of the choice.
    """

    def __init__(self, share: float, seed: int) -> None:
        """Start without earlier answers."""
        self._share, self._seed = share, seed
        self._before: dict[tuple[str, str], list[str]] = {}

    def wrong(self, query: Query, right: str) -> str:
        """Return the answer to plant in the place of the right one, or "" for none.

        It is the latest one to a question of the tenant for the same kind of answer, so that it could be one; where there
        is none, the latest of all.
        """
        drawn = hashlib.sha256(f"{self._seed}\x1f{query.tenant_id}\x1f{query.text}".encode()).digest()
        if int.from_bytes(drawn[:8], "big") >= self._share * 2**64:
            return ""
        alike = self._before.get((query.tenant_id, predict_kind(query.text).kind), [])
        every = self._before.get((query.tenant_id, ""), [])
        before = (*every, *alike)
        return next((answer for answer in reversed(before) if answer.casefold() != right.casefold()), "")

    def note(self, query: Query, answer: str) -> None:
        """Keep an answer that was established."""
        for kind in (predict_kind(query.text).kind, ""):
            self._before.setdefault((query.tenant_id, kind), []).append(answer)
