"""What a question needs: kind of answer, weighted terms, the things and people it names, and whose facts they are."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from memtrial.systems.base import Query
from memtrial.systems.models.reader.concepts import CONCEPTS
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
_MODEL = re.compile(r"\s\d+[A-Za-z]{0,2}\b")
_ELLIPSIS = re.compile(
    r"^\W*(?:and|what about|how about|same (?:for|question)|ditto)\b|同问|^\W*(?:那|还有|换成)|呢[？?]?$", re.IGNORECASE
)
# question words of Chinese: their characters would only blur the overlap
_ASKING = re.compile(
    r"什么时候|什么时间|什么地方|什么人|什么|为什么|多少钱|多少|多久|哪里|哪儿|哪些|哪天|哪个|哪位|哪种|几号|几点|几天|几个|怎么样|怎么|谁|是不是|有没有|能不能|是否|请问|告诉|一下|还是"
)
_QUESTION_WORD = re.compile(
    r"\b(?:what(?! about)|which|who|whom|whose|where|why|how(?! about))\b|哪|谁|什么|怎|为何|吗", re.IGNORECASE
)
HISTORY_WEIGHT = 0.5
ELLIPSIS_WEIGHT = 0.3
MAX_QUESTION = 2000


@dataclass(frozen=True, slots=True)
class Need:
    """A question, understood as far as rules go.

    Attributes:
        question: the question as asked.
        asked: predicted kind of answer.
        language: ``zh`` or ``en``.
        terms: content terms with weights in (0, 1]; those of the history weigh less.
        codes: identifiers named (order numbers, SKUs), normalised.
        names: names of people and products, lower case.
        values: norms of the typed values that the question itself states.
        first_person: the asker asks about their own things.
        asker: who asks, lower case.
    """

    question: str
    asked: Asked
    language: str
    terms: Mapping[str, float]
    codes: frozenset[str]
    names: frozenset[str]
    values: tuple[Value, ...]
    first_person: bool
    asker: str

    @property
    def concepts(self) -> frozenset[str]:
        """The concepts that the question names, as ``§name``."""
        return frozenset(t for t in self.terms if t.startswith("§"))


def understand(query: Query) -> Need:
    """Read a question and its history."""
    question = query.text[:MAX_QUESTION]
    language = language_of(question, query.language)
    weights = {t: _term_weight(t) for t in terms(_ASKING.sub(" ", question))}
    values = list(extract_values(question, query.asked_at, language))
    names = _named(question)
    codes = frozenset(v.norm for v in values if v.kind == "id")
    asked = predict_kind(question, query.options)
    if query.history and (_REFERS_BACK.search(question) or len(weights) < 4):
        # "and the kettle?" asks the same of something else; "with which carrier?" asks something of its own
        open_kind = (
            asked.kind == "free" and not _QUESTION_WORD.search(question) and not any(t.startswith("§") for t in weights)
        )
        ellipsis = open_kind and bool(_ELLIPSIS.search(question))
        share = ELLIPSIS_WEIGHT if ellipsis else HISTORY_WEIGHT
        for turn in reversed(query.history[-4:]):
            asks = predict_kind(turn.text[:MAX_QUESTION])
            is_question = turn.text.rstrip().endswith(("?", "？")) or asks.kind != "free"
            if open_kind and asked.kind == "free" and is_question and turn.speaker != "assistant":
                asked = replace(asked, kind=asks.kind, unit=asked.unit or asks.unit, many=asks.many, people=asks.people)
            said = share if turn.speaker != "assistant" else share / 2
            for term in terms(_ASKING.sub(" ", turn.text[:MAX_QUESTION])):
                # of "when does the toaster arrive? and the kettle?" only the arriving goes on
                fading = ellipsis and not term.startswith("§") and term not in CONCEPTS
                weights.setdefault(term, _term_weight(term) * (said / 3 if fading else said))
            if not codes:
                codes = frozenset(
                    v.norm for v in extract_values(turn.text[:MAX_QUESTION], query.asked_at, language) if v.kind == "id"
                )
            if not names:
                names = _named(turn.text[:MAX_QUESTION])
    return Need(
        question=question,
        asked=asked,
        language=language,
        terms=weights,
        codes=codes,
        names=names,
        values=tuple(values),
        first_person=bool(_FIRST_PERSON.search(question)),
        asker=query.asker.lower(),
    )


def _term_weight(term: str) -> float:
    """Weigh a single Chinese character and a concept less: they match by chance far more often."""
    if term.startswith("§"):
        return 0.6
    return 0.3 if len(term) == 1 and term >= "一" else 1.0


def _named(text: str) -> frozenset[str]:
    """Return the names in a question, lower case, with the model number behind them ("Kestrel 5L").

    A single capital word that opens the text is a name only where it is somebody's or carries a number.
    """
    found = set()
    for value in extract_names(text):
        if value.kind != "person":
            continue
        model = _MODEL.match(text, value.end)
        opens = not text[: value.start].strip(" \"'“(") and " " not in value.text and value.text.isascii()
        if model or not opens or text[value.end : value.end + 2] in ("'s", "’s"):
            found.add(value.norm + (model.group().lower() if model else ""))
    return frozenset(found)
