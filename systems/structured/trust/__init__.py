"""How far a memory is to be believed: five dimensions and their weighted mean."""

from memtrial.systems.structured.trust.binding import BindingParams, bind
from memtrial.systems.structured.trust.model import Trust, TrustContext, TrustModel, Weighed, by_trust, told
from memtrial.systems.structured.trust.params import TrustParams, TrustWeights
from memtrial.systems.structured.trust.recency import DecayRule
from memtrial.systems.structured.trust.sources import SourceParams
from memtrial.systems.structured.trust.voices import Voices

__all__ = [
    "BindingParams",
    "DecayRule",
    "SourceParams",
    "Trust",
    "TrustContext",
    "TrustModel",
    "TrustParams",
    "TrustWeights",
    "Voices",
    "Weighed",
    "bind",
    "by_trust",
    "told",
]
