"""Topics without a model: the sessions of a log grouped by their words.

Spherical k-means (Dhillon & Modha 2001) over the sessions' tf-idf vectors, whose terms are hashed to a fixed number of
dimensions with a sign (Weinberger et al. 2009), so that nothing has to be learnt before it and no vector grows.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from zlib import crc32

import numpy as np

from memtrial.systems.baselines.log import Log
from memtrial.systems.models.analyze import terms
from memtrial.systems.raw_log.plan import LogIndex, LogView

DIMS = 512
_ROUNDS, _MOST_TOPICS, _MOST_FITTED = 15, 256, 4_000
# Groups are made anew when there are a quarter more sessions than they were made of, so that making them costs no more than
# a fixed multiple of what is taken in, however small the pieces.
_GROWTH = 1.25


@dataclass(slots=True)
class _Tenant:
    """Groups of one tenant's sessions.

    Attributes:
        members: positions of each session's messages.
        centres: unit vectors, shape (topics, DIMS).
        group: of each session.
        fitted: how many sessions there were when the groups were made.
    """

    members: dict[int, list[int]] = field(default_factory=dict)
    centres: np.ndarray = field(default_factory=lambda: np.zeros((0, DIMS)))
    group: dict[int, int] = field(default_factory=dict)
    fitted: int = 0


class Topics:
    """Groups the sessions of every tenant as they come in.

    Args:
        log: the log.
        index: the terms of its messages.
        sessions: how many make one group, on average.
        seed: for the first centres.
    """

    def __init__(self, log: Log, index: LogIndex, sessions: int, seed: int) -> None:
        """Start empty."""
        self._log, self._index, self._sessions, self._seed = log, index, sessions, seed
        self._tenants: dict[str, _Tenant] = {}

    def add(self, positions: Iterable[int]) -> None:
        """Take in messages by position, in order; the index must hold them already."""
        touched: dict[str, dict[int, None]] = {}
        for position in positions:
            name, session = self._log.messages[position].tenant_id, self._log.session[position]
            tenant = self._tenants.setdefault(name, _Tenant())
            tenant.members.setdefault(session, []).append(position)
            touched.setdefault(name, {})[session] = None
        for name, sessions in touched.items():
            tenant, view = self._tenants[name], self._index.view(name)
            if len(tenant.members) >= _GROWTH * tenant.fitted:
                self._fit(tenant, view)
            else:
                self._assign(tenant, view, list(sessions))

    def near(self, tenant: str, text: str, count: int) -> frozenset[int]:
        """Return the numbers of the groups nearest to a text, at most ``count``; none where no word of it is known."""
        held = self._tenants.get(tenant)
        if held is None or not len(held.centres):
            return frozenset()
        view = self._index.view(tenant)
        asked = _vector(Counter(term for term in terms(text) if view.frequency(term)), view)
        if not asked.any():
            return frozenset()
        best = np.argsort(-(held.centres @ asked), kind="stable")[:count]
        return frozenset(int(n) for n in best)

    def of(self, position: int) -> int:
        """Return the number of a message's group."""
        return self._tenants[self._log.messages[position].tenant_id].group[self._log.session[position]]

    def _fit(self, tenant: _Tenant, view: LogView) -> None:
        sessions = list(tenant.members)
        step = -(-len(sessions) // _MOST_FITTED)
        vectors = np.array([self._session(tenant, view, s) for s in sessions[::step]])
        count = min(_MOST_TOPICS, -(-len(sessions) // self._sessions))
        tenant.centres = grouped(vectors, count, self._seed)
        tenant.fitted = len(sessions)
        self._assign(tenant, view, sessions)

    def _assign(self, tenant: _Tenant, view: LogView, sessions: list[int]) -> None:
        for session in sessions:
            tenant.group[session] = int(np.argmax(tenant.centres @ self._session(tenant, view, session)))

    def _session(self, tenant: _Tenant, view: LogView, session: int) -> np.ndarray:
        return _vector(Counter(t for p in tenant.members[session] for t in self._index.terms_at(p)), view)


def grouped(vectors: np.ndarray, count: int, seed: int) -> np.ndarray:
    """Return the centres of groups.

    Args:
        vectors: unit vectors (or zeros), shape (n, dims), n > 0.
        count: of groups; no more than there are vectors.
        seed: of the first centres, which are drawn far from each other (k-means++, Arthur & Vassilvitskii 2007).

    Returns:
        Unit vectors, shape (groups, dims).
    """
    draw = np.random.default_rng(seed)
    centres = vectors[[int(draw.integers(len(vectors)))]]
    while len(centres) < min(count, len(vectors)):
        away = np.clip(1.0 - (vectors @ centres.T).max(axis=1), 0.0, None)
        if away.sum() <= 1e-9:
            break  # all the others are one of these
        centres = np.vstack([centres, vectors[int(draw.choice(len(vectors), p=away / away.sum()))]])
    for _ in range(_ROUNDS):
        group = np.argmax(vectors @ centres.T, axis=1)
        moved = np.zeros_like(centres)
        np.add.at(moved, group, vectors)
        length = np.linalg.norm(moved, axis=1, keepdims=True)
        moved = np.where(length > 1e-9, moved / np.maximum(length, 1e-9), centres)
        if np.allclose(moved, centres):
            break
        centres = moved
    return centres


def _vector(counts: Mapping[str, int], view: LogView) -> np.ndarray:
    """Return the unit tf-idf vector of some terms: (1 + ln tf) · ln(1 + N / df), each at its hashed place with its sign."""
    found = np.zeros(DIMS)
    for term, times in counts.items():
        place = crc32(term.encode("utf-8", "replace"))
        rare = math.log(1 + view.size() / max(1, view.frequency(term)))
        found[place % DIMS] += (1 if place & 0x80000000 else -1) * (1 + math.log(times)) * rare
    length = float(np.linalg.norm(found))
    return found / length if length else found
