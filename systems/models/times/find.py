"""From a text to the intervals that its time words mean."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

from memtrial.systems.models.analyze import has_han
from memtrial.systems.models.times.atoms import Atom, Moment, longest, settle
from memtrial.systems.models.times.atoms_common import COMMON
from memtrial.systems.models.times.atoms_counted import COUNTED
from memtrial.systems.models.times.atoms_en import ENGLISH_ATOMS
from memtrial.systems.models.times.atoms_en_parts import ENGLISH_PARTS
from memtrial.systems.models.times.atoms_zh import CHINESE_ATOMS
from memtrial.systems.models.times.atoms_zh_parts import CHINESE_PARTS
from memtrial.systems.models.times.compose import around_it, determine, join, part, ranged
from memtrial.systems.models.times.expression import TimeExpression
from memtrial.systems.models.times.offsets import offset, open_ended
from memtrial.systems.models.times.spans import EARLIEST, LATEST, Stretch, beside, whole

_FUTURE = re.compile(
    r"\b(?:will|won['’]t|shall|going to|gonna|upcoming|coming up|planned for|plan(?:s|ning)? (?:to|for)|scheduled|due)\b|['’]ll\b|(?<!即)将(?!来)|打算|计划|准备|即将|到时",
    re.IGNORECASE,
)
_PAST = re.compile(
    r"\b(?:did|didn['’]t|was|wasn['’]t|were|had|has|have|said|told|went|came|saw|met|took|made|got|bought|sent|gave|spoke|wrote|ago|last|(?!(?:need|feed|speed|seed|weed|breed|indeed|embed|planned|scheduled|red|bed)\b)\w{2,}ed)\b"
    r"|了(?!解)|过(?![年节期来去程敏])|曾|说|聊|提到|讨论|发生",
    re.IGNORECASE,
)
_LONGEST = 20_000


def find_times(text: str, asked_at: datetime, language: str = "") -> list[TimeExpression]:
    """Find time expressions in English or Chinese text, or text that mixes both.

    Conventions (docs/plan.md lists them all): weeks begin on Monday, "last week" is the calendar week before, "the last
    week" of days counts back from today; a date without a year is the last one that has begun, unless the sentence speaks
    of what is to come; times are those of the zone of ``asked_at``.

    Args:
        text: any text; only its first 20,000 characters are read.
        asked_at: aware; what "last week" is relative to.
        language: a hint (``zh``: 3/5 is the fifth of March); may be empty.

    Returns:
        Expressions in the order of the text, none overlapping another; none at all where ``asked_at`` lies outside of the
        years 1021 to 2979.

    Raises:
        ValueError: ``asked_at`` has no zone.
    """
    if asked_at.tzinfo is None:
        raise ValueError(f"asked_at must be aware of its time zone, but is {asked_at.isoformat()}")
    if not EARLIEST.year + 20 < asked_at.year < LATEST.year - 20:
        return []  # counting back or ahead would leave the calendar
    text = text[:_LONGEST]
    moment = Moment(
        asked_at.replace(tzinfo=None),
        future=bool(_FUTURE.search(text)),
        past=bool(_PAST.search(text)),
        chinese=language.startswith("zh") or has_han(text),
    )
    found = []
    for atom in _atoms(text, moment):
        stretch = atom.stretch
        if stretch is None or not EARLIEST <= stretch.lo < stretch.hi:
            continue
        lo, hi = stretch.lo.replace(tzinfo=asked_at.tzinfo), stretch.hi.replace(tzinfo=asked_at.tzinfo)
        span = (atom.start, atom.end)
        words = text[atom.start : atom.end]
        found.append(TimeExpression(span, words, lo, hi, stretch.grain, atom.certain, atom.kind))
    return found


def _atoms(text: str, moment: Moment) -> list[Atom]:
    rules = (COMMON, COUNTED, ENGLISH_ATOMS, ENGLISH_PARTS, CHINESE_ATOMS, CHINESE_PARTS)
    atoms = longest([atom for rule in rules for atom in rule.find(text, moment)])
    atoms = join(text, atoms)
    atoms = _each(atoms, lambda atom: determine(text, atom, moment))
    atoms = _each(atoms, lambda atom: part(text, atom))
    atoms = _each(atoms, lambda atom: around_it(text, atom))
    atoms = join(text, atoms)
    atoms = _ranges(text, atoms, moment)
    # what was joined is settled now: a month alone stays weak until a word before it shows that it is one
    settled = []
    for atom in atoms:
        counted = offset(text, settle(replace(atom), moment) or atom)
        opened = counted or settle(atom, moment)
        if opened is None:
            continue
        opened = open_ended(text, opened, moment) or opened
        if not opened.weak or counted is not None:
            settled.append(opened)
    settled = longest(settled)
    return sorted(settled + _referring(text, settled), key=lambda atom: atom.start)


def _each(atoms: list[Atom], change: Callable[[Atom], Atom | None]) -> list[Atom]:
    return [change(atom) or atom for atom in atoms]


def _ranges(text: str, atoms: list[Atom], moment: Moment) -> list[Atom]:
    kept: list[Atom] = []
    for atom in atoms:
        made = ranged(text, kept[-1], atom, moment) if kept else None
        if made is not None:
            kept[-1] = made
        else:
            kept.append(atom)
    return kept


_REFERRING = re.compile(
    r"\bthe\s(?:(?P<f>following|next)\s(?P<u>day|morning|evening)|following\s(?P<v>week|weekend|month|year)|(?P<x>day|week|month|year)\s(?P<w>after|before)(?=\s?(?:[?.!,;]|$)))"
    r"|(?P<z>第二天|次日|隔天|翌日)",
    re.IGNORECASE,
)


def _referring(text: str, atoms: list[Atom]) -> list[Atom]:
    """Resolve "the day after" and 第二天 against the time named before them in the text, if there is one."""
    found = []
    for m in _REFERRING.finditer(text):
        before = [a for a in atoms if a.end <= m.start() and a.stretch is not None]
        if not before or any(a.start < m.end() and m.start() < a.end for a in atoms):
            continue
        at = before[-1].stretch
        if at is None or at.lo <= EARLIEST:
            continue
        unit = (m["u"] or m["v"] or m["x"] or "day").lower()
        unit = "day" if unit in ("morning", "evening") else unit
        back = (m["w"] or "").lower() == "before"
        try:
            last = at.lo if back else at.hi - timedelta(seconds=1)
            stretch = beside(whole(last.date(), unit), -1 if back else 1)
        except (ValueError, OverflowError):
            continue
        found.append(Atom(m.start(), m.end(), Stretch(stretch.lo, stretch.hi, stretch.grain), before[-1].kind, False))
    return found
