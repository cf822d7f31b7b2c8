"""Choose how many questions of which category, spread them over tenants, and finish them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from math import isqrt

from memtrial.datasets.schema import Corpus, Question
from memtrial.datasets.supportdesk.desk import Desk
from memtrial.datasets.supportdesk.questions.base import Draft, Place, places
from memtrial.datasets.supportdesk.questions.joined import buyers, order_counts, owners, spending, sufferers
from memtrial.datasets.supportdesk.questions.never_said import unanswerable
from memtrial.datasets.supportdesk.questions.no_memory import no_memory
from memtrial.datasets.supportdesk.questions.single import RECIPES, ask, follow_up
from memtrial.datasets.supportdesk.rng import Rng
from memtrial.datasets.supportdesk.world import Topic

MOST_QUESTIONS = 2_000

_SHARES = {
    "update": 16,
    "lookup": 11,
    "temporal": 9,
    "spec": 11,
    "policy": 10,
    "state": 13,
    "no_schema": 16,
    "list": 6,
    "aggregate": 8,
    "join": 13,
    "follow_up": 12,
    "unanswerable": 21,
}
"""Parts of the questions that need memory (the other 40 % of all are ``no_memory``)."""

_RARE: dict[str, tuple[tuple[str, str], ...]] = {
    "state": (("open", "closed"), ("status", "closed")),
    "update": (("refund", "injected"), ("visit", "retracted"), ("address", "retracted")),
    "policy": (("window", "injected"),),
    "spec": (("spec", "low_authority"), ("spec_num", "other_entity")),
    "lookup": (("reason", ""),),
}
"""Kinds of topic, and of lure where one is named, that chance may leave out of a small log: each gets part of its category."""

CATEGORIES = (*_SHARES, "no_memory")

Source = Callable[[Place], Iterator[Draft]]


def question_count(messages: int) -> int:
    """Return how many questions a desk of this size gets: 174 at 1e3, 242 at 3e3, 1,028 at 1e5, at most 2,000."""
    return min(MOST_QUESTIONS, 80 + 3 * isqrt(messages))


def assemble(desk: Desk, count: int, seed: int, split: str) -> Corpus:
    """Return the corpus of one language: its conversations and ``count`` questions (fewer where the log has no more)."""
    rng = Rng(seed, split, desk.language, "questions")
    spots = places(desk, rng)
    wanted = count - count * 2 // 5
    drafts: list[Draft] = []
    total = sum(_SHARES.values())
    given = 0
    parts = 0
    left_over: list[Iterator[Draft]] = []
    for category, share in _SHARES.items():
        parts += share
        quota = wanted * parts // total - given
        given += quota
        full = len(drafts) + quota
        for kind, lure in _RARE.get(category, ()):
            drafts += _take(_unique(_rounds(spots, _about(kind, ask, lure)), drafts), max(1, quota // 6))
        stream = _unique(_rounds(spots, _source(category)), drafts)
        drafts += _take(stream, full - len(drafts))
        left_over.append(stream)
    # Categories that a small log cannot fill give their places to those that it can.
    drafts += _take(chain.from_iterable(left_over), wanted - len(drafts))
    drafts += _take(_unique(_rounds(spots, no_memory), drafts), (count - wanted) * len(drafts) // wanted)
    drafts.sort(key=lambda draft: (draft.minute, draft.log.tenant.id))
    known = {conversation.id for conversation in desk.conversations}
    questions = [_finish(draft, f"supportdesk-{desk.language}-q{n:04d}", known) for n, draft in enumerate(drafts, 1)]
    return Corpus(f"supportdesk-{desk.language}", desk.conversations, tuple(questions))


def _finish(draft: Draft, question_id: str, known: set[str]) -> Question:
    tenant = draft.log.tenant.id
    # Staff, and customers who never wrote, ask from the desk's own feed, which every tenant has.
    conversation = draft.asker if draft.asker in known else f"{tenant}-wiki"
    return draft.build(question_id, conversation)


def _take(stream: Iterator[Draft], count: int) -> list[Draft]:
    return [draft for draft, _ in zip(stream, range(count), strict=False)] if count > 0 else []


def _unique(stream: Iterable[Draft], taken: Sequence[Draft]) -> Iterator[Draft]:
    """Drop what was asked already: the same fact of the same tenant, or the same words by the same person."""
    seen = {_key(draft) for draft in taken}
    for draft in stream:
        key = _key(draft)
        if key not in seen:
            seen.add(key)
            yield draft


def _key(draft: Draft) -> tuple[object, ...]:
    if draft.refs:
        return (draft.log.tenant.id, draft.category, draft.answers, draft.refs)
    return (draft.asker, draft.text)


def _rounds(spots: Sequence[Place], source: Source) -> Iterator[Draft]:
    """Take one question from each tenant in turn until all are dry."""
    rng = spots[0].rng
    streams = [source(place) for place in rng.shuffled(spots)]
    while streams:
        alive = []
        for stream in streams:
            draft = next(stream, None)
            if draft is not None:
                alive.append(stream)
                yield draft
        streams = alive


def _source(category: str) -> Source:
    if category == "join":
        return _alternate(owners, sufferers, buyers)
    if category == "aggregate":
        return _alternate(spending, order_counts)
    if category == "unanswerable":
        return unanswerable
    if category == "follow_up":
        return _alternate(*(_about(kind, follow_up) for kind in ("eta", "carrier", "fee")))
    kinds = [kind for kind, recipe in RECIPES.items() if recipe.category == category]
    return _alternate(*(_about(kind, ask) for kind in kinds))


def _about(kind: str, make: Callable[[Place, Topic], Draft | None], lure: str = "") -> Source:
    """Ask about topics of one kind; only those questions that carry a lure of a kind, where one is named."""

    def source(place: Place) -> Iterator[Draft]:
        topics = [topic for key, topic in place.log.topics.items() if key[0] == kind]
        for topic in place.rng.shuffled(topics):
            draft = make(place, topic)
            if draft is not None and (not lure or any(found.kind == lure for found in draft.lures)):
                yield draft

    return source


def _alternate(*sources: Source) -> Source:
    """Take from several sources in turn, beginning with a random one, so that small quotas still see all of them."""

    def source(place: Place) -> Iterator[Draft]:
        streams = place.rng.shuffled([make(place) for make in sources])
        while streams:
            alive = []
            for stream in streams:
                draft = next(stream, None)
                if draft is not None:
                    alive.append(stream)
                    yield draft
            streams = alive

    return source
