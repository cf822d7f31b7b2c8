"""The extractive reader of the profile without a language model."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from memtrial.systems.base import Evidence, Query, Trace
from memtrial.systems.models.reader import believed
from memtrial.systems.models.reader.arithmetic import compute
from memtrial.systems.models.reader.candidates import Candidate, find_candidates
from memtrial.systems.models.reader.compose import Draft, compose
from memtrial.systems.models.reader.need import Need, understand
from memtrial.systems.models.reader.params import ReaderParams
from memtrial.systems.models.reader.passages import Passage, weigh

UNKNOWN = {"en": "I don't know.", "zh": "不知道。"}
COMPUTED_CONFIDENCE = 0.95
_CLOSE = 1.0


@dataclass(frozen=True, slots=True)
class Reading:
    """What the reader made of a context.

    Attributes:
        text: the answer, or a sentence that says that it is not known.
        abstained: no answer was given.
        citations: ids of the messages the answer rests on; empty when abstained.
        confidence: chance in [0, 1] that the best answer found is right; None where a model states none.
        shown: what of the context was put before a model; None where that is all of it.
    """

    text: str
    abstained: bool
    citations: tuple[str, ...]
    confidence: float | None
    shown: tuple[Evidence, ...] | None = None


class ExtractiveReader:
    """Answers by picking a span of the context: no model, no key, the same for every system.

    Args:
        params: settings; defaults where None.
    """

    def __init__(self, params: ReaderParams | None = None) -> None:
        """Load weights and calibration."""
        self.params = params or ReaderParams()
        self._calibration = load_calibration()
        threshold = self.params.abstain_below
        self._threshold = self._calibration["abstain_below"] if threshold is None else threshold

    def read(self, query: Query, context: Sequence[Evidence], trace: Trace) -> Reading:
        """Answer a question from the items shown.

        Args:
            query: the question.
            context: items shown to the reader, best first or in time order.
            trace: receives the predicted kind, the confidence and a warning where items were left unread.

        Returns:
            The reading; citations are ids of messages behind items of ``context``.
        """
        if len(context) > self.params.max_items:
            trace.warn(f"the reader read {self.params.max_items} of {len(context)} items (reader.max_items)")
            context = context[: self.params.max_items]
        need = understand(query)
        trace.facts["answer_kind"] = need.asked.kind
        computed = compute(need)
        if computed is not None:
            trace.facts["computed"] = True
            return Reading(computed, False, (), COMPUTED_CONFIDENCE)
        passages = weigh(need, context)
        candidates = score(need, passages, self.params, self._calibration["weights"])
        draft = compose(need, query.options, candidates, passages)
        confidence = self._confidence(need, candidates, draft) if draft else 0.0
        trace.facts["reader_confidence"] = round(confidence, 4)
        if draft is None or confidence < self._threshold:
            return Reading(UNKNOWN[need.language], True, (), confidence)
        cited = tuple(dict.fromkeys(i for p in draft.passages for i in p.shown.item.message_ids))
        return Reading(draft.text, False, cited, confidence)

    def _confidence(self, need: Need, candidates: Sequence[Candidate], draft: Draft) -> float:
        logistic = self._calibration["confidence"]
        evidence = confidence_features(need, candidates, draft)
        weights = {**logistic["weights"], **believed.CONFIDENCE}
        z = logistic["bias"] + sum(weights.get(name, 0.0) * value for name, value in evidence.items())
        return 1 / (1 + math.exp(-max(-30.0, min(30.0, z))))


def score(
    need: Need, passages: Sequence[Passage], params: ReaderParams, weights: Mapping[str, float]
) -> list[Candidate]:
    """Find the candidates and order them, best first, by the weighted sum of their features."""
    weights = {**weights, **believed.WEIGHTS}
    candidates = find_candidates(need, passages, params)
    for candidate in candidates:
        candidate.score = sum(weights.get(name, 0.0) * value for name, value in candidate.features.items())
    candidates.sort(key=lambda c: -c.score)
    return candidates


def confidence_features(need: Need, candidates: Sequence[Candidate], draft: Draft) -> dict[str, float]:
    """Return what tells a right answer from a wrong one: score, lead over the next different answer, coverage."""
    best = draft.best
    rival = next((c.score for c in candidates if c.norm != best.norm), best.score - 1.0)
    return {
        # where an item stands among those shown says more about the system than about the answer
        **{name: value for name, value in best.features.items() if name != "rank"},
        "score": best.score,
        "lead": max(-1.0, min(1.0, best.score - rival)),
        "rivals": math.log1p(len({c.norm for c in candidates if c.score > best.score - _CLOSE})),
        f"total_{need.language}": max(best.passage.near_cover, best.passage.link_cover),
        f"language_{need.language}": 1.0,
        f"kind_{need.asked.kind}": 1.0,
    }


@cache
def load_calibration() -> dict[str, Any]:
    """Return the committed weights, logistic calibration and threshold."""
    loaded: dict[str, Any] = json.loads((Path(__file__).parent / "calibration.json").read_text("utf-8"))
    return loaded
