"""A rolling summary without a language model: the sentences nearest to the middle of all that was said.

A sentence is scored by the cosine between it and the centroid of all sentences so far, both as binary vectors weighted
by inverse document frequency (Radev et al., Centroid-based summarization, 2004), discounted where it has few terms. The
centroid is known from the counts alone, so nothing of a dropped sentence has to be kept. Sentences are taken best first
as the budget allows, none twice in other words; what is dropped is gone, as in the summaries that frameworks roll.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from memtrial.systems.base import Evidence, Span, Trace
from memtrial.systems.models.reader.text import sentences, terms
from memtrial.systems.models.summariser.params import ExtractiveParams
from memtrial.systems.models.tokens import count_tokens

# A sentence of this many terms counts half: "Great, thanks!" may be near to the middle of a chat and still says nothing.
_HALF_TERMS = 3


@dataclass(frozen=True, slots=True)
class _Sentence:
    item: Evidence
    place: int
    terms: tuple[str, ...]
    tokens: int


class ExtractiveSummary:
    """The summary of one stream of messages; the same messages in the same order make the same summary."""

    def __init__(self, params: ExtractiveParams, tokens: int) -> None:
        """Start empty.

        Args:
            params: settings.
            tokens: budget of the rendered lines.
        """
        self._params = params
        self._budget = tokens
        self._kept: list[_Sentence] = []
        self._scores: list[float] = []
        self._frequency: Counter[str] = Counter()
        self._seen = 0

    @property
    def lines(self) -> tuple[Evidence, ...]:
        """The sentences kept, in time order, with their scores."""
        return tuple(replace(s.item, score=score) for s, score in zip(self._kept, self._scores, strict=True))

    async def fold(self, items: Sequence[Evidence], trace: Trace, span: Span) -> None:
        """Take in messages that have scrolled away."""
        candidates = [*self._kept, *self._cut(items)]
        weight = {t: self._idf(t) for s in candidates for t in s.terms}
        scored = [(self._salience(s, weight), s) for s in candidates]
        chosen: list[tuple[float, _Sentence]] = []
        left = self._budget
        for score, sentence in sorted(scored, key=lambda pair: (-pair[0], -pair[1].place)):
            if sentence.tokens <= left and not any(self._same(sentence, other, weight) for _, other in chosen):
                chosen.append((score, sentence))
                left -= sentence.tokens
        chosen.sort(key=lambda pair: pair[1].place)
        self._kept = [sentence for _, sentence in chosen]
        self._scores = [score for score, _ in chosen]

    def _cut(self, items: Sequence[Evidence]) -> list[_Sentence]:
        new: list[_Sentence] = []
        for item in items:
            for text in sentences(item.text):
                # Sorted: sums over a set would depend on the order of its hashes, and so on the process.
                found = tuple(sorted(terms(text)))
                if found:
                    line = replace(item, text=text, kind="summary", score=0.0)
                    new.append(_Sentence(line, self._seen, found, count_tokens(line.render()) + 1))
                    self._frequency.update(found)
                    self._seen += 1
        return new

    def _idf(self, term: str) -> float:
        return math.log((self._seen + 1) / (self._frequency[term] + 0.5))

    def _salience(self, sentence: _Sentence, weight: dict[str, float]) -> float:
        length = math.sqrt(sum(weight[t] ** 2 for t in sentence.terms)) or 1.0
        nearness = sum(weight[t] ** 2 * self._frequency[t] for t in sentence.terms) / (length * self._seen)
        score = nearness * len(sentence.terms) / (len(sentence.terms) + _HALF_TERMS)
        return score * self._params.questions if sentence.item.text.endswith(("?", "？")) else score

    def _same(self, one: _Sentence, other: _Sentence, weight: dict[str, float]) -> bool:
        """Whether most of the shorter of two sentences, by weight, is in the longer."""
        shared = set(one.terms).intersection(other.terms)
        if not shared:
            return False
        joint = sum(weight[t] for t in sorted(shared))
        least = min(sum(weight[t] for t in s.terms) for s in (one, other))
        return joint >= self._params.overlap * least


class ExtractiveSummariser:
    """Makes summaries of sentences."""

    def __init__(self, params: ExtractiveParams) -> None:
        """Keep the settings."""
        self._params = params

    def start(self, tokens: int) -> ExtractiveSummary:
        """Return an empty summary with a budget."""
        return ExtractiveSummary(self._params, tokens)

    async def aclose(self) -> None:
        """Nothing to let go of."""
