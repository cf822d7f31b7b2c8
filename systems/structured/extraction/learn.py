"""Learning who and what a tenant's log speaks of, message by message: people, codes, products, merchants."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from memtrial.systems.models.reader.value import Value
from memtrial.systems.models.reader.values_names import SURNAMES
from memtrial.systems.structured.extraction.catalogue import Catalogue
from memtrial.systems.structured.extraction.folding import key_of
from memtrial.systems.structured.extraction.kin import brought_up
from memtrial.systems.structured.extraction.leftover import unlabelled
from memtrial.systems.structured.extraction.lexicon import Lexicon, Mention
from memtrial.systems.structured.extraction.said import Said
from memtrial.systems.structured.node import EntityKind

_HAN = "\u4e00-\u9fff"
_NAME_EN = r"[A-Z][\w'’.-]+(?:\s(?:de|van|von|der|da|la|al|bin)\b)*(?:\s[A-Z][\w'’.-]+){1,2}"
_LABEL_EN = r"(?:(?:customer|cust|client|account|acct|member)\b\.?\s?)?(?:(?:no|nr|num|number|id|ref)\b\.?:?\s?)?"
_BEFORE_EN = re.compile(rf"({_NAME_EN})\s?[\s(\[/,#:|–-]{{1,3}}{_LABEL_EN}[#(\[]?$", re.ASCII)
_AFTER_EN = re.compile(rf"^[\s)\]/,(:|–-]{{1,3}}({_NAME_EN})")
_CUSTOMER_LABEL = re.compile(
    r"(?:\b(?:customer|cust|client|account|acct|member)\b\.?\s?(?:(?:no|nr|num|number|id|ref)\b\.?)?|(?:客户|会员|用户|顾客)(?:编号|号码?|ID)?)\s?[:：#(（\[]?\s?$",
    re.IGNORECASE,
)
_BEFORE_ZH = re.compile(
    rf"([{_HAN}]{{2,12}}?)\s?[\s(（\[【/:：,，；;｜|]{{0,2}}(?:(?:客户|会员|用户|顾客)?(?:编号|号码?|ID)[:：]?)?$"
)
_AFTER_ZH = re.compile(rf"^[\s)）\]】/:：,，（(｜|]{{0,2}}([{_HAN}]{{2,8}})")
_TICKET_CUE = re.compile(
    r"\b(?:ticket|case|complaint|claim|incident|issue)\b|工单|投诉|受理|售后|报修|服务单|案件|反馈单", re.IGNORECASE
)
_ORDER_CUE = re.compile(
    r"\b(?:order|purchase|SO|PO|bought|ship\w*|deliver\w*)\b|订单|下单|新单|购买|配送|发货|送达|签收"
)
_ACCOUNT_CUE = re.compile(
    r"\b(?:cust\w*|account|client|owner|member)\b|\b(?:assigned|handed|transferred|looked after|looks after|in charge|responsible)\b|客户|会员|用户|账户|归属|负责|转交|移交|对接|接手|专员|顾问|管家|经理",
    re.IGNORECASE,
)
_NOT_NAMES = frozenset(
    {"new", "order", "case", "complaint", "account", "owner", "customer", "cust", "ticket", "client"}
)
_ORG = re.compile(
    r"\b(?:[A-Z][\w&'’-]+\s){1,3}(?:Ltd|Inc|GmbH|Corp|LLC|Co|Group|Company|Bank|University|Hospital|Airlines)\b\.?"
    rf"|(?<![{_HAN}])[{_HAN}]{{2,8}}(?:公司|集团|银行)"
)
_SURNAMES = frozenset(SURNAMES + "阿小老")


@dataclass(frozen=True, slots=True)
class Filed:
    """What an order or a ticket is about: keys of customer and product, and the message that says so."""

    customer: str
    product: str
    message_id: str


def digits(text: str) -> int:
    """Count the digits of a text."""
    return sum(c.isdigit() for c in text)


def signature(code: str) -> str:
    """Return the shape of a code: letters and digits by how many stand together (``TB-10442`` is ``A2-D5``)."""
    return re.sub(r"[A-Za-z]+|\d+", lambda m: f"{'D' if m[0].isdigit() else 'A'}{len(m[0])}", code)


class Learner:
    """The dictionaries of one tenant.

    Attributes:
        lexicon: entities met so far.
        filed: orders and tickets by key.
    """

    def __init__(self, tenant: str) -> None:
        """Start empty."""
        self.lexicon = Lexicon(tenant)
        self.filed: dict[str, Filed] = {}
        self.senders: dict[str, str] = {}
        self._owner_of: dict[str, str] = {}
        self._shapes: dict[str, Counter[str]] = {}
        self._catalogue = Catalogue(self.lexicon)

    def person(self, ident: str, name: str) -> str:
        """Return the key of who goes by a sender id; equal names of different ids are different people."""
        key = self.senders.get(ident)
        if key is not None:
            return key
        name = name.strip() or ident
        known = self.lexicon.entities.get(f"person:{key_of(name)}")
        taken = known is not None and self._owner_of.get(known.key, ident) != ident
        first = name.split(" ")[0] if " " in name else ""
        aliases = [a for a in (first, ident) if a and a != name]
        entity = self.lexicon.add("person", name, *aliases, ident=ident if taken else "")
        self.senders[ident] = entity.key
        self._owner_of.setdefault(entity.key, ident)
        return entity.key

    def read(self, said: Said) -> None:
        """Learn from a message, then fill in who speaks and what it names."""
        message = said.message
        if said.voice != "record":
            said.speaker = self.person(message.sender, message.sender_name)
        if message.recipient and message.recipient != message.tenant_id:
            name = str(message.extra.get("recipient_name") or "")
            if name or message.recipient in self.senders:
                self.person(message.recipient, name or message.recipient)
        codes = [v for v in said.values if v.kind == "id" and (digits(v.text) >= 4 or v.text.startswith("#"))]
        if not said.injected:
            if said.voice == "record":
                codes = self._customers(said, codes)
            self._codes(said, codes)
            self._catalogue.read(said)
            if said.voice in ("person", "customer"):
                for name in brought_up(said.text):
                    if self.lexicon.lookup(name) is None:
                        self.lexicon.add("person", name, *([name.split(" ")[0]] if " " in name else []))
            for match in _ORG.finditer(said.text):
                self.lexicon.add("organisation", unlabelled(match.group()) or match.group())
            for value in said.values:
                if value.kind in ("email", "phone"):
                    self.lexicon.add("contact", value.text)
        said.mentions = self.lexicon.find(said.text)
        self._whose(said)

    def _whose(self, said: Said) -> None:
        message = said.message
        if said.voice == "customer":
            said.customer = said.speaker
        elif said.voice == "staff":
            said.customer = self.senders.get(message.recipient, "")
        elif said.voice == "record":
            for key in said.all("order", "ticket"):
                if (filed := self.filed.get(key)) and filed.customer:
                    said.customer = filed.customer
                    return
            numbered = [m.key for m in said.mentions if m.kind == "person" and self._numbered(said, m)]
            people = numbered or said.all("person")
            said.customer = people[0] if people else ""
        elif said.voice == "person" or message.source == "email":
            said.customer = said.speaker

    def _numbered(self, said: Said, mention: Mention) -> bool:
        """Whether the person is known by a customer number (those who work at the desk are not)."""
        return any(a and digits(a) >= 4 and len(a) <= 12 for a in self.lexicon.entities[mention.key].aliases)

    def _customers(self, said: Said, codes: list[Value]) -> list[Value]:
        """Tie customer numbers to the names beside them; return the other codes."""
        known = [self.lexicon.lookup(v.text) for v in codes]
        if any(k is not None and k.kind == "person" for k in known):
            return [v for v, k in zip(codes, known, strict=True) if k is None or k.kind != "person"]
        open_codes = list(codes)
        near: list[tuple[int, int, Value, str]] = []
        for value in codes:
            shape = self._shape(value.text)
            named = shape == "customer" or any(c.isalpha() for c in value.text)
            if named and shape not in ("order", "ticket"):
                gap, name = self._beside(said, value)
                if name:
                    near.append((shape != "customer", gap, value, name))
        if not near:
            for value in open_codes:
                if _CUSTOMER_LABEL.search(said.text[: value.start]) and self._shape(value.text) not in (
                    "order",
                    "ticket",
                ):
                    self._vote(value.text, "customer")
            return [v for v in open_codes if self._shape(v.text) != "customer"]
        # Of two codes beside a name, the customer's number is the one that stands closer.
        other_shape, _, value, name = min(near, key=lambda n: (n[0], n[1], -n[2].start))
        # a lone code is the person's too where record and name stand side by side and neither a ticket nor goods are spoken of
        lone = other_shape and len(codes) < 2 and not _ACCOUNT_CUE.search(said.text)
        if lone and (
            min(near, key=lambda n: (n[0], n[1]))[1] > 1
            or _TICKET_CUE.search(said.text)
            or _ORDER_CUE.search(said.text)
        ):
            return open_codes
        self._vote(value.text, "customer")
        holder = self.lexicon.lookup(name)
        if holder is not None and holder.kind == "person":
            self.lexicon.add("person", holder.name, value.text, ident=holder.key.partition("#")[2])
        else:
            first = name.split(" ")[0] if " " in name else ""
            self.lexicon.add("person", name, value.text, *([first] if first else []))
        return [v for v in open_codes if v is not value]

    def _beside(self, said: Said, value: Value) -> tuple[int, str]:
        """Return the name before or after a code and how many characters lie between; an open bracket counts less."""
        before, after = said.text[: value.start], said.text[value.end :]
        found: list[tuple[int, int, str]] = []
        english = said.language == "en"
        for match, left in (
            ((_BEFORE_EN if english else _BEFORE_ZH).search(before), True),
            ((_AFTER_EN if english else _AFTER_ZH).search(after), False),
        ):
            name = "" if not match else self._name_en(match[1]) if english else self._name_zh(match[1], left)
            if match and name:
                gap = len(match.group()) - len(match[1])
                gap = 0 if left and _CUSTOMER_LABEL.search(before) else gap
                gap -= 2 if left and before.endswith(("(", "[", "（", "【")) else 0
                found.append((gap, not left, name))
        gap, _, name = min(found, default=(0, 0, ""))
        return gap, name

    def _name_en(self, words_found: str) -> str:
        words = words_found.split()
        while words and words[0].lower() in _NOT_NAMES:
            words.pop(0)
        return " ".join(words) if len(words) > 1 and not digits(words_found) else ""

    def _name_zh(self, run: str, left: bool) -> str:
        """Return the name at the inner end of a run of Chinese characters beside a number."""
        for size in (4, 3, 2):
            part = run[-size:] if left else run[:size]
            entity = self.lexicon.lookup(part)
            if entity is not None and entity.kind == "person":
                return part
        name = unlabelled(run)
        if 2 <= len(name) <= 3 and name[0] in _SURNAMES:
            return name
        for size in (3, 2):
            part = run[-size:] if left else run[:size]
            if len(name) > 3 and len(part) == size and part[0] in _SURNAMES and part == unlabelled(part):
                return part
        return ""

    def _shape(self, code: str) -> str:
        votes = self._shapes.get(signature(code))
        return votes.most_common(1)[0][0] if votes else ""

    def _vote(self, code: str, kind: str) -> None:
        self._shapes.setdefault(signature(code), Counter())[kind] += 1

    def _codes(self, said: Said, codes: list[Value]) -> None:
        for value in codes:
            known = self.lexicon.lookup(value.text)
            if known is not None:
                continue
            shape = self._shape(value.text)
            if not any(c.isalpha() for c in value.text) and not value.text.startswith("#") and not shape:
                continue  # a bare number is a tracking or telephone number until its kind was met
            kind = shape if shape in ("order", "ticket") else self._kind_of_code(said, value) if not shape else ""
            if kind == "order" or kind == "ticket":
                self._vote(value.text, kind)
                self.lexicon.add("order" if kind == "order" else "ticket", value.text.lstrip("#"))

    def _kind_of_code(self, said: Said, value: Value) -> EntityKind | None:
        near = said.text[max(0, value.start - 24) : value.start]
        alone = sum(v.kind == "id" and digits(v.text) >= 4 for v in said.values) == 1
        for text in (near, said.text) if alone or said.voice != "record" else (near,):
            ticket, order = _TICKET_CUE.search(text), _ORDER_CUE.search(text)
            if bool(ticket) != bool(order):
                return "ticket" if ticket else "order"
        if said.voice == "record":
            money = any(v.kind == "money" for v in said.values)
            return "order" if money or said.message.source in ("erp", "oms", "wms") else "ticket"
        return "ticket" if said.voice == "staff" else None
