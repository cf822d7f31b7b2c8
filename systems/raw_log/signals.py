"""What speaks for a turn: its words, its meaning, who said it.

Each signal is scored over all candidates and brought to units of its own standard deviation, so that they can be
added. Weights are reasoned: words and meaning count alike, since each finds what the other misses (a name, a
paraphrase); who said it tells turns of one matter apart and decides nothing alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Self

import numpy as np
from pydantic import Field, model_validator

from memtrial.systems.base import Context, Query, Trace
from memtrial.systems.baselines.fusion import added_scores
from memtrial.systems.baselines.log import Log
from memtrial.systems.baselines.parts import Part, require_weight
from memtrial.systems.baselines.semantic import SemanticParams, SemanticRanker, TextParams

_TOP_OF_SESSION = 3


class MeaningParams(SemanticParams):
    """Parameters of ranking by meaning over three widths of text; 0 leaves one out.

    ``turn``: the turn alone; ``window``: the turn with the ``reach`` turns before it; ``session``: mean of the best
    windows of its session, at half weight as it cannot tell the session's turns apart.
    """

    turn: float = Field(default=1.0, ge=0)
    window: float = Field(default=1.0, ge=0)
    session: float = Field(default=0.5, ge=0)
    reach: int = Field(default=2, ge=1, le=10)

    @model_validator(mode="after")
    def _something_counts(self) -> Self:
        require_weight(self, "turn", "window", "session")
        return self


class SignalParams(Part):
    """How much each signal counts; 0 switches it off.

    ``speaker``: a turn was said by, or to, somebody whom the question names; ``time``: it lies in a time that the question
    speaks of; ``cue``: it holds words that show the act of speech which the question asks for ("decided", 同意); ``near``: how
    much the plan's near words count beside the question's own. The last two are off: they did not help on supportdesk's train
    split (docs/plan.md).
    """

    words: float = Field(default=1.0, ge=0)
    meaning: float = Field(default=1.0, ge=0)
    speaker: float = Field(default=0.5, ge=0)
    time: float = Field(default=0.25, ge=0)
    cue: float = Field(default=0.0, ge=0)
    near: float = Field(default=0.0, ge=0)

    @model_validator(mode="after")
    def _something_counts(self) -> Self:
        require_weight(self, "words", "meaning", "speaker", "time", "cue")
        return self


class Meaning:
    """Cosines of a question with turns, windows and sessions of a log.

    They are scores of one formula, so they add up as they are.
    """

    def __init__(self, params: MeaningParams, log: Log, folder: Path, context: Context, *, captions: bool) -> None:
        """Open the stores of ``folder``, or make them."""
        self._params, self._log = params, log
        base = {name: getattr(params, name) for name in SemanticParams.model_fields}
        self._widths: list[tuple[SemanticRanker, float]] = []
        if params.turn:
            turn = SemanticRanker(SemanticParams(**base), log, folder / "turn", context, captions=captions)
            self._widths.append((turn, params.turn))
        if params.window or params.session:
            wide = SemanticParams(
                **base | {"text": TextParams(**params.text.model_dump() | {"previous": params.reach})}
            )
            window = SemanticRanker(wide, log, folder / "window", context, captions=captions)
            self._widths.append((window, params.window))

    def add(self, positions: Sequence[int], trace: Trace) -> None:
        """Embed and index messages by their positions, which must come in order."""
        for ranker, _ in self._widths:
            ranker.add(positions, trace)

    def rank(self, query: Query, tenant: str | None, trace: Trace) -> list[tuple[int, float]]:
        """Return positions and scores, best first."""
        history = [turn.text for turn in query.history]
        found = [(dict(ranker.rank(query.text, history, tenant, trace)), weight) for ranker, weight in self._widths]
        if not found:
            return []
        positions = sorted({p for scores, _ in found for p in scores})
        total = np.zeros(len(positions))
        for scores, weight in found:
            lowest = min(scores.values(), default=0.0)
            total += weight * np.array([scores.get(p, lowest) for p in positions])
        if self._params.session:
            total += self._params.session * self._of_session(found[-1][0], positions)
        best = np.argsort(-total, kind="stable")
        return [(positions[n], float(total[n])) for n in best]

    def _of_session(self, scores: Mapping[int, float], positions: Sequence[int]) -> np.ndarray:
        lowest = min(scores.values(), default=0.0)
        by_session: dict[int, list[float]] = {}
        for position, score in scores.items():
            by_session.setdefault(self._log.session[position], []).append(score)
        mean = {
            session: float(np.mean(sorted((*own, *[lowest] * _TOP_OF_SESSION), reverse=True)[:_TOP_OF_SESSION]))
            for session, own in by_session.items()
        }
        return np.array([mean.get(self._log.session[p], lowest) for p in positions])

    def close(self) -> None:
        """Let go of the stores."""
        for ranker, _ in self._widths:
            ranker.close()


def speaker_scores(log: Log, positions: Sequence[int], people: frozenset[str]) -> list[tuple[int, float]]:
    """Return 1 for turns said by one of these people (ids), one half for turns said to one, else 0; for all positions."""
    scored = []
    for position in positions:
        message = log.messages[position]
        said = 1.0 if message.sender in people else 0.5 if message.recipient in people else 0.0
        scored.append((position, said))
    return scored


def time_scores(
    log: Log, positions: Sequence[int], ranges: Sequence[tuple[datetime, datetime]]
) -> list[tuple[int, float]]:
    """Return 1 for turns within one of these times, else 0; for all positions."""
    when = ((p, log.messages[p].timestamp) for p in positions)
    return [(p, float(any(start <= at < end for start, end in ranges))) for p, at in when]


def cue_scores(
    positions: Sequence[int], signs: Sequence[frozenset[str]], terms_at: Callable[[int], Sequence[str]]
) -> list[tuple[int, float]]:
    """Return 1 for turns that hold all terms of one of these signs, else 0; for all positions."""
    return [(p, float(any(sign.issubset(terms_at(p)) for sign in signs))) for p in positions]


def fuse(
    params: SignalParams,
    words: list[tuple[int, float]],
    meaning: list[tuple[int, float]],
    log: Log,
    people: frozenset[str],
    ranges: Sequence[tuple[datetime, datetime]] = (),
    cued: Callable[[Sequence[int]], list[tuple[int, float]]] | None = None,
) -> list[tuple[int, float]]:
    """Add the signals; returns positions and scores, best first. ``cued`` scores positions by the question's cues."""
    rankings = [(words, params.words), (meaning, params.meaning)]
    candidates = sorted({p for ranking, _ in rankings for p, _ in ranking})
    if people and params.speaker:
        rankings.append((speaker_scores(log, candidates, people), params.speaker))
    if ranges and params.time:
        rankings.append((time_scores(log, candidates, ranges), params.time))
    if cued is not None and params.cue:
        rankings.append((cued(candidates), params.cue))
    return added_scores([(ranking, weight) for ranking, weight in rankings if weight])


__all__ = ["Meaning", "MeaningParams", "SignalParams", "fuse"]
