"""What speaks for and against a span: numbers that a weighted sum turns into its score."""

from __future__ import annotations

import re

from memtrial.systems.models.reader import cues
from memtrial.systems.models.reader.believed import trust_features
from memtrial.systems.models.reader.need import Need
from memtrial.systems.models.reader.params import ReaderParams
from memtrial.systems.models.reader.passages import RECORD_SOURCES, Passage, Shown, same_person
from memtrial.systems.models.reader.text import terms
from memtrial.systems.models.reader.value import Value
from memtrial.systems.models.reader.values import extract_names


def passage_features(need: Need, passage: Passage, params: ReaderParams) -> dict[str, float]:
    """Return what a passage itself says for (positive) or against its spans."""
    text, shown = passage.text, passage.shown
    original = need.asked.when == "original"
    own = any(s.own or any(same_person(n, s.item.sender.lower()) for n in need.names) for s in shown.around)
    named = len(frozenset().union(*(s.named for s in shown.around))) / len(need.names) if need.names else 0.0
    concepts = need.concepts
    coded = any(need.codes & s.codes for s in shown.around)
    return {
        "cover": passage.cover,
        "item_cover": passage.item_cover,
        "near_cover": passage.near_cover,
        "link_cover": passage.link_cover,
        "code_hit": float(coded),
        "code_miss": float(bool(need.codes) and not coded and bool(shown.codes)),
        "person_hit": named * float(params.speakers),
        "person_miss": (1 - named) * float(params.speakers and bool(need.names)),
        "foreign": float(params.speakers and not own and _is_foreign(need, shown)),
        "own": float(params.speakers and own),
        "other_self": float(params.speakers and need.first_person and not shown.own and cues.is_first_person(text)),
        "new": (1 - shown.age) * float(params.recency and not original),
        "old": shown.age * float(params.recency and original),
        "authority": shown.authority * float(params.authority),
        "correction": float(cues.is_correction(text)) * (-1.0 if original else 1.0),
        "withdrawn": float(shown.withdrawn) * (-1.0 if original else 1.0),
        "withdraws": float(cues.is_withdrawal(text)),
        "question": float(cues.is_question(text)),
        "doubt": float(cues.is_doubtful(text)),
        "concept": len(concepts & shown.hits) / len(concepts) if concepts else 0.0,
        "concept_miss": float(bool(concepts) and not any(concepts & s.hits for s in shown.around)),
        "rank": 1 / (1 + shown.index),
        "reached": max(passage.near_cover, passage.link_cover) - passage.item_cover,
        **(trust_features(shown.item.trust) if params.trust else {}),
    }


def _is_foreign(need: Need, shown: Shown) -> bool:
    """Tell whether an item is about somebody whom the question does not name, or between such people."""
    for entry in shown.around:
        people = [entry.item.sender.lower(), *(v.norm for v in extract_names(entry.item.text) if v.kind == "person")]
        if any(same_person(name, person) for name in need.names for person in people):
            return False
        if entry.foreign or (entry.item.source.lower() in RECORD_SOURCES and len(people) > 1):
            return True
    return False


def value_features(need: Need, passage: Passage, value: Value) -> dict[str, float]:
    """Return what speaks for and against one span of a passage."""
    text = passage.text
    replaced = any(a <= value.start and value.end <= b for a, b in cues.old_spans(text))
    stated = any(v.kind == value.kind and v.norm == value.norm for v in need.values)
    unit = need.asked.unit
    around = terms(text[max(0, value.start - 30) : value.end + 30])
    near = sum(w for t, w in need.terms.items() if t in around) / (sum(need.terms.values()) or 1.0)
    return {
        "replaced": float(replaced) * (-1.0 if need.asked.when == "original" else 1.0),
        "stated": float(stated),
        "unit": float(
            bool(unit) and bool(value.unit) and _same_unit(unit, text[value.end : value.end + 30], value.unit)
        ),
        "near": near,
        "key": float(
            (value.kind == "id" and any(value.norm in s.codes for s in passage.shown.linked))
            or (value.kind == "person" and any(value.norm in s.item.text.lower() for s in passage.shown.linked))
        ),
    }


def _same_unit(asked: str, after: str, unit: str) -> bool:
    if re.search(r"[一-鿿]", asked):
        return unit == asked
    return bool(terms(asked) & terms(f"{unit} {after}"))
