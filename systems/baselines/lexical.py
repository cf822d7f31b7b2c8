"""Ranking by words: BM25 of a turn, of the turns around it, and of its session.

Chat turns are short and lean on their neighbours, so a turn that answers in other words than the question's can be found
through the turn before it, or through a session that is about the matter. Tantivy proposes the turns that hold a term
of the question; the same formula is then counted over three widths of text around each of them, from the terms of the
turns themselves. So a later message widens windows and sessions at once, and nothing indexed ever has to change.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from memtrial.datasets.schema import Message
from memtrial.systems.baselines.log import Log, caption
from memtrial.systems.baselines.parts import Part, require_weight
from memtrial.systems.baselines.termlists import TermLists
from memtrial.systems.models.analyze import ANALYZER_VERSION, date_words, has_han, terms
from memtrial.systems.stores.fulltext import FullTextStore
from memtrial.systems.stores.textindex import TextDocument, TextIndex

Store = FullTextStore | TextIndex
Matrix = NDArray[np.float64]


class IndexParams(Part):
    """What a turn is indexed with besides its content: who said it, and when, in the words people use for dates."""

    speaker: bool = True
    date: bool = True


class UnitParams(Part):
    """How much each width of text counts; 0 leaves one out.

    All three are scores of one formula with the same term weights, so they add up as they are. A session's is the same
    for all of its turns and cannot tell them apart: half weight. ``reach``: neighbours on either side that make a
    turn's window.
    """

    turn: float = Field(default=1.0, ge=0)
    window: float = Field(default=1.0, ge=0)
    session: float = Field(default=0.5, ge=0)
    reach: int = Field(default=1, ge=1, le=20)

    @model_validator(mode="after")
    def _something_counts(self) -> Self:
        require_weight(self, "turn", "window", "session")
        return self


class LexicalParams(Part):
    """Parameters of ranking by words.

    ``candidates``: turns that the full-text engine proposes; ``history``: weight of the terms of earlier turns of the
    dialogue against those of the question; ``k1`` and ``b`` as in BM25 (Robertson and Zaragoza 2009).
    """

    index: IndexParams = Field(default_factory=IndexParams)
    units: UnitParams = Field(default_factory=UnitParams)
    candidates: int = Field(default=1_000, ge=1, le=100_000)
    history: float = Field(default=0.5, ge=0, le=1)
    k1: float = Field(default=1.2, ge=0, le=10)
    b: float = Field(default=0.75, ge=0, le=1)


class LexicalRanker:
    """Full text of a log, in a folder or on a server.

    Args:
        params: settings.
        log: the log.
        folder: the index's own.
        captions: texts derived from pictures count as part of a message.
        store: an index opened with :func:`index_settings`; None for one by Tantivy in ``folder``.
    """

    def __init__(
        self,
        params: LexicalParams,
        log: Log,
        folder: Path,
        *,
        captions: bool,
        store: Store | None = None,
    ) -> None:
        """Open the index of ``folder``, or make it."""
        self._params = params
        self._log = log
        self._captions = captions
        self._store: Store = (
            FullTextStore(folder, index_settings(params, captions=captions)) if store is None else store
        )
        self._terms = TermLists()
        self._window_length: list[int] = []
        self._session_length: list[int] = []
        self._total = 0

    def add(self, positions: Sequence[int], held: Callable[[int], Sequence[str]] | None = None) -> None:
        """Index messages by their positions in the log, which must come in order; searchable when this returns.

        Args:
            positions: of the messages.
            held: gives the terms of a message's content, where the caller has them already.
        """
        self._store.load(self._documents(positions, held))
        self._store.commit()

    def _documents(
        self, positions: Sequence[int], held: Callable[[int], Sequence[str]] | None
    ) -> Iterator[TextDocument]:
        for position in positions:
            message = self._log.messages[position]
            content = terms(message.content) if held is None else held(position)
            found = [*content, *self._terms_beside(message)]
            self._terms.append(found)
            self._measure(position, len(found))
            yield text_document(message, found, content)

    def _measure(self, position: int, length: int) -> None:
        """Count a message's terms into its own window, its forerunners' windows and its session."""
        self._total += length
        self._window_length.append(length)
        for before in self._log.around(position, self._params.units.reach)[:-1]:
            self._window_length[before] += length
            self._window_length[position] += self._terms.length(before)
        session = self._log.session[position]
        if session == len(self._session_length):
            self._session_length.append(0)
        self._session_length[session] += length

    def _terms_beside(self, message: Message) -> Iterator[str]:
        """Yield the terms of what a message is ranked by besides its content; no term reaches across these."""
        index = self._params.index
        if self._captions:
            yield from terms(caption(message))
        if index.speaker:
            yield from _repeated(message.sender_name)
        if index.date:
            yield from _repeated(date_words(message.timestamp, chinese=has_han(message.content)))

    def rank(
        self,
        question: str,
        history: Sequence[str],
        tenant: str | None,
        near: Mapping[str, float] | None = None,
        also: Sequence[int] = (),
    ) -> list[tuple[int, float]]:
        """Return positions and scores of the turns that share a term with the question or stand beside one that does.

        Args:
            question: any text.
            history: earlier turns of the dialogue.
            tenant: only this tenant's messages; None for everybody's.
            near: further terms with their weights, for words that mean what the question's do.
            also: positions that are scored beside those that the engine proposes, where they hold a term of the question.
        """
        self.forget_what_was_not_given()
        weights = {**(near or {}), **self._weigh(question, history)}
        proposed = self._store.search(weights.items(), tenant, self._params.candidates)
        hits = [self._log.position[id] for id, _ in proposed]
        importance = self._importance(weights)
        known = set(hits)
        hits += [p for p in also if p not in known and any(term in importance for term in self._terms[p])]
        return self._score(hits, importance)

    def forget_what_was_not_given(self) -> None:
        """Empty an index that is ahead of the log it was reopened for: what was not handed over yet must not be found."""
        if len(self._store) > len(self._log):
            self._store.clear()
            messages = self._log.messages
            self._store.load(
                text_document(messages[p], self._terms.words(p), terms(messages[p].content))
                for p in range(len(self._terms))
            )
            self._store.commit()

    def _weigh(self, question: str, history: Sequence[str]) -> dict[str, float]:
        weights = {t: self._params.history for turn in history for t in terms(turn)} if self._params.history else {}
        weights.update(dict.fromkeys(terms(question), 1.0))
        return weights

    def _importance(self, weights: Mapping[str, float]) -> dict[int, float]:
        """Return each known term's weight times its inverse document frequency over turns."""
        total = len(self._log)
        important: dict[int, float] = {}
        for term, weight in weights.items():
            number = self._terms.number.get(term)
            if number is not None:
                df = self._terms.texts_with(number)  # the engine's count, without asking a server term by term
                important[number] = weight * math.log(1 + (total - df + 0.5) / (df + 0.5))
        return important

    def _score(self, hits: Sequence[int], importance: Mapping[int, float]) -> list[tuple[int, float]]:
        if not hits:
            return []
        units, log = self._params.units, self._log
        counts = self._count(hits, importance)
        idf = np.array(list(importance.values()))
        mean = max(self._total / len(log), 1.0)
        owners, near = self._windows(hits)
        positions, places = np.unique(near, return_inverse=True)

        scores = np.zeros(len(positions))
        if units.turn:
            lengths = np.array([self._terms.length(hit) for hit in hits]) / mean
            scores[np.searchsorted(positions, hits)] += units.turn * self._bm25(counts, lengths, idf)
        if units.window:
            merged = np.zeros((len(positions), len(idf)))
            np.add.at(merged, places, counts[owners])
            lengths = np.array([self._window_length[p] for p in positions]) / (mean * (2 * units.reach + 1))
            scores += units.window * self._bm25(merged, lengths, idf)
        if units.session:
            sessions, member = np.unique([log.session[hit] for hit in hits], return_inverse=True)
            merged = np.zeros((len(sessions), len(idf)))
            np.add.at(merged, member, counts)
            lengths = np.array([self._session_length[s] for s in sessions]) * len(self._session_length) / self._total
            by_session = units.session * self._bm25(merged, lengths, idf)
            scores += by_session[np.searchsorted(sessions, [log.session[p] for p in positions])]
        best = np.argsort(-scores, kind="stable")
        return [(int(positions[n]), float(scores[n])) for n in best]

    def _count(self, hits: Sequence[int], importance: Mapping[int, float]) -> Matrix:
        """Return how often each term of the question stands in each hit; shape (hits, terms)."""
        columns = {term: column for column, term in enumerate(importance)}
        counts = np.zeros((len(hits), len(columns)))
        for row, hit in enumerate(hits):
            for term in self._terms[hit]:
                if term in columns:
                    counts[row, columns[term]] += 1
        return counts

    def _windows(self, hits: Sequence[int]) -> tuple[list[int], list[int]]:
        """Return, side by side, rows of hits and the positions whose windows hold them."""
        reach = self._params.units.reach if self._params.units.window else 0
        owners: list[int] = []
        near: list[int] = []
        for row, hit in enumerate(hits):
            around = self._log.around(hit, reach)
            near += around
            owners += [row] * len(around)
        return owners, near

    def _bm25(self, counts: Matrix, relative_lengths: Matrix, idf: Matrix) -> Matrix:
        """Score texts of which ``counts`` (texts × terms) and lengths relative to the mean are known."""
        k1, b = self._params.k1, self._params.b
        damping = k1 * (1 - b + b * relative_lengths)
        scores: Matrix = (counts * (k1 + 1) / np.maximum(counts + damping[:, None], 1e-9)) @ idf
        return scores

    def close(self) -> None:
        """Let go of the index."""
        self._store.close()


def index_settings(params: LexicalParams, *, captions: bool) -> dict[str, Any]:
    """Return what decides which terms a message gets, as an index's settings."""
    return {"analyzer": ANALYZER_VERSION, "captions": captions, **params.index.model_dump()}


def text_document(message: Message, ranked: Sequence[str], held: Sequence[str]) -> TextDocument:
    """Return a message as an index keeps it.

    Args:
        message: the message.
        ranked: terms by which it is ranked.
        held: terms of its content, which filters are about.
    """
    return TextDocument(
        message.id,
        message.tenant_id,
        ranked,
        held,
        message.sender,
        message.recipient,
        message.conversation_id,
        message.session_id,
        message.timestamp,
    )


@lru_cache(maxsize=65_536)
def _repeated(text: str) -> tuple[str, ...]:
    """Return the terms of a name or a date, which many messages share."""
    return tuple(terms(text))
