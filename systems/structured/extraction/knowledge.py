"""Facts that hold for everybody: policies, what a product can do, stock; and who looks after an account."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memtrial.systems.models.reader.value import Value
from memtrial.systems.structured.extraction import cues
from memtrial.systems.structured.extraction.drafts import Case, Draft
from memtrial.systems.structured.extraction.folding import key_of
from memtrial.systems.structured.extraction.learn import digits
from memtrial.systems.structured.extraction.leftover import chunks, unlabelled
from memtrial.systems.structured.node import State

RETURNS = "topic:returns"
_VERSION = re.compile(
    r"(?<![A-Za-z0-9.])(?:v|ver\.?|version|rev\.?|版本)\s?\d+(?:\.\d+)*(?![A-Za-z0-9]|\.\d)|(?<![A-Za-z0-9.])\d+\.\d+(?:\.\d+)+",
    re.IGNORECASE,
)
_QUANTITY = re.compile(r"(?<![A-Za-z0-9.-])\d+(?:[.,]\d+)?\s?(?:[A-Za-zµ°Ω%\"]{1,9}|[\u4e00-\u9fff]{1,3})?(?![\w-])")
_POLARITY = re.compile(
    r"\b(?:is |are |was |has been )?(?:not supported|not offered|offers?|offered|provides?|provided|requires?|required|needs|comes without|without|lacks|lacking|missing|removed|dropped|added|features|unsupported|supported|not available|unavailable|available|included|not included|limited to|restricted to|reserved for|exclusive(?:ly)? (?:on|to|for)|only on|only|exclusively|works?|does|doesn't|does not|has no|has|no|comes? with|come with|handles|lacks|can't do|cannot|can do|yes|sure|yep|nope|tried|runs?|pretty sure|variant|edition|model|on the|in the|of the|as of|for)\b"
    r"|[✓✔√✗✘×]|(?:未|不)(?:提供|具备|具有|配备|搭载)|(?:新增|增加|提供|具备|具有|配备|搭载)|独有|特有|才有|上有|只在|移除(?:了)?|取消了?"
    r"|(?<![\u4e00-\u9fff])(?:是|否)(?![\u4e00-\u9fff])|不支持|支持|不可用|可用|不含|只有|仅|只开放给|专属|标注|没有|不带|(?:(?<=[\x00|｜：:，,）)])|^)\s?(?:含|无(?!线)|限|带|为|的)",
    re.IGNORECASE,
)
_MODEL_WORD = re.compile(r"\s(?:models?|variants?|editions?|units?|devices?|versions?|trims?)$", re.IGNORECASE)
_VARIANT_ZH = re.compile(
    r"(?:仅限?|只有|只开放给|只在|仅限于?|限|专供|仅供)\s?(?P<after>[A-Za-z+]+\s?[款版型]?|[\u4e00-\u9fff]{1,3}[款版型])(?:带|使用|支持|可用|有|上)?"
    r"|(?P<before>[A-Za-z+]+\s?[款版型]|[\u4e00-\u9fff]{1,3}[款版型])(?:专属|限定|独有|特有|才有|独占|独享|专有)"
)
_VARIANT = re.compile(r"^(?:[A-Z][\w+-]*(?:\s[A-Z][\w+-]*)?|[A-Za-z+]+\s?[款版型]|[\u4e00-\u9fff]{1,4}[款版型])$")


def policies(case: Case) -> Iterator[Draft]:
    """Return window, fee and contact: from the wiki, the desk, or hearsay."""
    said = case.said
    if said.first("order", "ticket", "product"):
        return
    about_returns = bool(cues.RETURN.search(case.text))
    voice = said.voice
    asked = case.focus.asked if voice == "staff" else ""
    brand = said.first("organisation")
    counts = [v for v in said.of_kind("duration") if v.norm.split(" ")[-1].startswith(("day", "workday"))]
    money, mails = said.of_kind("money"), said.of_kind("email")
    ids = (case.focus.asked_in,) if asked and case.focus.asked_in else ()
    if asked not in ("", "return_window", "return_fee") or (voice == "staff" and cues.VOUCHER.search(case.text)):
        return
    heard = voice == "public" and (brand or about_returns)
    on_record = voice == "record" and (about_returns or bool(brand))
    found: list[tuple[str, Value, str]] = []
    if counts and (on_record or heard or asked == "return_window" or (voice == "staff" and about_returns)):
        found.append(("return_window", counts[-1], "quantity"))
    elif money and (
        on_record or asked == "return_fee" or (voice == "staff" and about_returns and not case.focus.products)
    ):
        found.append(("return_fee", money[-1], "money"))
    elif mails and on_record:
        found.append(("return_contact", mails[-1], "id"))
    for attribute, value, kind in found:
        if voice == "record" and not brand:
            brand = _brand(case, value)
        doubtful = voice == "public" or (voice == "staff" and cues.GUESS.search(case.text))
        state: State = "uncertain" if doubtful else "active"
        text = value.text if kind == "id" else value.norm
        also = (brand,) if brand else ()
        yield Draft(attribute, text, kind, RETURNS, "", state, "policy", value.say, ids, also)


def _brand(case: Case, value: Value) -> str:
    """Learn whose policy a record tells: what is left of it."""
    names = [n for n in case.rest(value) if not digits(n) and len(n) > 1 and (n[0].isupper() or not n.isascii())]
    if not names:
        return ""
    return case.learner.lexicon.add("organisation", max(names, key=len)).key


def features(case: Case) -> Iterator[Draft]:
    """What a product can do or measures, from its sheet; and what people say of a feature that a sheet has named."""
    said = case.said
    product = said.first("product")
    if said.voice == "record":
        version = _VERSION.search(case.text)
        if product and version and not said.first("order", "ticket"):
            yield from _sheet(case, product, version)
        return
    known = [k for k in said.all("topic") if k in case.memory.features]
    ids: tuple[str, ...] = ()
    if not product and said.voice == "staff":
        product, ids = case.thing("product")
    if not product or not known or said.asks or said.voice == "customer":
        return
    kind = case.memory.features[known[0]]
    if kind == "supports":
        value = "no" if _denied(case, case.name(known[0])) else "yes"
        state: State = "uncertain" if cues.GUESS.search(case.text) else "active"
        yield Draft(
            f"supports:{case.name(known[0])}",
            value,
            "boolean",
            product,
            "",
            state,
            "product",
            ids=ids,
            also=(known[0],),
        )


def _denied(case: Case, name: str) -> bool:
    """Whether a text denies a feature; a negation inside the feature's own name is none."""
    text = case.text
    for mention in sorted(case.said.mentions, key=lambda m: -m.start):
        text = f"{text[: mention.start]}\x01{text[mention.end :]}"
    text = text.replace(name, "\x01")
    text = re.sub(
        r"no problem|don't listen|trust me|没问题|谁说.{0,6}没|别瞎说|no doubt|why not", " ", text, flags=re.IGNORECASE
    )
    return bool(cues.NOT_SUPPORTED.search(text))


_EDGE = re.compile(
    r"^(?:起|自|从|已经?|不再|不能|不会|不可|无法|没有|未|可以?|能够|可用|会|将|仍|暂|尚|有|带|使用|用|的|为|是|对)+(?=[\u4e00-\u9fffA-Za-z]{2})"
    r"|(?:已经?|不再|起|的?功能|缺失|限定|了|的)+$"
    r"|^(?:(?:can|cannot|can't|could|do|does|did|will|won't|to|be|is|are|isn't|not|no|any|longer|its|the|a|an|now|still|also|just)\s)+|\s(?:is|are|now|anymore|any more|too|again)$",
    re.IGNORECASE,
)


def _bare(name: str) -> str:
    """Return a feature's name without the words that tie it into its sentence."""
    return _EDGE.sub("", _EDGE.sub("", name)).strip() or name


def _sheet(case: Case, product: str, version: re.Match[str]) -> Iterator[Draft]:
    said, lexicon = case.said, case.learner.lexicon
    spans = [(m.start, m.end) for m in said.mentions if m.kind != "topic"] + [version.span()]
    blank = list(case.text)
    for start, end in spans:
        blank[start:end] = "\x00" * (end - start)
    text = "".join(blank)
    known = [m for m in said.mentions if m.kind == "topic" and m.key in case.memory.features]
    quantities = [
        m for m in _QUANTITY.finditer(text) if not known or not any(k.start <= m.start() < k.end for k in known)
    ]
    measured = [k for k in known if case.memory.features[k.key] == "spec"]
    polar = _POLARITY.sub("\x00", text)
    if quantities and (measured or not known) and re.search(r"\d", quantities[-1].group()):
        quantity = quantities[-1]
        name = case.name(measured[0].key) if measured else ""
        if not name:
            names = [unlabelled(p) for p in chunks(f"{text[: quantity.start()]}\x00{text[quantity.end() :]}", [])]
            name = max((n for n in names if n and not digits(n)), key=len, default="")
        if name:
            key = lexicon.add("topic", name).key
            case.memory.features.setdefault(key, "spec")
            value = quantity.group().strip()
            yield Draft(f"spec:{key_of(name)}", value, "quantity", product, fact_type="product", also=(key,))
            return
    pieces = [p for piece in chunks(polar, []) if (p := unlabelled(piece))]
    pieces = [_MODEL_WORD.sub("", p) or p for p in pieces]
    variants = [p for p in pieces if _VARIANT.match(p) and not lexicon.lookup(p)]
    chinese = _VARIANT_ZH.search(text)
    if chinese:
        variants = [chinese["after"] or chinese["before"]]
        pieces = [
            p
            for piece in chunks(_POLARITY.sub("\x00", text.replace(chinese.group(), "\x00")), [])
            if (p := unlabelled(piece))
        ]
    only = bool(cues.ONLY_ON.search(text)) and bool(variants)
    if known:
        key = known[0].key
    else:
        names = [p for p in pieces if not (only and p in variants)]
        if not names:
            return
        key = lexicon.add("topic", _bare(max(names, key=len))).key
    case.memory.features.setdefault(key, "supports")
    attribute = f"supports:{case.name(key)}"
    if only:
        yield Draft(
            attribute,
            variants[0],
            "name",
            product,
            fact_type="product",
            say=_only(variants[0], said.language),
            also=(key,),
        )
    else:
        value = "no" if _denied(case, case.name(key)) else "yes"
        yield Draft(attribute, value, "boolean", product, fact_type="product", also=(key,))


def _only(variant: str, language: str) -> str:
    return f"仅{variant}支持" if language == "zh" else f"only the {variant} variant"


def stock(case: Case) -> Iterator[Draft]:
    """How many of a product are there."""
    said = case.said
    product = said.first("product")
    if said.voice != "record" or not product or said.first("order", "ticket", "person") or _VERSION.search(case.text):
        return
    numbers = [v for v in said.of_kind("number") if v.norm.isdigit()]
    if numbers and (cues.STOCK.search(case.text) or said.message.source in ("erp", "wms")):
        yield Draft("stock", numbers[-1].norm, "quantity", product, fact_type="stock")


def accounts(case: Case) -> Iterator[Draft]:
    """Who at the desk looks after a customer."""
    said = case.said
    if said.voice != "record" or not case.customer or said.first("order", "ticket", "product"):
        return
    if said.of_kind("money", "date", "email"):
        return
    others = [m for m in said.mentions if m.kind == "person" and m.key != case.customer]
    numbered = any(not m.exact for m in said.mentions if m.key == case.customer)
    if not numbered:
        return
    name = case.name(others[0].key) if others else ""
    if not name:
        names = [n for n in case.rest() if not digits(n)]
        names = [n for n in names if (len(n.split()) == 2 and n.istitle()) or (not n.isascii() and 2 <= len(n) <= 4)]
        name = names[0] if len(names) == 1 else ""
    if name:
        key = case.learner.lexicon.add("person", name).key
        yield Draft("account_owner", name, "name", case.customer, case.customer, fact_type="profile", also=(key,))
