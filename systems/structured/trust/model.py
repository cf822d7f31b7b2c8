"""From five dimensions to one number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from memtrial.systems.structured.node import Node
from memtrial.systems.structured.trust.binding import binding
from memtrial.systems.structured.trust.consistency import Wants, consistency
from memtrial.systems.structured.trust.params import TrustParams
from memtrial.systems.structured.trust.recency import recency
from memtrial.systems.structured.trust.voices import Voices

_DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class Trust:
    """How far a memory is to be believed.

    Attributes:
        score: in [0, 1].
        by_dimension: ``authority``, ``recency``, ``binding``, ``state``, ``voices``, each in [0, 1]; one that could not be
            judged (a question that names nothing) is missing and does not count.
    """

    score: float
    by_dimension: Mapping[str, float]

    def told(self) -> dict[str, float]:
        """Return score and dimensions rounded, for a trace."""
        return {"score": round(self.score, 3), **{name: round(value, 3) for name, value in self.by_dimension.items()}}


@dataclass(frozen=True, slots=True)
class TrustContext:
    """What the question brings to the weighing.

    Attributes:
        now: the time it is about: when it is asked, or the past time that it names.
        anchors: keys of the entities it means, with how firmly (see :func:`bind`).
        wants: what holds now, how a matter stands, or how it was.
        last: it asks for what was last, so that old facts fade to nothing.
        superseded: ids of nodes of which newer versions are known.
        voices: what the candidates say together.
    """

    now: datetime
    anchors: Mapping[str, float] = field(default_factory=dict)
    wants: Wants = "current"
    last: bool = False
    superseded: frozenset[str] = frozenset()
    voices: Voices = field(default_factory=Voices)


@dataclass(frozen=True, slots=True)
class Weighed:
    """A candidate on its way to the reader.

    Attributes:
        node: the memory.
        score: how well it fits the question.
        trust: how far it is to be believed; None where trust is switched off.
    """

    node: Node
    score: float
    trust: Trust | None = None


class TrustModel:
    """Weighs memories.

    Args:
        params: settings.
    """

    def __init__(self, params: TrustParams) -> None:
        """Keep the settings."""
        self.params = params

    def score(self, node: Node, context: TrustContext) -> Trust:
        """Weigh one memory: the mean of its dimensions by their weights.

        The dimensions and "evidence chain completeness" are the seed design's; a mean (rather than its sum with
        weights of 1 together) keeps the scale where a dimension is left out.
        """
        p, fact = self.params, node.fact
        found: dict[str, float | None] = {
            "authority": p.sources.authority(fact),
            "recency": self._recency(node, context),
            "binding": binding(fact, context.anchors, p.binding),
            "state": consistency(fact, context.wants, context.now, p.state, superseded=node.id in context.superseded),
            "voices": context.voices.company(fact, p.voices),
        }
        weights: dict[str, float] = p.weights.model_dump()
        judged = {name: value for name, value in found.items() if value is not None and weights[name] > 0}
        total = sum(weights[name] for name in judged)
        if fact.state == "injected" or not total:  # an order to the reader is no evidence, whoever sent it
            return Trust(0.0, judged)
        score = sum(weights[name] * value for name, value in judged.items()) / total
        return Trust(min(1.0, score), judged)

    def weigh(self, candidates: Sequence[Weighed], context: TrustContext) -> list[Weighed]:
        """Weigh the candidates of one question together, so that they can confirm each other; their order stays.

        A version that was replaced speaks for its time alone and neither confirms nor contradicts.
        """
        if not self.params.enabled:
            return list(candidates)
        context = replace(context, voices=Voices(c.node for c in candidates if c.node.id not in context.superseded))
        return [replace(c, trust=self.score(c.node, context)) for c in candidates]

    def _recency(self, node: Node, context: TrustContext) -> float | None:
        p = self.params
        if p.decay == "off" or (p.decay_when == "asked" and not context.last):
            return None
        age = (context.now - node.fact.recorded_at).total_seconds() / _DAY
        return recency(age, p.rule(node.fact.fact_type), p.decay, floor=not context.last)


def by_trust(weighed: Sequence[Weighed], share: float) -> list[Weighed]:
    """Order candidates by fit and trust together, best first; ties keep their order.

    The new score is (1 - share) × fit + share × trust, the fit as a share of the best fit; in [0, 1].

    Args:
        weighed: candidates with scores of at least 0; one without trust counts as fully trusted.
        share: of trust in the score, in [0, 1].
    """
    best = max((w.score for w in weighed), default=0.0)
    joined = [
        replace(
            w,
            score=(1 - share) * (max(0.0, w.score) / best if best > 0 else 0.0)
            + share * (w.trust.score if w.trust else 1.0),
        )
        for w in weighed
    ]
    return sorted(joined, key=lambda w: -w.score)


def told(weighed: Sequence[Weighed]) -> dict[str, Any]:
    """Return the trust of candidates by node id, for ``trace.facts["trust"]``."""
    return {w.node.id: w.trust.told() for w in weighed if w.trust is not None}
