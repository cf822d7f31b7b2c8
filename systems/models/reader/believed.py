"""The reading rule for memories that carry a trust: prefer those above 0.85, doubt those below 0.7.

The rule and its bounds are the seed design's, which puts them into the model's instructions. For the extractive reader
they are features with weights by reasoning: preferring weighs as much as an authoritative source, doubting as much as
that the speaker took it back, so that together they outweigh being the older statement. Fitted weights know nothing of them, as the contexts they were fitted on carry no trust.
"""

from __future__ import annotations

from collections.abc import Mapping

PREFER_ABOVE = 0.85
DOUBT_BELOW = 0.7
WEIGHTS: Mapping[str, float] = {"preferred": 0.8, "doubted": -2.0}
# What rests on doubtful memories alone should rather be left unsaid; to prefer one says nothing about its answer.
CONFIDENCE: Mapping[str, float] = {"doubted": -0.7}


def trust_features(trust: float | None) -> dict[str, float]:
    """Return what the rule says of an item; nothing at all of one without a trust, so that it reads as ever."""
    if trust is None:
        return {}
    return {"preferred": float(trust > PREFER_ABOVE), "doubted": float(trust < DOUBT_BELOW)}
