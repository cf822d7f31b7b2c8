"""Joining time words with their neighbours: part and whole, "last" and "next", early and late, before and after."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from memtrial.systems.models.times.atoms import Atom, Moment, attempt, settle
from memtrial.systems.models.times.atoms_en_parts import PORTION_WORDS
from memtrial.systems.models.times.atoms_zh_parts import PORTION_OF
from memtrial.systems.models.times.spans import Stretch, beside, portion, whole

_I = re.IGNORECASE
_WHOLE_THEN_PART = re.compile(
    r"\s?(?:,|的|那年|那天|['’]s)?\s?(?:in\sthe\s|at\sthe\s|at\s|around\s|on\s|in\s|\(|（)?", _I
)
_PART_THEN_WHOLE = re.compile(r",?\s?(?:(?:of|in|on|from)\s)?(?:the\s)?", _I)


def join(text: str, atoms: list[Atom]) -> list[Atom]:
    """Put parts into the wholes that stand beside them: "Wednesday" + "last week", "去年" + "国庆", day + time of day."""
    joined = list(atoms)
    place = 0
    while place + 1 < len(joined):
        one, other = joined[place], joined[place + 1]
        gap = text[one.end : other.start]
        found: Atom | None = None
        if _WHOLE_THEN_PART.fullmatch(gap):
            found = other.inside(one)
        if found is None and _PART_THEN_WHOLE.fullmatch(gap):
            found = one.inside(other)
        if found is None:
            place += 1
            continue
        end = other.end + (1 if gap.endswith(("(", "（")) and text[other.end : other.end + 1] in (")", "）") else 0)
        joined[place : place + 2] = [replace(found.over(one.start, end), weak=False)]
        place = max(0, place - 1)
    return joined


_DETERMINED = re.compile(
    r"(?:\b(?:the\s)?(?P<w>last|this\spast|this\scoming|this|next|past|previous|coming)\s|(?P<z>上个|上次|上一个|这个|这次|下个|下次|下一个))$",
    _I,
)
_WORDS = {"上个": "last", "上次": "last", "上一个": "last", "这个": "this", "这次": "this", "下个": "next", "下次": "next", "下一个": "next",
          "previous": "last", "past": "this past", "coming": "this coming"}  # fmt: skip


def determine(text: str, atom: Atom, moment: Moment) -> Atom | None:
    """Settle "last", "this" or "next" before a weekday, a weekend, a month, a season or a holiday.

    "last Wednesday" is the last one before today, and the one of the last calendar week; where those are two, the
    interval covers both. "next" likewise.
    """
    if atom.place is None or atom.needs not in ("week", "year"):
        return None
    match = _DETERMINED.search(text, max(0, atom.start - 16), atom.start)
    if match is None:
        return None
    word = re.sub(r"\s", " ", (match["w"] or match["z"]).lower())
    word = _WORDS.get(word, word)
    found = _readings(atom, word, moment)
    if not found:
        return None
    both = Stretch(min(s.lo for s in found), max(s.hi for s in found), found[0].grain)
    one = all(s == found[0] for s in found)
    return replace(
        atom.over(match.start(), atom.end), stretch=both, place=None, needs="", weak=False, certain=atom.certain and one
    )


def _readings(atom: Atom, word: str, moment: Moment) -> list[Stretch]:
    today = whole(moment.today, "day")
    near = {n: found for n in range(-9, 10) if (found := _at(atom, moment, n)) is not None}
    over = [n for n, s in near.items() if s.hi <= today.lo]
    ahead = [n for n, s in near.items() if s.lo >= today.hi]
    if word == "this":
        # in January, "this winter" began last year; "this weekend" told of the past is over; told of what comes, it is not
        for n in (-1, 0):
            if n in near and near[n].lo <= moment.now < near[n].hi:
                return [near[n]]
        if 0 not in near:
            return []
        if moment.past and not moment.future and near[0].lo > moment.now and near[0].grain == "weekend" and -1 in near:
            return [near[-1]]
        if moment.future and not moment.past and near[0].hi <= today.lo and 1 in near:
            return [near[1]]
        return [near[0]]
    if word in ("last", "this past"):
        chosen = [near[max(over)]] if over else []
        return chosen + ([near[-1]] if word == "last" and -1 in over else [])
    chosen = [near[min(ahead)]] if ahead else []
    return chosen + ([near[1]] if word == "next" and 1 in ahead else [])


def _at(atom: Atom, moment: Moment, offset: int) -> Stretch | None:
    place = atom.place
    if place is None:
        return None
    try:
        unit = beside(whole(moment.today, atom.needs), offset)
    except (ValueError, OverflowError):
        return None
    return attempt(place, unit)


_PORTION_BEFORE = re.compile(
    r"\b(?:(?:the\s)?(?P<p>beginning|start|middle|end)\sof\s(?:the\s)?|(?P<q>early|mid|late)[\s-](?:in\s)?"
    r"|(?:the\s)?(?P<h>first|second|latter)\shalf\sof\s(?:the\s)?)$",
    _I,
)
_PORTION_AFTER = re.compile(
    r"的?(?:月|年)?(?P<p>初(?![一二三中高次步])|中(?![国文午间心学小大秋奖的旬])|底|末(?!端)|尾)"
)
_PARTED = frozenset({"week", "month", "quarter", "season", "year", "decade"})


def part(text: str, atom: Atom) -> Atom | None:
    """Take the part that "early", "the end of", 初 or 底 name; whether it is settled yet or not."""
    if atom.grain not in _PARTED:
        return None
    before = _PORTION_BEFORE.search(text, max(0, atom.start - 24), atom.start)
    after = _PORTION_AFTER.match(text, atom.end)
    if before is not None:
        word = (before["p"] or before["q"] or "").lower()
        which = PORTION_WORDS[word] if word else "first_half" if before["h"].lower() == "first" else "second_half"
        return _changed(atom.over(before.start(), atom.end), lambda s: portion(s, which), certain=not word)
    if after is not None:
        which = PORTION_OF[after["p"]]
        return _changed(atom.over(atom.start, after.end()), lambda s: portion(s, which), certain=False)
    return None


_WEEK_OF = re.compile(r"\bthe\s(?P<u>week|weekend)\s(?:of|beginning|starting)\s(?:the\s)?$", _I)
_THAT = re.compile(r"(?:的)?(?:那|当|这)(?:一)?(?:个)?(?P<u>周末|周|星期|礼拜|月|天|日|晚)(?![一二三四五六日])")


def around_it(text: str, atom: Atom) -> Atom | None:
    """Widen a day to its week or month: "the week of 3 May", 5月3号那周; 那天 adds nothing, 那晚 is its evening."""
    if atom.grain != "day" and not (atom.grain in ("week", "month") and _THAT.match(text, atom.end)):
        return None
    if before := _WEEK_OF.search(text, max(0, atom.start - 24), atom.start):
        unit = before["u"].lower()
        return _changed(atom.over(before.start(), atom.end), lambda s: whole(s.lo.date(), unit), certain=True)
    after = _THAT.match(text, atom.end)
    if after is None:
        return None
    unit = {"周末": "weekend", "周": "week", "星期": "week", "礼拜": "week", "月": "month"}.get(after["u"], "")
    here = atom.over(atom.start, after.end())
    if after["u"] == "晚":
        return _changed(here, _evening, certain=True) if atom.grain == "day" else None
    if not unit or unit == atom.grain:
        return here
    return _changed(here, lambda s: whole(s.lo.date(), unit), certain=True)


def _evening(day: Stretch) -> Stretch:
    return Stretch(day.lo + (day.hi - day.lo) * 0.75, day.hi, "daypart")


def _changed(atom: Atom, change: Callable[[Stretch], Stretch], *, certain: bool) -> Atom | None:
    if atom.stretch is not None:
        found = attempt(change, atom.stretch)
        return None if found is None else replace(atom, stretch=found, weak=False, certain=atom.certain and certain)
    place = atom.place
    if place is None:
        return None
    return replace(atom, place=lambda unit: change(place(unit)), weak=False, certain=atom.certain and certain)


_BETWEEN = re.compile(r"\s?(?:-|–|—|~|～|to|until|till|through|thru|到|至)\s?(?:the\s)?", _I)
_AND = re.compile(r"\s?(?:and|和|与|跟)\s?(?:the\s)?", _I)
_FROM = re.compile(r"(?:\b(?P<b>between|from)\s(?:the\s)?|(?P<z>从|自|在|介于))$", _I)
_SPAN_END = re.compile(r"(?:的)?(?:之间|期间|这段时间|间(?!隔))")


def ranged(text: str, one: Atom, other: Atom, moment: Moment) -> Atom | None:
    """Make a range of two neighbours: from … to …, between … and …, …到…."""
    gap = text[one.end : other.start]
    start = _FROM.search(text, max(0, one.start - 12), one.start)
    if _AND.fullmatch(gap):
        between = start is not None and (start["b"] or "").lower() == "between"
        if not between and text[other.end : other.end + 2] != "之间":
            return None
    elif not _BETWEEN.fullmatch(gap) or (one.weak and other.weak and start is None):
        return None
    ends = _ends(one, other, moment)
    if ends is None:
        return None
    first, last = ends
    if first.stretch is None or last.stretch is None or first.stretch.lo >= last.stretch.hi:
        return None
    tail = _SPAN_END.match(text, other.end)
    return Atom(
        start.start() if start else one.start,
        tail.end() if tail else other.end,
        Stretch(first.stretch.lo, last.stretch.hi, "span"),
        "absolute" if first.kind == last.kind == "absolute" else "relative",
        first.certain and last.certain,
    )


_SIZE = {"day": 0, "week": 1, "month": 2, "year": 3}


def _ends(one: Atom, other: Atom, moment: Moment) -> tuple[Atom, Atom] | None:
    """Settle both ends; what one of them leaves open follows from the other."""
    first, last = one, other
    if first.stretch is None and last.stretch is None and _SIZE[first.needs] > _SIZE[last.needs]:
        first = settle(first, moment) or first
    if first.stretch is None:
        settled = settle(last, moment)
        if settled is None or settled.stretch is None:
            return None
        found = _next_to(first, settled.stretch, -1)
        return (found, settled) if found else None
    if last.stretch is None:
        found = _next_to(last, first.stretch, 1)
        return (first, found) if found else None
    return first, last


def _next_to(atom: Atom, known: Stretch, step: int) -> Atom | None:
    """Place an end in the unit of the other end, or in the one after (before) it where it would lie on the wrong side."""
    place = atom.place
    if place is None:
        return None
    for offset in (0, step):
        try:
            found = place(beside(whole(known.lo.date(), atom.needs), offset))
        except (ValueError, OverflowError):
            continue
        half = (known.hi - known.lo) * 0
        if step > 0 and found.hi <= known.lo and atom.needs == "day" and found.lo.hour < 12 <= known.lo.hour:
            half = whole(known.lo.date(), "day").hi - whole(known.lo.date(), "day").lo
            found = Stretch(found.lo + half / 2, found.hi + half / 2, found.grain)  # from 2 to 4 in the afternoon
        if (found.hi > known.lo) if step > 0 else (found.lo < known.hi):
            return replace(atom, stretch=found, place=None, needs="")
    return None
