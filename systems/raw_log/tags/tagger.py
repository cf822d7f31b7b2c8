"""Tags of a log's messages, and what a plan makes of them."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence

from memtrial.systems.base import Trace
from memtrial.systems.baselines.log import Log
from memtrial.systems.raw_log.plan import Cue, LogIndex, Plan
from memtrial.systems.raw_log.tags.params import TagParams
from memtrial.systems.raw_log.tags.sentiment import MOODS, mood_of
from memtrial.systems.raw_log.tags.topics import Topics

Hits = list[tuple[int, float]]


class Tagger:
    """Tags messages as they come in, and puts the hits first that have the tags a plan asks for.

    Args:
        params: settings.
        log: the log.
        index: the terms of its messages.
        seed: for the topics.
    """

    def __init__(self, params: TagParams, log: Log, index: LogIndex, seed: int) -> None:
        """Start empty."""
        self._params, self._log = params, log
        self._topics = Topics(log, index, params.sessions, seed) if params.topics == "clusters" else None
        self._moods: array[int] | None = array("b") if params.sentiment == "lexicon" else None

    def add(self, positions: Sequence[int]) -> None:
        """Tag messages by position, in order; the index must hold them already."""
        if self._topics is not None:
            self._topics.add(positions)
        if self._moods is not None:
            self._moods.extend(mood_of(self._log.messages[position].content) for position in positions)

    def tagged_first(self, hits: Hits, plan: Plan, tenant: str, trace: Trace) -> Hits:
        """Return the hits, those with the tags that a plan asks for before the others, each in the order they came in.

        Too few (``tags.least``) with all tags: first the mood gives way, then the topic, before any filter of the plan, and
        the trace says so. No hit is lost.
        """
        wanted = self._wanted(plan, tenant)
        asked, relaxed = len(wanted), []
        first: set[int] = set()
        while wanted:
            first = {p for p, _ in hits if all(has(p) for _, has in wanted)}
            if len(first) >= self._params.least:
                break
            relaxed.append(wanted.pop()[0])
            first = set()
        if asked:
            trace.facts["tags"] = {"asked": asked, "kept": [name for name, _ in wanted], "first": len(first)}
        if relaxed:
            told = trace.facts.setdefault("plan", {})
            told["relaxed"] = [*relaxed, *told.get("relaxed", [])]
        if not first:
            return hits
        front, back = [h for h in hits if h[0] in first], [h for h in hits if h[0] not in first]
        # Scores fall along the ranking, as a reader goes by them.
        over = max(0.0, back[0][1] - front[-1][1]) if back else 0.0
        return [*front, *((p, score - over) for p, score in back)]

    def _wanted(self, plan: Plan, tenant: str) -> list[tuple[str, Callable[[int], bool]]]:
        """Return the tags asked for, the surest first."""
        found: list[tuple[str, Callable[[int], bool]]] = []
        topics, moods = self._topics, self._moods
        words = " ".join(one.words for one in plan.of("topic"))
        if topics is not None and words:
            near = topics.near(tenant, words, self._params.nearest)
            if near:
                found.append(("topic", lambda p: topics.of(p) in near))
        cued = {MOODS[one.name] for one in plan.of("cue") if isinstance(one, Cue) and one.name in MOODS}
        if moods is not None and len(cued) == 1:
            (mood,) = cued
            found.append(("cue", lambda p: moods[p] == mood))
        return found
