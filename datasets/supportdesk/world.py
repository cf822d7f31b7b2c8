"""The world behind the logs: who there is, what is true when, and which messages say so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from memtrial.datasets.supportdesk.phrasings.bank import Bank
from memtrial.datasets.supportdesk.pools import Pool
from memtrial.datasets.supportdesk.rng import Rng

Status = Literal["holds", "stale", "low_authority", "retracted", "injected", "closed"]


@dataclass(frozen=True, slots=True)
class Person:
    """A customer; ``twin`` is the index of the customer of the same tenant with the near-identical name."""

    id: str
    name: str
    number: str
    conversation: str
    index: int
    twin: int


@dataclass(frozen=True, slots=True)
class Tenant:
    """A merchant on the desk."""

    id: str
    language: str
    brand: str
    code: str
    customers: tuple[Person, ...]
    staff: tuple[tuple[str, str], ...]
    products: tuple[str, ...]
    prices: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing said about a topic.

    Attributes:
        values: accepted forms, or the elements of a list.
        refs: numbers of the messages that together say it.
        minute: when the last of them was said.
        status: ``holds`` (true until a later one that holds), else why it must not be used.
    """

    values: tuple[str, ...]
    refs: tuple[int, ...]
    minute: int
    status: Status = "holds"


@dataclass(slots=True)
class Topic:
    """Everything said about one attribute of one thing.

    Attributes:
        kind: what attribute; decides which question asks for it.
        customer: whose it is, or None for what concerns the tenant.
        entity: product, plan or order number.
        detail: feature or attribute of a product, else "".
        cuts: minutes at which what holds is settled; a question may be asked from one until the next fact.
        until: minute from which the question makes no sense any more.
    """

    kind: str
    customer: Person | None
    entity: str
    detail: str = ""
    facts: list[Fact] = field(default_factory=list)
    cuts: list[int] = field(default_factory=list)
    until: int | None = None

    def holding(self, minute: int) -> Fact | None:
        """Return what holds at a minute, or None where nothing was said yet."""
        found = None
        for fact in self.facts:
            if fact.status == "holds" and fact.minute <= minute:
                found = fact
        return found


@dataclass(frozen=True, slots=True)
class Order:
    """An order and its record."""

    code: str
    customer: Person
    product: str
    cents: int
    ref: int
    minute: int


@dataclass(frozen=True, slots=True)
class Complaint:
    """A complaint, the message that alone names customer, product and symptom, and when it was made."""

    customer: Person
    product: str
    symptom: tuple[str, ...]
    ref: int
    minute: int
    again: tuple[int, ...] = ()


def make_tenants(split: str, language: str, count: int, sizes: Sequence[int], pool: Pool, rng: Rng) -> list[Tenant]:
    """Make the tenants of one language.

    Neighbours (first and second, third and fourth, …) share half of their customers' names and of their products, so
    that a system which ignores the tenant finds something that looks right.
    """
    brands = rng.shuffled([_join(language, a, b) for a in pool.brands[0] for b in pool.brands[1]])
    everything = [_join(language, family, model) for family in pool.families for model in pool.models]
    names = [(_join(language, stem, a), _join(language, stem, b)) for stem in pool.stems for a, b in pool.pairs]
    tenants: list[Tenant] = []
    shared_names: list[tuple[str, str]] = []
    shared_products: list[str] = []
    for i in range(count):
        tenant_id = f"{split}-{language}-{i + 1:02d}"
        pairs = max(3, min(110, sizes[i] // 80))
        if i % 2 == 0:
            # A pair of neighbours deals from one shuffled pack: first half shared, the rest apart.
            pack = rng.shuffled(names)
            shared_names, own = pack[: (pairs + 1) // 2], pack[(pairs + 1) // 2 :]
            start = 2 * rng.below(len(everything) // 2)
            ring = everything[start:] + everything[:start]
            shared_products, rest = ring[:4], ring[4:]
        chosen = (shared_names + own)[:pairs]
        own = own[max(0, pairs - len(shared_names)) :]
        wanted = max(4, min(24, 4 + sizes[i] // 200))
        products = tuple((shared_products + rest)[:wanted])
        rest = rest[max(0, wanted - 4) :]
        people = [
            Person(
                id=f"{tenant_id}-K{20000 + 1000 * (i + 1) + n}",
                name=pair[n % 2],
                number=f"K{20000 + 1000 * (i + 1) + n}",
                conversation=f"{tenant_id}-K{20000 + 1000 * (i + 1) + n}",
                index=n,
                twin=n ^ 1,
            )
            for n, pair in enumerate(p for p in chosen for _ in (0, 1))
        ]
        staff = rng.shuffled(pool.staff)[:4]
        tenants.append(
            Tenant(
                id=tenant_id,
                language=language,
                brand=brands[i % len(brands)],
                code=chr(65 + i // 26) + chr(65 + i % 26),
                customers=tuple(people),
                staff=tuple((f"{tenant_id}-s{n + 1}", name) for n, name in enumerate(staff)),
                products=products,
                prices=tuple(100 * rng.between(60, 480) for _ in products),
            )
        )
    return tenants


def _join(language: str, first: str, second: str) -> str:
    return first + second if language == "zh" else f"{first} {second}"


@dataclass(frozen=True, slots=True)
class Voice:
    """What a language brings to the logs: its phrasings and its names."""

    language: str
    bank: Bank
    pool: Pool
