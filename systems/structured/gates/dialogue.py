"""What the dialogue before a question says: which matter is under way, and which things it is about."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from memtrial.systems.base import Query
from memtrial.systems.models.reader.need import MAX_QUESTION
from memtrial.systems.structured.gates.rules import points
from memtrial.systems.structured.gates.signals import read_signals
from memtrial.systems.structured.node import Entity

Knows = Callable[[str], Sequence[Entity]]
"""From a text to the entities of the memory that it names."""

ASSISTANT = frozenset({"assistant", "助手", "system", "bot"})
_MAX_ACTIVE = 8

TASKS: Mapping[str, re.Pattern[str]] = {
    "return": re.compile(r"\breturn(?:ing|s)?\b|\bsend(?:ing)? .{0,30}\bback\b|\brefund|退货|退款|想退|要退|能退|退了|换货", re.IGNORECASE),
    "complaint": re.compile(r"\bcomplain|\bbroken\b|\bfaulty\b|\bdoesn't work\b|\bticket\b|\bcase\b|投诉|故障|坏了|工单|售后|维修", re.IGNORECASE),
    "delivery": re.compile(r"\bdeliver|\bship|\bparcel\b|\bpackage\b|\bcourier\b|\bcarrier\b|\btracking\b|\barriv|\bdue\b|配送|送货|送达|快递|物流|发货|到货|几号到|哪天到|包裹", re.IGNORECASE),
    "order": re.compile(r"\border|\bpurchase|\bbuy\b|\bbought\b|\binvoice\b|订单|下单|购买|买了|发票", re.IGNORECASE),
    "appointment": re.compile(r"\bappointment|\bbook(?:ing|ed)?\b|\breserv|\bschedul|\bmeeting\b|\bvisit\b|预约|预订|上门|会议|约(?:的|在|了|到|个)|行程", re.IGNORECASE),
}  # fmt: skip
"""Matters that a dialogue can have under way, by the words that start them."""

_CLOSES = re.compile(
    r"^\W*(?:(?:ok(?:ay)?|great|perfect|right|good|alright|no)[,.! ]+)*(?:thanks?|thank you|cheers|that(?:'s| is| was) (?:all|it|everything)|nothing else|never ?mind|bye|goodbye|no more questions)\b[^?？]{0,40}$"
    r"|^\W*(?:好的?|行|嗯|明白了?|知道了|ok)?[，, ]*(?:谢谢|多谢|没别的了|没事了|没有了|不用了|就这些|就这样|算了|再见|拜拜|搞定了)[^？?]{0,12}$",
    re.IGNORECASE,
)
_FINISHED = re.compile(
    r"\b(?:all done|(?:has been|is now|have been|is) (?:completed?|processed|cancelled|closed|finished|settled)|(?:return|order|booking|request|ticket|case) (?:is )?(?:completed?|closed|done))\b"
    r"|已(?:经)?(?:完成|办好|办结|处理完|关闭|取消|结束)|办好了|处理完毕|全部完成",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class DialogueState:
    """The dialogue as the gates see it.

    Attributes:
        named: entities of the memory that the question itself names.
        active: entities that the dialogue named before, newest first.
        task: the matter under way, a name out of ``TASKS``, or "".
        asked_before: what the other side asked last, or "".
        needed: whether that needed memory; None where nothing was asked.
    """

    named: tuple[Entity, ...] = ()
    active: tuple[Entity, ...] = ()
    task: str = ""
    asked_before: str = ""
    needed: bool | None = None


def read_dialogue(query: Query, knows: Knows | None = None, *, turns: int = 8) -> DialogueState:
    """Read the state off a question's history.

    Args:
        query: the question.
        knows: finds the entities of the memory in a text; None finds none.
        turns: earlier turns that are read, the newest.
    """
    find: Knows = (lambda text: written(text, knows(text))) if knows else (lambda text: ())
    task, asked = "", ""
    needed: bool | None = None
    active: dict[str, Entity] = {}
    for turn in query.history[-turns:]:
        text = turn.text[:MAX_QUESTION]
        if turn.speaker.lower() in ASSISTANT:
            if _FINISHED.search(text):
                task = ""
        elif _CLOSES.search(text):
            task, asked, needed = "", "", None
            active.clear()
            continue
        else:
            task = task_of(text) or task
            before = Query(query.id, query.tenant_id, query.asker, query.asked_at, text, language=query.language)
            signals = read_signals(before, find(text))
            if "small_talk" not in signals.fired:
                # a follow-up of a follow-up: what shows no sign of its own needs what the one before it needed
                own = points(signals)
                asked, needed = text, (own > 0 if own or needed is None else needed)
        for entity in find(text):
            active.pop(entity.key, None)
            active[entity.key] = entity
    newest = tuple(reversed(active.values()))[:_MAX_ACTIVE]
    return DialogueState(tuple(find(query.text)), newest, task, asked, needed)


def task_of(text: str) -> str:
    """Return the matter that a turn is about, or ""."""
    return next((name for name, pattern in TASKS.items() if pattern.search(text)), "")


def written(text: str, entities: Sequence[Entity]) -> list[Entity]:
    """Leave out people who are not written in the text: whoever resolves "my" adds the asker, whom no word of it names."""
    folded = text.casefold()
    return [e for e in entities if e.kind != "person" or any(n.casefold() in folded for n in (e.name, *e.aliases) if n)]
