"""What the planner needs to know of the log, and a view in memory that gives it.

A system with a full-text engine of its own can give the same from there; :class:`LogIndex` serves logs of up to some
hundred thousand messages, and tests.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from memtrial.systems.baselines.log import Log
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
        self._terms: list[tuple[str, ...]] = []
        self._tenants: dict[str | None, _Tenant] = {None: _Tenant()}
        self.add(range(len(log)))

    def add(self, positions: Iterable[int]) -> None:
        """Take in messages by position, in order."""
        for position in positions:
            message = self._log.messages[position]
            found = tuple(terms(message.content))
            self._terms.append(found)
            names = {
                message.sender: message.sender_name,
                message.recipient: str(message.extra.get("recipient_name") or message.recipient),
            }
            for key in (None, message.tenant_id):
                self._tenants.setdefault(key, _Tenant()).add(position, found, names)

    def view(self, tenant: str | None) -> LogView:
        """Return what one tenant's question may see."""
        return _View(self._terms, self._tenants.get(tenant, _Tenant()))


class _Tenant:
    """Postings, sorted words and names of one tenant."""

    def __init__(self) -> None:
        self.count = 0
        self.postings: dict[str, list[int]] = {}
        self.words: list[str] = []
        self.names: dict[str, list[str]] = {}

    def add(self, position: int, found: Sequence[str], names: dict[str, str]) -> None:
        self.count += 1
        for term in dict.fromkeys(found):
            if term not in self.postings:
                self.postings[term] = []
                insort(self.words, term)
            self.postings[term].append(position)
        for id, name in names.items():
            if id:
                known = self.names.setdefault(id, [])
                if name not in known:
                    known.append(name)


class _View:
    def __init__(self, terms_of: Sequence[Sequence[str]], tenant: _Tenant) -> None:
        self._terms = terms_of
        self._tenant = tenant

    def participants(self) -> Sequence[Participant]:
        return [Participant(id, names[0], tuple(names[1:])) for id, names in self._tenant.names.items()]

    def size(self) -> int:
        return self._tenant.count

    def frequency(self, term: str) -> int:
        return len(self._tenant.postings.get(term, ()))

    def postings(self, term: str, limit: int) -> Sequence[int]:
        return self._tenant.postings.get(term, [])[-limit:]

    def terms_at(self, position: int) -> Sequence[str]:
        return self._terms[position]

    def words_from(self, prefix: str, limit: int) -> Sequence[str]:
        words = self._tenant.words
        start = bisect_left(words, prefix)
        found: list[str] = []
        for word in words[start : start + limit]:
            if not word.startswith(prefix):
                break
            found.append(word)
        return found
