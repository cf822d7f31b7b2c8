"""The agent's tools, over the same search as the pipeline's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime

from memtrial.systems.base import Evidence, Query, Trace
from memtrial.systems.baselines.log import Log
from memtrial.systems.raw_log.agent.shown import ToolError
from memtrial.systems.raw_log.plan import Plan
from memtrial.systems.raw_log.search import Searcher


class Tools:
    """Looks into the log of the query's tenant, up to the query's time.

    Args:
        log: the log.
        searcher: over it.
        evidence: wraps a position with a score.
    """

    def __init__(self, log: Log, searcher: Searcher, evidence: Callable[[int, float], Evidence]) -> None:
        """Bind the tools."""
        self._log, self._searcher, self._evidence = log, searcher, evidence

    async def search(
        self,
        query: Query,
        trace: Trace,
        text: str,
        *,
        start: datetime | None,
        end: datetime | None,
        person: str,
        limit: int,
    ) -> Sequence[Evidence]:
        """Return the messages that fit a text, best first; of a time and a person where given."""
        hits = self._searcher.search(replace(query, text=text, history=()), Plan(), trace)
        people = self._who(query.tenant_id, person) if person else None
        allowed = set(self._searcher.within(query.tenant_id, start, end, query.asked_at, None))
        if people is not None:
            allowed &= {p for p in allowed if self._is_of(p, people, person)}
        return [self._evidence(p, score) for p, score in hits if p in allowed][:limit]

    async def open_session(self, query: Query, trace: Trace, message_id: str) -> Sequence[Evidence]:
        """Return all messages of a message's session, in time order."""
        session = self._log.session[self._place(query, message_id)]
        here = self._searcher.within(query.tenant_id, None, None, query.asked_at, None)
        return [self._evidence(p, 0.0) for p in here if self._log.session[p] == session]

    async def around(self, query: Query, trace: Trace, message_id: str, reach: int) -> Sequence[Evidence]:
        """Return a message with up to ``reach`` neighbours on either side, in time order."""
        near = self._log.around(self._place(query, message_id), reach)
        return [self._evidence(p, 0.0) for p in near if self._log.messages[p].timestamp <= query.asked_at]

    async def by_time(
        self, query: Query, trace: Trace, start: datetime | None, end: datetime | None, limit: int
    ) -> Sequence[Evidence]:
        """Return messages within [start, end), in time order."""
        found = self._searcher.within(query.tenant_id, start, end, query.asked_at, None)
        return [self._evidence(p, 0.0) for p in found[:limit]]

    async def by_person(self, query: Query, trace: Trace, name: str, limit: int) -> Sequence[Evidence]:
        """Return the newest messages that a person wrote, in time order."""
        found = self._searcher.within(query.tenant_id, None, None, query.asked_at, self._who(query.tenant_id, name))
        return [self._evidence(p, 0.0) for p in found[-limit:]]

    def _place(self, query: Query, message_id: str) -> int:
        position = self._log.position.get(message_id)
        if position is None or self._log.messages[position].tenant_id != query.tenant_id:
            raise ToolError(f"there is no message {message_id!r}")
        return position

    def _who(self, tenant: str, name: str) -> frozenset[str]:
        folded = name.strip().casefold()
        people = self._searcher.view(tenant).participants()
        exact = [
            p.id for p in people if folded in {p.id.casefold(), p.name.casefold(), *(a.casefold() for a in p.aliases)}
        ]
        part = [p.id for p in people if folded and folded in p.name.casefold()]
        found = exact or part
        if not found:
            raise ToolError(f"nobody here is called {name!r}; there are {', '.join(p.name for p in people[:20])}")
        return frozenset(found)

    def _is_of(self, position: int, people: frozenset[str], name: str) -> bool:
        message = self._log.messages[position]
        return message.sender in people or message.recipient in people or name.casefold() in message.content.casefold()
