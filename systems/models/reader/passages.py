"""The context, cut into sentences and weighed against the question."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from memtrial.systems.base import Evidence
from memtrial.systems.models.reader import cues
from memtrial.systems.models.reader.instructions import is_instruction
from memtrial.systems.models.reader.need import Need
from memtrial.systems.models.reader.text import sentences, terms
from memtrial.systems.models.reader.values_names import codes_in

_EXCHANGE = timedelta(minutes=45)
_TURNS_BACK = 3
# a code that many items share is the mark of a customer or a product and joins little
_LINKED_MOST = 24
KEY_LENGTH = 5
RECORD_SOURCES = frozenset({"erp", "crm", "wms", "billing", "wiki", "policy", "docs", "system"})
_AUTHORITY = {"erp": 1.0, "crm": 1.0, "wms": 1.0, "billing": 1.0, "wiki": 0.85, "policy": 0.85, "docs": 0.85, "email": 0.6,
              "e-mail": 0.6, "ticket": 0.6, "note": 0.5, "chat_log": 0.5, "chat": 0.5, "sms": 0.5, "forum": 0.1, "social": 0.1}  # fmt: skip
DEFAULT_AUTHORITY = 0.5


@dataclass(slots=True)
class Shown:
    """One trusted item of the context with what it shares with the question.

    Attributes:
        item: the item.
        index: its place in the context as shown.
        hits: terms of the question that it holds.
        codes: identifiers in it.
        own: it was said by or to the asker, or names them.
        named: names of the question that it holds or was said by.
        foreign: it is between other people than the asker.
        near: items said shortly before it in the same conversation.
        linked: items that share an identifier with it (the order that a delivery record belongs to).
        age: 0 for the newest item of the context, 1 for the oldest.
        withdrawn: the same speaker took it back shortly after.
    """

    item: Evidence
    index: int
    hits: frozenset[str]
    codes: frozenset[str]
    own: bool
    named: frozenset[str]
    foreign: bool
    near: list[Shown] = field(default_factory=list)
    linked: list[Shown] = field(default_factory=list)
    age: float = 0.0
    withdrawn: bool = False

    @property
    def authority(self) -> float:
        """How far the source is believed where sources differ, in [0, 1]."""
        return _AUTHORITY.get(self.item.source.lower(), DEFAULT_AUTHORITY)

    @property
    def around(self) -> Iterable[Shown]:
        """The item and everything that belongs to it."""
        return (self, *self.near, *self.linked)


@dataclass(slots=True)
class Passage:
    """One sentence of an item, with the shares of the question's weight, in [0, 1], that are matched by it and around it.

    Attributes:
        shown: the item that holds it.
        text: the sentence.
        cover: matched by the sentence itself.
        item_cover: by the whole item.
        near_cover: by the item and what was said just before it.
        link_cover: by the item and the best item that shares an identifier with it.
    """

    shown: Shown
    text: str
    cover: float
    item_cover: float
    near_cover: float
    link_cover: float

    @property
    def relevance(self) -> float:
        """How much of the question the passage and what surrounds it cover; ranks passages before they are read."""
        return self.cover + 0.5 * self.item_cover + 0.5 * max(self.near_cover, self.link_cover)


def weigh(need: Need, context: Sequence[Evidence]) -> list[Passage]:
    """Cut trusted items into sentences and measure how much of the question each covers.

    Term weights are the question's, times the inverse document frequency over the context itself. Items that give
    orders to their reader are left out.
    """
    shown = _shown(need, context)
    weight = _weights(need, shown)
    norm = sum(weight.values()) or 1.0

    def cover(hits: Iterable[str]) -> float:
        return sum(weight.get(t, 0.0) for t in hits) / norm

    passages = []
    for entry in shown:
        item_cover = cover(entry.hits)
        near_cover = cover(entry.hits.union(*(n.hits for n in entry.near))) if entry.near else item_cover
        link_cover = max((cover(entry.hits | other.hits) for other in entry.linked), default=item_cover)
        passages += [
            Passage(entry, sentence, cover(need.terms.keys() & terms(sentence)), item_cover, near_cover, link_cover)
            for sentence in sentences(entry.item.text)
        ]
    return passages


def _shown(need: Need, context: Sequence[Evidence]) -> list[Shown]:
    asker_name = next((e.sender.lower() for e in context if e.sender_id and e.sender_id.lower() == need.asker), "")
    # ids such as "shop-K20417" carry the customer number that records name
    number = need.asker.rsplit("-", 1)[-1]
    names = {
        need.asker,
        asker_name,
        number if len(number) >= KEY_LENGTH and any(c.isdigit() for c in number) else "",
    } - {""}
    shown = []
    for index, item in enumerate(context):
        if not item.text.strip() or is_instruction(item.text):
            continue
        lower, sender = item.text.lower(), item.sender.lower()
        people = {item.sender_id.lower(), item.recipient_id.lower(), sender}
        hits = need.terms.keys() & (terms(item.text) | terms(item.sender))
        own = bool(people & names) or any(_holds(lower, n) for n in names)
        named = frozenset(n for n in need.names if same_person(n, sender) or _holds(lower, n))
        between = bool(item.sender_id and item.recipient_id) and item.source.lower() not in RECORD_SOURCES
        shown.append(Shown(item, index, frozenset(hits), codes_in(item.text), own, named, between and not own))
    ordered = _by_time(shown)
    for place, entry in enumerate(ordered):
        entry.age = 1 - place / (len(ordered) - 1) if len(ordered) > 1 else 0.0
    _join_exchanges(ordered)
    _join_codes(shown)
    return shown


def _holds(text: str, name: str) -> bool:
    """Tell whether a text holds a name as a whole: Hugo Clark is not in Hugo Clarke, nor Kestrel 5 in Kestrel 5L."""
    place = text.find(name) if len(name) > 1 else -1
    while place >= 0:
        before, after = text[place - 1 : place], text[place + len(name) : place + len(name) + 1]
        if not name.isascii() or not ((before.isascii() and before.isalnum()) or (after.isascii() and after.isalnum())):
            return True
        place = text.find(name, place + 1)
    return False


def same_person(name: str, sender: str) -> bool:
    """Tell whether a name and a sender are the same person; a first name alone will do."""
    return bool(sender) and (name == sender or name in sender.split() or sender in name.split())


def _by_time(shown: Sequence[Shown]) -> list[Shown]:
    """Order from oldest to newest; without times, as shown."""
    if any(s.item.timestamp is None for s in shown):
        return list(shown)
    return sorted(shown, key=lambda s: s.item.timestamp.timestamp() if s.item.timestamp else 0.0)


def _join_exchanges(ordered: Sequence[Shown]) -> None:
    """Let each item know what was said shortly before it, and mark what its speaker took back."""
    threads: dict[str, list[Shown]] = defaultdict(list)
    for entry in ordered:
        threads[entry.item.conversation_id].append(entry)
    for thread in threads.values():
        for place, entry in enumerate(thread):
            before = [b for b in thread[max(0, place - _TURNS_BACK) : place] if _soon(b, entry)]
            entry.near = before
            if cues.is_withdrawal(entry.item.text):
                _withdraw(entry, thread[max(0, place - 2 * _TURNS_BACK) : place])


def _withdraw(entry: Shown, before: Sequence[Shown]) -> None:
    """Mark the speaker's last statement before a withdrawal, and every echo of it in between."""
    speaker = entry.item.sender_id or entry.item.sender
    for place in range(len(before) - 1, -1, -1):
        if (before[place].item.sender_id or before[place].item.sender) == speaker:
            for taken_back in before[place:]:
                taken_back.withdrawn = True
            return


def _soon(before: Shown, entry: Shown) -> bool:
    if before.item.timestamp is None or entry.item.timestamp is None:
        return False
    return entry.item.timestamp - before.item.timestamp <= _EXCHANGE


def _join_codes(shown: Sequence[Shown]) -> None:
    holders: dict[str, list[Shown]] = defaultdict(list)
    for entry in shown:
        for code in _keys(entry):
            holders[code].append(entry)
    for entry in shown:
        for code in _keys(entry):
            entry.linked += [other for other in holders[code][:_LINKED_MOST] if other is not entry]


def _keys(entry: Shown) -> list[str]:
    """Return identifiers long enough to name one order or person; short ones (S2X) are models."""
    return [code for code in entry.codes if len(code) >= KEY_LENGTH]


def _weights(need: Need, shown: Sequence[Shown]) -> Mapping[str, float]:
    frequency = Counter(t for entry in shown for t in entry.hits)
    total = len(shown)
    return {t: w * math.log(1 + (total + 1) / (frequency[t] + 0.5)) for t, w in need.terms.items()}
