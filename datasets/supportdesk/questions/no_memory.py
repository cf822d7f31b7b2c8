"""Questions for which no memory should be looked up.

Almost all have one checkable short answer, so that they are ``correct`` or not like any other question: sums, general
knowledge, spelling, a greeting to repeat. About one in ten asks for what nobody can know from a log or by heart (the
weather, the time): these are not answerable, and the right outcome is to say so.
"""

from __future__ import annotations

from collections.abc import Iterator

from memtrial.datasets.supportdesk.questions.base import Draft, Place
from memtrial.datasets.supportdesk.text import day_count_forms, full_date, money_forms, say_money

_LIVE = "n.live"
_SUMS = ("n.percent", "n.total", "n.split", "n.days", "n.unit")
_HAND = (*("sum",) * 5, *("n.general",) * 2, "n.writing", "n.smalltalk", _LIVE)
"""What each ten of a tenant's questions of this sort consist of."""


def no_memory(place: Place) -> Iterator[Draft]:
    """Yield such questions without end."""
    rng = place.rng
    while True:
        for key in rng.shuffled(_HAND):
            if key == "sum":
                yield _sum(place, rng.pick(_SUMS))
            elif key == _LIVE:
                draft = _draft(place, place.phrase(_LIVE), "free", ())
                draft.answerable = False
                yield draft
            else:
                yield _pair(place, key)


def _pair(place: Place, key: str) -> Draft:
    text, answers = place.rng.pick(place.log.bank.pairs[key])
    digits = any(answer.replace(",", "").isdigit() for answer in answers)
    return _draft(place, text, "number" if digits else "span", answers)


def _sum(place: Place, intent: str) -> Draft:
    rng, lang = place.rng, place.log.language
    n = rng.between(2, 9)
    if intent == "n.percent":
        # Hundreds keep every percentage exact to the cent.
        base, percent = 100 * rng.between(2, 90), 5 * rng.between(1, 9)
        text = place.phrase(intent, p=percent, money=say_money(lang, 100 * base))
        return _draft(place, text, "money", money_forms(lang, percent * base))
    if intent == "n.total":
        cents = 10 * rng.between(25, 990)
        return _draft(
            place, place.phrase(intent, n=n, money=say_money(lang, cents)), "money", money_forms(lang, n * cents)
        )
    if intent == "n.split":
        cents = 10 * rng.between(25, 990)
        text = place.phrase(intent, n=n, money=say_money(lang, n * cents))
        return _draft(place, text, "money", money_forms(lang, cents))
    if intent == "n.days":
        first = rng.between(10, 300)
        days = rng.between(3, 90)
        text = place.phrase(intent, date=full_date(lang, first), date2=full_date(lang, first + days))
        return _draft(place, text, "duration", day_count_forms(lang, days))
    length = rng.between(12, 240)
    unit = "毫米" if lang == "zh" else " mm"
    return _draft(place, place.phrase(intent, n=length), "number", (str(10 * length), f"{10 * length}{unit}"))


def _draft(place: Place, text: str, answer_type: str, answers: tuple[str, ...]) -> Draft:
    log, rng = place.log, place.rng
    people = [person.id for person in log.tenant.customers if place.knows(person, place.end)]
    asker = rng.pick(people) if people and rng.chance(75) else place.staff()[0]
    minute = place.after_end()
    if rng.chance(35):
        # No earlier than the asker's first message: until then the log does not say who that is.
        first = log.heard.get(asker, 0)
        minute = first + 5 + rng.below(max(1, place.end - first))
    return Draft(
        log=log,
        asker=asker,
        minute=minute,
        text=text,
        category="no_memory",
        answer_type=answer_type,
        answers=answers,
        needs_memory=False,
    )
