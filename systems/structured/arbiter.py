"""Conflicts among candidates, settled by standing, source order and time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pydantic import Field

from memtrial.systems.base import Trace
from memtrial.systems.baselines.parts import Part
from memtrial.systems.models.analyze import terms
from memtrial.systems.models.reader.text import language_of
from memtrial.systems.models.reader.values import extract_values
from memtrial.systems.structured.node import Fact, FactType, State
from memtrial.systems.structured.trust import SourceParams, Weighed

# of one matter there are many of these, each true
_REPEATED: frozenset[FactType] = frozenset({"event", "complaint", "plan"})
_TYPED = frozenset({"money", "quantity", "date", "boolean"})
# "cancelled" is not among them: that an order is cancelled is a statement like any other, and may be the newest
_STANDING: dict[State, int] = {"uncertain": 1, "retracted": 2, "injected": 3}


class ArbiterParams(Part):
    """Which conflicts are settled.

    Attributes:
        enabled: settle any.
        versions: several values of one memory (equal subject, attribute and owner).
        sources: equal subject and attribute where one side is everybody's (a rule) and the other somebody's own.
        statements: plain statements of the same thing that differ in a typed value alone.
        alike: share of terms, the value left out, from which on plain statements are of the same thing.
    """

    enabled: bool = True
    versions: bool = True
    sources: bool = True
    statements: bool = True
    alike: float = Field(default=0.8, gt=0, le=1)


@dataclass(frozen=True, slots=True)
class Loser:
    """A candidate that gave way, to which other one (node id), and why."""

    candidate: Weighed
    to: str
    reason: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is left, in the order it came in, and what gave way."""

    kept: tuple[Weighed, ...]
    losers: tuple[Loser, ...] = field(default=())

    def record(self, trace: Trace) -> None:
        """Name each loser in a trace."""
        if self.losers:
            trace.facts["arbiter"] = [
                {"lost": lost.candidate.node.id, "to": lost.to, "reason": lost.reason} for lost in self.losers
            ]


class Arbiter:
    """Settles conflicts among the candidates of one question.

    Args:
        params: which.
        sources: the order of sources.
    """

    def __init__(self, params: ArbiterParams, sources: SourceParams) -> None:
        """Keep the settings."""
        self.params, self._sources = params, sources

    def settle(self, candidates: Sequence[Weighed], *, history: bool = False) -> Verdict:
        """Keep one side of each conflict.

        What was taken back or is in doubt gives way first, then the source that comes later in the order for the type
        of fact, then the older statement, then the less trusted one. A candidate gives way only to one that is kept,
        so of every conflict one side is left.

        Args:
            candidates: any order.
            history: the question asks how a matter changed, so that versions do not contradict each other.
        """
        if not self.params.enabled:
            return Verdict(tuple(candidates))
        ranked = sorted(candidates, key=self._rank)
        kept: dict[tuple[str, str], list[Weighed]] = {}
        losers: list[Loser] = []
        for candidate in ranked:
            fact = candidate.node.fact
            rivals = kept.setdefault((fact.tenant_id, fact.subject), [])
            winner = next((r for r in rivals if fact.subject and self._conflict(r.node.fact, fact, history)), None)
            if winner is None:
                rivals.append(candidate)
            else:
                losers.append(Loser(candidate, winner.node.id, self._reason(winner, candidate)))
        lost = {id(loser.candidate) for loser in losers}
        return Verdict(tuple(c for c in candidates if id(c) not in lost), tuple(losers))

    def _rank(self, candidate: Weighed) -> tuple[float, ...]:
        fact = candidate.node.fact
        trust = candidate.trust.score if candidate.trust else 0.0
        return (
            _STANDING.get(fact.state, 0),
            self._sources.tier(fact),
            -fact.recorded_at.timestamp(),
            -candidate.node.version,
            -trust,
            -candidate.score,
        )

    def _conflict(self, one: Fact, other: Fact, history: bool) -> bool:
        """Tell whether two facts of one subject cannot both hold."""
        if one.owner != other.owner and one.owner and other.owner:
            return False
        if one.attribute and other.attribute:
            wanted = (self.params.versions and not history) if one.owner == other.owner else self.params.sources
            return (
                wanted and one.attribute == other.attribute and not other.adds and not one.adds and _differ(one, other)
            )
        if one.attribute or other.attribute or history:
            return False
        return self.params.statements and self._contradict(one, other)

    def _contradict(self, one: Fact, other: Fact) -> bool:
        """Tell whether plain statements say the same of the same thing but for a typed value.

        Nothing less is safe: that Lena administers a company's wiki does not end her work for it.
        """
        if one.value_kind != other.value_kind or one.value_kind not in _TYPED or not one.value or not other.value:
            return False
        if one.fact_type != other.fact_type or one.fact_type in _REPEATED or not _differ(one, other):
            return False
        a, b = _frame(one), _frame(other)
        return bool(a | b) and len(a & b) >= self.params.alike * len(a | b)

    def _reason(self, winner: Weighed, loser: Weighed) -> str:
        won, lost = winner.node.fact, loser.node.fact
        matter = f"{won.subject} {won.attribute}".strip()
        if _STANDING.get(won.state, 0) < _STANDING.get(lost.state, 0):
            why = f"it is {lost.state}"
        elif self._sources.tier(won) < self._sources.tier(lost):
            why = f"for {won.fact_type} facts {won.source or 'no source'} stands before {lost.source or 'no source'}"
        elif won.recorded_at > lost.recorded_at:
            why = f"recorded {lost.recorded_at:%Y-%m-%d}, the other {won.recorded_at:%Y-%m-%d}"
        elif winner.node.version > loser.node.version:
            why = f"version {loser.node.version}, the other {winner.node.version}"
        else:
            why = "less trusted, or fits the question less"
        return f"{matter}: {why}"


def _differ(one: Fact, other: Fact) -> bool:
    if one.value and other.value:
        return one.value.casefold() != other.value.casefold()
    return one.text.casefold() != other.text.casefold()


def _frame(fact: Fact) -> frozenset[str]:
    """Return the terms of a statement without its typed values."""
    text = fact.text
    for value in reversed(extract_values(text, fact.recorded_at, language_of(text))):
        if value.kind != "id":  # another order's number is another matter
            text = f"{text[: value.start]} {text[value.end :]}"
    return frozenset(terms(text))
