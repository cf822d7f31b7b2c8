"""Atoms: time words that stand by themselves, before neighbours are joined to them.

Some atoms are settled by themselves or by the time of asking ("yesterday", "3 May 2024"). Others are a place inside a
larger unit ("Wednesday" in a week, "May" in a year, "15:30" in a day): those wait for a neighbour that names the unit,
and are settled by the direction of the sentence where there is none.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date, datetime

from memtrial.systems.models.reader.values_numbers import parse_number
from memtrial.systems.models.times.expression import Kind
from memtrial.systems.models.times.spans import Stretch, beside, whole

Place = Callable[[Stretch], Stretch]


@dataclass(frozen=True, slots=True)
class Moment:
    """The time of asking on the wall clock, and whether a sentence speaks of what is to come or of what was.

    ``chinese``: 3/5 is the fifth of March, and not a fraction or the third of May.
    """

    now: datetime
    future: bool = False
    past: bool = False
    chinese: bool = False

    @property
    def today(self) -> date:
        """The day of asking."""
        return self.now.date()


@dataclass(frozen=True, slots=True)
class Atom:
    """Time words at a place of the text.

    Attributes:
        start: offset of the first character.
        end: offset after the last.
        stretch: what they mean; None while that waits for a larger unit.
        kind: as in ``TimeExpression``.
        certain: there is one reading.
        needs: ``year``, ``month``, ``week`` or ``day``: unit in which ``place`` finds the stretch.
        place: finds the stretch in a unit of the grain ``needs``.
        weak: too likely no time at all to stand without a neighbour.
    """

    start: int
    end: int
    stretch: Stretch | None = None
    kind: Kind = "relative"
    certain: bool = True
    needs: str = ""
    place: Place | None = None
    weak: bool = False

    def over(self, start: int, end: int) -> Atom:
        """Return it with another span."""
        return replace(self, start=start, end=end)

    def inside(self, whole_one: Atom) -> Atom | None:
        """Place it in another atom; None where that is not of the grain needed or has no such part."""
        place = self.place
        if place is None or self.needs != whole_one.grain:
            return None
        kind: Kind = whole_one.kind if whole_one.stretch is not None else self.kind
        joined = replace(
            self, kind=kind, certain=self.certain and whole_one.certain, weak=self.weak and whole_one.needs == "day"
        )
        if whole_one.stretch is not None:
            found = attempt(place, whole_one.stretch)
            return None if found is None else replace(joined, stretch=found, place=None, needs="")
        outer = whole_one.place
        if outer is None:
            return None
        return replace(joined, needs=whole_one.needs, place=lambda unit: place(outer(unit)))

    @property
    def grain(self) -> str:
        """Grain of what it means, also where it is not settled yet."""
        if self.stretch is not None:
            return self.stretch.grain
        example = self.example()
        return example.grain if example is not None else ""

    def example(self) -> Stretch | None:
        """Return where it would lie in some unit: 2000 is a leap year, January the longest month."""
        if self.place is None:
            return None
        return attempt(self.place, whole(date(2000, 1, 1), self.needs))


def attempt(place: Place, unit: Stretch) -> Stretch | None:
    """Place, or return None where the unit has no such part."""
    try:
        return place(unit)
    except (ValueError, OverflowError):
        return None


def settle(atom: Atom, moment: Moment) -> Atom | None:
    """Settle what waits for a larger unit by the direction of the sentence.

    Without a word for the future it is the last one that has begun (a weekday: the last before today), since a log is
    asked about what was said; with one, the next that has not ended. None for a time of day without a day.
    """
    if atom.stretch is not None or atom.place is None:
        return atom if atom.stretch is not None else None
    if atom.needs == "day":
        return None
    strict = atom.needs == "week"  # on a Wednesday, "Wednesday" is not today
    today = whole(moment.today, "day")
    reach = range(9) if moment.future else range(0, -9, -1)  # a leap day may be eight years off
    for offset in reach:
        unit = _unit(moment, atom.needs, offset)
        found = attempt(atom.place, unit) if unit is not None else None
        if found is None:
            continue
        if moment.future and (found.lo >= today.hi if strict else found.hi > today.lo):
            return _settled(atom, found, certain=not moment.past)
        if not moment.future and (found.hi <= today.lo if strict else found.lo <= moment.now):
            near = (moment.now - found.lo).days <= 183 and not strict
            return _settled(atom, found, certain=moment.past or near)
    return None


def _unit(moment: Moment, grain: str, offset: int) -> Stretch | None:
    try:
        return beside(whole(moment.today, grain), offset)
    except (ValueError, OverflowError):
        return None


def _settled(atom: Atom, found: Stretch, *, certain: bool) -> Atom:
    return replace(atom, stretch=found, place=None, needs="", certain=atom.certain and certain)


Made = Atom | None
Maker = Callable[[re.Match[str], Moment], Made]


class Rules:
    """Patterns and what they make; a rule that meets a day the calendar lacks makes nothing."""

    def __init__(self) -> None:
        """Start empty."""
        self._rules: list[tuple[re.Pattern[str], Maker]] = []

    def __call__(self, pattern: str, flags: int = 0) -> Callable[[Maker], Maker]:
        """Register the decorated function for a pattern; digits are ASCII."""

        def register(maker: Maker) -> Maker:
            self._rules.append((re.compile(pattern, flags | re.ASCII), maker))
            return maker

        return register

    def find(self, text: str, moment: Moment) -> list[Atom]:
        """Return every atom of every rule; they may overlap."""
        found = []
        for pattern, maker in self._rules:
            for match in pattern.finditer(text):
                try:
                    atom = maker(match, moment)
                except (ValueError, OverflowError):
                    continue
                if atom is not None:
                    found.append(atom)
        return found


def fixed(
    m: re.Match[str], stretch: Stretch, *, kind: Kind = "relative", certain: bool = True, weak: bool = False
) -> Atom:
    """Make an atom that is settled."""
    return Atom(m.start(), m.end(), stretch, kind, certain, weak=weak)


def placed(m: re.Match[str], needs: str, place: Place, *, certain: bool = True, weak: bool = False) -> Atom:
    """Make an atom that waits for a unit of the grain ``needs``."""
    return Atom(m.start(), m.end(), None, "relative", certain, needs, place, weak)


def number(text: str) -> int | None:
    """Read a count in digits or words; None where it is none, or no whole number up to 10,000."""
    text = text.lower().strip()
    if text in ("a", "an", "one"):
        return 1
    value = parse_number(text)
    return None if value is None or value != value.to_integral_value() or abs(value) > 10_000 else int(value)


def longest(atoms: list[Atom]) -> list[Atom]:
    """Drop what overlaps a longer atom; of equally long ones the first rule's stays. In order of the text."""
    kept: list[Atom] = []
    taken = bytearray(max((atom.end for atom in atoms), default=0))
    for atom in sorted(atoms, key=lambda a: a.start - a.end):
        if not any(taken[atom.start : atom.end]):
            taken[atom.start : atom.end] = b"\1" * (atom.end - atom.start)
            kept.append(atom)
    return sorted(kept, key=lambda a: a.start)
