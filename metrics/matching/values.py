"""Typed values in a text: dates, amounts, durations, percentages, counts and identifiers."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache

from memtrial.metrics.matching import dates
from memtrial.metrics.matching.numerals import ZH_CHARS
from memtrial.metrics.matching.quantities import DATE, Value
from memtrial.metrics.matching.scanning import NUMBER_WORDS, Scanner
from memtrial.metrics.matching.text import CHANGE_VERB
from memtrial.metrics.matching.units import DURATION, MONTHS

_RANGE_GAP = re.compile(r"\s?(?:-|~|到|至|to|and|or|或|或者|、)\s?")
_QUICK = re.compile(
    rf"[\d{ZH_CHARS}半今明昨后前周晚早上下中傍夜天]|[%€$£¥]|星期|礼拜|day|noon|night|morning|evening|half|once|twice|thrice|mon|tue|wed|thu|fri|sat|sun|"
    rf"\b(?:{NUMBER_WORDS}|{dates.MONTHS[0][:3]}|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|an?|tomorrow)"
)


def _compound(values: list[Value], low: str) -> list[Value]:
    """Join "2 hours 30 minutes" and "15 weeks and 2 days"; mark the ends of ranges."""
    out: list[Value] = []
    for value in values:
        if out:
            last = out[-1]
            gap = low[last.end : value.start]
            if (
                value.family in (DURATION, MONTHS)
                and last.family == value.family
                and re.fullmatch(r"\s?(?:,?\sand\s|零|又|,\s)?", gap)
            ):
                if value.amount < last.amount / max(last.raw, 1e-9):
                    out[-1] = replace(last, end=value.end, amount=round(last.amount + value.amount, 9))
                    continue
            elif len(gap) <= 5 and _RANGE_GAP.fullmatch(gap) and _range_like(last, value, gap, low):
                out[-1] = replace(last, ranged=True)
                value = replace(value, ranged=True)
        out.append(value)
    return out


_FROM = re.compile(r"(?:\bfrom|从|由|自)\s?$")
_CHANGED = re.compile(rf"\b{CHANGE_VERB}\b[^.;]{{0,40}}$|[改换变调降涨升减推延转移]")


def _range_like(a: Value, b: Value, gap: str, low: str) -> bool:
    if _FROM.search(low[: a.start]) and (DATE not in (a.family, b.family) or _CHANGED.search(low[: a.start])):
        return False
    if gap.strip() in ("and", "or", "或", "或者", "、"):
        return gap.strip() == "and" and low[: a.start].rstrip().endswith("between")
    if re.match(r"\s?=", low[b.end :]):
        return False
    if a.family == DATE or b.family == DATE:
        return a.family == b.family
    return a.family == b.family or not a.family or not b.family


@lru_cache(maxsize=65536)
def extract(low: str) -> tuple[Value, ...]:
    """Find the typed values of a normalised, lowered text.

    Args:
        low: ``normalise(text).low``.

    Returns:
        Values in order of place, none overlapping.
    """
    if not _QUICK.search(low):
        return ()
    found = sorted(Scanner(low).run(), key=lambda v: v.start)
    return tuple(_compound(found, low))
