"""Every switch of raw-log search, by a dotted path."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field, model_validator

from memtrial.systems.baselines.lexical import LexicalParams
from memtrial.systems.baselines.parts import Part
from memtrial.systems.models.reader import AnyReaderParams, ReaderParams
from memtrial.systems.raw_log.agent.params import AgentParams
from memtrial.systems.raw_log.plan import AnyPlanParams, PlanParams
from memtrial.systems.raw_log.rerank.params import AnyRerankParams, LexicalRerankParams
from memtrial.systems.raw_log.signals import MeaningParams, SignalParams
from memtrial.systems.raw_log.tags import TagParams
from memtrial.systems.structured.cache import CacheParams


class IndexParams(Part):
    """Which engine searches the words and applies the plan's filters; both find the same (docs/search.md).

    Attributes:
        backend: ``tantivy`` on disk, within the process; ``elasticsearch`` on the server at ELASTICSEARCH_URL, with the key in
            ELASTICSEARCH_API_KEY if it wants one, by the extra of that name.
    """

    backend: Literal["tantivy", "elasticsearch"] = "tantivy"


class TierParams(Part):
    """How many turns each tier leaves over: tens of thousands, hundreds, tens.

    Attributes:
        meaning: vectors take part; off where a log is too large to embed.
        pool: turns that are reranked; the rest keep their order behind them.
        least: messages that the plan's filters must leave; below it they are relaxed in order.
        admitted: where the filters admit no more messages than this, all of these are candidates: a day has few, and what
            the whole log has best is mostly of other days.
    """

    meaning: bool = True
    pool: int = Field(default=50, ge=0, le=1_000)
    least: int = Field(default=1, ge=1, le=1_000)
    admitted: int = Field(default=2_000, ge=1, le=100_000)


class ShownParams(Part):
    """What the reader sees.

    Attributes:
        items: hits shown.
        neighbours: turns on either side of a hit that come along, in time order.
        max_item_tokens: longest turn; of a longer one the beginning is shown.
        max_tokens: all turns together; those of the lowest rank are left out first.
        least_score: a best hit that the reranker scores lower (0 to 10) is thin evidence: the system abstains.
    """

    items: int = Field(default=8, ge=1, le=1_000)
    neighbours: int = Field(default=0, ge=0, le=20)
    max_item_tokens: int = Field(default=400, ge=10)
    max_tokens: int = Field(default=4_000, ge=10)
    least_score: float = Field(default=0.0, ge=0, le=10)


class CachesParams(CacheParams):
    """Caches of plans, candidates and answers; a hit needs the same tenant, asker, moment, words and version of the log."""

    plans: bool = True
    candidates: bool = True
    answers: bool = True


class RawLogParams(Part):
    """Parameters of ``raw_log``.

    Attributes:
        mode: ``pipeline`` plans, searches, reranks and reads; with ``agent`` a model holds the tools itself.
        agent: the model of that mode, which does alone what planner, reranker and reader do: those are not asked then.
        planning: make a plan; without one nobody is named and no filter holds.
        index: the engine of the full text.
        k: length of the ranking.
        captions: texts derived from pictures count as part of a message.
    """

    mode: Literal["pipeline", "agent"] = "pipeline"
    agent: AgentParams | None = None
    planning: bool = True
    planner: AnyPlanParams = Field(default_factory=PlanParams)
    index: IndexParams = Field(default_factory=IndexParams)
    words: LexicalParams = Field(default_factory=LexicalParams)
    meaning: MeaningParams = Field(default_factory=MeaningParams)
    signals: SignalParams = Field(default_factory=SignalParams)
    tags: TagParams = Field(default_factory=TagParams)
    tiers: TierParams = Field(default_factory=TierParams)
    rerank: AnyRerankParams = Field(default_factory=LexicalRerankParams)
    shown: ShownParams = Field(default_factory=ShownParams)
    cache: CachesParams = Field(default_factory=CachesParams)
    k: int = Field(default=50, ge=1, le=10_000)
    captions: bool = True
    reader: AnyReaderParams = Field(default_factory=ReaderParams)

    @model_validator(mode="before")
    @classmethod
    def _with_its_agent(cls, value: Any) -> Any:
        """Name the agent wherever one is asked: what a run costs, records and replays goes by the models that are named."""
        if isinstance(value, Mapping) and value.get("mode") == "agent" and value.get("agent") is None:
            return {**value, "agent": {}}
        return value
