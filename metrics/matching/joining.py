"""Neighbouring mentions of time that complete or qualify each other."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date, timedelta
from itertools import pairwise

from memtrial.metrics.matching.when import When

_GLUE = re.compile(r"[\s,()]*(?:\b(?:at|on|the|of|in the|from)\b|的|那天|当天|这天)?[\s,()]*")


def merge(atoms: list[tuple[int, int, When]], low: str) -> list[tuple[int, int, When]]:
    """Join neighbouring atoms that complete each other: Thursday + 16 May 2024 + 16:45."""
    out: list[tuple[int, int, When]] = []
    ordered = sorted(atoms, key=lambda a: a[0])
    opens = {a[0] for a, b in pairwise(ordered) if _is_range(a, b, low)}
    closes = {b[0] for a, b in pairwise(ordered) if a[0] in opens}
    for i, (start, end, when) in enumerate(ordered):
        if out:
            s, e, previous = out[-1]
            gap = low[e:start]
            # "6:00, Monday to Friday": an end of a range completes nothing beside it.
            apart = start in opens or (s in closes and "," in gap) or _belongs_to_next(ordered, i, previous, low)
            joined = _join(previous, when) if not apart and len(gap) <= 12 and _glued(gap, previous, when) else None
            if joined is not None:
                out[-1] = (s, end, joined)
                continue
        out.append((start, end, when))
    return out


def _belongs_to_next(ordered: list[tuple[int, int, When]], i: int, previous: When, low: str) -> bool:
    """Say whether a weekday opens a date of its own: "April 10, 9 pm, Tuesday April 15"."""
    if ordered[i][2].fields() != {"wd"} or previous.d is None or i + 1 >= len(ordered):
        return False
    return ordered[i + 1][2].d is not None and _GLUE.fullmatch(low[ordered[i][1] : ordered[i + 1][0]]) is not None


_GLUE_TIME = re.compile(r"[\s,]*\b(?:after|before|around|about|by|from|past)\b\s")
_RELATION = re.compile(r"\s(?P<way>before|after|preceding|following)\s(?:the\s)?")


def relate(merged: list[tuple[int, int, When]], low: str) -> list[tuple[int, int, When]]:
    """Work out "the Sunday before 25 May 2023" and "the day after 3 June 2024"."""
    out: list[tuple[int, int, When]] = []
    for start, end, when in merged:
        day = _real(when)
        if day is not None:
            if out and out[-1][2].fields() == {"wd"} and (g := _RELATION.fullmatch(low[out[-1][1] : start])):
                wanted = out[-1][2].wd
                step = -1 if g["way"] in ("before", "preceding") else 1
                other = day + timedelta(days=step)
                while other.weekday() != wanted:
                    other += timedelta(days=step)
                out[-1] = (out[-1][0], end, When(y=other.year, m=other.month, d=other.day))
                continue
            period = _PERIOD.search(low[:start])
            if period:
                out.append((period.start(), end, When(within=_period(day, period["p"], period["way"]))))
                continue
            beside = re.search(r"\bthe\sday\s(before|after)\s$", low[:start])
            if beside:
                other = day + timedelta(days=-1 if beside[1] == "before" else 1)
                out.append((beside.start(), end, When(y=other.year, m=other.month, d=other.day)))
                continue
        out.append((start, end, when))
    return out


_PERIOD = re.compile(r"(?:\bthe\s)?\b(?P<p>week|weekend)\s(?P<way>before|after|of|preceding|following)\s(?:the\s)?$")


def _period(day: date, period: str, way: str) -> tuple[int, int]:
    """Days that "the week before", "the weekend after" or "the week of" a day names."""
    ordinal = day.toordinal()
    if way == "of":
        return ordinal - 6, ordinal + 6
    back = way in ("before", "preceding")
    if period == "week":
        return (ordinal - 7, ordinal - 1) if back else (ordinal + 1, ordinal + 7)
    saturday = ordinal - (day.weekday() + 2) % 7 if back else ordinal + (5 - day.weekday()) % 7
    if back and saturday >= ordinal - 1:
        saturday -= 7
    return saturday, saturday + 1


def _real(when: When) -> date | None:
    if when.y is None or when.m is None or when.d is None:
        return None
    try:
        day = date(when.y, when.m, when.d)
    except ValueError:
        return None
    return day if 1900 < day.year < 2200 else None


_RANGE = re.compile(r"\s?(?:-|~|到|至|to|until|till|through|thru)\s?")


def _glued(gap: str, a: When, b: When) -> bool:
    if _GLUE.fullmatch(gap):
        return True
    return a.is_day() and a.t is None and not b.is_day() and _GLUE_TIME.fullmatch(gap) is not None


def _is_range(a: tuple[int, int, When], b: tuple[int, int, When], low: str) -> bool:
    return a[2].fields() == b[2].fields() and _RANGE.fullmatch(low[a[1] : b[0]]) is not None


def _join(a: When, b: When) -> When | None:
    if (a.fields() & b.fields()) - {"tz"} or (
        "rel" in a.fields() | b.fields() and a.d != b.d and a.is_day() and b.is_day()
    ):
        return None
    if not a.is_day() and not b.is_day() and not (a.part or b.part):
        return None
    merged = When(
        **{
            n: getattr(a, n) if getattr(a, n) is not None else getattr(b, n)
            for n in ("y", "m", "d", "wd", "t", "part", "tz", "rel", "week", "span")
        },
        half=a.half or b.half,
        alts=tuple(replace(x, wd=b.wd, t=b.t, half=b.half, part=b.part, tz=b.tz) for x in a.alts) or b.alts,
    )
    if merged.part and merged.t is not None and merged.half:
        low, high = merged.part
        fits = [t for t in (merged.t % 720, merged.t % 720 + 720) if low * 60 <= t <= high * 60]
        if fits:
            merged = replace(merged, t=fits[0], half=False)
    return merged
