"""Settings of the tags."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from memtrial.systems.baselines.parts import Part


class TagParams(Part):
    """Light tags that messages get when they are taken in; both are off, as neither helped (docs/plan.md).

    A plan's ``topic`` and ``cue`` go by them: what has the tag comes first, and where too little has it, the tag gives way.

    Attributes:
        topics: ``clusters`` groups the sessions of a tenant by their words; a plan's topic means the groups nearest to it.
        sentiment: ``lexicon`` tells by words whether a message is pleased or displeased; a plan's cue (complained, praised, …)
            means messages of that mood.
        sessions: sessions that make one topic, on average.
        nearest: groups that a plan's topic means.
        least: candidates that must have a tag; below it the tag gives way.
    """

    topics: Literal["off", "clusters"] = "off"
    sentiment: Literal["off", "lexicon"] = "off"
    sessions: int = Field(default=8, ge=1, le=1_000)
    nearest: int = Field(default=3, ge=1, le=100)
    least: int = Field(default=20, ge=1, le=1_000)
