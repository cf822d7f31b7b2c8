"""What a question needs: kind of answer, weighted terms, the things and people it names, and whose facts they are."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from memtrial.systems.base import Query
from memtrial.systems.models.reader.kinds import Asked, predict_kind
from memtrial.systems.models.reader.text import language_of, terms
from memtrial.systems.models.reader.value import Value
from memtrial.systems.models.reader.values import extract_names, extract_values

_FIRST_PERSON = re.compile(r"\b(?:i|my|me|mine|our|we|us)\b|我|咱|俺|本人", re.IGNORECASE)
_REFERS_BACK = re.compile(
    r"\b(?:it|that|this|they|them|those|these|he|she|him|her|his|their|there|one|same|else|too|also)\b|^(?:and|what about|how about|so)\b"
    r"|它|他|她|那个|这个|那|这|其|呢[？?]?$|也|同样|那么",
    re.IGNORECASE,
)
HISTORY_WEIGHT = 0.5


@dataclass(frozen=True, slots=True)
class Need:
    """A question, understood as far as rules go.

    Attributes:
        question: the question as asked.
        asked: predicted kind of answer.
        language: ``zh`` or ``en``.
        terms: content terms with weights in (0, 1]; those of the history weigh less.
        codes: identifiers named (order numbers, SKUs), normalised.
        people: names of people, lower case.
        values: norms of the typed values that the question itself states.
        first_person: the asker asks about their own things.
        asker: who asks, lower case.
    """

    question: str
    asked: Asked
    language: str
    terms: Mapping[str, float]
    codes: frozenset[str]
    people: frozenset[str]
    values: tuple[Value, ...]
    first_person: bool
    asker: str


def understand(query: Query) -> Need:
    """Read a question and its history."""
    language = language_of(query.text, query.language)
    weights = dict.fromkeys(terms(query.text), 1.0)
    values = list(extract_values(query.text, query.asked_at, language))
    people = _people(query.text)
    codes = frozenset(v.norm for v in values if v.kind == "id")
    if query.history and (_REFERS_BACK.search(query.text) or len(weights) < 4):
        for turn in query.history[-4:]:
            for term in terms(turn.text):
                weights.setdefault(term, HISTORY_WEIGHT)
            if not codes:
                codes = frozenset(v.norm for v in extract_values(turn.text, query.asked_at, language) if v.kind == "id")
            if not people:
                people = _people(turn.text)
    return Need(
        question=query.text,
        asked=predict_kind(query.text, query.options),
        language=language,
        terms=weights,
        codes=codes,
        people=people,
        values=tuple(values),
        first_person=bool(_FIRST_PERSON.search(query.text)),
        asker=query.asker.lower(),
    )


def _people(text: str) -> frozenset[str]:
    return frozenset(v.norm for v in extract_names(text) if v.kind == "person")
