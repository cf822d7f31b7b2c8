"""Which plain statements may tell what no typed fact does."""

from __future__ import annotations

from memtrial.systems.base import Query
from memtrial.systems.models.reader.candidates import FITS
from memtrial.systems.models.reader.kinds import Kind, predict_kind
from memtrial.systems.models.reader.text import language_of
from memtrial.systems.models.reader.values import extract_names, extract_values
from memtrial.systems.structured.node import Fact
from memtrial.systems.structured.slots import Slot

# The kind of value of an attribute, where the question's own words may tell none.
_KINDS: dict[str, Kind] = {
    "delivery_date": "date",
    "visit_date": "date",
    "address": "place",
    "price": "money",
    "refund": "money",
    "voucher": "money",
    "return_fee": "money",
    "return_window": "duration",
    "return_contact": "email",
    "serial": "id",
    "tracking": "id",
}


def may_fill(fact: Fact, slot: Slot, query: Query) -> bool:
    """Tell whether a memory may be the answer though extraction did not understand it as one.

    It is a plain statement. It holds a value of the kind wanted, where that is a kind of value ("so when can I expect the
    Kestrel" has no address); and it names the feature or plan that the question names
    and is of the person whose matter it is.

    Args:
        fact: the memory.
        slot: what is asked for, and not on record.
        query: the question.
    """
    held = {*fact.entities, fact.subject, fact.owner}
    if fact.attribute or (slot.owner and slot.owner not in held):
        return False
    topics = {key for key in slot.things if key.startswith("topic:")} - {"topic:returns"}
    if topics and not topics & held:
        return False
    kind = _KINDS.get(slot.attributes[0]) or predict_kind(query.text).kind
    if kind not in FITS or slot.shape != "value":
        return True
    language = language_of(fact.text, query.language)
    found = [*extract_values(fact.text, fact.recorded_at, language), *extract_names(fact.text)]
    return any(value.kind in FITS[kind] for value in found)
