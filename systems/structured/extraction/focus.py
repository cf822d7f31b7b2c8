"""What an exchange is about at the moment: the things last spoken of, who asked what, and what was stated last."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from memtrial.systems.structured.node import Fact

_FRESH = timedelta(hours=12)


@dataclass(slots=True)
class Focus:
    """State of one conversation; what is older than half a day, or of an earlier session, is kept as a weak reminder.

    Attributes:
        products, orders, tickets, plans: keys last named, the newest last.
        asked: what was last asked for (an attribute), "" once it was answered.
        asked_in: id of the message that asked.
        topic: attribute that the exchange is on.
        stated: typed facts of this session by speaker and attribute, the newest last.
        named_in: id of the message that named each thing last.
        fresh: keys of what this session named; no elliptic reply speaks of anything older.
    """

    session: str = ""
    at: datetime | None = None
    products: list[str] = field(default_factory=list)
    orders: list[str] = field(default_factory=list)
    tickets: list[str] = field(default_factory=list)
    plans: list[str] = field(default_factory=list)
    asked: str = ""
    asked_in: str = ""
    topic: str = ""
    stated: list[Fact] = field(default_factory=list)
    named_in: dict[str, str] = field(default_factory=dict)
    fresh: set[str] = field(default_factory=set)

    def enter(self, session: str, at: datetime) -> None:
        """Forget what belongs to an earlier session."""
        if session != self.session or (self.at is not None and at - self.at > _FRESH):
            self.asked = self.asked_in = self.topic = ""
            self.stated = []
            self.fresh.clear()
            self.products, self.orders, self.tickets = self.products[-1:], self.orders[-1:], self.tickets[-1:]
            self.session = session
        self.at = at

    def name(self, kind: str, key: str, message_id: str) -> None:
        """Remember that a thing was named."""
        names = {"product": self.products, "order": self.orders, "ticket": self.tickets, "plan": self.plans}.get(kind)
        if names is None:
            return
        if key in names:
            names.remove(key)
        names.append(key)
        del names[:-4]
        self.fresh.add(key)
        self.named_in[key] = message_id

    def last(self, attribute: str, speaker: str = "") -> Fact | None:
        """Return the newest fact of this session on an attribute, by that speaker if one is given."""
        for fact in reversed(self.stated):
            if fact.attribute == attribute and (not speaker or fact.speaker == speaker):
                return fact
        return None
