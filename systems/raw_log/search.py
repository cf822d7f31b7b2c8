"""Search in a log: full text and vectors propose, the plan filters and steers, signals are added up."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path

from memtrial.systems.base import Context, Query, Trace
from memtrial.systems.baselines.lexical import LexicalRanker, index_settings
from memtrial.systems.baselines.log import Log
from memtrial.systems.models.analyze import terms
from memtrial.systems.raw_log.admitted import Admission
from memtrial.systems.raw_log.indexed import open_index
from memtrial.systems.raw_log.params import RawLogParams
from memtrial.systems.raw_log.plan import Cue, DateRange, Keyword, LogIndex, LogView, Person, Plan, relax
from memtrial.systems.raw_log.plan.boolean import leaves
from memtrial.systems.raw_log.signals import Meaning, cue_scores, fuse
from memtrial.systems.raw_log.tags.tagger import Tagger

Hits = list[tuple[int, float]]


class Searcher:
    """Ranks the turns of a log.

    Args:
        params: settings.
        log: the log.
        folder: for the indexes.
        context: of the system.
    """

    def __init__(self, params: RawLogParams, log: Log, folder: Path, context: Context) -> None:
        """Open the indexes of a folder, or make them."""
        self._params, self._log = params, log
        self._terms = LogIndex(log)
        self._tagger = Tagger(params.tags, log, self._terms, context.seed)
        words = folder / "words"
        self._index = open_index(params.index, words, index_settings(params.words, captions=params.captions))
        self._words = LexicalRanker(params.words, log, words, captions=params.captions, store=self._index)
        self._meaning: Meaning | None = None
        if params.tiers.meaning:
            self._meaning = Meaning(params.meaning, log, folder / "meaning", context, captions=params.captions)

    def add(self, positions: Sequence[int], trace: Trace) -> None:
        """Index messages by their positions, which must come in order."""
        self._terms.add(positions)
        self._tagger.add(positions)
        self._words.add(positions, self._terms.terms_at)
        if self._meaning is not None:
            self._meaning.add(positions, trace)

    def view(self, tenant: str) -> LogView:
        """Return the tenant's log as a planner may see it."""
        return self._terms.view(tenant)

    def search(self, query: Query, plan: Plan, trace: Trace) -> Hits:
        """Return positions and scores of the tenant's turns, best first.

        Args:
            query: the question.
            plan: its instructions; the certain ones filter, the others only rank.
            trace: gets spans, tier sizes, and which filters gave way.
        """
        history = [turn.text for turn in query.history]
        with trace.span("filter"):
            admission, admitted = self._admitted(plan, query.tenant_id, trace)
        with trace.span("words"):
            near = self._near(plan, history)
            words = self._words.rank(query.text, history, query.tenant_id, near, admitted)
        meaning: Hits = []
        if self._meaning is not None:
            meaning = self._meaning.rank(query, query.tenant_id, trace)
        if admission is not None:
            words, meaning = ([hit for hit in hits if admission.admits(hit[0])] for hits in (words, meaning))
            # one that nothing proposed stands last: when or who may be all that the question says of it
            low = min((score for _, score in words), default=0.0)
            words += [(p, low) for p in sorted(set(admitted) - {p for hits in (words, meaning) for p, _ in hits})]
        with trace.span("fuse"):
            ranges = [(i.start, i.end) for i in plan.of("date_range") if isinstance(i, DateRange)]
            hits = fuse(
                self._params.signals,
                words,
                meaning,
                self._log,
                self._people(plan),
                ranges,
                self._cued(plan, query.tenant_id),
            )
            hits = self._tagger.tagged_first(hits, plan, query.tenant_id, trace)
        trace.facts["tiers"] = {"words": len(words), "meaning": len(meaning), "joined": len(hits)}
        if admission is not None:
            trace.facts["tiers"]["admitted"] = len(admitted)
        return hits

    def _near(self, plan: Plan, history: Sequence[str]) -> dict[str, float]:
        """Return the plan's near words, which its keywords hold at weights below 1; the dialogue's own are no such words."""
        share = self._params.signals.near
        said = {term for turn in history for term in terms(turn)}
        found: dict[str, float] = {}
        for one in plan.instructions:
            if not isinstance(one, Keyword) or not share:
                continue
            for leaf in leaves(one.tree):
                if leaf.weight < 1:
                    found |= {t: max(found.get(t, 0.0), share * leaf.weight) for t in leaf.terms if t not in said}
        return found

    def _cued(self, plan: Plan, tenant: str) -> Callable[[Sequence[int]], Hits] | None:
        cues = [one for one in plan.of("cue") if isinstance(one, Cue)]
        signs = [frozenset(found) for cue in cues for sign in cue.signs if (found := terms(sign))]
        view = self._terms.view(tenant)
        return (lambda positions: cue_scores(positions, signs, view.terms_at)) if signs else None

    @staticmethod
    def _people(plan: Plan) -> frozenset[str]:
        people = [i for i in plan.instructions if isinstance(i, Person) and i.role != "party"]
        return frozenset(id for person in people for id in person.ids)

    def _admitted(self, plan: Plan, tenant: str, trace: Trace) -> tuple[Admission | None, list[int]]:
        """Return the plan's filters, relaxed until enough is left, and what they admit; None where nothing filters.

        Where they admit more than ``tiers.admitted``, none of that is a candidate but for its words or meaning.
        """
        if plan.filters.empty or not self._log.of(tenant):
            return None, []
        self._words.forget_what_was_not_given()
        admission = Admission(self._log, self._terms, self._index, tenant)
        least, most = self._params.tiers.least, self._params.tiers.admitted
        admission.filters = relax(plan, lambda f: len(admission.newest(f, least)), least, trace)
        if admission.filters.empty:
            return None, []
        found = admission.newest(admission.filters, most + 1)
        return admission, found if len(found) <= most else []

    def within(
        self, tenant: str, start: datetime | None, end: datetime | None, until: datetime, sender: frozenset[str] | None
    ) -> list[int]:
        """Return the positions of a tenant's turns of a time, by somebody where given, in time order."""
        found = []
        for position in self._log.of(tenant):
            message = self._log.messages[position]
            if message.timestamp > until or (start and message.timestamp < start) or (end and message.timestamp >= end):
                continue
            if sender is None or message.sender in sender:
                found.append(position)
        return found

    def close(self) -> None:
        """Let go of the indexes."""
        self._words.close()
        if self._meaning is not None:
            self._meaning.close()


def best_of(hits: Hits, ranked: Mapping[int, float]) -> Hits:
    """Put reranked positions, best first, before the rest of the hits, whose scores are brought below theirs.

    The two are scores of different kinds; a reader that leaves out what scores lowest must not leave out the better ones.
    """
    rest = [hit for hit in hits if hit[0] not in ranked]
    lowest, highest = min(ranked.values(), default=0.0), max((score for _, score in rest), default=0.0)
    if ranked and highest > 0:
        rest = [(position, lowest * score / highest) for position, score in rest]
    return [*ranked.items(), *rest]
