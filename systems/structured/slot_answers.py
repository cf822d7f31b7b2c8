"""Answers that typed facts give by themselves: a value, a list, a sum, a count, the days between two events, a join.

Each is worked out from facts alone, with the messages behind them; where facts disagree, are missing or hardly to be
believed there is no answer, and the reader reads.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal, InvalidOperation

from memtrial.systems.models.reader.text import terms
from memtrial.systems.models.reader.values_numbers import plain
from memtrial.systems.models.times import find_times
from memtrial.systems.structured.node import Fact
from memtrial.systems.structured.slot_facts import STATES, YES_NO, SlotFacts, say, sureness, versions_of, was_told
from memtrial.systems.structured.trust import Weighed

_SETTLED = re.compile(
    r"\b(?:resolved|closed|settled|solved|fixed|over|done|sorted|finished)\b|(?<!未)解决了|结案|关闭|完结了|办结|处理完|结了[吗没]",
    re.IGNORECASE,
)
_UNSETTLED = re.compile(
    r"\b(?:unresolved|unsettled|open|pending|active|still|waiting|working|not)\b|没|未|还|仍|开着|处理中", re.IGNORECASE
)
_WITHIN = re.compile(r"(\d{1,3})\s?(?:days?|天)", re.IGNORECASE)
_SURE = 0.95
_ALIKE = 0.75
_SAME = 0.3


@dataclass(frozen=True, slots=True)
class Computed:
    """An answer made of facts.

    Attributes:
        text: in words.
        used: the facts it rests on, each weighed.
        citations: ids of the messages behind them.
        confidence: the least trust among them.
    """

    text: str
    used: tuple[Weighed, ...]
    citations: tuple[str, ...]
    confidence: float


def compute(facts: SlotFacts, least_trust: float) -> Computed | None:
    """Return the answer that the facts of a slot give, or None.

    Args:
        facts: the slot and what fills it.
        least_trust: trust that each fact used must have.
    """
    made = _MAKERS[facts.slot.shape](facts)
    if made is None:
        return None
    text, used = made
    if facts.query.options:
        text = _option(text, facts.query.options)
    trust = min((w.trust.score for w in used if w.trust is not None), default=_SURE)
    if trust < least_trust or not text or any(_in_doubt(w.node.fact) for w in used):
        return None
    cited = tuple(dict.fromkeys(id for w in used for id in w.node.fact.message_ids))
    return Computed(text, tuple(used), cited, trust)


Made = tuple[str, Sequence[Weighed]] | None


def _option(text: str, options: Sequence[str]) -> str:
    """Return the one option that says the same, or ""."""
    said = text.casefold()
    same = [o for o in options if said in o.casefold() or o.casefold() in said]
    if not same:
        told = terms(text)
        shares = [len(told & terms(o)) / (len(told | terms(o)) or 1) for o in options]
        best = max(shares)
        same = [o for o, share in zip(options, shares, strict=True) if share == best and share >= _SAME]
    return same[0] if len(same) == 1 else ""


def _in_doubt(fact: Fact) -> bool:
    """Tell whether a fact is a guess; what is only offered or wished is in doubt by its nature."""
    return fact.state == "uncertain" and fact.fact_type not in ("promotion", "preference")


def _one(facts: SlotFacts) -> Weighed | None:
    """Return the fact that holds: the newest sure one; None where facts are of several people and none is asked for."""
    ordered = sorted(facts.filled, key=sureness)
    if not ordered or len({w.node.fact.owner for w in ordered}) > 1:
        return None
    return ordered[0]


def _value(facts: SlotFacts) -> Made:
    best = _one(facts)
    return None if best is None else (say(best.node.fact, facts.language), [best])


def _yes_no(facts: SlotFacts) -> Made:
    best = _one(facts)
    if best is None:
        return None
    value = best.node.fact.value
    if value in STATES:
        settled = bool(_SETTLED.search(facts.query.text)) and not _UNSETTLED.search(facts.query.text)
        value = "yes" if (value == "resolved") == settled else "no"
    return (YES_NO[value][facts.language == "zh"], [best]) if value in YES_NO else None


def _list(facts: SlotFacts) -> Made:
    best = _one(facts)
    if best is None:
        return None
    joined = [w for w in facts.filled if w.node.memory_id == best.node.memory_id] if best.node.fact.adds else [best]
    items = dict.fromkeys(item for w in reversed(joined) for item in w.node.fact.value.split("; "))
    return ("、" if facts.language == "zh" else ", ").join(items), joined


def _since(facts: SlotFacts) -> Made:
    """Tell since when a product has a feature: the day from which on it was never denied."""
    best = max((_authority(w) for w in facts.filled), default=0.0)
    sure = [w for w in facts.filled if _authority(w) >= best and not w.node.fact.owner]
    if not sure or len({w.node.memory_id for w in sure}) > 1:
        return None
    versions = [n for n in facts.records.history(facts.query.tenant_id, sure[0].node.memory_id) if was_told(n, facts)]
    versions = [n for n in versions if n.fact.source == sure[0].node.fact.source]
    if not versions or versions[-1].fact.value == "no":
        return None
    first = versions[-1]
    for earlier in reversed(versions[:-1]):
        if earlier.fact.value == "no":
            break
        first = earlier
    day = first.fact.recorded_at.date()
    used = next((w for w in facts.filled if w.node.id == first.id), Weighed(first, sure[0].score, sure[0].trust))
    zh = facts.language == "zh"
    return (f"{day.year}年{day.month}月{day.day}日" if zh else f"{day.day} {day:%B} {day.year}"), [used]


def _authority(weighed: Weighed) -> float:
    return weighed.trust.by_dimension.get("authority", 0.0) if weighed.trust else 0.0


def _days(facts: SlotFacts) -> Made:
    """Count the days from an order to its arrival."""
    came, ordered = facts.of("arrival_date"), facts.of("price")
    if not came or not ordered or len({w.node.fact.owner for w in (*came, *ordered)}) > 1:
        return None
    try:
        arrived = date.fromisoformat(came[0].node.fact.value)
    except ValueError:
        return None
    before = [w for w in ordered if w.node.fact.recorded_at.date() <= arrived]
    if not before:
        return None
    gap = (arrived - before[0].node.fact.recorded_at.date()).days
    return (f"{gap}天" if facts.language == "zh" else f"{gap} day{'' if gap == 1 else 's'}"), [before[0], came[0]]


def _sum(facts: SlotFacts) -> Made:
    """Add the prices of the things named, one order of each."""
    used: list[Weighed] = []
    for thing in facts.slot.things:
        found = facts.of("price", thing)
        if not found or len({w.node.fact.owner for w in found}) > 1:
            return None
        used.append(found[0])
    try:
        parts = [w.node.fact.value.split(" ") for w in used]
        total = sum((Decimal(p[0]) for p in parts), Decimal(0))
    except InvalidOperation:
        return None
    if len({tuple(p[1:]) for p in parts}) > 1:
        return None
    shown = plain(total) if total == total.to_integral_value() else f"{total:.2f}"
    like = say(used[0].node.fact, facts.language)
    digits = re.search(r"\d[\d,]*(?:\.\d+)?", like)
    return (f"{like[: digits.start()]}{shown}{like[digits.end() :]}", used) if digits else None


def _count(facts: SlotFacts) -> Made:
    """Count the orders of a period that the question names; of none at all nothing is known."""
    query = facts.query
    periods = [t for t in find_times(query.text, query.asked_at, query.language) if t.kind != "vague"]
    inside = facts.of("price")
    if periods:
        inside = [w for w in inside if periods[0].start <= w.node.fact.recorded_at < periods[0].end]
    orders = {w.node.fact.subject: w for w in inside}
    return (str(len(orders)), list(orders.values())) if orders else None


def _people(facts: SlotFacts) -> Made:
    """Name the owners of complaints: with the symptom named, or within so many days of an order of something else."""
    query, slot = facts.query, facts.slot
    used: dict[str, list[Weighed]] = {}
    if "price" in slot.attributes:
        limit = _WITHIN.search(query.text)
        orders, later = facts.of("price", slot.things[0]), facts.of("symptom", slot.things[1])
        for order in orders:
            for trouble in versions_of(facts, later):
                same = order.node.fact.owner == trouble.node.fact.owner
                gap = (trouble.node.fact.recorded_at.date() - order.node.fact.recorded_at.date()).days
                if same and 0 <= gap <= (int(limit[1]) if limit else 30):
                    used.setdefault(order.node.fact.owner, [order, trouble])
    else:
        asked = terms(query.text)
        for trouble in versions_of(facts, facts.of("symptom")):
            told = terms(trouble.node.fact.value)
            if told and len(told & asked) >= _ALIKE * len(told):
                used.setdefault(trouble.node.fact.owner, [trouble])
    names = [facts.name(query.tenant_id, owner) for owner in used if owner]
    joined = ("、" if facts.language == "zh" else ", ").join(names)
    return (joined, [w for some in used.values() for w in some]) if names else None


_MAKERS: dict[str, Callable[[SlotFacts], Made]] = {
    "value": _value,
    "yes_no": _yes_no,
    "list": _list,
    "since": _since,
    "days": _days,
    "sum": _sum,
    "count": _count,
    "people": _people,
}
