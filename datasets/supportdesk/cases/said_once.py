"""What customers say in passing and no record keeps: appointments, colours, doubts, occasions, serial numbers."""

from __future__ import annotations

from memtrial.datasets.supportdesk.log import Session, TenantLog
from memtrial.datasets.supportdesk.text import date_forms, say_date, yes_no
from memtrial.datasets.supportdesk.world import Person


def visit(log: TenantLog, who: Person, product: str, day: int) -> bool:
    """An appointment, often corrected in the next breath, sometimes moved days later."""
    if not log.free("visit", who, product):
        return False
    rng, lang = log.rng, log.language
    topic = log.topic("visit", who, product)
    wanted = day
    for turn in range(2 if rng.chance(40) else 1):
        session = Session(log, who, wanted)
        agreed = log.later(session.day, 12, 24) + 10 * turn
        said = session.customer_says("c.visit", product=product, date=say_date(lang, agreed, rng))
        if rng.chance(55):
            slip, agreed = agreed, agreed + rng.pick((-3, -2, -1, 1, 2, 3))
            log.fact(topic, date_forms(lang, slip), said, status="retracted", settled=False)
            fixed = session.customer_says("c.visit_fix", date=say_date(lang, agreed, rng, near=slip))
            refs: tuple[int, ...] = (said, fixed)
        else:
            refs = (said,)
        log.fact(topic, date_forms(lang, agreed), *refs)
        session.agent_says("a.visit_ok", refs[-1])
        session.chatter()
        session.end()
        wanted = log.later(session.day, 2, 8)
    return True


def colour(log: TenantLog, who: Person, product: str, day: int) -> bool:
    """A colour wished for, now and then swapped for another one."""
    if not log.free("colour", who, product):
        return False
    topic = log.topic("colour", who, product)
    wishes = log.rng.shuffled(log.bank.values["colour"])
    session = Session(log, who, day)
    said = session.customer_says("c.colour", product=product, colour=wishes[0][0])
    session.agent_says("a.ack", said)
    session.chatter()
    if log.rng.chance(50):
        log.fact(topic, wishes[0], said, status="retracted", settled=False)
        swapped = session.customer_says("c.colour_swap", colour=wishes[1][0])
        log.fact(topic, wishes[1], said, swapped)
    else:
        log.fact(topic, wishes[0], said)
    session.end()
    return True


def doubt(log: TenantLog, who: Person, product: str, day: int) -> bool:
    """A service plan offered and neither taken nor refused."""
    plan = log.rng.pick(log.pool.plans)
    if not log.free("doubt", who, plan):
        return False
    worry = log.rng.pick(log.bank.values["doubt"])
    session = Session(log, who, day)
    session.agent_says("a.plan", plan=plan)
    said = session.customer_says("c.doubt", plan=plan, doubt=worry[0])
    session.chatter()
    session.end()
    log.fact(log.topic("doubt", who, plan), worry, said)
    log.fact(log.topic("agreed", who, plan), yes_no(log.language, False), said)
    return True


def occasion(log: TenantLog, who: Person, product: str, day: int) -> bool:
    """Whom or what a product is for, mentioned in passing."""
    if not log.free("occasion", who, product):
        return False
    what = log.rng.pick(log.bank.values["occasion"])
    session = Session(log, who, day)
    session.chatter()
    said = session.customer_says("c.occasion", product=product, occasion=what[0])
    session.chatter()
    session.end()
    log.fact(log.topic("occasion", who, product), what, said)
    return True


def serial(log: TenantLog, who: Person, product: str, day: int) -> bool:
    """A serial number read out."""
    if not log.free("serial", who, product):
        return False
    rng = log.rng
    code = f"{rng.pick('ABCDEFGH')}{rng.between(100, 999)}-{rng.between(1000, 9999)}"
    session = Session(log, who, day)
    said = session.customer_says("c.serial", product=product, serial=code)
    session.agent_says("a.ack", said)
    session.end()
    log.fact(log.topic("serial", who, product), (code,), said)
    return True
