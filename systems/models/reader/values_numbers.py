"""Numbers, amounts of money and percentages in English and Chinese text."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation

from memtrial.systems.models.reader.value import Value

_EN_UNITS = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16,
    "seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50,
    "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90,
}  # fmt: skip
_EN_SCALES = {"hundred": 100, "thousand": 1000, "million": 1_000_000}
_EN_WORD = "|".join(sorted([*_EN_UNITS, *_EN_SCALES], key=len, reverse=True))
EN_NUMBER_WORDS = rf"(?:(?:{_EN_WORD})(?:[\s-]+(?:and\s+)?(?:{_EN_WORD})){{0,8}})"
ZH_DIGITS = {c: i for i, c in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_ZH_SCALES = {"十": 10, "百": 100, "千": 1000}
ZH_NUMBER = r"[零〇一二两三四五六七八九十百千万亿]{1,24}"
DIGITS = r"\d{1,3}(?:,\d{3}){1,6}(?:\.\d+)?|\d+(?:\.\d+)?"

_CURRENCY = {
    "$": "USD", "us$": "USD", "usd": "USD", "dollar": "USD", "dollars": "USD", "buck": "USD", "bucks": "USD",
    "€": "EUR", "eur": "EUR", "euro": "EUR", "euros": "EUR", "£": "GBP", "gbp": "GBP", "pound": "GBP", "pounds": "GBP",
    "¥": "CNY", "￥": "CNY", "rmb": "CNY", "cny": "CNY", "yuan": "CNY", "元": "CNY", "块": "CNY", "块钱": "CNY",
    "人民币": "CNY", "美元": "USD", "美金": "USD", "刀": "USD", "欧元": "EUR", "英镑": "GBP",
}  # fmt: skip
_NUM = rf"(?P<n>{DIGITS})"
_MONEY = [
    re.compile(
        rf"(?P<c>US\$|\$|€|£|¥|￥|\b(?:USD|EUR|GBP|RMB|CNY)\b)\s?{_NUM}\s?(?P<m>万|亿|(?:k|K|m|M)\b|thousand\b|million\b)?"
        r"(?:元)?"
    ),
    re.compile(
        rf"(?<![0-9_.,-]){_NUM}\s?(?P<m>万|亿|千|(?:k|K)\b|thousand\b|million\b)?\s?多?"
        r"(?P<c>块钱|元|块|人民币|美元|美金|欧元|英镑|€|£|(?:USD|EUR|GBP|RMB|CNY|[Yy]uan|[Dd]ollars?|[Ee]uros?|bucks?|[Pp]ounds?)\b)"
    ),
    re.compile(rf"(?P<n>{ZH_NUMBER})(?P<m>)(?P<c>块钱|元|块|美元|美金|欧元)(?P<t>[一二三四五六七八九]?(?!十|个))"),
    re.compile(rf"\b(?P<n>{EN_NUMBER_WORDS})(?P<m>)\s(?P<c>dollars|euros|pounds|bucks|yuan)\b", re.IGNORECASE),
]
_PERCENT = [
    re.compile(rf"(?<![A-Za-z0-9_.])(?P<n>{DIGITS})\s?(?:%|％|percent\b|per cent\b|个百分点)"),
    re.compile(rf"百分之(?P<n>{ZH_NUMBER}|{DIGITS})"),
    re.compile(rf"\b(?P<n>{EN_NUMBER_WORDS}) (?:percent|per cent)\b", re.IGNORECASE),
]
_PLAIN = [
    re.compile(rf"(?<![A-Za-z0-9_.,-])(?P<n>[-−]?(?:{DIGITS}))(?P<m>万|亿|千(?!克|米|瓦)|k\b)?(?![\d])"),
    re.compile(
        rf"(?P<n>{ZH_NUMBER})(?P<m>)(?=[个件台只张份箱包本套盒条双把瓶位名人次种款项批部辆支颗杯间层楼级折倍期分克斤升米])"
    ),
    re.compile(rf"\b(?P<n>{EN_NUMBER_WORDS})(?P<m>)\b", re.IGNORECASE),
]
_UNIT = re.compile(
    r"\s?(?:(?P<zh>[个件台只张份箱包本套盒条双把瓶位名人次种款项批部辆支颗杯间层楼级折倍期分]|公斤|千克|克|斤|毫升|升|厘米|毫米|公里|米"
    r"|寸|英寸|毫安时|毫安|瓦|伏|兆|小时|分钟|度)|-?(?P<en>[A-Za-z°µ]+(?:/[a-z]+)?))"
)
_MULTIPLIER = {"万": 10_000, "亿": 100_000_000, "千": 1000, "k": 1000, "thousand": 1000, "m": 1_000_000, "million": 1_000_000}  # fmt: skip


def parse_chinese(text: str) -> int | None:
    """Read a Chinese numeral such as 三百零五 or 二〇二四; None where it is none.

    Raises nothing. Digit strings without scale characters are read digit by digit (二〇二四 is 2024).
    """
    if not text:
        return None
    if all(c in ZH_DIGITS for c in text):
        return int("".join(str(ZH_DIGITS[c]) for c in text))
    total = section = digit = 0
    last_scale = 1
    for char in text:
        if char in ZH_DIGITS:
            digit = ZH_DIGITS[char]
            if char in "零〇":
                last_scale = 1
        elif char in _ZH_SCALES:
            last_scale = _ZH_SCALES[char]
            section += (digit or 1) * last_scale
            digit = 0
        elif char in "万亿":
            scale = _MULTIPLIER[char]
            total = (total + section + digit or 1) * scale if char == "亿" else total + (section + digit or 1) * scale
            section = digit = 0
            last_scale = scale
        else:
            return None
    # 三百五 is 350 and 一万二 is 12,000: a lone last digit counts tenths of the scale before it
    tail = digit * (last_scale // 10 if last_scale > 10 else 1)
    return total + section + tail


def parse_english(text: str) -> int | None:
    """Read English number words such as ``two hundred and five``; None where they are none."""
    total = current = 0
    seen = False
    for word in re.split(r"[\s-]+", text.lower()):
        if word in _EN_UNITS:
            current += _EN_UNITS[word]
        elif word == "hundred":
            current = (current or 1) * 100
        elif word in _EN_SCALES:
            total += (current or 1) * _EN_SCALES[word]
            current = 0
        elif word != "and":
            return None
        seen = True
    return total + current if seen else None


def parse_number(text: str) -> Decimal | None:
    """Read digits, Chinese numerals or English number words; None where the text is no number."""
    text = text.strip().replace("−", "-")
    try:
        return Decimal(text.replace(",", ""))
    except InvalidOperation:
        pass
    whole = parse_chinese(text)
    if whole is None:
        whole = parse_english(text)
    return None if whole is None else Decimal(whole)


def plain(number: Decimal) -> str:
    """Write a decimal without exponent or trailing zeros."""
    text = format(number, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def _scaled(match: re.Match[str]) -> Decimal | None:
    number = parse_number(match["n"])
    if number is None or number.is_nan() or number.is_infinite():
        return None
    return number * _MULTIPLIER.get((match["m"] or "").lower(), 1)


def find_money(text: str) -> list[Value]:
    """Find amounts of money; ``norm`` is ``<decimal> <ISO currency>``."""
    found = []
    for pattern in _MONEY:
        for match in pattern.finditer(text):
            number = _scaled(match)
            if number is None:
                continue
            tail = match.groupdict().get("t")
            if tail:
                number += Decimal(ZH_DIGITS[tail]) / 10
            currency = _CURRENCY[match["c"].lower()]
            surface = match.group().strip()
            found.append(
                Value("money", match.start(), match.end(), surface, f"{plain(number)} {currency}", surface, currency)
            )
    return found


def find_percent(text: str) -> list[Value]:
    """Find percentages; ``norm`` is ``<decimal>%``."""
    found = []
    for pattern in _PERCENT:
        for match in pattern.finditer(text):
            number = parse_number(match["n"])
            if number is not None:
                surface = match.group()
                found.append(Value("percent", match.start(), match.end(), surface, f"{plain(number)}%", surface, "%"))
    return found


def find_numbers(text: str) -> list[Value]:
    """Find plain numbers and quantities; ``unit`` is the unit or counted noun that follows."""
    found = []
    for pattern in _PLAIN:
        for match in pattern.finditer(text):
            number = _scaled(match)
            if number is None:
                continue
            unit_match = _UNIT.match(text, match.end())
            unit = (unit_match["zh"] or unit_match["en"] or "").lower() if unit_match else ""
            end = unit_match.end() if unit_match and unit and _worth_saying(unit_match) else match.end()
            surface = text[match.start() : end].strip()
            found.append(Value("number", match.start(), match.end(), match.group(), plain(number), surface, unit))
    return found


_FUNCTION_WORD_LIST = (
    "and or but of in on at to for from by with is are was were be been as a an the that this it i we you they he she if "
    "so then than not no more less left per each"
)
_FUNCTION_WORDS = frozenset(_FUNCTION_WORD_LIST.split())


def _worth_saying(unit: re.Match[str]) -> bool:
    return bool(unit["zh"]) or unit["en"].lower() not in _FUNCTION_WORDS
