"""Settings of trust."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, field_validator

from memtrial.systems.baselines.parts import Part
from memtrial.systems.structured.node import FactType
from memtrial.systems.structured.trust.binding import BindingParams
from memtrial.systems.structured.trust.consistency import StateParams
from memtrial.systems.structured.trust.recency import RULES, Decay, DecayRule
from memtrial.systems.structured.trust.sources import Share, SourceParams
from memtrial.systems.structured.trust.voices import VoiceParams


class TrustWeights(Part):
    """Weights of the five dimensions; only their proportions matter, and 0 takes one out.

    By default a fresh, fitting, unconfirmed record of a company system is worth 0.94 and the same in a chat 0.80, a
    forum's 0.68: on either side of the reader's bounds of 0.85 and 0.7. Authority has the 0.4 to which the seed design
    raises it against contradictions.
    """

    authority: float = Field(default=0.4, ge=0)
    recency: float = Field(default=0.15, ge=0)
    binding: float = Field(default=0.2, ge=0)
    state: float = Field(default=0.15, ge=0)
    voices: float = Field(default=0.1, ge=0)


class TrustParams(Part):
    """How far memories are believed.

    Attributes:
        enabled: weigh at all.
        share: of trust in the order of what is shown; the rest is how well it fits the question (see ``by_trust``).
        weights: of the dimensions.
        decay: ``half_life`` 2^(-t/h), ``exponential`` e^(-t/τ), ``off``.
        decay_when: ``always``, or only where the question ``asked`` for what was last.
        half_lives: by type of fact; what is given here joins the built-in rules.
        sources: authority by source.
        binding: what ties to the question's entities are worth.
        state: what a state that does not fit costs.
        voices: what other sources' agreement is worth.
    """

    enabled: bool = True
    share: Share = 0.3
    weights: TrustWeights = Field(default_factory=TrustWeights)
    decay: Decay = "half_life"
    decay_when: Literal["always", "asked"] = "always"
    half_lives: dict[FactType, DecayRule] = Field(default_factory=dict)
    sources: SourceParams = Field(default_factory=SourceParams)
    binding: BindingParams = Field(default_factory=BindingParams)
    state: StateParams = Field(default_factory=StateParams)
    voices: VoiceParams = Field(default_factory=VoiceParams)

    @field_validator("weights")
    @classmethod
    def _some(cls, weights: TrustWeights) -> TrustWeights:
        if not any(weights.model_dump().values()):
            raise ValueError("at least one weight must be above 0 (trust.enabled: false switches trust off)")
        return weights

    def rule(self, fact_type: FactType) -> DecayRule:
        """Return how a type of fact fades."""
        return self.half_lives.get(fact_type) or RULES[fact_type]
