"""Rolling summaries: what is left of messages once they have scrolled away, by sentences or by a language model."""

from memtrial.systems.models.summariser.choice import Summariser, Summary, make_summariser
from memtrial.systems.models.summariser.params import AnySummariserParams, ExtractiveParams, ModelSummariserParams

__all__ = [
    "AnySummariserParams",
    "ExtractiveParams",
    "ModelSummariserParams",
    "Summariser",
    "Summary",
    "make_summariser",
]
