"""Questions that join or add up several facts."""

from __future__ import annotations

from collections.abc import Iterator

from memtrial.datasets.schema import Lure
from memtrial.datasets.supportdesk.questions.base import Draft, Place, make_lure, message_ids, own_lures
from memtrial.datasets.supportdesk.text import DAY, EPOCH, moment, money_forms
from memtrial.datasets.supportdesk.world import Complaint, Order, Person

_WITHIN = 30
"""Days between purchase and complaint in the question about buyers."""

_MOST_NAMES = 5
_EN_NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def owners(place: Place) -> Iterator[Draft]:
    """Who looks after the account that a delayed order belongs to (order → customer → owner)."""
    log = place.log
    by_code = {order.code: order for order in log.orders}
    delayed = [topic for key, topic in log.topics.items() if key[0] == "delayed"]
    for topic in place.rng.shuffled(delayed):
        order = by_code[topic.entity]
        owner = log.topics.get(("owner", order.customer.index, "", ""))
        minute = place.after_end()
        gold = owner.holding(minute) if owner else None
        if owner is None or gold is None:
            continue
        draft = Draft(
            log=log,
            asker=place.staff()[0],
            minute=minute,
            text=place.phrase("q.join_owner", order=order.code),
            category="join",
            answer_type="span",
            answers=gold.values,
            refs=(order.ref, topic.facts[-1].refs[0], *gold.refs),
            lures=own_lures(log, owner, gold, minute),
        )
        twin = log.topics.get(("owner", order.customer.twin, "", ""))
        other = twin.holding(minute) if twin else None
        if other:
            lure = make_lure(log, "other_person", other.values, other.refs, gold.values, draft.refs)
            draft.lures += [lure] if lure else []
        yield draft


def sufferers(place: Place) -> Iterator[Draft]:
    """Which customers complained that a product does something."""
    log = place.log
    groups: dict[tuple[str, str], list[Complaint]] = {}
    for complaint in log.complaints:
        groups.setdefault((complaint.product, complaint.symptom[0]), []).append(complaint)
    fitting = [key for key, group in groups.items() if len(group) <= _MOST_NAMES]
    # Lists of one stand behind the real lists.
    order = sorted(place.rng.shuffled(fitting), key=lambda key: len(groups[key]) == 1)
    for product, symptom in order:
        group = groups[product, symptom]
        names = tuple(complaint.customer.name for complaint in group)
        near = [
            c
            for c in log.complaints
            if (c.product == product) != (c.symptom[0] == symptom) and c.customer.name not in names
        ]
        draft = Draft(
            log=log,
            asker=place.staff()[0],
            minute=place.after_end(),
            text=place.phrase("q.join_symptom", product=product, symptom=symptom),
            category="join",
            answer_type="list",
            answers=names,
            refs=tuple(complaint.ref for complaint in group),
        )
        same = [c for c in near if c.product == product][:2]
        for c in same:
            draft.lures.append(Lure("other_person", message_ids(log, [c.ref]), (c.customer.name,)))
        taken = {c.customer.name for c in same}
        for c in [c for c in near if c.product != product and c.customer.name not in taken][:1]:
            draft.lures.append(Lure("other_entity", message_ids(log, [c.ref]), (c.customer.name,)))
        yield draft


def buyers(place: Place) -> Iterator[Draft]:
    """Which customers bought one product and complained about another within thirty days."""
    log = place.log
    bought: dict[int, list[Order]] = {}
    for order in log.orders:
        bought.setdefault(order.customer.index, []).append(order)
    found: dict[tuple[str, str], list[tuple[Order, Complaint]]] = {}
    for complaint in log.complaints:
        for order in bought.get(complaint.customer.index, ()):
            if order.product != complaint.product:
                found.setdefault((order.product, complaint.product), []).append((order, complaint))
    for first, second in place.rng.shuffled(list(found)):
        pairs = found[first, second]
        inside = [pair for pair in pairs if 0 < _gap(*pair) <= _WITHIN]
        if not inside or len(inside) > _MOST_NAMES or any(_unclear(*pair) for pair in pairs):
            continue
        names = tuple(order.customer.name for order, _ in inside)
        draft = Draft(
            log=log,
            asker=place.staff()[0],
            minute=place.after_end(),
            text=place.phrase("q.join_buyers", product=first, product2=second, days=_WITHIN),
            category="join",
            answer_type="list",
            answers=names,
            refs=tuple(ref for order, complaint in inside for ref in (order.ref, complaint.ref)),
        )
        outside = [pair for pair in pairs if pair[0].customer.name not in names]
        for order, complaint in outside[:2]:
            ids = message_ids(log, [order.ref, complaint.ref])
            draft.lures.append(Lure("other_person", ids, (order.customer.name,)))
        yield draft


def _gap(order: Order, complaint: Complaint) -> int:
    return complaint.minute // DAY - order.minute // DAY


def _unclear(order: Order, complaint: Complaint) -> bool:
    """Say whether reasonable people could count a pair either way: the same day, the edge, a complaint repeated."""
    if _gap(order, complaint) in (0, _WITHIN - 1, _WITHIN, _WITHIN + 1):
        return True
    return any(0 <= minute // DAY - order.minute // DAY <= _WITHIN + 1 for minute in complaint.again)


def spending(place: Place) -> Iterator[Draft]:
    """The sum of two of a customer's orders."""
    log, rng = place.log, place.rng
    by_customer: dict[int, list[Order]] = {}
    for order in log.orders:
        by_customer.setdefault(order.customer.index, []).append(order)
    for index in rng.shuffled([index for index, orders in by_customer.items() if len(orders) > 1]):
        one, two, *more = rng.shuffled(by_customer[index])
        minute = place.after_end()
        if not place.knows(one.customer, minute):
            continue
        gold = money_forms(log.language, one.cents + two.cents)
        draft = Draft(
            log=log,
            asker=one.customer.id,
            minute=minute,
            text=place.phrase("q.spend", product=one.product, product2=two.product),
            category="aggregate",
            answer_type="money",
            answers=gold,
            refs=(one.ref, two.ref),
        )
        rivals = [("other_entity", one, other) for other in more[:1]]
        twins = {order.product: order for order in by_customer.get(one.customer.twin, ())}
        if one.product in twins and two.product in twins:
            rivals.append(("other_person", twins[one.product], twins[two.product]))
        for kind, first, second in rivals:
            values = money_forms(log.language, first.cents + second.cents)
            lure = make_lure(log, kind, values, (first.ref, second.ref), gold, draft.refs)
            draft.lures += [lure] if lure else []
        yield draft


def order_counts(place: Place) -> Iterator[Draft]:
    """How many orders a customer placed in the calendar month before the question."""
    log, rng = place.log, place.rng
    months: dict[tuple[int, int], list[Order]] = {}
    for order in log.orders:
        months.setdefault((order.customer.index, _month(order.minute)), []).append(order)
    # Counting to one is the weaker question: it stands behind the others.
    for index, month in sorted(rng.shuffled(list(months)), key=lambda key: len(months[key]) == 1):
        orders = months[index, month]
        customer: Person = orders[0].customer
        minute = _start_of(month + 1) + rng.between(1, 20) * DAY + rng.between(9, 15) * 60
        if not place.knows(customer, minute) or len(orders) >= len(_EN_NUMBERS) or minute > place.end + 2 * DAY:
            continue
        gold = _count_forms(log.language, len(orders))
        draft = Draft(
            log=log,
            asker=customer.id,
            minute=minute,
            text=place.phrase("q.count_last_month"),
            category="aggregate",
            answer_type="number",
            answers=gold,
            refs=tuple(order.ref for order in orders),
        )
        for kind, who, when in (("other_person", customer.twin, month), ("other_entity", index, month - 1)):
            others = months.get((who, when))
            if others and len(others) < len(_EN_NUMBERS):
                values = _count_forms(log.language, len(others))
                lure = make_lure(log, kind, values, (order.ref for order in others), gold, draft.refs)
                draft.lures += [lure] if lure else []
        yield draft


def _month(minute: int) -> int:
    when = moment(minute)
    return when.year * 12 + when.month - 1


def _start_of(month: int) -> int:
    first = EPOCH.replace(year=month // 12, month=month % 12 + 1, day=1)
    return (first - EPOCH).days * DAY


def _count_forms(language: str, count: int) -> tuple[str, ...]:
    if language == "zh":
        return (str(count), f"{count}单", f"{count}个")
    return (str(count), _EN_NUMBERS[count])
