"""The extractive reader of the profile without a language model."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from memtrial.systems.base import Evidence, Query, Trace
from memtrial.systems.models.reader import verdicts
from memtrial.systems.models.reader.arithmetic import compute
from memtrial.systems.models.reader.candidates import Candidate, find_candidates
from memtrial.systems.models.reader.need import Need, understand
from memtrial.systems.models.reader.params import ReaderParams
from memtrial.systems.models.reader.passages import weigh

UNKNOWN = {"en": "I don't know.", "zh": "不知道。"}
_JOIN = {"en": ", ", "zh": "、"}
COMPUTED_CONFIDENCE = 0.95
_LIST_SHARE = 0.75
_LIST_MAX = 8


@dataclass(frozen=True, slots=True)
class Reading:
    """What the reader made of a context.

    Attributes:
        text: the answer, or a sentence that says that it is not known.
        abstained: no answer was given.
        citations: ids of the messages the answer rests on; empty when abstained.
        confidence: calibrated chance in [0, 1] that the best answer found is right.
    """

    text: str
    abstained: bool
    citations: tuple[str, ...]
    confidence: float


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
        candidates = find_candidates(need, weigh(need, context), self.params)
        weights = self._calibration["weights"]
        for candidate in candidates:
            candidate.score = sum(weights.get(name, 0.0) * value for name, value in candidate.features.items())
        candidates.sort(key=lambda c: -c.score)
        answer, chosen = compose(need, query, candidates)
        confidence = self._confidence(need, candidates, chosen) if answer else 0.0
        trace.facts["reader_confidence"] = round(confidence, 4)
        if not answer or confidence < self._threshold:
            return Reading(UNKNOWN[need.language], True, (), confidence)
        cited = tuple(dict.fromkeys(i for c in chosen for i in c.passage.shown.item.message_ids))
        return Reading(answer, False, cited, confidence)

    def _confidence(self, need: Need, candidates: Sequence[Candidate], chosen: Sequence[Candidate]) -> float:
        logistic = self._calibration["confidence"]
        evidence = confidence_features(need, candidates, chosen)
        z = logistic["bias"] + sum(logistic["weights"].get(name, 0.0) * value for name, value in evidence.items())
        return 1 / (1 + math.exp(-max(-30.0, min(30.0, z))))


def confidence_features(need: Need, candidates: Sequence[Candidate], chosen: Sequence[Candidate]) -> dict[str, float]:
    """Return what tells a right answer from a wrong one: score, lead over the next different answer, coverage."""
    best = chosen[0]
    rival = next((c.score for c in candidates if c.norm != best.norm), best.score - 1.0)
    return {
        "score": best.score,
        "lead": max(-1.0, min(1.0, best.score - rival)),
        "cover": best.passage.cover,
        "item_cover": best.passage.item_cover,
        "fit": best.features.get("fit", 0.0),
        "code_miss": best.features.get("code_miss", 0.0),
        "person_miss": best.features.get("person_miss", 0.0),
        f"kind_{need.asked.kind}": 1.0,
    }


def compose(need: Need, query: Query, candidates: Sequence[Candidate]) -> tuple[str, list[Candidate]]:
    """Word the answer and name the candidates it rests on; an empty answer means that nothing fits."""
    if not candidates:
        return "", []
    best = candidates[0]
    kind = need.asked.kind
    if kind == "boolean":
        table = verdicts.YES if verdicts.judge_boolean(need, best) else verdicts.NO
        return table[need.language], [best]
    if kind == "choice":
        options = verdicts.find_options(need.question, query.options)
        rated = verdicts.rate_options(options, candidates)
        winner = max(range(len(rated)), key=lambda i: rated[i][0], default=None)
        if winner is not None and rated[winner][1] is not None:
            letter, text = options[winner]
            supporter = rated[winner][1]
            return (f"{letter}. {text}" if letter else text), [supporter] if supporter else [best]
        return (best.say, [best]) if not options else ("", [])
    if need.asked.many:
        return _join(need, candidates)
    return best.say, [best]


def _join(need: Need, candidates: Sequence[Candidate]) -> tuple[str, list[Candidate]]:
    floor = candidates[0].score * _LIST_SHARE
    chosen: dict[str, Candidate] = {}
    for candidate in candidates:
        if candidate.score >= floor and candidate.norm not in chosen and len(chosen) < _LIST_MAX:
            chosen[candidate.norm] = candidate
    return _JOIN[need.language].join(c.say for c in chosen.values()), list(chosen.values())


@cache
def load_calibration() -> dict[str, Any]:
    """Return the committed weights, logistic calibration and threshold."""
    loaded: dict[str, Any] = json.loads((Path(__file__).parent / "calibration.json").read_text("utf-8"))
    return loaded
