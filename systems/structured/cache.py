"""Results kept for a while, under everything that may change them."""

from __future__ import annotations

import re
import unicodedata
from collections import OrderedDict
from dataclasses import dataclass
from datetime import date, datetime
from typing import Generic, TypeVar

from pydantic import Field

from memtrial.systems.base import Query, Trace
from memtrial.systems.baselines.parts import Part

T = TypeVar("T")
NAME = "results"
_BLANKS = re.compile(r"[^\S\n]+")


class CacheParams(Part):
    """The result cache.

    Attributes:
        enabled: keep any.
        seconds: time to live, on the clock of the dialogue.
        size: most results kept; the one longest unused gives way.
    """

    enabled: bool = True
    seconds: float = Field(default=300.0, gt=0)
    size: int = Field(default=1024, ge=1)


@dataclass(frozen=True, slots=True)
class CacheKey:
    """Everything that a result depends on.

    Attributes:
        tenant: whose memory.
        asker: who asks.
        text: the question, blanks evened out. Case stays: a capital makes a name.
        language: as stated.
        history: earlier turns.
        options: choices offered.
        day: of asking; "yesterday" is another day tomorrow.
        settings: fingerprint of parameters and policy.
        version: count of the tenant's writes; with any write, all that was kept before is out of date.
    """

    tenant: str
    asker: str
    text: str
    language: str
    history: tuple[tuple[str, str], ...]
    options: tuple[str, ...]
    day: date
    settings: str
    version: int

    @classmethod
    def of(cls, query: Query, *, version: int, settings: str = "") -> CacheKey:
        """Make the key of a question.

        Args:
            query: the question; its opaque id is no part of the key.
            version: count of the tenant's writes so far.
            settings: fingerprint of whatever else decides the result.
        """
        return cls(
            tenant=query.tenant_id,
            asker=query.asker,
            text=_BLANKS.sub(" ", unicodedata.normalize("NFC", query.text)).strip(),
            language=query.language,
            history=tuple((turn.speaker, turn.text) for turn in query.history),
            options=query.options,
            day=query.asked_at.date(),
            settings=settings,
            version=version,
        )


class ResultCache(Generic[T]):
    """Keeps results for a time to live.

    Time is that of the dialogue (``Query.asked_at``), not of the machine: a log that is replayed in seconds or over a
    weekend finds the same results in it as the dialogue would have.

    Args:
        params: settings.
        name: under which hits are counted.
    """

    def __init__(self, params: CacheParams, name: str = NAME) -> None:
        """Start empty."""
        self.params = params
        self.name = name
        self._kept: OrderedDict[CacheKey, tuple[datetime, T]] = OrderedDict()

    def __len__(self) -> int:
        """Return how many results are kept, expired ones that nobody asked for again among them."""
        return len(self._kept)

    def get(self, key: CacheKey, now: datetime, trace: Trace) -> T | None:
        """Return what was kept under a key, unless it is too old, or from a time after ``now``.

        Args:
            key: see :meth:`CacheKey.of`.
            now: when the question is asked.
            trace: a hit is counted in ``cache_hits``.
        """
        entry = self._kept.get(key)
        if entry is None:
            return None
        kept_at, result = entry
        age = (now - kept_at).total_seconds()
        if not 0 <= age <= self.params.seconds:
            if age > 0:
                del self._kept[key]
            return None
        self._kept.move_to_end(key)
        trace.cache_hits[self.name] = trace.cache_hits.get(self.name, 0) + 1
        return result

    def put(self, key: CacheKey, now: datetime, result: T) -> None:
        """Keep a result from ``now`` on; a hit does not prolong its life."""
        if not self.params.enabled:
            return
        self._kept[key] = (now, result)
        self._kept.move_to_end(key)
        while len(self._kept) > self.params.size:
            self._kept.popitem(last=False)
