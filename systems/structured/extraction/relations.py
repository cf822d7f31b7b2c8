"""What joins two entities: from orders, tickets and accounts on record, and from what people say of each other."""

from __future__ import annotations

import re

from memtrial.systems.models.reader.cues import is_first_person
from memtrial.systems.structured.extraction.learn import Learner
from memtrial.systems.structured.extraction.said import Said
from memtrial.systems.structured.node import Edge

_PART_OF = re.compile(
    r"\b(?:part of|belongs to|belonging to|for project|under project|project)\b|属于|隶属|项目", re.IGNORECASE
)
_WORKS = re.compile(
    r"\b(?:works? (?:at|for)|working (?:at|for)|employed (?:at|by)|joined)\b|就职于|任职于|供职于|在.{1,16}(?:工作|上班)",
    re.IGNORECASE,
)
_LIVES = re.compile(r"\b(?:lives? in|living in|moved to|based in|located in)\b|住在|搬到|搬去|位于", re.IGNORECASE)
_ASSIGNED = re.compile(
    r"\b(?:owner|owned by|looks? after|is with|assigned|manager|responsible|handled by|in charge|takes care)\b|经理|负责|归属|跟进|对接|专员|顾问|分配",
    re.IGNORECASE,
)


class Relations:
    """Edges of one tenant; each is told once, with the messages that first said it."""

    def __init__(self, learner: Learner) -> None:
        """Start with none."""
        self._learner = learner
        self._told: set[tuple[str, str, str]] = set()

    def join(self, said: Said, source: str, relation: str, target: str, *more: str) -> list[Edge]:
        """Return the edge if it is new."""
        triple = (source, relation, target)
        if not source or not target or source == target or triple in self._told:
            return []
        self._told.add(triple)
        message = said.message
        ids = tuple(dict.fromkeys([*(m for m in more if m), message.id]))
        return [Edge(message.tenant_id, source, relation, target, ids, message.timestamp)]

    def read(self, said: Said) -> list[Edge]:
        """Return the new edges that a message draws."""
        if said.injected or said.asks:
            return []
        edges: list[Edge] = []
        product = said.first("product")
        customer = said.customer
        for kind, relation in (("order", "ordered"), ("ticket", "reported")):
            for key in [m.key for m in said.mentions if m.kind == kind]:
                if said.voice in ("record", "staff", "customer") and customer:
                    edges += self.join(said, customer, relation, key)
                if product and said.voice in ("record", "staff"):
                    edges += self.join(said, key, "about", product)
                    if kind == "order" and said.voice == "record":
                        edges += self.join(said, customer, "ordered", product)
        people = [k for k in said.all("person") if k != customer]
        if said.voice == "record" and customer and people and _ASSIGNED.search(said.text):
            edges += self.join(said, customer, "assigned_to", people[0])
        edges += self._people(said)
        return edges

    def _people(self, said: Said) -> list[Edge]:
        edges: list[Edge] = []
        own = said.voice in ("person", "customer") and is_first_person(said.text)
        who = said.first("person") or (said.speaker if own else "")
        organisation, place = said.first("organisation"), said.first("place")
        if who and organisation and _WORKS.search(said.text):
            edges += self.join(said, who, "works_for", organisation)
        if who and place and _LIVES.search(said.text):
            edges += self.join(said, who, "located_in", place)
        if said.voice == "person":
            for other in said.all("person"):
                edges += self.join(said, said.speaker, "knows", other)
        order, topic = said.first("order"), said.first("topic")
        if order and topic and _PART_OF.search(said.text):
            edges += self.join(said, order, "part_of", topic)
        return edges
