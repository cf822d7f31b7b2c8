"""Reranking without a model: what found a candidate, the question's words and values in it, the kind of answer in it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from memtrial.systems.base import Evidence, Query
from memtrial.systems.baselines.log import Log
from memtrial.systems.models.reader.need import Need, understand
from memtrial.systems.models.reader.text import language_of, sentences, terms
from memtrial.systems.models.reader.values import extract_names, extract_values
from memtrial.systems.raw_log.rerank.params import LexicalRerankParams
from memtrial.systems.raw_log.rerank.ranked import MOST, Reranked, arranged, in_range, repeated, tier_order

# Which kinds of values can answer a question of a kind. A duration may be told as two days, a number with its unit as money.
_ANSWERS: Mapping[str, frozenset[str]] = {
    "date": frozenset({"date", "time"}),
    "time": frozenset({"time"}),
    "duration": frozenset({"duration", "date"}),
    "money": frozenset({"money"}),
    "percent": frozenset({"percent"}),
    "number": frozenset({"number", "money", "percent", "duration"}),
    "person": frozenset({"person"}),
    "place": frozenset({"place"}),
    "id": frozenset({"id"}),
    "email": frozenset({"email"}),
    "phone": frozenset({"phone", "number"}),
    "url": frozenset({"url"}),
}
_STATED = frozenset({"id", "money", "date", "time", "percent", "number", "email", "phone", "url"})
_LONGEST = 4_000


def by_words(
    params: LexicalRerankParams, query: Query, items: Sequence[Evidence], scores: Sequence[float], log: Log | None
) -> list[Reranked]:
    """Return the items, best first.

    Args:
        params: settings.
        query: the question.
        items: candidates.
        scores: what they come with, on any scale.
        log: where neighbours are found; without it an item has none.
    """
    need = understand(query)
    texts = [item.text[:_LONGEST] for item in items]
    beside = [_beside(item, log, params.reach) for item in items]
    held = [terms(text) for text in texts]
    wide = [own | terms(near) for own, near in zip(held, beside, strict=True)]
    weights = _weights(need, held)
    stated = {value.norm for value in need.values if value.kind in _STATED}
    tier = in_range(scores)
    totals = []
    for place, text in enumerate(texts):
        found, most = params.tier * tier[place], params.tier
        if weights:
            whole = sum(weights.values())
            found += params.words * sum(w for t, w in weights.items() if t in held[place]) / whole
            found += params.around * sum(w for t, w in weights.items() if t in wide[place]) / whole
            most += params.words + params.around
        if stated and params.values:
            found += params.values * _share_stated(stated, need, items[place], text, beside[place])
            most += params.values
        if need.asked.kind in _ANSWERS and params.answer:
            found += params.answer * float(_can_answer(need, items[place], text))
            most += params.answer
        totals.append(MOST * found / most if most else MOST * tier[place])
    by_tier = {index: rank for rank, index in enumerate(tier_order(scores))}
    order = sorted(range(len(items)), key=lambda index: (-totals[index], by_tier[index]))
    key = {index: _key_sentence(need, weights, items[index], texts[index]) for index in order}
    return arranged(order, totals, key, repeated(items, order, params.merge_hours))


def _weights(need: Need, held: Sequence[frozenset[str]]) -> dict[str, float]:
    """Weigh the question's terms: one that every candidate holds tells none apart, one that none holds neither."""
    found = Counter(term for own in held for term in own if term in need.terms)
    size = len(held)
    return {term: need.terms[term] * math.log1p((size - n + 0.5) / (n + 0.5)) for term, n in found.items()}


def _beside(item: Evidence, log: Log | None, reach: int) -> str:
    position = log.position.get(item.message_ids[0], -1) if log is not None and len(item.message_ids) == 1 else -1
    if log is None or position < 0:
        return ""
    return "\n".join(log.messages[p].content[:_LONGEST] for p in log.around(position, reach) if p != position)


def _share_stated(stated: set[str], need: Need, item: Evidence, text: str, beside: str) -> float:
    said = {value.norm for value in extract_values(text, item.timestamp, need.language)}
    # A neighbour's relative dates are counted from its own day, which is hardly ever another one.
    near = {value.norm for value in extract_values(beside, item.timestamp, need.language)} if beside else set()
    return sum(1.0 if norm in said else 0.5 if norm in near else 0.0 for norm in stated) / len(stated)


def _can_answer(need: Need, item: Evidence, text: str) -> bool:
    """Whether the text holds a value of the kind asked for that the question itself does not state."""
    kinds = _ANSWERS[need.asked.kind]
    if kinds & {"person", "place"}:
        asked = {value.norm for value in extract_names(need.question)}
        return any(value.kind in kinds and value.norm not in asked for value in extract_names(text))
    asked = {value.norm for value in need.values}
    language = language_of(text)
    return any(v.kind in kinds and v.norm not in asked for v in extract_values(text, item.timestamp, language))


def _key_sentence(need: Need, weights: Mapping[str, float], item: Evidence, text: str) -> str:
    """Return the sentence with most of the question's words, one that can answer before one that cannot."""
    parts = sentences(text)
    kinds = need.asked.kind in _ANSWERS

    def worth(part: str) -> float:
        own = terms(part)
        share = sum(w for t, w in weights.items() if t in own) / (sum(weights.values()) or 1.0)
        return 0.9 * share + float(kinds and len(parts) > 1 and _can_answer(need, item, part))

    return max(parts, key=worth, default="")
