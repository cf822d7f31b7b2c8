"""Every switch of structured memory, by a dotted path."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from memtrial.systems.baselines.parts import Part
from memtrial.systems.models.reader import AnyReaderParams, ReaderParams
from memtrial.systems.stores.graph import GraphParams
from memtrial.systems.structured.arbiter import ArbiterParams
from memtrial.systems.structured.cache import CacheParams
from memtrial.systems.structured.extraction import AnyExtractionParams, ExtractionParams
from memtrial.systems.structured.fusion import FusionParams
from memtrial.systems.structured.gates import GateParams
from memtrial.systems.structured.injection import InjectionParams
from memtrial.systems.structured.memory import OutboxParams
from memtrial.systems.structured.policy import PolicyParams
from memtrial.systems.structured.slots import SlotParams
from memtrial.systems.structured.trust import TrustParams
from memtrial.systems.structured.vectors import VectorPartParams


class RecordsParams(Part):
    """Where memories are kept.

    Attributes:
        backend: ``sqlite`` in the system's folder, or ``postgres`` at the address in MEMTRIAL_POSTGRES_URL.
    """

    backend: Literal["sqlite", "postgres"] = "sqlite"


class RecallParams(Part):
    """How candidates are found.

    Attributes:
        per_channel: candidates that each channel proposes at most.
        versions: a memory is read as it stands (or stood): a newer version takes the place of an older one that was found.
        believed: a guess, or somebody's word on a rule, takes no such place.
        states: text that gives orders to its reader, and what was taken back, are no candidates.
        anchors: what becomes of memories about another order, product or person than the one that the question names:
            ``prefer`` the named one, ``require`` it where any memory names it, or ``off``.
        graph: neighbours of what the question names, up to ``graph.hops`` away, join the candidates.
    """

    per_channel: int = Field(default=100, ge=1, le=10_000)
    versions: bool = True
    believed: bool = True
    states: bool = True
    anchors: Literal["off", "prefer", "require"] = "require"
    graph: bool = True


class StructuredParams(Part):
    """Parameters of ``structured``; each group is a mechanism that an experiment can turn.

    Attributes:
        k: length of the ranking.
        context_items: how many memories the reader is shown at most.
    """

    k: int = Field(default=50, ge=1, le=10_000)
    context_items: int = Field(default=8, ge=1, le=1_000)
    records: RecordsParams = Field(default_factory=RecordsParams)
    outbox: OutboxParams = Field(default_factory=OutboxParams)
    extraction: AnyExtractionParams = Field(default_factory=ExtractionParams)
    gates: GateParams = Field(default_factory=GateParams)
    policy: PolicyParams = Field(default_factory=PolicyParams)
    recall: RecallParams = Field(default_factory=RecallParams)
    vectors: VectorPartParams = Field(default_factory=VectorPartParams)
    graph: GraphParams = Field(default_factory=GraphParams)
    slots: SlotParams = Field(default_factory=SlotParams)
    fusion: FusionParams = Field(default_factory=FusionParams)
    trust: TrustParams = Field(default_factory=TrustParams)
    arbiter: ArbiterParams = Field(default_factory=ArbiterParams)
    injection: InjectionParams = Field(default_factory=InjectionParams)
    cache: CacheParams = Field(default_factory=CacheParams)
    reader: AnyReaderParams = Field(default_factory=ReaderParams)
