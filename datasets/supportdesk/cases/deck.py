"""Deal cases until a tenant's log is full."""

from __future__ import annotations

from collections.abc import Callable

from memtrial.datasets.supportdesk.cases.delivery import address, delivery, owner, place_order
from memtrial.datasets.supportdesk.cases.knowledge import first_policies, measure, policy, spec
from memtrial.datasets.supportdesk.cases.said_once import colour, doubt, occasion, serial, visit
from memtrial.datasets.supportdesk.cases.service import complaint, missing, refund, voucher
from memtrial.datasets.supportdesk.log import SPAN, Session, TenantLog
from memtrial.datasets.supportdesk.world import Person

Case = Callable[[TenantLog, Person, str, int], bool]


def buyer(log: TenantLog, who: Person, product: str, day: int) -> bool:
    """Somebody buys one product and complains about another: one within a month, the twin of that name later."""
    products = log.tenant.products
    other = products[(products.index(product) + 1) % len(products)]
    twin = log.tenant.customers[who.twin]
    people = [p for p in (who, twin) if log.free("price", p, product) and log.free("open", p, other)]
    for person in people:
        place_order(log, person, product, day)
        gap = log.rng.between(5, 25) if person is who else log.rng.between(36, 70)
        complaint(log, person, other, day + gap)
    return bool(people)


_CASES: tuple[tuple[Case, int, bool], ...] = (
    # case, how often, worth repeating with the twin or another product
    (delivery, 5, True),
    (refund, 5, True),
    (complaint, 4, True),
    (address, 2, True),
    (owner, 2, True),
    (visit, 3, True),
    (colour, 3, True),
    (doubt, 2, True),
    (occasion, 2, True),
    (serial, 2, True),
    (missing, 2, True),
    (voucher, 2, True),
    (policy, 3, False),
    (spec, 4, False),
    (measure, 2, False),
    (buyer, 2, False),
)

_MOST = 14
"""No case without decoration is longer than this."""


def fill(log: TenantLog) -> None:
    """Write cases and noise into a log until its budget is used to the last message."""
    rng = log.rng
    first_policies(log)
    deck: list[tuple[Case, bool]] = []
    while log.left > 0:
        if log.left < _MOST or rng.chance(15):
            _noise(log)
            continue
        if not deck:
            deck = rng.shuffled([(case, twice) for case, often, twice in _CASES for _ in range(often)])
        case, twice = deck.pop()
        customers, products = log.tenant.customers, log.tenant.products
        who, product = rng.pick(customers), rng.pick(products)
        # Some of the cases pile up towards the end, where most questions are asked.
        day = rng.between(4, SPAN - 70) if rng.chance(60) else rng.between(SPAN - 90, SPAN - 30)
        if not _deal(log, case, who, product, day):
            _noise(log)
        elif twice:
            near = max(1, day + rng.between(-6, 6))
            if rng.chance(50) and log.left >= _MOST:
                _deal(log, case, customers[who.twin], product, near)
            if rng.chance(70 if case is delivery else 30) and log.left >= _MOST:
                _deal(log, case, who, products[(products.index(product) + 1) % len(products)], near)


def _deal(log: TenantLog, case: Case, who: Person, product: str, day: int) -> bool:
    log.spare = min(log.rng.below(9), log.left - _MOST)
    return case(log, who, product, day)


def _noise(log: TenantLog) -> None:
    rng, tenant = log.rng, log.tenant
    log.spare = 0
    day = rng.below(SPAN)
    kind = rng.below(8)
    product = rng.pick(tenant.products)
    if kind < 3:
        session = Session(log, rng.pick(tenant.customers), day)
        if rng.chance(35):
            session.customer_says("c.praise", product=product)
        else:
            session.customer_says("c.chat")
        if log.left > 0 and rng.chance(60):
            session.agent_says("a.chat")
    elif kind == 3:
        log.post(log.minute_of(day), "f.other", product=product)
    elif kind == 4:
        log.record("erp", log.minute_of(day), "r.stock", product=product, n=rng.between(2, 400))
    elif kind == 5:
        log.record("crm", log.minute_of(day), "r.note", customer=rng.pick(tenant.customers).name)
    elif kind == 6:
        log.record("wiki", log.minute_of(day), "w.other", brand=tenant.brand)
    else:
        log.mail(log.minute_of(day), "e.other", None, product=product)
