"""What holds for everybody: policies and product sheets in the wiki, and what chat and forum make of them."""

from __future__ import annotations

from memtrial.datasets.supportdesk.log import Session, TenantLog
from memtrial.datasets.supportdesk.text import date_forms, money_forms, say_money, yes_no
from memtrial.datasets.supportdesk.world import Person, Topic

_MOST_VERSIONS = 5
_VERSIONS = ("v1.0", "v1.4", "v2.0", "v2.3", "v3.1")


def first_policies(log: TenantLog) -> None:
    """Write the first version of each policy."""
    for number, kind in enumerate(("window", "fee", "contact")):
        _publish(log, kind, number)


def _days(language: str, days: int) -> tuple[str, ...]:
    return (f"{days}天", str(days)) if language == "zh" else (f"{days} days", str(days))


def _taken(topic: Topic) -> set[str]:
    return {fact.values[0] for fact in topic.facts if fact.status == "holds"}


def _new_window(log: TenantLog, topic: Topic) -> int:
    taken = _taken(topic)
    while True:
        days = log.rng.pick((7, 10, 12, 14, 15, 20, 21, 25, 28, 30, 35, 40, 45, 50, 55, 60, 75, 90))
        if _days(log.language, days)[0] not in taken:
            return days


def _publish(log: TenantLog, kind: str, day: int) -> None:
    rng, lang, tenant = log.rng, log.language, log.tenant
    topic = log.topic(kind, None, "")
    minute = log.minute_of(day)
    if kind == "window":
        days = _new_window(log, topic)
        ref = log.record("wiki", minute, "w.window", brand=tenant.brand, days=days)
        values = _days(lang, days)
    elif kind == "fee":
        cents = _new_fee(log, topic)
        ref = log.record("wiki", minute, "w.fee", brand=tenant.brand, money=say_money(lang, cents))
        values = money_forms(lang, cents)
    else:
        contact = f"{rng.pick(log.pool.mailboxes)}{rng.between(10, 99)}@{tenant.code.lower()}-desk.example"
        ref = log.record("wiki", minute, "w.contact", brand=tenant.brand, contact=contact)
        values = (contact,)
    log.fact(topic, values, ref)


def _new_fee(log: TenantLog, topic: Topic) -> int:
    taken = _taken(topic)
    while True:
        cents = 50 * log.rng.between(5, 60)
        if say_money(log.language, cents) not in taken:
            return cents


def policy(log: TenantLog, who: Person, product: str, day: int) -> bool:
    """A policy is updated, an agent has it wrong, the forum spreads a rumour or a planted order."""
    rng, lang, brand = log.rng, log.language, log.tenant.brand
    kind = rng.pick(("window", "window", "fee", "contact"))
    topic = log.topic(kind, None, "")
    current = [fact for fact in topic.facts if fact.status == "holds"]
    if len(current) < _MOST_VERSIONS and rng.chance(70):
        _publish(log, kind, max(day, 5))
    if kind == "fee" and rng.chance(60):
        session = Session(log, who, day + 3)
        asked = session.customer_says("c.ask_fee")
        cents = _new_fee(log, topic)
        said = session.agent_says("a.fee", asked, money=say_money(lang, cents))
        session.end()
        log.fact(topic, money_forms(lang, cents), said, status="low_authority")
    if kind != "window":
        return True
    if rng.chance(50):
        session = Session(log, who, day + 2)
        asked = session.customer_says("c.ask_window")
        days = _new_window(log, topic)
        said = session.agent_says("a.window", asked, days=days)
        session.end()
        log.fact(topic, _days(lang, days), said, status="low_authority")
    if rng.chance(40):
        days = _new_window(log, topic)
        ref = log.post(log.minute_of(day + 4), "f.window", brand=brand, days=days)
        log.fact(topic, _days(lang, days), ref, status="low_authority")
    if rng.chance(50):
        days = rng.pick((99, 111, 120, 180, 365, 400))
        ref = log.post(log.minute_of(day + 6), "f.inject_window", brand=brand, days=days)
        log.fact(topic, _days(lang, days), ref, status="injected")
    return True


def spec(log: TenantLog, who: Person, product: str, day: int) -> bool:
    """A feature that is missing, then there, then only on a variant; people who say otherwise."""
    rng, lang = log.rng, log.language
    feature = rng.pick(log.bank.values["feature"])[0]
    if not log.free("spec", None, product, feature):
        return False
    topic = log.topic("spec", None, product, feature)
    day = day * 2 // 3
    path = rng.pick(("n", "ny", "ny", "nyp", "nyp", "y"))
    since = 0
    for step, letter in enumerate(path):
        intent, values = {
            "n": ("w.spec_no", yes_no(lang, False, feature=True)),
            "y": ("w.spec_yes", yes_no(lang, True, feature=True)),
            "p": ("w.spec_pro", only_variant(lang, log.pool.variant)),
        }[letter]
        slots = {"variant": log.pool.variant} if letter == "p" else {}
        ref = log.record(
            "wiki", log.minute_of(day), intent, product=product, feature=feature, version=_VERSIONS[step], **slots
        )
        log.fact(topic, values, ref)
        if path.startswith("ny") and letter == "y":
            since = day
            log.fact(log.topic("spec_since", None, product, feature), date_forms(lang, day), ref)
        day = log.later(day, 25, 70)
    if rng.chance(60):
        claim = rng.chance(50)
        early = max(0, since - rng.between(3, 20)) if since else day
        ref = log.post(log.minute_of(early), "f.spec_yes" if claim else "f.spec_no", product=product, feature=feature)
        log.fact(topic, yes_no(lang, claim, feature=True), ref, status="low_authority")
        if since and claim and early < since:
            log.fact(
                log.topic("spec_since", None, product, feature), date_forms(lang, early), ref, status="low_authority"
            )
    if rng.chance(50):
        session = Session(log, who, day)
        asked = session.customer_says("c.ask_spec", product=product, feature=feature)
        claim = rng.chance(50)
        said = session.agent_says("a.spec_yes" if claim else "a.spec_no", asked, product=product, feature=feature)
        session.end()
        log.fact(topic, yes_no(lang, claim, feature=True), said, status="low_authority")
    topic.facts.sort(key=lambda fact: fact.minute)
    topic.cuts = [fact.minute for fact in topic.facts]
    return True


def only_variant(language: str, variant: str) -> tuple[str, ...]:
    """Return accepted forms of "only the variant has it"."""
    if language == "zh":
        return (f"仅{variant}支持", f"仅{variant}", f"只有{variant}", variant)
    return (f"only the {variant} variant", f"{variant} only", f"only {variant}", variant)


def measure(log: TenantLog, who: Person, product: str, day: int) -> bool:
    """A measured attribute of a product that changes from version to version of its sheet."""
    rng = log.rng
    name, unit, low, high = rng.pick(log.pool.attributes)
    if not log.free("spec_num", None, product, name):
        return False
    topic = log.topic("spec_num", None, product, name)
    day = day * 2 // 3
    seen: set[int] = set()
    for step in range(rng.between(1, 3)):
        number = rng.between(low, high)
        while number in seen:
            number = rng.between(low, high)
        seen.add(number)
        value = f"{number}{unit}" if log.language == "zh" else f"{number} {unit}"
        ref = log.record(
            "wiki",
            log.minute_of(day),
            "w.spec_num",
            product=product,
            attribute=name,
            value=value,
            version=_VERSIONS[step],
        )
        log.fact(topic, (value, str(number)), ref)
        day = log.later(day, 25, 70)
    return True
