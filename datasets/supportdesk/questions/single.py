"""Questions about one attribute of one thing."""

from __future__ import annotations

from dataclasses import dataclass

from memtrial.datasets.schema import Lure, Turn
from memtrial.datasets.supportdesk.questions.base import Draft, Place, asking_time, make_lure, other_lures, own_lures
from memtrial.datasets.supportdesk.text import DAY, day_number, say_date
from memtrial.datasets.supportdesk.world import Topic


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a kind of topic is asked about.

    Attributes:
        own: intent of the customer's question, "" where only staff asks.
        staff: intent of a staff member's question, "" where only the customer asks.
        fresh: asked within days of what was said, not months later.
    """

    category: str
    answer_type: str
    own: str
    staff: str = ""
    fresh: bool = False


RECIPES: dict[str, Recipe] = {
    "eta": Recipe("update", "date", "q.eta", "q.eta_staff", fresh=True),
    "eta_order": Recipe("update", "date", "", "q.eta_order", fresh=True),
    "visit": Recipe("update", "date", "q.visit", "q.visit_staff", fresh=True),
    "refund": Recipe("update", "money", "q.refund", "q.refund_staff"),
    "address": Recipe("update", "span", "q.address"),
    "tracking": Recipe("lookup", "span", "q.tracking"),
    "serial": Recipe("lookup", "span", "q.serial"),
    "reason": Recipe("lookup", "choice", "q.reason"),
    "arrived": Recipe("temporal", "date", "q.arrived"),
    "lead_days": Recipe("temporal", "duration", "q.lead_days"),
    "spec_since": Recipe("temporal", "date", "q.spec_since"),
    "spec": Recipe("spec", "boolean", "q.spec"),
    "spec_num": Recipe("spec", "number", "q.spec_num"),
    "open": Recipe("state", "boolean", "q.open", "q.open_staff"),
    "status": Recipe("state", "span", "q.status"),
    "window": Recipe("policy", "duration", "q.window"),
    "fee": Recipe("policy", "money", "q.fee"),
    "contact": Recipe("policy", "span", "q.contact"),
    "colour": Recipe("no_schema", "span", "q.colour"),
    "doubt": Recipe("no_schema", "span", "q.doubt"),
    "agreed": Recipe("no_schema", "boolean", "q.agreed"),
    "occasion": Recipe("no_schema", "span", "q.occasion"),
    "voucher": Recipe("no_schema", "money", "q.voucher"),
    "voucher_sure": Recipe("no_schema", "boolean", "q.voucher_sure"),
    "missing": Recipe("list", "list", "q.missing"),
}


def ask(place: Place, topic: Topic) -> Draft | None:
    """Return a question about a topic, or None where nobody could ask it."""
    recipe = RECIPES[topic.kind]
    rng = place.rng
    minute = asking_time(place, topic, fresh=recipe.fresh)
    if minute is None:
        return None
    gold = topic.holding(minute)
    if gold is None:
        return None
    customer = topic.customer
    by_staff = bool(recipe.staff) and (not recipe.own or rng.chance(30))
    if customer is None:
        customer = rng.pick(place.log.tenant.customers)
    elif not by_staff and not place.knows(customer, minute):
        if not recipe.staff:
            return None
        by_staff = True
    slots = _slots(place, topic)
    draft = Draft(
        log=place.log,
        asker=place.staff()[0] if by_staff else customer.id,
        minute=minute,
        text=place.phrase(recipe.staff if by_staff else recipe.own, **slots),
        category=recipe.category,
        answer_type=recipe.answer_type,
        answers=gold.values,
        refs=gold.refs,
    )
    boolean = recipe.answer_type == "boolean"
    draft.lures = own_lures(place.log, topic, gold, minute)
    draft.lures += other_lures(place, topic, gold.values, minute, gold.refs, valued=not boolean)
    if topic.kind == "spec":
        _spec_type(place, draft)
    elif topic.kind == "reason":
        _options(place, draft)
    elif topic.kind == "missing":
        draft.lures = _list_lures(draft)
    return draft


def _slots(place: Place, topic: Topic) -> dict[str, object]:
    return {
        "product": topic.entity,
        "plan": topic.entity,
        "order": topic.entity,
        "feature": topic.detail,
        "attribute": topic.detail,
        "brand": place.log.tenant.brand,
        "customer": topic.customer.name if topic.customer else "",
    }


def _spec_type(place: Place, draft: Draft) -> None:
    """Make "only the variant" a span; then a bare yes is half of the truth and no longer the mark of a wrong memory."""
    if place.log.pool.variant not in draft.answers:
        return
    draft.answer_type = "span"
    draft.lures = [
        Lure(lure.kind, lure.message_ids, () if {"yes", "支持"} & set(lure.values) else lure.values)
        for lure in draft.lures
    ]


def _options(place: Place, draft: Draft) -> None:
    """Offer the right reason, those of the lures, and others up to four."""
    right = draft.answers[0]
    wrong = [lure.values[0] for lure in draft.lures if lure.values]
    others = [row[0] for row in place.rng.shuffled(place.log.bank.values["reason"])]
    picked = [*dict.fromkeys(text for text in [*wrong[:2], *others] if text != right)][:3]
    draft.options = tuple(place.rng.shuffled([right, *picked]))


def _list_lures(draft: Draft) -> list[Lure]:
    """Keep of each lure what does not belong to the right list anyway."""
    out = []
    for lure in draft.lures:
        values = tuple(value for value in lure.values if value not in draft.answers)
        if values:
            out.append(Lure(lure.kind, lure.message_ids, values))
    return out


def follow_up(place: Place, topic: Topic) -> Draft | None:
    """Return a question that only its history makes clear: another order's day, the carrier, the fee."""
    if topic.kind == "eta":
        return _next_order(place, topic)
    if topic.kind == "carrier":
        return _next_carrier(place, topic)
    return _next_fee(place, topic)


def _next_order(place: Place, topic: Topic) -> Draft | None:
    customer = topic.customer
    others = (
        [place.log.topics.get(("eta", customer.index, product, "")) for product in place.log.tenant.products]
        if customer
        else []
    )
    for other in others:
        minute = asking_time(place, topic, fresh=True)
        if other is None or other is topic or customer is None or minute is None or not place.knows(customer, minute):
            continue
        gold, before = topic.holding(minute), other.holding(minute)
        if gold is None or before is None or before.values == gold.values:
            continue
        # The earlier question is about a parcel that is still to come.
        if day_number(before.values[0]) < minute // DAY or (other.until is not None and other.until <= minute):
            continue
        draft = Draft(
            log=place.log,
            asker=customer.id,
            minute=minute,
            text=place.phrase("q.eta_next", product=topic.entity),
            category="follow_up",
            answer_type="date",
            answers=gold.values,
            refs=gold.refs,
            history=(
                Turn(customer.id, place.phrase("q.eta", product=other.entity)),
                Turn("assistant", _said_date(place, before.values[0])),
            ),
        )
        first = make_lure(place.log, "other_entity", before.values, before.refs, gold.values, gold.refs)
        draft.lures = own_lures(place.log, topic, gold, minute) + ([first] if first else [])
        return draft
    return None


def _next_carrier(place: Place, topic: Topic) -> Draft | None:
    customer = topic.customer
    if customer is None:
        return None
    eta = place.log.topics[("eta", customer.index, topic.entity, "")]
    gold = topic.facts[-1]
    minute = gold.minute + 10 + place.rng.below(2 * DAY)
    day = eta.holding(minute)
    if day is None or (eta.until is not None and eta.until <= minute) or not place.knows(customer, minute):
        return None
    draft = Draft(
        log=place.log,
        asker=customer.id,
        minute=minute,
        text=place.phrase("q.carrier_next"),
        category="follow_up",
        answer_type="span",
        answers=gold.values,
        refs=gold.refs,
        history=(
            Turn(customer.id, place.phrase("q.eta", product=topic.entity)),
            Turn("assistant", _said_date(place, day.values[0])),
        ),
    )
    draft.lures = other_lures(place, topic, gold.values, minute, gold.refs)
    return draft


def _next_fee(place: Place, topic: Topic) -> Draft | None:
    minute = asking_time(place, topic, fresh=False)
    window = place.log.topics[("window", -1, "", "")]
    if minute is None:
        return None
    gold, days = topic.holding(minute), window.holding(minute)
    if gold is None or days is None:
        return None
    asker = place.rng.pick(place.log.tenant.customers).id
    draft = Draft(
        log=place.log,
        asker=asker,
        minute=minute,
        text=place.phrase("q.fee_next"),
        category="follow_up",
        answer_type="money",
        answers=gold.values,
        refs=gold.refs,
        history=(
            Turn(asker, place.phrase("q.window", brand=place.log.tenant.brand)),
            Turn("assistant", place.phrase("h.window", days=days.values[1])),
        ),
    )
    draft.lures = own_lures(place.log, topic, gold, minute) + other_lures(place, topic, gold.values, minute, gold.refs)
    return draft


def _said_date(place: Place, iso: str) -> str:
    return place.phrase("h.eta", date=say_date(place.log.language, day_number(iso), place.rng))
