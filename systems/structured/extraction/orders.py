"""Facts about orders: price, planned day, arrival, carrier, tracking, address, refund."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memtrial.systems.models.reader.value import Value
from memtrial.systems.models.reader.values_names import find_places
from memtrial.systems.structured.extraction import cues
from memtrial.systems.structured.extraction.drafts import Case, Draft
from memtrial.systems.structured.extraction.learn import digits
from memtrial.systems.structured.extraction.leftover import LABELS_EN, chunks, unlabelled
from memtrial.systems.structured.node import Fact, State

_CAPITALS = re.compile(r"\b[A-Z][\w&-]*(?:\s[A-Z][\w&-]*)*")
_VERB_ZH = re.compile(
    r"^.*(?:寄往|寄到|寄|送至|送到|送往|送|换成|换为|换|改成|改为|改到|改寄|改|到|至|往|更新为?|登记了|目的地|发往|投递至|为|是|好)(?=[\u4e00-\u9fff]{2})"
)
_LABEL_BEFORE = re.compile(
    r"^.*(?:地址(?:更新|变更|改)?|目的地|收件|address|ship-to for|ship to|goes to)\s?[:：=]?\s?", re.IGNORECASE
)


TODAY = ("today", "tonight", "今天", "今日", "今晚")


def days(case: Case) -> list[Value]:
    """Return the whole days that the text names."""
    dates = [v for v in case.said.of_kind("date") if len(v.norm) == 10]
    if not dates or case.said.language != "zh":
        return dates
    # 27号 is a house number inside an address
    places = [v for v in find_places(case.text) if digits(v.text)]
    return [v for v in dates if not any(p.start < v.end and v.start < p.end for p in places)]


def order_records(case: Case) -> Iterator[Draft]:
    """Facts from a record that names an order."""
    order = case.said.first("order")
    product = case.said.first("product")
    filed = case.learner.filed.get(order)
    if not product and filed:
        product = filed.product
    ids = (filed.message_id,) if filed and not case.said.first("product") else ()
    base = {"subject": order, "owner": case.customer, "also": (product,) if product else (), "ids": ids}
    money = case.said.of_kind("money")
    dates = days(case)
    if money:
        priced = case.memory.current((case.customer, order, "price"))
        back = bool(cues.REFUND.search(case.text)) or (priced is not None and not case.said.first("product"))
        value = money[-1]
        yield Draft("refund" if back else "price", value.norm, "money", say=value.say, **base)  # type: ignore[arg-type]
    elif dates:
        value = dates[-1]
        delivered = _has_come(case, value)
        attribute = "arrival_date" if delivered else "delivery_date"
        yield Draft(attribute, value.norm, "date", say=value.say, fact_type="event" if delivered else "plan", **base)  # type: ignore[arg-type]
        planned = case.memory.current((case.customer, order, "delivery_date"))
        later = planned is not None and planned.value < value.norm
        if not delivered and (cues.DELAYED.search(case.text) or later):
            cause = _cause(case, dates)
            yield Draft("delay", cause or "yes", "text", fact_type="event", **base)  # type: ignore[arg-type]
    else:
        numbers = [v for v in case.said.of_kind("id", "phone") if digits(v.text) >= 6]
        if numbers:
            yield Draft("tracking", numbers[-1].text, "id", **base)  # type: ignore[arg-type]
            carrier = _carrier(case.rest(numbers[-1]))
            if carrier:
                yield Draft("carrier", carrier, "name", **base)  # type: ignore[arg-type]
        elif place := address_in(case):
            yield Draft("address", place, "text", **base)  # type: ignore[arg-type]


_PLANNED = re.compile(
    r"\b(?:plan\w*|due|expected|eta|schedul\w*|set for|promised|will|to be|estimated)\b|预计|计划|预定|排程|排期|安排|拟|将|应|待|交期|交货日",
    re.IGNORECASE,
)


def _has_come(case: Case, day: Value) -> bool:
    """Whether a record tells of an arrival: it says so, or names a day that is not ahead of it and calls it no plan."""
    if cues.DELAYED.search(case.text) or day.norm > case.said.message.timestamp.date().isoformat():
        return False
    return bool(cues.DELIVERED.search(case.text)) or not _PLANNED.search(case.text)


def _cause(case: Case, dates: list[Value]) -> str:
    """Return why something is late; a label at the end belongs to it (customs check)."""
    spans = [(m.start, m.end) for m in case.said.mentions] + [(v.start, v.end) for v in dates]
    told = [piece for piece in chunks(case.text, spans) if unlabelled(piece)]
    return max((unlabelled(piece, end=case.said.language == "zh") for piece in told), key=len, default="")


def _carrier(pieces: list[str]) -> str:
    """Return the name among what is left of a shipping record: the capitals of English, the longest piece of Chinese."""
    longest = max(pieces, key=len, default="")
    capitals = [m.group() for piece in pieces for m in _CAPITALS.finditer(piece) if m.group().lower() not in LABELS_EN]
    return capitals[-1] if capitals and longest.isascii() else longest


def address_in(case: Case) -> str:
    """Return a postal address in the text, or ""."""
    if not any(c.isdigit() for c in case.text):
        return ""
    spans = [(m.start, m.end) for m in case.said.mentions]
    text = case.text
    for start, end in sorted(spans, reverse=True):
        text = f"{text[:start]}|{text[end:]}"
    places = [v for part in text.split("|") for v in find_places(part) if digits(v.text)]
    if not places:
        return ""
    place = max((v.text for v in places), key=len)
    place = _LABEL_BEFORE.sub("", place)
    return _VERB_ZH.sub("", place) if case.said.language == "zh" else place


def delivery_talk(case: Case) -> Iterator[Draft]:
    """What somebody at the desk, or the customer, says of a day on which something comes or came."""
    dates = days(case)
    product, ids = case.thing("product")
    if not dates or not product or (case.said.asks and dates[-1].text.lower() in TODAY):
        return
    value = dates[-1]
    order = case.order_of(product)
    base = {"subject": order or product, "owner": case.customer, "also": (product,), "ids": ids}
    if case.said.voice == "staff":
        state: State = "uncertain" if cues.GUESS.search(case.text) else "active"
        yield Draft("delivery_date", value.norm, "date", say=value.say, state=state, fact_type="plan", **base)  # type: ignore[arg-type]
    elif not ids and not cues.SINCE.search(case.text):
        yield Draft("arrival_date", value.norm, "date", say=value.say, fact_type="event", **base)  # type: ignore[arg-type]


def address_talk(case: Case) -> Iterator[Draft]:
    """A change of address by the customer, noted by the desk, or undone."""
    said = case.said
    last = case.focus.last("address")
    place = address_in(case)
    if place:
        product, ids = case.thing("product")
        if last is not None and last.value == place and said.voice == "staff":
            yield Draft("address", place, "text", last.subject, last.owner, ids=last.message_ids, also=_things(last))
        elif product and (said.voice == "customer" or last is not None):
            subject = case.order_of(product) or product
            yield Draft("address", place, "text", subject, case.customer, ids=ids, also=(product,))
    elif last is not None and said.voice == "customer" and cues.UNDO.search(case.text) and not said.first("product"):
        spot = (last.owner, last.subject, "address")
        history = case.memory.history.get(spot, [])
        yield Draft(
            "address",
            last.value,
            "text",
            last.subject,
            last.owner,
            "retracted",
            ids=last.message_ids,
            also=_things(last),
        )
        earlier = next((f for f in reversed(history) if f.value != last.value and f.state == "active"), None)
        if earlier is not None:
            yield Draft(
                "address", earlier.value, "text", last.subject, last.owner, ids=earlier.message_ids, also=_things(last)
            )


def _things(fact: Fact) -> tuple[str, ...]:
    return tuple(key for key in fact.entities if key.startswith(("product:", "order:")))


def refund_talk(case: Case) -> Iterator[Draft]:
    """An amount that the desk says comes back for a product."""
    money = case.said.of_kind("money")
    product, ids = case.thing("product")
    if not money or not product:
        return
    final = cues.FINAL.search(case.text)
    state: State = (
        "uncertain"
        if cues.ESTIMATE.search(case.text) and not (final and not cues.GUESS.search(case.text))
        else "active"
    )
    value = money[-1]
    subject = case.order_of(product) or product
    yield Draft("refund", value.norm, "money", subject, case.customer, state, say=value.say, ids=ids, also=(product,))


_DONE = re.compile(
    r"(?<!不)成功|(?:弄|办|搞|申请|批)好了|点头|同意了|入(?:您|账)|已经?(?:批|发|通过|到)|批(?:下来|准)?了|通过了|\b(?:has been|have been|was|went) (?:approved|granted|through|added|issued)",
    re.IGNORECASE,
)
_OPEN = re.compile(
    r"([\u4e00-\u9fff])不\1|能否|是否|要是|如果|等.{0,6}(?:批|同意|通过)|才能|\b(?:if|whether|once|until|unless|subject to)\b",
    re.IGNORECASE,
)


def vouchers(case: Case) -> Iterator[Draft]:
    """A voucher offered, granted or refused."""
    if not cues.VOUCHER.search(case.text) or not case.customer:
        return
    who = case.customer
    money = case.said.of_kind("money")
    last = next((f for f in reversed(case.memory.history.get((who, who, "voucher"), ()))), None)
    ids = last.message_ids if last and not money else ()
    maybe = bool(cues.MAYBE.search(case.text))
    refused = not money and bool(cues.REFUSED.search(case.text))
    told = cues.GRANTED.search(case.text)
    granted = (
        not refused
        and told is not None
        and (not maybe or bool(_DONE.search(case.text)))
        and not _OPEN.search(case.text)
    )
    if money:
        value = money[-1]
        state: State = "active" if granted else "uncertain"
        yield Draft("voucher", value.norm, "money", who, who, state, "promotion", say=value.say)
    if refused or granted or maybe or _OPEN.search(case.text):
        yield Draft("voucher_granted", "yes" if granted else "no", "boolean", who, who, fact_type="promotion", ids=ids)
