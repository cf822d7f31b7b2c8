"""What every kind of question needs: a draft, an asking time, lures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from memtrial.datasets.schema import Lure, Question, Turn
from memtrial.datasets.supportdesk.desk import Desk
from memtrial.datasets.supportdesk.log import TenantLog
from memtrial.datasets.supportdesk.rng import Rng
from memtrial.datasets.supportdesk.text import DAY, moment
from memtrial.datasets.supportdesk.world import Fact, Person, Topic

_LOW_LIMIT = {"low_authority": 2, "injected": 2, "stale": 3}
"""No more lures of a kind than this per question: a large log has hundreds of rumours about one policy."""


@dataclass(slots=True)
class Draft:
    """A question before it has an id."""

    log: TenantLog
    asker: str
    minute: int
    text: str
    category: str
    answer_type: str
    answers: tuple[str, ...] = ()
    refs: tuple[int, ...] = ()
    lures: list[Lure] = field(default_factory=list)
    history: tuple[Turn, ...] = ()
    options: tuple[str, ...] = ()
    answerable: bool = True
    needs_memory: bool = True

    def build(self, question_id: str, conversation: str) -> Question:
        """Return the finished question."""
        log = self.log
        return Question(
            id=question_id,
            conversation_id=conversation,
            tenant_id=log.tenant.id,
            asker=self.asker,
            asked_at=moment(self.minute),
            text=self.text,
            category=self.category,
            answerable=self.answerable,
            needs_memory=self.needs_memory,
            answer_type=self.answer_type,
            answers=self.answers,
            evidence=message_ids(log, self.refs),
            cluster_id=log.tenant.id,
            lures=tuple(self.lures),
            history=self.history,
            language=log.language,
            options=self.options,
        )


@dataclass(frozen=True, slots=True)
class Place:
    """Where questions are made: a tenant's log, the neighbour that shares names with it, the end of all logs."""

    log: TenantLog
    neighbour: TenantLog | None
    end: int
    rng: Rng

    def after_end(self) -> int:
        """Return a minute within two days after the last message."""
        return self.end + 30 + self.rng.below(2 * DAY)

    def phrase(self, intent: str, **slots: object) -> str:
        """Render one variant of a question's intent, or of an assistant's earlier reply."""
        return self.rng.pick(self.log.bank.phrases[intent]).format_map(slots)

    def knows(self, customer: Person, minute: int) -> bool:
        """Say whether a customer has written before ``minute``, so that the log tells who is asking."""
        heard = self.log.heard.get(customer.id)
        return heard is not None and heard < minute

    def staff(self) -> tuple[str, str]:
        """Return id and name of somebody at the desk."""
        return self.rng.pick(self.log.tenant.staff)


def places(desk: Desk, rng: Rng) -> list[Place]:
    """Return one place per tenant."""
    logs = desk.logs
    return [Place(log, logs[i ^ 1] if i ^ 1 < len(logs) else None, desk.end, rng) for i, log in enumerate(logs)]


def message_ids(log: TenantLog, refs: Iterable[int]) -> tuple[str, ...]:
    """Return message ids in time order, each once."""
    return tuple(sorted({log.ids[ref] for ref in refs}))


def asking_time(place: Place, topic: Topic, *, fresh: bool, late: int = 65) -> int | None:
    """Choose when to ask about a topic, or None where there is no fitting moment.

    Args:
        place: where.
        topic: what about; the moment lies after one of its cuts and before the next thing said about it.
        fresh: only within three days of the cut (nobody asks half a year later when a parcel will come).
        late: percentage of questions about the newest state.
    """
    rng = place.rng
    cuts = sorted(set(topic.cuts))
    cut = cuts[-1] if rng.chance(late) else rng.pick(cuts)
    low = cut + 10
    high = place.end + 2 * DAY
    for fact in topic.facts:
        if fact.minute > cut:
            high = min(high, fact.minute)
    if topic.until is not None:
        high = min(high, topic.until)
    if fresh:
        high = min(high, low + 3 * DAY)
    if high <= low:
        return None
    if high > place.end + 60 and rng.chance(80):
        return place.after_end()
    return low + rng.below(high - low)


def own_lures(log: TenantLog, topic: Topic, gold: Fact, minute: int) -> list[Lure]:
    """Return what else was said on the topic itself up to ``minute``."""
    found: list[Lure] = []
    seen: set[tuple[str, ...]] = set()
    counts: dict[str, int] = {}
    # What a later message explicitly took back or closed is filed as that, not as merely older.
    ranked = sorted(topic.facts, key=lambda fact: (fact.status == "holds", -fact.minute))
    for fact in ranked:
        if fact is gold or fact.minute > minute:
            continue
        kind = "stale" if fact.status == "holds" else fact.status
        if fact.values in seen or counts.get(kind, 0) >= _LOW_LIMIT.get(kind, 2):
            continue
        if kind == "stale" and fact.minute >= gold.minute:
            continue
        lure = make_lure(log, kind, fact.values, fact.refs, gold.values, gold.refs)
        if lure:
            seen.add(fact.values)
            counts[kind] = counts.get(kind, 0) + 1
            found.append(lure)
    return found


def make_lure(
    log: TenantLog, kind: str, values: Sequence[str], refs: Iterable[int], gold: Sequence[str], evidence: Iterable[int]
) -> Lure | None:
    """Return a lure, or None where it would say the same as the gold answer."""
    right = {value.casefold() for value in gold}
    if right & {value.casefold() for value in values}:
        return None
    known = set(message_ids(log, evidence))
    ids = message_ids(log, refs)
    return Lure(kind, tuple(i for i in ids if i not in known) or ids, tuple(values))


def other_lures(
    place: Place, topic: Topic, gold: Sequence[str], minute: int, evidence: Iterable[int], *, valued: bool = True
) -> list[Lure]:
    """Return the same attribute of other things, people and tenants, as it stood at ``minute``.

    Args:
        place: tenant and its neighbour.
        topic: the one asked about (it need not have any fact).
        gold: accepted answers; what says the same is no lure.
        minute: when the question is asked.
        evidence: numbers of the messages that support the gold answer.
        valued: False leaves the values empty (a bare yes or no cannot be traced to a memory).
    """
    log, rng = place.log, place.rng
    found: list[Lure] = []

    def add(kind: str, where: TenantLog, candidates: Iterable[Topic | None], most: int) -> None:
        count = 0
        for other in candidates:
            fact = other.holding(minute) if other else None
            if fact is None or count == most:
                continue
            lure = make_lure(where, kind, fact.values, fact.refs, gold, evidence if where is log else ())
            if lure:
                found.append(lure if valued else Lure(kind, lure.message_ids, ()))
                count += 1

    index = topic.customer.index if topic.customer else -1
    things = log.pool.plans if topic.kind in ("doubt", "agreed") else log.tenant.products
    siblings = [thing for thing in things if thing != topic.entity] if topic.entity else []
    add(
        "other_entity",
        log,
        (log.topics.get((topic.kind, index, thing, topic.detail)) for thing in rng.shuffled(siblings)),
        2,
    )
    if topic.customer:
        twin = topic.customer.twin
        others = [p.index for p in log.tenant.customers if p.index not in (index, twin)]
        order = [twin, *rng.shuffled(others)]
        add("other_person", log, (log.topics.get((topic.kind, who, topic.entity, topic.detail)) for who in order), 2)
    if place.neighbour:
        near = place.neighbour
        if topic.customer is None:
            namesakes = [-1]
        else:
            same = [p.index for p in near.tenant.customers if p.name == topic.customer.name]
            namesakes = same + [p.index for p in near.tenant.customers if p.index not in same]
        add(
            "other_tenant",
            near,
            (near.topics.get((topic.kind, who, topic.entity, topic.detail)) for who in namesakes),
            1,
        )
    return found
