"""A message as the patterns see it: who speaks in what voice, which values and things it names, what it goes back to."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

from memtrial.datasets.schema import Message
from memtrial.systems.models.reader.cues import is_question
from memtrial.systems.models.reader.instructions import is_instruction, is_planted
from memtrial.systems.models.reader.text import sentences
from memtrial.systems.models.reader.value import Value
from memtrial.systems.structured.extraction.lexicon import Mention
from memtrial.systems.structured.node import EntityKind

Voice = Literal["record", "staff", "customer", "public", "person"]
"""A record of a system, somebody at the desk, its customer, the public (a forum, an unknown mailbox), or anybody."""

_STAFF = re.compile(
    r"agent|staff|support|service|employee|advis|representative|clerk|客服|坐席|员工|店员|顾问|专员|管家", re.IGNORECASE
)
_CUSTOMER = re.compile(r"customer|client|buyer|shopper|guest|客户|顾客|买家|用户|会员", re.IGNORECASE)
_SYSTEM = re.compile(r"system|record|bot\b|feed|系统|机器", re.IGNORECASE)
_RECORDS = frozenset({"crm", "erp", "wiki", "ledger", "wms", "oms", "knowledge_base", "kb", "ticketing", "database"})
_PUBLIC = frozenset({"forum", "blog", "social", "reviews", "web"})


_HAN = re.compile("[\u4e00-\u9fff]")


# somebody from outside who speaks as the system, or who wants the books left closed


def spoken(text: str) -> str:
    """Return the language whose patterns apply; codes and amounts make up much of a record, so little Chinese is enough."""
    return "zh" if len(_HAN.findall(text)) * 6 > len(text) else "en"


def voice_of(message: Message) -> Voice:
    """Return in whose voice a message speaks, by its source and the role of its sender."""
    if message.source in _RECORDS:
        return "record"
    if message.source in _PUBLIC:
        return "public"
    role = str(message.extra.get("sender_role") or "")
    if role:
        if _CUSTOMER.search(role):
            return "customer"
        if _STAFF.search(role):
            return "staff"
        if _SYSTEM.search(role):
            return "record"
    return "public" if message.source == "email" else "person"


@dataclass(slots=True)
class Said:
    """One message being read.

    Attributes:
        message: as given.
        text: its cleaned content.
        language: ``zh`` or ``en``.
        voice: in whose voice it speaks.
        values: typed values in the text, in order.
        mentions: entities named in the text, in order.
        speaker: key of who speaks, "" for a record feed.
        customer: key of the customer whose exchange it stands in, or of the customer whom a record names; "" if none.
        injected: it orders its reader about.
        asks: it only asks.
    """

    message: Message
    text: str
    language: str
    voice: Voice
    values: tuple[Value, ...] = ()
    mentions: list[Mention] = field(default_factory=list)
    speaker: str = ""
    customer: str = ""
    injected: bool = False
    asks: bool = False

    @classmethod
    def of(cls, message: Message, text: str) -> Said:
        """Read what needs no dictionary."""
        voice = voice_of(message)
        return cls(
            message,
            text,
            spoken(text),
            voice,
            injected=is_planted(text) if voice == "public" else is_instruction(text),
            asks=all(is_question(s) for s in sentences(text)) if text else False,
        )

    def first(self, *kinds: EntityKind) -> str:
        """Return the key of the first entity of one of these kinds, or ""."""
        return next((m.key for m in self.mentions if m.kind in kinds), "")

    def all(self, *kinds: EntityKind) -> list[str]:
        """Return the keys of the entities of these kinds, each once, in order."""
        return list(dict.fromkeys(m.key for m in self.mentions if m.kind in kinds))

    def of_kind(self, *kinds: str) -> list[Value]:
        """Return the values of these kinds that lie in no entity's name."""
        spans = [(m.start, m.end) for m in self.mentions if m.kind in ("product", "order", "ticket", "person")]
        return [v for v in self.values if v.kind in kinds and not any(s < v.end and v.start < e for s, e in spans)]
