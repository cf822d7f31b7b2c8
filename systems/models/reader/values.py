"""Typed value extraction: every date, amount, identifier, name and place in a text, in place order."""

from __future__ import annotations

from datetime import datetime
from functools import lru_cache

from memtrial.systems.models.reader.value import Value, keep_longest
from memtrial.systems.models.reader.values_clock import find_durations, find_times
from memtrial.systems.models.reader.values_dates import find_dates
from memtrial.systems.models.reader.values_names import find_codes, find_people, find_places, find_quoted
from memtrial.systems.models.reader.values_numbers import find_money, find_numbers, find_percent

__all__ = ["Value", "extract_names", "extract_values"]


@lru_cache(maxsize=4096)
def extract_values(text: str, anchor: datetime | None, language: str) -> tuple[Value, ...]:
    """Find values that do not overlap (save the duration inside ``in 3 days``): dates, money, codes, percentages, times, durations, numbers.

    Args:
        text: what was said.
        anchor: when it was said; relative dates are counted from its day.
        language: ``zh`` or ``en``, in which resolved dates are written.

    Returns:
        Values in the order of the text.
    """
    day = anchor.date() if anchor else None
    dates = find_dates(text, day, language)
    absolute = [v for v in dates if v.text[:4].isdigit()]
    durations = find_durations(text)
    others = find_percent(text) + find_times(text) + durations + find_numbers(text)
    kept = keep_longest(absolute + find_money(text) + find_codes(text) + dates + others)
    inside_dates = [
        d for d in keep_longest(durations) if any(v.kind == "date" and v.start <= d.start < v.end for v in kept)
    ]
    return tuple(sorted([*kept, *inside_dates], key=lambda v: (v.start, v.kind)))


@lru_cache(maxsize=4096)
def extract_names(text: str) -> tuple[Value, ...]:
    """Find people, places and quoted strings; a place and a person may cover the same words."""
    people = keep_longest(find_people(text))
    places = keep_longest(find_places(text))
    return tuple(sorted([*people, *places, *find_quoted(text)], key=lambda v: (v.start, v.kind)))
