"""What the planner needs to know of the log, and a view in memory that gives it.

A system with a full-text engine of its own can give the same from there; :class:`LogIndex` keeps it in memory, terms as
numbers: with all else that ``raw_log`` keeps, some 400 bytes for a short message (docs/search.md).
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from memtrial.systems.baselines.log import Log
from memtrial.systems.baselines.termlists import TermLists
from memtrial.systems.models.analyze import terms


@dataclass(frozen=True, slots=True)
class Participant:
    """Somebody who wrote in the log or was written to.

    Attributes:
        id: as in ``Message.sender`` and ``Query.asker``.
        name: display name; may equal the id.
        aliases: other names, where known.
    """

    id: str
    name: str
    aliases: tuple[str, ...] = ()


class LogView(Protocol):
    """The log as one question may see it: messages of one tenant (of all for None), none later than the question."""

    def participants(self) -> Sequence[Participant]:
        """Everybody who wrote or was written to."""
        ...

    def size(self) -> int:
        """How many messages there are."""
        ...

    def frequency(self, term: str) -> int:
        """How many messages hold an index term."""
        ...

    def postings(self, term: str, limit: int) -> Sequence[int]:
        """Positions of messages that hold a term, at most ``limit``."""
        ...

    def terms_at(self, position: int) -> Sequence[str]:
        """The index terms of a message."""
        ...

    def words_from(self, prefix: str, limit: int) -> Sequence[str]:
        """Index terms that begin with a prefix, at most ``limit``."""
        ...


class LogIndex:
    """Terms and participants of a log, by tenant, in memory."""

    def __init__(self, log: Log) -> None:
        """Start with what the log holds; :meth:`add` takes in what comes later."""
        self._log = log
        self._terms = TermLists()
        self._tenants: dict[str, _Tenant] = {}
        self._all: _Tenant | None = None  # made when somebody asks for it
        self.add(range(len(log)))

    def add(self, positions: Iterable[int]) -> None:
        """Take in messages by position, in order."""
        for position in positions:
            message = self._log.messages[position]
            self._terms.append(terms(message.content))
            self._enter(self._tenants.setdefault(message.tenant_id, _Tenant()), position)
            if self._all is not None:
                self._enter(self._all, position)

    def _enter(self, tenant: _Tenant, position: int) -> None:
        message = self._log.messages[position]
        names = {
            message.sender: message.sender_name,
            message.recipient: str(message.extra.get("recipient_name") or message.recipient),
        }
        tenant.add(position, self._terms[position], names)

    def terms_at(self, position: int) -> Sequence[str]:
        """Return the index terms of a message's content."""
        return self._terms.words(position)

    def view(self, tenant: str | None) -> LogView:
        """Return what one tenant's question may see; everybody's log for None."""
        if tenant is not None:
            return _View(self._terms, self._tenants.get(tenant, _Tenant()))
        if self._all is None:
            self._all = _Tenant()
            for position in range(len(self._terms)):
                self._enter(self._all, position)
        return _View(self._terms, self._all)


class _Tenant:
    """Postings and names of one tenant; terms by their numbers."""

    def __init__(self) -> None:
        self.count = 0
        self.postings: dict[int, array[int]] = {}
        self.names: dict[str, list[str]] = {}
        self._sorted: list[str] = []

    def add(self, position: int, found: Iterable[int], names: dict[str, str]) -> None:
        self.count += 1
        for term in dict.fromkeys(found):
            held = self.postings.get(term)
            if held is None:
                held = self.postings[term] = array("I")
            held.append(position)
        for id, name in names.items():
            if id:
                known = self.names.setdefault(id, [])
                if name not in known:
                    known.append(name)

    def words(self, named: Callable[[int], str]) -> list[str]:
        """Return the terms in alphabetical order."""
        if len(self._sorted) < len(self.postings):
            self._sorted = sorted(map(named, self.postings))
        return self._sorted


class _View:
    def __init__(self, lists: TermLists, tenant: _Tenant) -> None:
        self._terms = lists
        self._tenant = tenant

    def participants(self) -> Sequence[Participant]:
        return [Participant(id, names[0], tuple(names[1:])) for id, names in self._tenant.names.items()]

    def size(self) -> int:
        return self._tenant.count

    def frequency(self, term: str) -> int:
        return len(self._held(term))

    def postings(self, term: str, limit: int) -> Sequence[int]:
        return self._held(term)[-limit:]

    def _held(self, term: str) -> Sequence[int]:
        number = self._terms.number.get(term)
        return () if number is None else self._tenant.postings.get(number, ())

    def terms_at(self, position: int) -> Sequence[str]:
        return self._terms.words(position)

    def words_from(self, prefix: str, limit: int) -> Sequence[str]:
        words = self._tenant.words(self._terms.word)
        start = bisect_left(words, prefix)
        found: list[str] = []
        for word in words[start : start + limit]:
            if not word.startswith(prefix):
                break
            found.append(word)
        return found
