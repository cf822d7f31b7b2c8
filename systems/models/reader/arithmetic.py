"""Questions that answer themselves: percentages, totals, shares, days between dates, units, plain sums.

A reader without a model knows nothing about the world, but these need no memory and no knowledge. Each rule fires only
where every figure it uses stands in the question.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from decimal import ROUND_HALF_UP, Decimal, DecimalException

from memtrial.systems.models.reader.need import Need
from memtrial.systems.models.reader.value import Value
from memtrial.systems.models.reader.values_numbers import parse_number, plain

_DISCOUNT = re.compile(r"\b(?:off|discount(?:ed)?|less|after)\b|优惠|减|打折|便宜|扣掉|扣除", re.IGNORECASE)
_SHARE = re.compile(
    r"\b(?:split|shared?|sharing|divid\w+|between|among|chip in|go(?:ing)? dutch|evenly|equal\w*|instal+ments?|per head)\b|平摊|平分|分摊|均摊|均分|平均|AA|每人|一人出|分\d+[期份批次]|人分|人出",
    re.IGNORECASE,
)
_EACH = re.compile(
    r"\b(?:each|apiece|per|a piece|a pop|every one|total|altogether|in all|come to|times|multipl\w+)\b|每|一[份个件张台只本盒包次瓶杯套位斤]|单价|一共|总共|合计|一个|共",
    re.IGNORECASE,
)
_ASKS_DAYS = re.compile(r"\bdays?\b|天|多久|多少日", re.IGNORECASE)
_ASKS_WEEKS = re.compile(r"\bhow many weeks\b|几周|多少周|几个星期", re.IGNORECASE)
_UNITS: list[dict[str, Decimal]] = [
    {name: Decimal(factor) for name, factor in group.items()}
    for group in [
        {"mm": "0.001", "millimetre": "0.001", "millimeter": "0.001", "毫米": "0.001", "cm": "0.01", "centimetre": "0.01",
         "centimeter": "0.01", "厘米": "0.01", "公分": "0.01", "m": "1", "metre": "1", "meter": "1", "米": "1", "km": "1000",
         "kilometre": "1000", "kilometer": "1000", "公里": "1000", "千米": "1000"},
        {"g": "1", "gram": "1", "克": "1", "kg": "1000", "kilogram": "1000", "kilo": "1000", "公斤": "1000", "千克": "1000", "斤": "500",
         "t": "1000000", "tonne": "1000000", "吨": "1000000"},
        {"ml": "1", "millilitre": "1", "milliliter": "1", "毫升": "1", "l": "1000", "litre": "1000", "liter": "1000", "升": "1000"},
        {"second": "1", "秒": "1", "minute": "60", "分钟": "60", "hour": "3600", "小时": "3600", "day": "86400", "天": "86400",
         "week": "604800", "星期": "604800", "周": "604800"},
    ]
]  # fmt: skip
_SHORT = {"millimetre": "mm", "millimeter": "mm", "centimetre": "cm", "centimeter": "cm", "metre": "m", "meter": "m",
          "kilometre": "km", "kilometer": "km", "gram": "g", "kilogram": "kg", "kilo": "kg", "millilitre": "ml", "milliliter": "ml",
          "litre": "l", "liter": "l"}  # fmt: skip
_UNIT_WORD = re.compile(
    "|".join(
        sorted(
            (rf"(?<![A-Za-z]){u}s?(?![A-Za-z])" if u.isascii() else u for g in _UNITS for u in g), key=len, reverse=True
        )
    ),
    re.IGNORECASE,
)
_OPERATORS = {"+": "+", "plus": "+", "加": "+", "加上": "+", "-": "-", "−": "-", "minus": "-", "减": "-", "减去": "-", "*": "*", "x": "*", "×": "*",
              "times": "*", "multiplied by": "*", "乘": "*", "乘以": "*", "/": "/", "÷": "/", "divided by": "/", "over": "/", "除以": "/"}  # fmt: skip
_EXPRESSION = re.compile(
    rf"(?<![A-Za-z0-9_.-])(?P<a>\d[\d,]*(?:\.\d+)?)\s*(?P<c>元|块钱?|美元|欧元)?\s*(?P<o>{'|'.join(sorted(map(re.escape, _OPERATORS), key=len, reverse=True))})\s*(?P<b>\d[\d,]*(?:\.\d+)?)(?![A-Za-z0-9_%％-])(?!\s[%％])",
    re.IGNORECASE,
)
_CALCULATES = re.compile(
    r"^\W*(?:what(?:'s| is)|how much is|calculate|compute|work out|算|请?计算)|[=＝]|等于|是多少|得多少|等于几|^\W*[\d.,]+\s*(?:元|块钱?|美元|欧元)?\s*(?:除以|乘以|加|减)",
    re.IGNORECASE,
)


def compute(need: Need) -> str | None:
    """Answer a question whose figures all stand in it; None where it is no such question.

    Raises nothing: what cannot be computed (division by zero, overflow) is None.
    """
    try:
        return _expression(need) or _percent(need) or _days(need) or _convert(need) or _each(need)
    except DecimalException:
        return None


def _expression(need: Need) -> str | None:
    match = _EXPRESSION.search(need.question)
    if match is None or not _CALCULATES.search(need.question):
        return None
    a, b = parse_number(match["a"]), parse_number(match["b"])
    if a is None or b is None:
        return None
    operator = _OPERATORS[match["o"].lower()]
    if operator == "/" and b == 0:
        return None
    result = {"+": lambda: a + b, "-": lambda: a - b, "*": lambda: a * b, "/": lambda: a / b}[operator]()
    if match["c"]:
        cents = result.quantize(Decimal("0.01"), ROUND_HALF_UP)
        return f"{plain(cents) if cents == cents.to_integral_value() else f'{cents:f}'}{match['c']}"
    return _plain(result)


def _percent(need: Need) -> str | None:
    shares, bases = _of(need, "percent"), _of(need, "money") or _of(need, "number")
    if len(shares) != 1 or len(bases) != 1:
        return None
    share, base = Decimal(shares[0].norm.rstrip("%")) / 100, _amount(bases[0])
    return _worded(base * (1 - share if _DISCOUNT.search(need.question) else share), bases[0])


def _each(need: Need) -> str | None:
    money = _of(need, "money")
    counts = [v for v in _of(need, "number") if v.text.lower() not in ("one", "一") and "." not in v.norm]
    if len(money) != 1 or len(counts) != 1:
        return None
    amount, count = _amount(money[0]), Decimal(counts[0].norm)
    if _SHARE.search(need.question):
        return _worded(amount / count, money[0]) if count else None
    return _worded(amount * count, money[0]) if _EACH.search(need.question) else None


def _days(need: Need) -> str | None:
    days = [v for v in _of(need, "date") if len(v.norm) == 10]
    if len(days) != 2 or not (_ASKS_DAYS.search(need.question) or _ASKS_WEEKS.search(need.question)):
        return None
    gap = abs((date.fromisoformat(days[1].norm) - date.fromisoformat(days[0].norm)).days)
    if _ASKS_WEEKS.search(need.question):
        return f"{plain(Decimal(gap) / 7)}周" if need.language == "zh" else f"{plain(Decimal(gap) / 7)} weeks"
    return f"{gap}天" if need.language == "zh" else f"{gap} day{'' if gap == 1 else 's'}"


def _convert(need: Need) -> str | None:
    units = [(m.group(), m.start()) for m in _UNIT_WORD.finditer(need.question)]
    figures = [v for v in need.values if v.kind in ("number", "duration")]
    if len(figures) != 1 or len(units) != 2:
        return None
    figure = parse_number(figures[0].norm.split(" ")[0])
    for group in _UNITS:
        known = [group.get(_unit(name, group)) for name, _ in units]
        if figure is None or known[0] is None or known[1] is None or known[0] == known[1]:
            continue
        # the unit that stands nearest the figure is the given one
        near = 0 if abs(units[0][1] - figures[0].start) <= abs(units[1][1] - figures[0].start) else 1
        given, wanted = (known[0], known[1]) if near == 0 else (known[1], known[0])
        name = _SHORT.get(_unit(units[1 - near][0], group), units[1 - near][0])
        return f"{_plain(figure * given / wanted)}{name if need.language == 'zh' else f' {name}'}"
    return None


def _unit(name: str, group: dict[str, Decimal]) -> str:
    lower = name.lower()
    return lower if lower in group else lower.removesuffix("s")


def _of(need: Need, kind: str) -> Sequence[Value]:
    return [v for v in need.values if v.kind == kind]


def _amount(value: Value) -> Decimal:
    return Decimal(value.norm.split(" ")[0])


def _plain(result: Decimal) -> str:
    return plain(result.quantize(Decimal("0.000001"), ROUND_HALF_UP).normalize() + 0)


def _worded(result: Decimal, like: Value) -> str:
    """Write an amount as the question writes its own: same currency sign on the same side, cents where there are any."""
    if like.kind != "money":
        return _plain(result)
    cents = result.quantize(Decimal("0.01"), ROUND_HALF_UP)
    shown = plain(cents) if cents == cents.to_integral_value() else f"{cents:f}"
    sign = re.match(r"[^\d]*", like.text)
    tail = re.search(r"[^\d.,]*$", like.text)
    if not any(c.isdigit() for c in like.text):
        return f"{shown} {like.unit}"
    return f"{sign.group() if sign else ''}{shown}{tail.group() if tail else ''}"
