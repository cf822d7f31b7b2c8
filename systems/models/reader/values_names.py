"""Identifiers, contacts, names, places and quoted strings in English and Chinese text."""

from __future__ import annotations

import re
from functools import lru_cache

from memtrial.systems.models.reader.value import Value

_EMAIL = re.compile(r"[A-Za-z0-9][\w.+-]*@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+")
_URL = re.compile(r"(?:https?://|www\.)[^\s<>\"'，。；、）)\]]+", re.IGNORECASE)
_PHONE = re.compile(
    r"(?<![A-Za-z0-9_-])(?:\+\d{1,3}[\s-]?)?(?:1[3-9]\d{9}|\(?\d{3,4}\)?[\s-]\d{3,4}[\s-]?\d{3,4}|400-?\d{3}-?\d{4})(?![A-Za-z0-9_-])"
)
_ID = re.compile(
    r"(?<![A-Za-z0-9])(?:#\d{3,}|(?=[A-Za-z0-9_-]*\d)(?=[A-Za-z0-9_-]*[A-Z])[A-Z][A-Za-z]{0,7}[-_]?\d[A-Za-z0-9]*(?:[-_][A-Za-z0-9]+)*"
    r"|\d+[A-Z][A-Z0-9]*(?:-[A-Z0-9]+)*|[A-Z]{2,}(?:-[A-Z0-9]+)*-\d+(?:-\w+)*|\d{6,})(?![A-Za-z0-9])"
)
_QUOTED = re.compile(
    r"“([^”]{1,60})”|\"([^\"]{1,60})\"|「([^」]{1,60})」|《([^》]{1,60})》|『([^』]{1,60})』|‘([^’]{2,60})’(?!\w)"
)
_STREET = re.compile(
    r"\b\d{1,5}[A-Z]?\s(?:[A-Z][\w'.-]+\s){1,4}(?:Street|St|Road|Rd|Avenue|Ave|Lane|Ln|Drive|Dr|Way|Court|Ct|Square|Boulevard|Blvd|Place|Pl|Terrace|Close|Row)\b"
    r"\.?(?:,\s?[A-Z][\w'.-]+(?:\s(?:[A-Z][\w'-]*|\d+\w*)){0,2}){0,4}"
)
_NUMBERED = re.compile(
    r"(?<![\w.])\d{1,5}[A-Z]?\s[A-Z][\w'-]+(?:\s[A-Z][\w'-]+){1,3},\s?[A-Z][\w'-]+(?:\s[A-Z][\w'-]+)?"
)
_ZH_ADDRESS = re.compile(
    r"[一-鿿]{0,12}?(?:省|市|区|县|镇|村)?[一-鿿]{0,10}?(?:路|街|大道|巷|弄|胡同)[一-鿿]{0,2}?\s?\d+\s?[号弄](?:院|楼)?(?:[一-鿿\dA-Za-z-]{0,14}?(?:室|楼|层|单元|栋|座|号))*"
)
_ZH_PLACE = re.compile(
    r"(?:(?<=[在到去从往至回住寄])|^)[一-鿿]{1,8}?(?:省|市|区|县|镇|村|路|街|仓库?|店|馆|楼|院|站|园|场|厅|室|中心|公司|大厦|广场|机场|学校)"
)
_EN_PLACE = re.compile(
    r"\b(?:[Ii]n|[Aa]t|[Tt]o|[Ff]rom|[Nn]ear|[Ii]nto|[Ll]ives in|[Vv]isit(?:ed|ing)?)\s(?:the\s)?(?P<w>[A-Z][\w'’-]+(?:\s(?:of\s)?[A-Z][\w'’-]+){0,3})"
)
_PERSON_TITLE = re.compile(r"\b(?:Mr|Mrs|Ms|Miss|Dr|Prof)\.?\s[A-Z][\w'’-]+(?:\s[A-Z][\w'’-]+)?")
_CAPITALS = re.compile(r"(?<![\w'’])[A-Z][a-zà-ÿ'’-]+(?:\s[A-Z][a-zà-ÿ'’.-]+){0,2}(?![\w])")
SURNAMES = (
    "王李张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗梁宋郑谢韩唐冯于董萧程曹袁邓许傅沈曾彭吕苏卢蒋蔡贾丁魏薛叶阎余潘杜戴夏钟汪田任姜范方石姚谭廖邹熊金"
    "陆郝孔白崔康毛邱秦江史顾侯邵孟龙万段雷钱汤尹黎易常武乔贺赖龚文柯苗阮齐凌霍虞柳毕鲍费廉岑薄尤祝左季骆樊庄向单牛施殷翟欧褚卫尚安芦管吉解"
)
_ZH_TITLED = re.compile(
    rf"(?:小|老|阿)[{SURNAMES}](?![一-鿿]?[本款号])|(?<![上下本这每一])[{SURNAMES}][一-鿿]{{0,2}}?(?:先生|女士|小姐|经理|主管|工程师|老师|医生|师傅|总监|总|姐|哥|工)"
)
# a bare name counts only where it begins: surnames are everyday characters too (常, 高, 金)
_ZH_NAME = re.compile(
    rf"(?:(?<![一-鿿])|(?<=[和跟与给是找由叫请经让问归属为到被])|(?<=客户|用户|顾客|姓名|联系|转给|经理|同事|朋友|老师|负责))"
    rf"(?:欧阳|司马|上官|诸葛|[{SURNAMES}])(?![吗呢吧的了是在有不])[一-鿿](?:(?![吗呢吧的了是在有不说问提要想和跟与给已会负])[一-鿿])?"
    r"(?=[说问提要想和跟与给是在的，。、（(：:负已会来去把同寄发帮告让下；;|｜\[【\]】）)\sA-Za-z0-9]|$)"
)
_NO_NAMES = (
    "the a an i it we you he she they this that these those my your our his her their if in on at to for from by with and or "
    "but so no not yes hi hello hey thanks thank please sorry ok okay sure great good well oh wow what when where who why how "
    "which is are was were do does did can could would should will have has had let also just then there here as after before "
    "monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september "
    "october november december today tomorrow yesterday order ticket update note re fw fwd dear regards best cheers hope all "
    "any some one two three four five once since while both each every only still now never always maybe actually "
    "street road avenue lane drive mon tue wed thu fri sat sun jan feb mar apr jun jul aug sep sept oct nov dec complaint case delivery credit refund account shipment payment invoice customer item "
    "return returns stock spec version status order orders ship address ticket warehouse product"
)
_NOT_PERSON = frozenset(_NO_NAMES.split())


def find_codes(text: str) -> list[Value]:
    """Find e-mail addresses, URLs, telephone numbers and identifiers (order numbers, SKUs), best rule first."""
    found = [_value("email", m, m.group().rstrip(".")) for m in _EMAIL.finditer(text)]
    found += [_value("url", m, m.group().rstrip(".,;")) for m in _URL.finditer(text)]
    found += [_value("phone", m, m.group(), re.sub(r"[^\d+]", "", m.group())) for m in _PHONE.finditer(text)]
    found += [_value("id", m, m.group(), m.group().lstrip("#").lower()) for m in _ID.finditer(text)]
    return found


@lru_cache(maxsize=8192)
def codes_in(text: str) -> frozenset[str]:
    """Return the identifiers in a text, lower case, without what is an e-mail address or a URL."""
    masked = _URL.sub(" ", _EMAIL.sub(" ", text)) if "@" in text or "http" in text or "www" in text else text
    return frozenset(m.group().lstrip("#").lower() for m in _ID.finditer(masked))


def find_quoted(text: str) -> list[Value]:
    """Find quoted strings and titles, without their quotation marks."""
    found = []
    for match in _QUOTED.finditer(text):
        inner = next(g for g in match.groups() if g is not None)
        found.append(Value("quoted", match.start(), match.end(), inner, inner.lower().strip(), inner.strip()))
    return found


def find_places(text: str) -> list[Value]:
    """Find street addresses and places."""
    found = [_value("place", m, m.group().strip()) for p in (_STREET, _NUMBERED) for m in p.finditer(text)]
    found += [_zh_address(m) for m in _ZH_ADDRESS.finditer(text)]
    found += [_value("place", m, m.group().strip()) for m in _ZH_PLACE.finditer(text)]
    for match in _EN_PLACE.finditer(text):
        if match["w"].split()[0].lower() not in _NOT_PERSON:
            found.append(Value("place", match.start("w"), match.end("w"), match["w"], match["w"].lower(), match["w"]))
    return found


def _zh_address(match: re.Match[str]) -> Value:
    """Cut the verb before an address: 寄到杭州市… starts after 到."""
    surface = match.group().strip()
    lead = re.match(r".*(?:[在到去从往至]|地址[是为：:]?|改[成为])(?=[一-鿿]{2})", surface)
    cut = lead.end() if lead else 0
    start = match.start() + len(match.group()) - len(match.group().lstrip()) + cut
    return Value("place", start, start + len(surface) - cut, surface[cut:], surface[cut:].lower(), surface[cut:])


def find_people(text: str) -> list[Value]:
    """Find names of people by title, capitals (English) or surname and title (Chinese)."""
    found = [_value("person", m, m.group()) for m in _PERSON_TITLE.finditer(text)]
    for match in _CAPITALS.finditer(text):
        words = match.group().split()
        start = match.start()
        while words and words[0].lower().split("'")[0].split("’")[0] in _NOT_PERSON:
            start += len(words.pop(0)) + 1
        name = re.sub(r"['’]s?$", "", " ".join(words)).rstrip(".-")
        if name and name != "New" and all(w.lower() not in _NOT_PERSON for w in words):
            found.append(Value("person", start, start + len(name), name, name.lower(), name))
    for pattern in (_ZH_TITLED, _ZH_NAME):
        found += [_value("person", m, m.group()) for m in pattern.finditer(text)]
    return found


def _value(kind: str, match: re.Match[str], surface: str, norm: str | None = None) -> Value:
    return Value(kind, match.start(), match.start() + len(surface), surface, norm or surface.lower(), surface)
