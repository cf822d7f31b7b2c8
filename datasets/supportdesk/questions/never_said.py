"""Questions that sound as if the log had the answer, and it has not."""

from __future__ import annotations

from collections.abc import Iterator

from memtrial.datasets.supportdesk.questions.base import Draft, Place, other_lures
from memtrial.datasets.supportdesk.questions.single import RECIPES
from memtrial.datasets.supportdesk.world import Person, Topic

_PERSONAL = ("serial", "colour", "occasion", "tracking", "address")
_TRIES = 2_000
"""Most draws find the question answerable, asked before, or without temptation."""

_NOWHERE = ("q.un_driver", "q.un_box", "q.un_warehouse")


def unanswerable(place: Place) -> Iterator[Draft]:
    """Yield such questions: most have a tempting answer about somebody or something else."""
    rng = place.rng
    seen: set[tuple[str, int, str, str]] = set()
    for _ in range(_TRIES):
        roll = rng.below(100)
        if roll < 4:
            draft = _nowhere(place, seen)
        else:
            draft = _personal(place, seen) if roll < 70 else _undocumented(place, seen)
            if draft is not None and not draft.lures and rng.chance(80):
                continue
        if draft is not None:
            yield draft


def _bought(place: Place) -> tuple[Person, str] | None:
    """Pick a customer who has written, with a product that the log ties to them."""
    if not place.log.orders:
        return None
    order = place.rng.pick(place.log.orders)
    return (order.customer, order.product) if place.knows(order.customer, place.end) else None


def _personal(place: Place, seen: set[tuple[str, int, str, str]]) -> Draft | None:
    picked = _bought(place)
    if picked is None:
        return None
    customer, product = picked
    kind = place.rng.pick(_PERSONAL)
    key = (kind, customer.index, product, "")
    if key in seen or key in place.log.topics:
        return None
    seen.add(key)
    recipe = RECIPES[kind]
    draft = _draft(place, customer.id, place.phrase(recipe.own, product=product), recipe.answer_type)
    draft.lures = other_lures(place, Topic(kind, customer, product), (), draft.minute, ())
    return draft


def _undocumented(place: Place, seen: set[tuple[str, int, str, str]]) -> Draft | None:
    """An attribute or a feature that no sheet of the product mentions."""
    log, rng = place.log, place.rng
    customer, product = rng.pick(log.tenant.customers), rng.pick(log.tenant.products)
    kind = rng.pick(("spec", "spec_num"))
    detail = rng.pick(log.bank.values["feature"])[0] if kind == "spec" else rng.pick(log.pool.attributes)[0]
    key = (kind, -1, product, detail)
    if key in seen or key in log.topics:
        return None
    seen.add(key)
    recipe = RECIPES[kind]
    text = place.phrase(recipe.own, product=product, feature=detail, attribute=detail)
    draft = _draft(place, customer.id, text, recipe.answer_type)
    topic = Topic(kind, None, product, detail)
    draft.lures = other_lures(place, topic, (), draft.minute, (), valued=kind != "spec")
    return draft


def _nowhere(place: Place, seen: set[tuple[str, int, str, str]]) -> Draft | None:
    picked = _bought(place)
    if picked is None:
        return None
    customer, product = picked
    intent = place.rng.pick(_NOWHERE)
    key = (intent, customer.index, product, "")
    if key in seen:
        return None
    seen.add(key)
    return _draft(place, customer.id, place.phrase(intent, product=product), "span")


def _draft(place: Place, asker: str, text: str, answer_type: str) -> Draft:
    return Draft(
        log=place.log,
        asker=asker,
        minute=place.after_end(),
        text=text,
        category="unanswerable",
        answer_type=answer_type,
        answerable=False,
    )
