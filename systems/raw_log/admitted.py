"""Which messages of a log a plan's filters admit: all of them, not only those that a search proposed."""

from __future__ import annotations

from memtrial.systems.baselines.log import Log
from memtrial.systems.raw_log.indexed import text_query
from memtrial.systems.raw_log.plan import Filters, LogIndex
from memtrial.systems.stores.textindex import TextIndex


class Admission:
    """Looks for the messages of one tenant that filters admit: the index finds them, and tells of a given one here.

    Args:
        log: the log.
        words: what its messages hold.
        index: holds the log's messages in the log's order.
        tenant: whose messages.

    Attributes:
        filters: those that :meth:`admits` goes by.
    """

    def __init__(self, log: Log, words: LogIndex, index: TextIndex, tenant: str) -> None:
        """Bind it to a tenant."""
        self._log, self._words, self._index, self._tenant = log, words, index, tenant
        self.filters = Filters()

    def newest(self, filters: Filters, most: int) -> list[int]:
        """Return positions of at most ``most`` messages that are admitted, newest first."""
        found = self._index.newest(text_query(filters, self._tenant), most)
        return [self._log.position[id] for id in found]

    def admits(self, position: int) -> bool:
        """Whether a message of the tenant is admitted by ``filters``."""
        words = self._words.terms_at(position) if self.filters.keywords else ()
        return self.filters.admits(self._log.messages[position], words)
