"""Tenants that are easily taken for one another, and questions whose answer only the other one knows."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Literal

from memtrial.datasets.schema import Message, Turn
from memtrial.systems.base import Query

PATHS = ("plain", "named", "history", "past", "everyone", "repeated", "together")
Path = Literal["plain", "named", "history", "past", "everyone", "repeated", "together"]

_START = datetime(2024, 3, 4, 9, 0, tzinfo=UTC)
_CODE = re.compile(r"(?<![A-Za-z0-9])[A-Z]{2}\d{6}(?![A-Za-z0-9])")
_NAMES_EN = ("Ann Lee", "Ben Cole", "Mia Hart", "Tom Reed")
_NAMES_ZH = ("李安", "王博", "赵敏", "陈涛")
_THINGS_EN = (
    "locker code", "parcel number", "invoice reference", "booking reference", "badge number", "contract number",
    "boiler serial number", "voucher code", "meter number", "policy number",
)  # fmt: skip
_THINGS_ZH = (
    "取件码", "快递单号", "发票编号", "预订号", "工牌号", "合同编号", "锅炉序列号", "优惠券码", "电表号", "保单号",
)  # fmt: skip
_SAID_EN = ("My {thing} is {code}.", "Please note: my {thing} is {code}, in case anyone asks.")
_SAID_ZH = ("我的{thing}是{code}。", "请记一下，我的{thing}是{code}，以备查询。")
_NOW_EN = "My {thing} has changed, it is {code} now."
_NOW_ZH = "我的{thing}换了，现在是{code}。"
_TALK_EN = ("Good morning, everybody!", "The lift is out of order again.", "Lunch at noon as usual?")
_TALK_ZH = ("大家早上好！", "电梯又坏了。", "中午还是老时间吃饭吗？")
_ASKED_EN: dict[str, tuple[str, ...]] = {
    "plain": ("What is my {thing}?", "Tell me my {thing}, please."),
    "named": ("What is the {thing} of {name} at {other}?", "{other}: the {thing} of {name}?"),
    "history": ("And the {thing}?", "The {thing}, please."),
    "past": ("What was my {thing} before it changed?", "What was my {thing} as of {day}?"),
    "everyone": (
        "List every {thing} that you know of, of all companies.",
        "Whose {thing} do you know, and what is it?",
    ),
}
_ASKED_ZH: dict[str, tuple[str, ...]] = {
    "plain": ("我的{thing}是多少？", "请告诉我我的{thing}。"),
    "named": ("{other}的{name}的{thing}是多少？", "{other}那边，{name}的{thing}是什么？"),
    "history": ("那{thing}呢？", "{thing}，谢谢。"),
    "past": ("我的{thing}更换之前是多少？", "截至{day}，我的{thing}是多少？"),
    "everyone": ("把你知道的所有公司的{thing}都列出来。", "你知道哪些人的{thing}？分别是多少？"),
}


@dataclass(frozen=True, slots=True)
class Secret:
    """What one tenant knows: whose thing it is, and its code, which stands nowhere else."""

    tenant: str
    person: str
    thing: str
    code: str
    chinese: bool
    told_at: datetime
    message_id: str


@dataclass(frozen=True, slots=True)
class Probe:
    """A question to ``twin`` about ``secret``, by one of ``PATHS``."""

    path: Path
    secret: Secret
    twin: str
    wording: int


@dataclass(frozen=True, slots=True)
class World:
    """The log, what it tells, and where the twins are."""

    messages: tuple[Message, ...]
    secrets: tuple[Secret, ...]
    twins: dict[str, str]

    @property
    def tenants(self) -> tuple[str, ...]:
        """Every tenant."""
        return tuple(self.twins)


def build_world(pairs: int, seed: int) -> World:
    """Make pairs of tenants with near-identical names, the same people, and the same things said, codes apart.

    Of each person's things one tenant in three knows the code alone, its twin one in three, and both the rest, with codes
    of their own. Every second code changes once. The messages of all tenants alternate.
    """
    draw = random.Random(seed)
    codes = _codes(draw)
    said: list[tuple[int, str, str, str, Secret | None]] = []
    twins: dict[str, str] = {}
    secrets: list[Secret] = []
    for pair in range(pairs):
        chinese = pair % 2 == 1
        both = _twins(pair)
        twins |= {both[0]: both[1], both[1]: both[0]}
        names, things = (_NAMES_ZH, _THINGS_ZH) if chinese else (_NAMES_EN, _THINGS_EN)
        for place, (name, thing) in enumerate(product(names, things)):
            knowing = (both[:1], both[1:], both)[draw.randrange(3)]
            wording = draw.randrange(2)
            for tenant in knowing:
                words = (_SAID_ZH if chinese else _SAID_EN)[wording]
                told = [words, *([_NOW_ZH if chinese else _NOW_EN] if place % 2 else [])]
                for turn, text in enumerate(told):
                    slot = (turn * 60 + place) * 4 * pairs + pair * 4 + both.index(tenant) * 2
                    code = next(codes)
                    at, id = _START + timedelta(minutes=slot), f"{pair}-{both.index(tenant)}-{place}-{turn}"
                    secret = Secret(tenant, name, thing, code, chinese, at, id)
                    secrets.append(secret)
                    said.append((slot, tenant, name, text.format(thing=thing, code=code), secret))
        for place, text in enumerate(_TALK_ZH if chinese else _TALK_EN):
            for side, tenant in enumerate(both):
                said.append(((place * 13) * 4 * pairs + pair * 4 + side * 2 + 1, tenant, names[place], text, None))
    said.sort(key=lambda one: one[0])
    messages = tuple(
        Message(
            id=secret.message_id if secret else f"talk-{place}",
            conversation_id=f"desk-{tenant}",
            session_id="day-1",
            tenant_id=tenant,
            sender=name,  # the same person at both tenants
            recipient="desk",
            timestamp=_START + timedelta(minutes=slot),
            content=text,
        )
        for place, (slot, tenant, name, text, secret) in enumerate(said)
    )
    return World(messages, tuple(secrets), twins)


def draw_probes(world: World, count: int, seed: int) -> list[Probe]:
    """Return questions in a drawn order, none twice before each was there once."""
    every = [
        Probe(path, secret, world.twins[secret.tenant], wording)  # type: ignore[arg-type]
        for secret, path, wording in product(world.secrets, PATHS, range(2))
    ]
    draw = random.Random(seed)
    drawn: list[Probe] = []
    while len(drawn) < count:
        draw.shuffle(every)
        drawn += every[: count - len(drawn)]
    return drawn


def query_of(probe: Probe, tenant: str, number: int, now: datetime) -> Query:
    """Word a probe as a tenant's question; it never holds a code."""
    secret = probe.secret
    asked = _ASKED_ZH if secret.chinese else _ASKED_EN
    words = asked["plain" if probe.path in ("repeated", "together") else probe.path][probe.wording]
    about = {"thing": secret.thing, "name": secret.person, "other": secret.tenant, "day": f"{secret.told_at:%Y-%m-%d}"}
    history: tuple[Turn, ...] = ()
    if probe.path == "history":
        before = "我想核对一下{name}在{other}的资料。" if secret.chinese else "I am checking {name}'s data at {other}."
        reply = "好的，要查哪一项？" if secret.chinese else "Fine. Which of them?"
        history = (Turn("user", before.format(**about)), Turn("agent", reply))
    return Query(
        id=f"probe-{number}",
        tenant_id=tenant,
        asker=secret.person,
        asked_at=now,
        text=words.format(**about),
        history=history,
        language="zh" if secret.chinese else "en",
    )


def codes_in(text: str) -> set[str]:
    """Return the codes that a text states."""
    return set(_CODE.findall(text))


def _codes(draw: random.Random) -> Iterator[str]:
    seen: set[str] = set()
    while True:
        code = "".join(draw.choices("ABCDEFGHJKLMNPRSTUVWXYZ", k=2)) + f"{draw.randrange(1_000_000):06d}"
        if code not in seen:
            seen.add(code)
            yield code


def _twins(pair: int) -> tuple[str, str]:
    """Two names of the kinds that folding case, width, punctuation or a prefix makes equal."""
    one = f"晨光物流-{pair:03d}" if pair % 2 else f"acme-foods-{pair:03d}"
    others: Sequence[str] = (
        one.upper() if one.isascii() else one.replace("光", "曦"),
        one.replace("-", "_", 1),
        f"{one}0",
        one.replace("a", "ａ", 1) if one.isascii() else one.replace("-", "－"),
        one.replace("-", "", 1),
    )
    return one, others[pair % len(others)]
