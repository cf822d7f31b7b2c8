"""A typed fact in the making, and what a pattern is given to make one."""

from __future__ import annotations

from dataclasses import dataclass, field

from memtrial.systems.models.reader.value import Value
from memtrial.systems.structured.extraction.focus import Focus
from memtrial.systems.structured.extraction.learn import Learner
from memtrial.systems.structured.extraction.leftover import leftovers
from memtrial.systems.structured.extraction.said import Said
from memtrial.systems.structured.node import Fact, FactType, State

Spot = tuple[str, str, str]
"""Owner, subject and attribute: what makes two facts versions of one memory."""


@dataclass(slots=True)
class Draft:
    """A typed fact without its sentence.

    Attributes:
        attribute, value, kind, subject, owner, state, fact_type, adds: as in ``Fact``.
        say: the value as a person reads it, where that differs from ``value``.
        ids: ids of earlier messages that it needs, oldest first.
        also: keys of further entities it is about.
    """

    attribute: str
    value: str
    kind: str
    subject: str
    owner: str = ""
    state: State = "active"
    fact_type: FactType = "state"
    say: str = ""
    ids: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    adds: bool = False


@dataclass(slots=True)
class Memory:
    """What typed facts said before, so that "the old address" and "that one too" mean something.

    Attributes:
        history: facts by spot, the newest last.
        orders_of: order keys by customer and product, the newest last.
        features: attributes of products met so far: ``supports`` or ``spec``, by key of the topic.
    """

    history: dict[Spot, list[Fact]] = field(default_factory=dict)
    orders_of: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    features: dict[str, str] = field(default_factory=dict)

    def current(self, spot: Spot) -> Fact | None:
        """Return the newest fact of a spot that still stands."""
        return next((f for f in reversed(self.history.get(spot, ())) if f.state not in ("retracted", "injected")), None)


@dataclass(slots=True)
class Case:
    """One message with its exchange, its tenant's dictionaries and its tenant's typed facts."""

    said: Said
    focus: Focus
    learner: Learner
    memory: Memory

    @property
    def text(self) -> str:
        """The message's text."""
        return self.said.text

    @property
    def customer(self) -> str:
        """Key of the customer whose matter it is."""
        return self.said.customer

    def name(self, key: str) -> str:
        """Return how an entity is called."""
        entity = self.learner.lexicon.entities.get(key)
        return entity.name if entity else ""

    def thing(self, kind: str) -> tuple[str, tuple[str, ...]]:
        """Return the product (order, ticket, plan) spoken of, and the earlier messages that name it if this one does not."""
        named = next((m.key for m in self.said.mentions if m.kind == kind), "")
        if named:
            return named, ()
        held = {"product": self.focus.products, "order": self.focus.orders, "ticket": self.focus.tickets}.get(kind, [])
        if not held:
            return "", ()
        key = held[-1]
        ids = (self.focus.named_in.get(key, ""), self.focus.asked_in)
        return key, tuple(dict.fromkeys(i for i in ids if i and i != self.said.message.id))

    def order_of(self, product: str) -> str:
        """Return the customer's newest order of a product, or ""."""
        orders = self.memory.orders_of.get((self.customer, product))
        return orders[-1] if orders else ""

    def rest(self, *values: Value, topics: bool = False) -> list[str]:
        """Return the unknown pieces of the text: what is neither an entity, nor one of the values, nor a label."""
        spans = [(m.start, m.end) for m in self.said.mentions if topics or m.kind != "topic"]
        return leftovers(self.text, [*spans, *((v.start, v.end) for v in values)])
