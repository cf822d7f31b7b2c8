"""Orders: when they come, who brings them, where they go, when they arrived."""

from __future__ import annotations

from memtrial.datasets.supportdesk.log import Session, TenantLog
from memtrial.datasets.supportdesk.text import (
    DAY,
    date_forms,
    day_count_forms,
    money_forms,
    say_date,
    say_money,
    say_relative,
)
from memtrial.datasets.supportdesk.world import Order, Person


def place_order(log: TenantLog, who: Person, product: str, day: int) -> Order:
    """Write the record of a new order and keep it."""
    rng, tenant = log.rng, log.tenant
    cents = tenant.prices[tenant.products.index(product)] - 10 * rng.below(90)
    code = log.code("")
    minute = log.minute_of(day)
    ref = log.record(
        "erp",
        minute,
        "r.order",
        order=code,
        customer=who.name,
        custno=who.number,
        product=product,
        money=say_money(log.language, cents),
    )
    order = Order(code, who, product, cents, ref, minute)
    log.orders.append(order)
    log.fact(log.topic("price", who, product), money_forms(log.language, cents), ref)
    return order


def delivery(log: TenantLog, who: Person, product: str, day: int) -> bool:
    """An order on its way: a planned day, guesses, delays, a carrier, sometimes the arrival."""
    if not log.free("eta", who, product) or not log.free("price", who, product):
        return False
    rng = log.rng
    order = place_order(log, who, product, day)
    planned = log.later(day, 9, 30)
    if rng.chance(55):
        _planned_by_record(log, order, day, planned)
    else:
        planned = _planned_by_chat(log, order, day, planned)
    if rng.chance(60):
        _shipped(log, order, planned)
    if rng.chance(45):
        _arrived(log, order, planned)
    return True


def _planned_by_record(log: TenantLog, order: Order, day: int, planned: int) -> None:
    rng, lang, who = log.rng, log.language, order.customer
    named = log.topic("eta", who, order.product)
    coded = log.topic("eta_order", who, order.code)
    ref = log.record("erp", order.minute + 5, "r.eta", order=order.code, date=say_date(lang, planned, rng))
    log.fact(named, date_forms(lang, planned), order.ref, ref)
    log.fact(coded, date_forms(lang, planned), ref)
    asked = day + 1
    if rng.chance(60):
        # The agent guesses without looking: newer than the record, and wrong.
        session = Session(log, who, day + 1)
        ask = session.customer_says("c.ask_eta", product=order.product, order=order.code)
        guess = planned + rng.pick((-5, -4, -3, 3, 4, 5))
        said = session.agent_says("a.eta_guess", ask, product=order.product, date=say_date(lang, guess, rng))
        session.end()
        asked = session.day
        for topic in (named, coded):
            log.fact(topic, date_forms(lang, guess), said, status="low_authority")
    if rng.chance(60):
        moved = log.later(planned, 3, 14)
        at = max(asked + 1, log.later(day, 3, 7))
        delayed = log.record(
            "erp",
            log.minute_of(at),
            "r.delayed",
            order=order.code,
            date=say_date(lang, moved, rng),
            cause=rng.pick(log.bank.values["cause"])[0],
        )
        log.fact(named, date_forms(lang, moved), order.ref, delayed)
        log.fact(coded, date_forms(lang, moved), delayed)
        log.fact(log.topic("delayed", who, order.code), (order.product,), delayed)


def _planned_by_chat(log: TenantLog, order: Order, day: int, planned: int) -> int:
    rng, lang, who = log.rng, log.language, order.customer
    topic = log.topic("eta", who, order.product)
    session = Session(log, who, day + 1)
    ask = session.customer_says("c.ask_eta", product=order.product, order=order.code)
    if rng.chance(40) and log.spare > 0:
        session.agent_says("a.ack")
        log.spare -= 1
    if rng.chance(55):
        said = session.agent_says("a.eta_short", ask, date=say_date(lang, planned, rng))
        log.fact(topic, date_forms(lang, planned), ask, said)
    else:
        said = session.agent_says("a.eta", ask, product=order.product, date=say_date(lang, planned, rng))
        log.fact(topic, date_forms(lang, planned), said)
    session.chatter()
    session.end()
    if rng.chance(60):
        planned = log.later(planned, 3, 14)
        again = Session(log, who, log.later(session.day, 2, 6))
        if log.spare > 0:
            again.customer_says("c.nudge")
            log.spare -= 1
        moved = again.agent_says("a.delay", product=order.product, date=say_date(lang, planned, rng))
        log.fact(topic, date_forms(lang, planned), moved)
        again.end()
    return planned


def _shipped(log: TenantLog, order: Order, planned: int) -> None:
    rng, who = log.rng, order.customer
    carrier = rng.pick(log.pool.carriers)
    tracking = f"{rng.between(10, 99)}{rng.between(1_000_000, 9_999_999)}"
    minute = log.minute_of(max(order.minute // DAY + 1, planned - 8))
    ref = log.record("erp", minute, "r.shipped", order=order.code, carrier=carrier, tracking=tracking)
    log.fact(log.topic("carrier", who, order.product), (carrier,), order.ref, ref)
    log.fact(log.topic("tracking", who, order.product), (tracking,), order.ref, ref)


def _arrived(log: TenantLog, order: Order, planned: int) -> None:
    rng, lang, who = log.rng, log.language, order.customer
    eta = log.topic("eta", who, order.product)
    # Nothing on the plan may be said after the parcel has arrived.
    last = max(fact.minute for fact in eta.facts) // DAY
    came = max(last + 1, planned + rng.between(-1, 2))
    if rng.chance(60):
        session = Session(log, who, came + rng.below(4))
        came = max(came, session.day - 6)
        ref = session.customer_says("c.arrived", product=order.product, rel=say_relative(lang, came, session.day, rng))
        session.chatter()
        session.end()
        refs: tuple[int, ...] = (ref,)
    else:
        ref = log.record("erp", came * DAY + 18 * 60, "r.delivered", order=order.code, date=say_date(lang, came, rng))
        refs = (order.ref, ref)
    eta.until = came * DAY
    if order.code and not log.free("eta_order", who, order.code):
        log.topic("eta_order", who, order.code).until = came * DAY
    log.fact(log.topic("arrived", who, order.product), date_forms(lang, came), *refs)
    days = came - order.minute // DAY
    log.fact(log.topic("lead_days", who, order.product), day_count_forms(lang, days), order.ref, ref)


def address(log: TenantLog, who: Person, product: str, day: int) -> bool:
    """Where an order goes: changed for good, or changed and changed back."""
    if not log.free("address", who, product) or not log.free("price", who, product):
        return False
    rng = log.rng
    order = place_order(log, who, product, day)
    first, second = _address(log), _address(log)
    while second == first:
        second = _address(log)
    topic = log.topic("address", who, product)
    ref = log.record("crm", order.minute + 4, "r.address", order=order.code, address=first)
    log.fact(topic, (first,), order.ref, ref)
    session = Session(log, who, log.later(day, 1, 4))
    asked = session.customer_says("c.address_new", product=product, address=second)
    if rng.chance(50):
        noted = session.agent_says("a.address_ok", asked, address=second)
        said: tuple[int, ...] = (asked, noted)
    else:
        session.agent_says("a.ack", asked)
        said = (asked,)
    if rng.chance(50):
        undone = session.customer_says("c.address_undo")
        log.fact(topic, (second,), *said, status="retracted", settled=False)
        log.fact(topic, (first,), order.ref, ref, undone)
    else:
        done = log.record("crm", session.minute + 20, "r.address", order=order.code, address=second)
        log.fact(topic, (second,), asked, done)
    session.end()
    return True


def _address(log: TenantLog) -> str:
    street, number, town = log.rng.pick(log.pool.streets), log.rng.between(2, 98), log.rng.pick(log.pool.towns)
    return f"{town}{street}{number}号" if log.language == "zh" else f"{number} {street}, {town}"


def owner(log: TenantLog, who: Person, product: str, day: int) -> bool:
    """An account's owner, sometimes a new one, and a delayed order of that account."""
    if not log.free("owner", who, ""):
        return False
    topic = log.topic("owner", who, "")
    staff = log.rng.shuffled(log.tenant.staff)
    changes = 1 if log.rng.chance(35) else 2
    at = max(0, day - 2)
    for _, name in staff[:changes]:
        ref = log.record("crm", log.minute_of(at), "r.owner", customer=who.name, custno=who.number, staff=name)
        log.fact(topic, (name,), ref)
        at = log.later(at, 20, 60)
    return delivery(log, who, product, day) or True
