"""Which messages of a log a plan's filters admit: all of them, not only those that a search proposed."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import islice

from memtrial.systems.baselines.log import Log
from memtrial.systems.raw_log.plan import Filters, LogView
from memtrial.systems.raw_log.plan.boolean import leaves


class Admission:
    """Looks for the messages of one tenant that filters admit.

    Args:
        log: the log; a tenant's messages stand in it in time order.
        view: of the tenant.
        tenant: whose messages.

    Attributes:
        filters: those that :meth:`admits` goes by.
    """

    def __init__(self, log: Log, view: LogView, tenant: str) -> None:
        """Bind it to a tenant."""
        self._log, self._view = log, view
        self._own = log.of(tenant)
        self.filters = Filters()

    def newest(self, filters: Filters, most: int) -> list[int]:
        """Return positions of at most ``most`` messages that are admitted, newest first."""
        return list(islice(self._found(filters), most))

    def admits(self, position: int) -> bool:
        """Whether a message of the tenant is admitted by ``filters``."""
        return self._met(self.filters, position)

    def _met(self, filters: Filters, position: int) -> bool:
        return filters.admits(self._log.messages[position], self._view.terms_at(position))

    def _found(self, filters: Filters) -> Iterator[int]:
        for position in self._possible(filters):
            if self._met(filters, position):
                yield position

    def _possible(self, filters: Filters) -> Iterator[int]:
        """Yield positions that may be admitted, newest first, from whatever leaves the fewest to look at."""
        spans = [(self._place(d.start), self._place(d.end)) for d in filters.dates] or [(0, len(self._own))]
        within = sum(max(end - start, 0) for start, end in spans)
        rare = self._holding(filters, within)
        if rare is not None:
            yield from rare
            return
        last = len(self._own)
        for start, end in sorted(spans, key=lambda span: -span[1]):
            yield from (self._own[n] for n in range(min(end, last) - 1, start - 1, -1))
            last = min(last, start)  # what two ranges share is seen once

    def _place(self, when: datetime) -> int:
        return bisect_left(self._own, when, key=lambda position: self._log.messages[position].timestamp)

    def _holding(self, filters: Filters, less_than: int) -> Sequence[int] | None:
        """Return the messages that hold a word of the keywords, if they are fewer than ``less_than``."""
        if not filters.keywords:
            return None
        words = {term for k in filters.keywords for leaf in leaves(k.tree) for term in leaf.terms}
        if sum(self._view.frequency(word) for word in words) >= less_than:
            return None
        return sorted({p for word in words for p in self._view.postings(word, less_than)}, reverse=True)
