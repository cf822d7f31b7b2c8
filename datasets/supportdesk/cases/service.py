"""What goes wrong with a product: complaints, returns and refunds, parts that lack, vouchers."""

from __future__ import annotations

from memtrial.datasets.supportdesk.cases.delivery import place_order
from memtrial.datasets.supportdesk.log import Session, TenantLog
from memtrial.datasets.supportdesk.text import DAY, money_forms, say_list, say_money, yes_no
from memtrial.datasets.supportdesk.world import Complaint, Person


def complaint(log: TenantLog, who: Person, product: str, day: int) -> bool:
    """A complaint: open, closed, open again, closed again, as far as chance takes it."""
    if not log.free("open", who, product):
        return False
    rng = log.rng
    symptom = _symptom(log, product)
    ticket = log.code("T")
    steps = rng.pick((0, 1, 2, 2, 3))
    _follow(log, who, product, day, symptom, ticket, steps, by_chat=rng.chance(50))
    return True


def _symptom(log: TenantLog, product: str) -> tuple[str, ...]:
    """Return a symptom; each product has three that come up again and again."""
    values = log.bank.values["symptom"]
    return values[(5 * log.tenant.products.index(product) + log.rng.below(3)) % len(values)]


def _follow(
    log: TenantLog,
    who: Person,
    product: str,
    day: int,
    symptom: tuple[str, ...],
    ticket: str,
    steps: int,
    *,
    by_chat: bool,
) -> None:
    rng, lang = log.rng, log.language
    still_open = log.topic("open", who, product)
    values = log.bank.values
    yes, no = yes_no(lang, True), yes_no(lang, False)
    if by_chat:
        session = Session(log, who, day)
        named = session.customer_says("c.complain", product=product, symptom=symptom[0])
        key = session.agent_says("a.ticket", named, ticket=ticket, product=product)
        session.chatter()
        session.end()
        day = session.day
        opened: tuple[int, ...] = (named, key)
    else:
        minute = log.minute_of(day)
        if rng.chance(50):
            log.mail(minute - 60, "e.complain", who, product=product, symptom=symptom[0])
        named = key = log.record(
            "crm",
            minute,
            "r.opened",
            ticket=ticket,
            customer=who.name,
            custno=who.number,
            product=product,
            symptom=symptom[0],
        )
        opened = (named,)
    log.fact(still_open, yes, *opened)
    made = log.rows[named][0]
    again: list[int] = []
    closing, action = rng.shuffled(values["remedy"]), rng.pick(values["action"])
    for step in range(steps):
        status = log.topic("status", who, product)
        day = log.later(day, 4, 25)
        if step != 1:
            remedy = closing[step]
            ref = _say(log, who, day, "closed", ticket, by_chat, remedy=remedy[0])
            log.fact(status, remedy, key, ref)
            log.fact(still_open, yes, *opened, status="closed", settled=False)
            log.fact(still_open, no, key, ref)
            if step == 2:
                log.fact(status, action, *opened, status="closed", settled=False)
                log.settle(status, log.rows[ref][0])
        else:
            if by_chat:
                session = Session(log, who, day)
                back = session.customer_says("c.complain_again", product=product, symptom=symptom[0])
                again.append(log.rows[back][0])
                ref = session.agent_says("a.reopened", back, ticket=ticket, action=action[0])
                day = session.day
            else:
                ref = _say(log, who, day, "reopened", ticket, by_chat, action=action[0])
                again.append(log.rows[ref][0])
            log.fact(status, action, key, ref)
            log.fact(still_open, yes, key, ref)
            opened = (key, ref)
        day = max(day, log.rows[ref][0] // DAY)
    log.complaints.append(Complaint(who, product, symptom, named, made, tuple(again)))


def _say(log: TenantLog, who: Person, day: int, what: str, ticket: str, by_chat: bool, **slots: str) -> int:
    if not by_chat:
        return log.record("crm", log.minute_of(day), f"r.{what}", ticket=ticket, **slots)
    session = Session(log, who, day)
    if log.spare > 0:
        session.customer_says("c.nudge")
        log.spare -= 1
    ref = session.agent_says(f"a.{what}", -1, ticket=ticket, **slots)
    session.end()
    return ref


def refund(log: TenantLog, who: Person, product: str, day: int) -> bool:
    """A return and what came back: an estimate, a forged e-mail, the final amount, a ledger that knows better."""
    if not log.free("refund", who, product) or not log.free("price", who, product):
        return False
    rng, lang = log.rng, log.language
    order = place_order(log, who, product, day)
    reason = rng.pick(log.bank.values["reason"])
    session = Session(log, who, log.later(day, 2, 8))
    why = session.customer_says("c.return", product=product, reason=reason[0])
    log.fact(log.topic("reason", who, product), reason, why)
    estimate = order.cents - 100 * rng.between(1, 15)
    final = estimate - 10 * rng.between(11, 90)
    wrong = final + 10 * rng.between(3, 9)
    topic = log.topic("refund", who, product)
    first = session.agent_says("a.refund_guess", why, product=product, money=say_money(lang, estimate))
    session.chatter()
    session.end()
    log.fact(topic, money_forms(lang, estimate), first, status="stale", settled=False)
    day = log.later(session.day, 2, 9)
    if rng.chance(45):
        forged = order.cents + 100 * rng.between(20, 90)
        ref = log.mail(log.minute_of(day), "e.inject_refund", None, product=product, money=say_money(lang, forged))
        log.fact(topic, money_forms(lang, forged), ref, status="injected", settled=False)
    day = log.later(day, 1, 4)
    by_chat = rng.chance(45)
    if by_chat or rng.chance(50):
        session = Session(log, who, day)
        if log.spare > 0:
            session.customer_says("c.ask_refund", product=product, order=order.code)
            log.spare -= 1
        amount = final if by_chat else wrong
        said = session.agent_says("a.refund_final", product=product, money=say_money(lang, amount))
        session.end()
        if by_chat:
            log.fact(topic, money_forms(lang, final), said)
            return True
        log.fact(topic, money_forms(lang, wrong), said, status="low_authority", settled=False)
        day = session.day
    # The ledger comes before or after a wrong word in the chat; either way it decides.
    booked = log.record(
        "erp", log.minute_of(log.later(day, 0, 2)), "r.refund", order=order.code, money=say_money(lang, final)
    )
    log.fact(topic, money_forms(lang, final), order.ref, booked)
    return True


def missing(log: TenantLog, who: Person, product: str, day: int) -> bool:
    """Parts that lack in a box: two or three, then one more, then one found after all."""
    if not log.free("missing", who, product):
        return False
    rng = log.rng
    items = [item[0] for item in rng.shuffled(log.bank.values["item"])[:4]]
    first, extra = items[: rng.between(2, 3)], items[3]
    session = Session(log, who, day)
    refs = [session.customer_says("c.missing", product=product, items=say_list(log.language, first))]
    session.agent_says("a.ack", refs[0])
    lacking = list(first)
    if rng.chance(60):
        refs.append(session.customer_says("c.missing_more", item=extra))
        lacking.append(extra)
    topic = log.topic("missing", who, product)
    if rng.chance(60):
        found = lacking.pop(rng.below(len(first)))
        named = refs[0]
        session.chatter()
        refs.append(session.customer_says("c.missing_found", item=found))
        log.fact(topic, (found,), named, status="retracted", settled=False)
    log.fact(topic, tuple(lacking), *refs)
    session.end()
    return True


def voucher(log: TenantLog, who: Person, product: str, day: int) -> bool:
    """A half-promise of a voucher, later granted, refused, or never heard of again."""
    if not log.free("voucher", who, ""):
        return False
    rng, lang = log.rng, log.language
    cents = 100 * rng.pick((5, 8, 12, 15, 18, 20, 25, 30))
    amount, granted = log.topic("voucher", who, ""), log.topic("voucher_sure", who, "")
    session = Session(log, who, day)
    session.customer_says("c.nudge")
    maybe = session.agent_says("a.voucher_maybe", money=say_money(lang, cents))
    session.chatter()
    session.end()
    log.fact(amount, money_forms(lang, cents), maybe)
    log.fact(granted, yes_no(lang, False), maybe)
    fate = rng.below(3)
    if fate == 0:
        return True
    later = Session(log, who, log.later(session.day, 2, 12))
    if fate == 1:
        actual = cents - 100 * rng.between(1, 3) if rng.chance(40) else cents
        said = later.agent_says("a.voucher_yes", money=say_money(lang, actual))
        log.fact(granted, yes_no(lang, True), said)
        log.fact(amount, money_forms(lang, actual), said)
    else:
        said = later.agent_says("a.voucher_no")
        log.fact(granted, yes_no(lang, True), maybe, status="retracted", settled=False)
        log.fact(granted, yes_no(lang, False), maybe, said)
        # The amount once spoken of stays what it was.
    later.end()
    return True
