"""What kind of answer a gold label is, for sets that do not say. A label: no system sees it."""

from __future__ import annotations

import re
from collections.abc import Sequence

_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)\.?"
)
_NUMBER = r"[+-]?\d{1,3}(?:,\d{3})+(?:\.\d+)?|[+-]?\d+(?:\.\d+)?"
_UNIT = r"(?:seconds?|minutes?|mins?|hours?|hrs?|days?|nights?|weeks?|weekends?|months?|years?|秒|分钟|小时|天|日|周|星期|个月|月|年)"
_COUNT = (
    rf"(?:{_NUMBER}|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|半|[一二两三四五六七八九十]+)"
)
_DATE = re.compile(
    rf"(?:(?:in|on)\s+)?(?:\d{{4}}[-/.]\d{{1,2}}(?:[-/.]\d{{1,2}})?"
    rf"|\d{{1,2}}(?:st|nd|rd|th)?\s+(?:of\s+)?{_MONTH},?(?:\s+\d{{4}})?"
    rf"|{_MONTH}\s+\d{{1,2}}(?:st|nd|rd|th)?(?:,?\s+\d{{4}})?|{_MONTH},?\s+\d{{4}}"
    r"|\d{4}年(?:\d{1,2}月(?:\d{1,2}[日号])?)?|\d{1,2}月\d{1,2}[日号]?)",
    re.IGNORECASE,
)
_YEAR = re.compile(r"(?:in\s+)?(?:19|20)\d{2}", re.IGNORECASE)
_MONEY = re.compile(
    rf"(?:[$€£¥￥]\s?(?:{_NUMBER})(?:\s?[kKmM万])?|(?:{_NUMBER})\s?(?:dollars?|euros?|pounds?|usd|eur|gbp|rmb|cny|万?元|块|美元|欧元))",
    re.IGNORECASE,
)
_DURATION = re.compile(
    rf"(?:for\s+|about\s+|约|大约)?{_COUNT}\s*-?{_UNIT}(?:\s*(?:and\s+)?{_COUNT}\s*-?{_UNIT})*", re.IGNORECASE
)
_BOOLEAN = re.compile(r"(?:yes|no|true|false|是|否|是的|不是|有|没有|能|不能|会|不会)", re.IGNORECASE)
# "Yes, since she …": an answer with its reason, whatever the commas.
_WITH_REASON = re.compile(
    r"(?:most\s+|very\s+)?(?:likely\s+|probably\s+)?(?:yes|no)\b|(?:是|否|不是|会|不会)[，,]", re.IGNORECASE
)
_PLAIN_NUMBER = re.compile(rf"(?:{_NUMBER})%?")
# A comma before a bare year belongs to a date, one between digits to a number.
_ITEM_BREAK = re.compile(r"\s*(?:(?<!\d),|,(?!\d)|[;，；、])(?!\s*(?:19|20)\d{2}\b)\s*(?:and\s+)?")
_ITEM_WORDS = 6
_SPAN_WORDS = 8
_SPAN_HAN = 16
_HAN = re.compile(r"[\u3400-\u9fff]")


def infer_answer_type(answers: Sequence[str], *, temporal: bool = False, enumerations: bool = False) -> str:
    """Name the answer type of a gold label by its shape.

    Args:
        answers: accepted forms; the first one decides.
        temporal: the question asks for a time, so a bare year is a date and not a number.
        enumerations: the set writes lists with commas in one string; ``split_items`` then yields the items.

    Returns:
        One of ``schema.ANSWER_TYPES`` except ``choice``; ``free`` where no shape fits or there is no answer.
    """
    gold = answers[0].strip().rstrip(".。") if answers else ""
    if not gold:
        return "free"
    if _DATE.fullmatch(gold) or (temporal and _YEAR.fullmatch(gold)):
        return "date"
    for name, pattern in (
        ("boolean", _BOOLEAN), ("money", _MONEY), ("duration", _DURATION), ("number", _PLAIN_NUMBER)
    ):  # fmt: skip
        if pattern.fullmatch(gold):
            return name
    if enumerations and len(split_items(gold)) > 1:
        return "free" if _WITH_REASON.match(gold) else "list"
    return "span" if _size(gold) else "free"


def split_items(gold: str) -> tuple[str, ...]:
    """Split an enumeration into its items; a sentence with a comma in it comes back whole."""
    items = [item for item in _ITEM_BREAK.split(gold.strip().rstrip(".。")) if item]
    short = all(len(item.split()) <= _ITEM_WORDS and len(_HAN.findall(item)) <= _SPAN_HAN for item in items)
    return tuple(items) if len(items) > 1 and short else (gold,)


def _size(text: str) -> bool:
    return len(text.split()) <= _SPAN_WORDS and len(_HAN.findall(text)) <= _SPAN_HAN
