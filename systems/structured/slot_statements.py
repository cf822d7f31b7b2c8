"""Which plain statements may tell what no typed fact does."""

from __future__ import annotations

from memtrial.systems.base import Query
from memtrial.systems.models.reader.candidates import FITS
from memtrial.systems.models.reader.kinds import Kind, predict_kind
from memtrial.systems.models.reader.text import language_of
from memtrial.systems.models.reader.value import Value
from memtrial.systems.models.reader.values import extract_names, extract_values
from memtrial.systems.structured.extraction import cues
from memtrial.systems.structured.node import Fact
from memtrial.systems.structured.slots import Slot

_FIT = 1.0
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


# What nobody but the customer tells, and the words it takes.
_OWN_WORDS = {
    "occasion": cues.PURPOSE,
    "colour": cues.COVER,
    "doubt": cues.HESITATE,
    "return_reason": cues.RETURN,
    "serial": cues.SERIAL,
}


def may_fill(fact: Fact, slot: Slot, query: Query, speaker: str) -> bool:
    """Tell whether a memory may be the answer though extraction did not understand it as one.

    It is a plain statement. It holds a value of the kind wanted, where that is a kind of value ("so when can I expect the
    Kestrel" has no address); and it names the feature or plan that the question names
    and is of the person whose matter it is. What only that person tells (what something is for, a colour, a doubt) has to be
    theirs and to hold a word for it.

    Args:
        fact: the memory.
        slot: what is asked for, and not on record.
        query: the question.
        speaker: key of the person who said it, or "".
    """
    held = {*fact.entities, fact.subject, fact.owner}
    if fact.attribute or (slot.owner and slot.owner not in held):
        return False
    name = slot.attributes[0]
    if name in _OWN_WORDS and ((slot.owner and speaker != slot.owner) or not _OWN_WORDS[name].search(fact.text)):
        return False
    topics = {key for key in slot.things if key.startswith("topic:")} - {"topic:returns"}
    if topics and not topics & held:
        return False
    kind = _KINDS.get(name) or predict_kind(query.text).kind
    if kind not in FITS or slot.shape != "value":
        return True
    language = language_of(fact.text, query.language)
    found = [*extract_values(fact.text, fact.recorded_at, language), *extract_names(fact.text)]
    asked = query.text.lower()
    return any(FITS[kind].get(value.kind, 0.0) >= _FIT and not _named(value, asked) for value in found)


def _named(value: Value, question: str) -> bool:
    """Tell whether the question, in lower case, states a value itself."""
    return value.norm.lower() in question or value.text.lower() in question
