"""Typed values and when two of them are the same."""

from __future__ import annotations

from dataclasses import dataclass

from memtrial.metrics.matching.units import COUNT, DURATION, MONTHS, PERCENT, WORKDAYS
from memtrial.metrics.matching.when import When

ID = "id"
DATE = "date"


@dataclass(frozen=True, slots=True)
class Value:
    """A typed value and where it stands.

    Attributes:
        family: unit family (``money:EUR``, ``seconds``, ``count`` …), "" for a bare number, ``date`` or ``id``.
        amount: in the base unit of the family.
        raw: the number as written, before its unit's factor.
        when: the point in time of a ``date``.
        text: identifier without separators, for an ``id``.
        noun: the English noun after a bare number ("13 people").
        ranged: an end of a range, which states neither end as the value.
    """

    start: int
    end: int
    family: str
    amount: float = 0.0
    raw: float = 0.0
    when: When | None = None
    text: str = ""
    noun: str = ""
    ranged: bool = False


def same_quantity(
    mention: Value, form: Value, families: frozenset[str], asked: frozenset[str] = frozenset(), *, bare: bool = False
) -> bool:
    """Compare an amount, a count or an identifier in an answer with an accepted form.

    Args:
        mention: what the answer says.
        form: one accepted form.
        families: unit families of all accepted forms beside it; a bare form takes any unit only where none names one.
        asked: unit families that the question itself names, in which a bare number is complete.
        bare: a form beside this one has the same number with its unit, so that this one stands for the bare number alone.

    Returns:
        True when they are the same value, units converted.
    """
    if ID in (mention.family, form.family):
        return _same_id(mention, form)
    if mention.family == form.family and mention.family:
        return close(mention.amount, form.amount)
    if not mention.family:
        if mention.noun and families - {COUNT, PERCENT}:
            return False
        if form.family in (DURATION, MONTHS, WORKDAYS) and form.family not in asked:
            return False
        return close(mention.raw, form.raw)
    if not form.family:
        return not bare and close(mention.raw, form.raw) and (not families or mention.family in families)
    return False


def _same_id(mention: Value, form: Value) -> bool:
    if mention.family == form.family == ID:
        short, long = sorted((mention.text, form.text), key=len)
        if short == long:
            return True
        return short.isdigit() and long.isdigit() and len(short) >= 9 and long.endswith(short.lstrip("0"))
    number = mention if form.family == ID else form
    other = form if form.family == ID else mention
    return bool(other.amount) and number.family != DATE and close(number.amount, other.amount)


def close(a: float, b: float) -> bool:
    """Compare two amounts to nine digits."""
    return abs(a - b) <= 1e-9 * max(1.0, abs(a), abs(b))
