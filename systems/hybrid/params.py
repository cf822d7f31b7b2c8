"""Every switch of the hybrid, by a dotted path; those of its two parts lie below ``structured`` and ``raw_log``."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from memtrial.systems.baselines.parts import Part
from memtrial.systems.raw_log.params import RawLogParams
from memtrial.systems.structured.params import StructuredParams


class RouterParams(Part):
    """Which part is asked first.

    Attributes:
        kind: ``rules`` sends what typed facts can answer to structured memory (see ``router.py``); ``structured_first`` and
            ``raw_first`` ask one part and, where it abstains, the other; ``always_structured`` and ``always_raw`` ask one
            part alone.
        silence: with ``rules``: where typed facts stand about the very thing that is asked about, but none of the attribute
            asked for, their silence says something: an answer of the log stands only at this stated confidence (one without
            any stands). 0 takes every answer. On the train split of supportdesk the keyless reader is right in 72 of 73
            answers at or above 0.9, and in 53 of 82 between 0.5 and 0.9.
    """

    kind: Literal["rules", "structured_first", "raw_first", "always_structured", "always_raw"] = "rules"
    silence: float = Field(default=0.9, ge=0, le=1)


class WriteBackParams(Part):
    """Whether, and how, what a search in the log established becomes memories.

    Attributes:
        enabled: write any. Off by default: answers then depend on the questions asked before.
        authority: of such a memory's source, ``derived``; below every source that states things itself.
        min_confidence: of the answer; one without a stated confidence is not written. On the train split of supportdesk the
            keyless reader is right in 72 of 73 answers at or above 0.9, and in 53 of 82 between 0.5 and 0.9.
        state: ``uncertain`` counts less and is no voice for anything; ``active`` stands like any other memory.
        scope: who is shown such a memory: only whoever ``asker`` asked, as "my order" is another order for somebody else, or
            everybody of the ``tenant``.
        planted: for experiments: share of what is written that gets the answer of an earlier question in place of its own.
    """

    enabled: bool = False
    authority: float = Field(default=0.4, ge=0, le=1)
    min_confidence: float = Field(default=0.9, ge=0, le=1)
    state: Literal["uncertain", "active"] = "uncertain"
    scope: Literal["asker", "tenant"] = "asker"
    planted: float = Field(default=0.0, ge=0, le=1)


class HybridParams(Part):
    """Parameters of ``hybrid``.

    Attributes:
        fallback: where the part that was asked first abstains, the other one is asked.
        structured: all parameters of ``structured``; its gates decide for both parts.
        raw_log: all parameters of the search in the raw log.
    """

    router: RouterParams = Field(default_factory=RouterParams)
    fallback: bool = True
    write_back: WriteBackParams = Field(default_factory=WriteBackParams)
    structured: StructuredParams = Field(default_factory=StructuredParams)
    raw_log: RawLogParams = Field(default_factory=RawLogParams)
