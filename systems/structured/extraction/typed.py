"""Which patterns look at a message, by whose voice it speaks in, and what an exchange is on."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from memtrial.systems.structured.extraction.asking import asked
from memtrial.systems.structured.extraction.drafts import Case, Draft
from memtrial.systems.structured.extraction.knowledge import RETURNS, accounts, features, policies, stock
from memtrial.systems.structured.extraction.learn import Filed
from memtrial.systems.structured.extraction.orders import (
    address_talk,
    delivery_talk,
    order_records,
    refund_talk,
    vouchers,
)
from memtrial.systems.structured.extraction.profiles import profiles
from memtrial.systems.structured.extraction.service import complaints, missing, returns, tickets
from memtrial.systems.structured.extraction.wishes import colours, doubts, occasions, plans, serials, visits
from memtrial.systems.structured.extraction.wording import fact_of
from memtrial.systems.structured.node import Fact

Pattern = Callable[[Case], Iterator[Draft]]


def _on_order(case: Case) -> Iterator[Draft]:
    if case.said.first("order") and not case.said.first("ticket"):
        yield from order_records(case)


# The first pattern that finds something has the message: an order of trust, the surest evidence first.
_BY_VOICE: dict[str, tuple[Pattern, ...]] = {
    "record": (tickets, _on_order, features, accounts, policies, stock),
    "staff": (tickets, vouchers, address_talk, policies, refund_talk, delivery_talk, features),
    "customer": (serials, visits, delivery_talk, address_talk, missing, colours, doubts, returns, complaints, occasions, profiles),
    "public": (features, policies),
    "person": (profiles,),
}  # fmt: skip


def file(case: Case) -> None:
    """Remember what an order or a ticket is about."""
    said = case.said
    product = said.first("product")
    for kind in ("order", "ticket"):
        for key in said.all(kind):
            filed = case.learner.filed.get(key)
            if filed is not None and filed.product and filed.customer:
                continue
            about = product or (case.thing("product")[0] if kind == "ticket" and said.voice == "staff" else "")
            if about and case.customer and said.voice in ("record", "staff"):
                case.learner.filed[key] = Filed(case.customer, about, said.message.id)
                if kind == "order":
                    orders = case.memory.orders_of.setdefault((case.customer, about), [])
                    orders.append(key)


def typed_facts(case: Case) -> list[Fact]:
    """Return the typed facts of a message, and remember them for what follows."""
    said = case.said
    if said.injected:
        return []
    file(case)
    plans(case)
    drafts: list[Draft] = []
    for pattern in _BY_VOICE[said.voice]:
        drafts = [d for d in pattern(case) if d.subject]
        if drafts:
            break
    if any(d.subject == RETURNS for d in drafts):
        case.learner.lexicon.add("topic", "returns")
    facts = [fact_of(case, draft) for draft in drafts]
    for fact in facts:
        case.memory.history.setdefault((fact.owner, fact.subject, fact.attribute), []).append(fact)
        if fact.state != "retracted":
            case.focus.stated.append(fact)
    if said.voice == "customer":
        if want := asked(case) if not facts else "":
            case.focus.asked, case.focus.asked_in = want, said.message.id
        elif facts:
            case.focus.asked, case.focus.asked_in = facts[-1].attribute, said.message.id
    elif said.voice == "staff" and facts:
        case.focus.asked = case.focus.asked_in = ""
    return facts
