"""How typed values are taken out of a text, best readings first."""

from __future__ import annotations

import re

from memtrial.metrics.matching import dates
from memtrial.metrics.matching.joining import merge, relate
from memtrial.metrics.matching.numerals import EN_SCALES, EN_WORDS, ZH_CHARS, en_number, listed, zh_number
from memtrial.metrics.matching.quantities import DATE, ID, Value
from memtrial.metrics.matching.units import MONEY, PERCENT, SYMBOL_PATTERN, SYMBOLS, UNIT_PATTERN, UNITS

NUMBER_WORDS = "|".join(sorted((*EN_WORDS, *EN_SCALES), key=len, reverse=True))
_EN_NUM = rf"(?:(?:an?\s)?(?:{NUMBER_WORDS})(?:(?:\s|-)(?:{NUMBER_WORDS})|\sand\s(?:(?<=hundred\sand\s)|(?<=thousand\sand\s)|(?<=million\sand\s))(?:{NUMBER_WORDS}))*(?:\spoint(?:\s(?:{NUMBER_WORDS}))+)?)\b"
_AR = r"(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{1,3}(?:\.\d{3})+,\d{1,2}(?!\d)|\d{1,3}(?:[ ']\d{3})+(?![\d.])|\d{1,12}(?:\.\d{1,9})?|\.\d{1,9})"
_ZH = rf"[{ZH_CHARS}]+(?:点[零〇一二三四五六七八九]+[万亿]?)?"
_SCALE = r"(?:\s?(?:(?P<mag>万亿|亿|百万|千万|十万|万|千(?![克米瓦])|百|k(?![a-z])|mn\b|million\b|m(?![a-z0-9])|bn\b|billion\b|thousand\b|grand\b|hundred\b)(?P<tail>\d(?![\d.年月日号点:])|[一二三四五六七八九](?![十百千万年月日号点]))?))?"
_MAG = {
    "万亿": 1e12, "亿": 1e8, "百万": 1e6, "千万": 1e7, "十万": 1e5, "万": 1e4, "千": 1e3, "百": 1e2, "k": 1e3, "mn": 1e6, "million": 1e6,
    "m": 1e6, "bn": 1e9, "billion": 1e9, "thousand": 1e3, "grand": 1e3, "hundred": 1e2,
}  # fmt: skip

_IDENT = re.compile(
    r"(?<![a-z0-9])(?:(?=[a-z0-9_#/-]*[a-z])(?=[a-z0-9_#/-]*\d)(?!\d+(?:st|nd|rd|th)(?![a-z0-9]))[a-z]{1,12}[-_#]?\d[a-z0-9]*(?:[-_/]\d[a-z0-9]*)*"
    r"|\d{2,}[a-z]{1,6}\d[a-z0-9]*)(?![a-z0-9])"
)
_PHONE = re.compile(
    r"(?<![\d.,a-z€$£¥-])\+?\(?\d{2,4}\)?(?:[ -]\d{2,4}){2,5}(?!\d|[-./:]\d|\s?(?:km|kg|元|块))|(?<![\d.,a-z€$£¥])\+?\d{7,30}(?![\d.,]\d|\d)"
)
_ZH_FRACTION = re.compile(
    rf"(?P<kind>百分之|千分之|万分之)(?P<n>{_ZH}|[\d.]{{1,12}})|(?P<a>[{ZH_CHARS}]{{1,4}}|\d{{1,4}})分之(?P<b>[{ZH_CHARS}]{{1,4}}|\d{{1,4}})"
    rf"|(?P<cheng>[一二三四五六七八九两\d])成(?P<half>半)?(?![功交立本员为了都])"
)
_SLASH_FRACTION = re.compile(r"(?<![\d/.])(?:(?P<w>\d{1,3})\s)?(?P<a>\d{1,3})/(?P<b>\d{1,3})(?![\d/])")
_MIXED = re.compile(
    rf"(?<![\d/.])(?:(?P<w>\d{{1,3}})\s)?(?P<a>[1-3])/(?P<b>[2-4])(?![\d/])\s?(?P<unit>{UNIT_PATTERN})|(?<![\d/.])(?P<w2>\d{{1,3}})\s(?P<a2>[1-3])/(?P<b2>[2-4])(?![\d/])"
)
_EN_FRACTION = re.compile(
    r"\b(?P<n>one|two|three|four|five|a)(?:\s|-)(?P<d>half|halves|thirds?|quarters?|fourths?|fifths?|tenths?)\b(?!\s(?:past|to))"
)
_HALVES = re.compile(
    r"\bhalf\s(?:an?\s)?(?P<u>hour|day|month|year|dozen)\b|\b(?:an?|(?P<n>\d+|one|two|three|four|five|six))\s(?P<u2>hours?|days?|weeks?|months?|years?)\sand\sa\shalf\b"
    r"|\b(?P<n3>one|two|three|four|five|six)\sand\sa\shalf\s(?P<u3>hours?|days?|weeks?|months?|years?)\b"
    r"|\bhalf-(?P<u4>hour|day|year)\b|\b(?:an?|one)\s(?P<u5>second|minute|hour|day|week|fortnight|month|year)\b(?!\s(?:ago|later|before|after|earlier)|,?\s(?:and|for each))"
    rf"|(?P<zn>{_ZH}|\d{{1,3}})?(?P<zu>个小时|个钟头|个月|个星期|小时|天|年|个|匹|公斤|斤|米|里|块|升|吨|亩|碗|杯|片|层)?半(?P<zu2>个小时|个钟头|小时|个月|月|天|年|个星期)?(?![\w夜路])?"
)
_AMOUNT_ARABIC = re.compile(
    rf"(?P<sign>(?<![\w\d)])[-+]\s?)?(?:(?P<sym>{SYMBOL_PATTERN})\s?(?P<sign2>-)?)?(?<![\d.])(?P<num>{_AR}){_SCALE}(?![a-z]*\d[a-z]|(?:st|nd|rd|th)\b)(?:[\s-]?(?P<unit>{UNIT_PATTERN}))?"
)
_AMOUNT_ZH = re.compile(rf"(?<![第{ZH_CHARS}])(?P<num>{_ZH})(?:(?P<unit>{UNIT_PATTERN}))")
# 二点八元 is an amount, while 两点五分 is a time of day.
_ZH_DECIMAL = re.compile(
    rf"(?<![第{ZH_CHARS}])(?P<num>[{ZH_CHARS}]+点[零〇一二三四五六七八九]+[万亿]?)(?!分|半|刻)(?P<unit>{UNIT_PATTERN})"
)
_BARE_ZH = re.compile(
    rf"(?<![第\w])(?P<num>[{ZH_CHARS}]*[十百千万亿][{ZH_CHARS}]*(?:点[零〇一二三四五六七八九]+[万亿]?)?)(?![\w])"
)
_AMOUNT_EN = re.compile(rf"\b(?P<num>{_EN_NUM})(?:[\s-](?P<unit>{UNIT_PATTERN}))?")
_SPLIT_MONEY = re.compile(
    rf"(?<![\d.{ZH_CHARS}])(?P<a>\d{{1,7}}|{_ZH})(?:块|元)(?:(?P<b>[\d{ZH_CHARS}])(?:毛|角)?(?![\d.年月日号个只点%]|[{ZH_CHARS}](?![平个斤只件天人次位张盒套份米瓶年月分])))(?:(?P<c>[\d{ZH_CHARS}])分)?"
)
_NOUN = re.compile(r"[\s-]([a-z]{3,})")
_NOT_A_NOUN = frozenset(
    listed(
        "per and for from not now but the was were are has had with since until till before after instead rather each which that "
        "than then only plus minus times who what when where because while all more less net gross total altogether later earlier extra "
        "each apiece including excluding according against every once twice under over about again also already still did does would will "
        "can could should there here they you she his her its our your their"
    )
)


def _number(text: str) -> float | None:
    if text[-1] in ZH_CHARS:
        if "点" in text and text[-1] in "万亿":
            head = zh_number(text[:-1])
            return None if head is None else head * (1e4 if text[-1] == "万" else 1e8)
        return zh_number(text)
    if text[0].isalpha():
        return en_number(text)
    if re.fullmatch(r"\d{1,3}(?:\.\d{3})+,\d{1,2}", text):
        text = text.replace(".", "").replace(",", ".")
    return float(text.replace(",", "").replace(" ", "").replace("'", ""))


def _quantity(
    start: int, end: int, number: float, unit: str | None, symbol: str | None = None, noun: str = ""
) -> Value:
    number = round(number, 9)
    if symbol:
        return Value(start, end, MONEY + SYMBOLS[symbol], number, number)
    if unit:
        family, factor = UNITS[" ".join(unit.split())]
        return Value(start, end, family, number * factor, number)
    return Value(start, end, "", number, number, noun=noun)


_TIMES = {"once": 1.0, "twice": 2.0, "thrice": 3.0}
_ADVERB = re.compile(r"\b(?P<n>once|twice|thrice)\b(?!\s(?:the|we|you|i|he|she|they|it)\b)")


class Scanner:
    """Takes values out of a text, best readings first; what is taken is blanked."""

    def __init__(self, low: str) -> None:
        """Start on a normalised, lowered text."""
        self.low = low
        self.found: list[Value] = []

    def take(self, value: Value) -> None:
        """Keep a value and blank its place."""
        self.found.append(value)
        self.low = self.low[: value.start] + "\0" * (value.end - value.start) + self.low[value.end :]

    def run(self) -> list[Value]:
        """Return the values found, in the order in which they were taken."""
        self._fractions()
        self._dates()
        self._identifiers()
        self._halves()
        self._amounts()
        return self.found

    def _fractions(self) -> None:
        for g in _MIXED.finditer(self.low):
            mixed = float(g["w"] or g["w2"] or 0) + float(g["a"] or g["a2"]) / float(g["b"] or g["b2"])
            self.take(_quantity(g.start(), g.end(), mixed, g["unit"]))
        for g in _ZH_DECIMAL.finditer(self.low):
            n = _number(g["num"])
            if n is not None:
                self.take(_quantity(g.start(), g.end(), n, g["unit"]))
        for g in _ZH_FRACTION.finditer(self.low):
            if g["kind"]:
                n = (
                    _number(g["n"].rstrip("."))
                    if g["n"].strip(".").replace(".", "", 1).isdigit() or g["n"][0] in ZH_CHARS
                    else None
                )
                if n is not None:
                    n = round(n * {"百": 1.0, "千": 0.1, "万": 0.01}[g["kind"][0]], 9)
                    self.take(Value(g.start(), g.end(), PERCENT, n, n))
            elif g["cheng"]:
                n = (_number(g["cheng"]) or 0.0) * 10 + (5 if g["half"] else 0)
                self.take(Value(g.start(), g.end(), PERCENT, n, n))
            else:
                a, b = _number(g["a"]), _number(g["b"])
                if a and b is not None:
                    self.take(_quantity(g.start(), g.end(), b / a, None))
        for g in _EN_FRACTION.finditer(self.low):
            n = 1 if g["n"] == "a" else EN_WORDS[g["n"]]
            d = {"ha": 2, "th": 3, "qu": 4, "fo": 4, "fi": 5, "te": 10}[g["d"][:2]]
            if g["d"].startswith("half") and g["n"] != "one":
                continue
            self.take(_quantity(g.start(), g.end(), n / d, None))

    def _dates(self) -> None:
        atoms = list(dates.find(self.low))
        for start, end, when in relate(merge(atoms, self.low), self.low):
            slash = _SLASH_FRACTION.fullmatch(self.low[start:end])
            share = float(slash["a"]) / float(slash["b"]) if slash and float(slash["b"]) else 0.0
            self.take(Value(start, end, DATE, share, share, when=when))
        for g in _SLASH_FRACTION.finditer(self.low):
            if float(g["b"]):
                self.take(_quantity(g.start(), g.end(), float(g["w"] or 0) + float(g["a"]) / float(g["b"]), None))

    def _identifiers(self) -> None:
        for g in _PHONE.finditer(self.low):
            digits = re.sub(r"\D", "", g[0])
            if len(digits) >= 7:
                number = float(digits) if len(digits) <= 12 and digits[0] != "0" else 0.0
                self.take(Value(g.start(), g.end(), ID, number, number, text=digits))
        for g in _IDENT.finditer(self.low):
            self.take(Value(g.start(), g.end(), ID, text=re.sub(r"[^a-z0-9]", "", g[0])))

    def _halves(self) -> None:
        if (
            "half" not in self.low
            and "半" not in self.low
            and not re.search(r"\b(?:an?|one)\s(?:s|m|h|d|w|f|y)", self.low)
        ):
            return
        for g in _HALVES.finditer(self.low):
            unit = g["u"] or g["u2"] or g["u3"] or g["u4"] or g["u5"]
            if unit:
                count = g["n"] or g["n3"]
                whole = float(count) if count and count.isdigit() else float(EN_WORDS[count]) if count else 1.0
                number = 1.0 if g["u5"] else 0.5 if g["u"] or g["u4"] else whole + 0.5
                if unit == "dozen":
                    self.take(_quantity(g.start(), g.end(), 6, None))
                else:
                    self.take(_quantity(g.start(), g.end(), number, unit))
            elif "半" in g[0]:
                self._zh_half(g)

    def _zh_half(self, g: re.Match[str]) -> None:
        left = _number(g["zn"]) if g["zn"] else None
        unit = g["zu2"] or g["zu"]
        if unit == "个" and g["zu2"] is None:
            unit = None
        if left is None:
            if g["zn"] or not g["zu2"] or g["zu2"] == "月":
                return
            self.take(_quantity(g.start(), g.end(), 0.5, g["zu2"]))
        elif unit and unit in UNITS:
            self.take(_quantity(g.start(), g.end(), left + 0.5, unit))
        elif g["zu"] == "个" and g["zu2"] and "个" + g["zu2"] in UNITS:
            self.take(_quantity(g.start(), g.end(), left + 0.5, "个" + g["zu2"]))

    def _amounts(self) -> None:
        for g in _SPLIT_MONEY.finditer(self.low):
            a, b, c = _number(g["a"]), _number(g["b"]), _number(g["c"]) if g["c"] else 0.0
            if a is not None and b is not None and c is not None and b < 10 and c < 10:
                self.take(_quantity(g.start(), g.end(), a + b / 10 + c / 100, "元"))
        for g in _AMOUNT_ARABIC.finditer(self.low):
            self._arabic(g)
        for g in _AMOUNT_ZH.finditer(self.low):
            n = _number(g["num"])
            if n is not None:
                self.take(_quantity(g.start(), g.end(), n, g["unit"]))
        for g in _BARE_ZH.finditer(self.low):
            n = _number(g["num"])
            if n is not None:
                self.take(_quantity(g.start(), g.end(), n, None))
        for g in _ADVERB.finditer(self.low):
            self.take(Value(g.start(), g.end(), "", _TIMES[g["n"]], _TIMES[g["n"]]))
        for g in _AMOUNT_EN.finditer(self.low):
            n = en_number(g["num"])
            if n is None or (g["num"] == "one" and not g["unit"] and self.low.strip(" .!") != "one"):
                continue
            self.take(_quantity(g.start(), g.end(), n, g["unit"], noun=self._noun(g.end())))

    def _arabic(self, g: re.Match[str]) -> None:
        n = _number(g["num"])
        if n is None:
            return
        mag, unit, end = g["mag"], g["unit"], g.end()
        if mag == "m" and not g["sym"]:
            mag, unit, end = None, "m", g.end("mag")
        if mag:
            scale = _MAG[mag]
            n *= scale
            if g["tail"]:
                n += (_number(g["tail"]) or 0.0) * scale / 10
        elif unit == "w" and not g["sym"] and "." in g["num"]:
            n, unit = n * 1e4, None
        if g["sym"] and unit and not UNITS[" ".join(unit.split())][0].startswith(MONEY):
            unit, end = None, g.start("unit")
        start = g.start("sym") if g["sym"] else g.start("num")
        self.take(_quantity(start, end, n, unit, g["sym"], self._noun(end) if not unit and not g["sym"] else ""))

    def _noun(self, end: int) -> str:
        match = _NOUN.match(self.low, end)
        return match[1] if match and match[1] not in _NOT_A_NOUN else ""
