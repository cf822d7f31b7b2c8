"""Typed access to the fields of one JSON object; every refusal names place, field, value and what is allowed."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NoReturn

from memtrial.datasets.errors import UserError, did_you_mean
from memtrial.datasets.loaders.notes import NoteBook

TIME_ALLOWED = "a time such as 2024-05-15T14:30:00Z, or seconds since 1970"
# An unknown field this close to a known one is taken for a slip of the pen, which must not silently lose a label.
_SLIP = 0.85
_SLASH_DATE = re.compile(r"^(\d{4})/(\d{2})/(\d{2})")
# Seconds beyond this lie after the year 5138, milliseconds below it before 1973: the two do not overlap in practice.
_MILLISECONDS_FROM = 1e11


@dataclass(slots=True)
class Row:
    """A JSON object and the place it stands at."""

    data: Mapping[str, Any]
    where: str

    @classmethod
    def of(cls, value: Any, where: str) -> Row:
        """Wrap a JSON value that must be an object.

        Raises:
            UserError: it is something else.
        """
        if not isinstance(value, dict):
            raise UserError(f"{where}: found {show(value)}, a JSON object is expected")
        return cls(value, where)

    def fail(self, key: str, allowed: str) -> NoReturn:
        """Refuse the value of ``key``.

        Raises:
            UserError: always.
        """
        if key not in self.data:
            raise UserError(f"{self.where}: field {key!r} is missing; {allowed} is expected")
        raise UserError(f"{self.where}: field {key!r} is {show(self.data[key])}; {allowed} is expected")

    def text(self, key: str, default: str | None = None) -> str:
        """Return a string field; null counts as absent, and absent without a default is an error."""
        value = self.data.get(key)
        if value is None and default is not None:
            return default
        if not isinstance(value, str):
            self.fail(key, "a string")
        return value

    def ident(self, key: str, default: str | None = None) -> str:
        """Return an id: a non-empty string, or an integer as a string; with a default, null and "" count as absent."""
        value = self.data.get(key)
        if default is not None and (value is None or value == ""):
            return default
        ident = as_ident(value)
        if ident is None:
            self.fail(key, "an id (a non-empty string or an integer)")
        return ident

    def idents(self, key: str) -> tuple[str, ...]:
        """Return a list of ids (a single id counts as a list of one); absent or null is empty."""
        value = self.data.get(key)
        if value is None:
            return ()
        found = [as_ident(item) for item in (value if isinstance(value, list) else [value])]
        if any(item is None for item in found):
            self.fail(key, "a list of ids (strings or integers)")
        return tuple(item for item in found if item is not None)

    def values(self, key: str) -> tuple[str, ...]:
        """Return a list of texts; numbers and booleans become text, a bare value counts as a list of one."""
        value = self.data.get(key)
        if value is None:
            return ()
        found = [as_text(item) for item in (value if isinstance(value, list) else [value])]
        if any(item is None for item in found):
            self.fail(key, "a text, a number, or a list of them")
        return tuple(item for item in found if item is not None)

    def flag(self, key: str, default: bool) -> bool:
        """Return a boolean field."""
        value = self.data.get(key)
        if value is None:
            return default
        if not isinstance(value, bool):
            self.fail(key, "true or false")
        return value

    def choice(self, key: str, allowed: Collection[str]) -> str:
        """Return a string out of ``allowed``."""
        value = self.data.get(key)
        if not isinstance(value, str) or value not in allowed:
            near = did_you_mean(value, allowed) if isinstance(value, str) else ""
            self.fail(key, f"one of {', '.join(sorted(allowed))}{near}")
        return value

    def objects(self, key: str) -> list[Row]:
        """Return a list of objects; absent or null is empty."""
        value = self.data.get(key)
        if value is None:
            return []
        if not isinstance(value, list):
            self.fail(key, "a list of objects")
        return [Row.of(item, f"{self.where}, {key}[{i}]") for i, item in enumerate(value)]

    def time(self, key: str, notes: NoteBook, file: str) -> tuple[datetime, bool]:
        """Return a time in UTC, and whether it was stated with a zone. Naive times are taken as UTC and noted."""
        parsed = parse_time(self.data.get(key))
        if parsed is None:
            self.fail(key, TIME_ALLOWED)
        if parsed.tzinfo is None:
            notes.count("naive_time", file, f"values of {key!r} without a zone, taken as UTC")
            return parsed.replace(tzinfo=UTC), False
        try:
            return parsed.astimezone(UTC), True
        except OverflowError:
            self.fail(key, TIME_ALLOWED)

    def check_known(self, known: Collection[str], what: str, notes: NoteBook, file: str) -> None:
        """Note fields that are left out; refuse one that looks like a misspelt known field.

        Raises:
            UserError: an unknown field is nearly a known one that is absent.
        """
        for key in self.data:
            if key in known:
                continue
            near = difflib.get_close_matches(key, [k for k in known if k not in self.data], n=1, cutoff=_SLIP)
            if near:
                raise UserError(f"{self.where}: unknown field {key!r} of a {what} (did you mean {near[0]!r}?)")
            notes.count("unknown_field", file, f"{what}s with a field {key!r}, which was left out")


def renamed(data: Mapping[str, Any], aliases: Mapping[str, str]) -> dict[str, Any]:
    """Return the object with well-known other names of fields replaced, unless the proper name is there too."""
    return {aliases[k] if k in aliases and aliases[k] not in data else k: v for k, v in data.items()}


def as_ident(value: Any) -> str | None:
    """Return a string or integer as an id, or None."""
    if isinstance(value, str):
        return value or None
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else None


def as_text(value: Any) -> str | None:
    """Return a scalar as the text a person would write, or None for anything else."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else repr(value)
    return None


def parse_time(value: Any) -> datetime | None:
    """Parse ISO 8601 (also ``2024/05/15 14:30``) or seconds or milliseconds since 1970; None when it is no time.

    The result is naive where the text states no zone.
    """
    if isinstance(value, str):
        try:
            text = value.strip()
            return datetime.fromisoformat(_SLASH_DATE.sub(r"\1-\2-\3", text) if "/" in text else text)
        except ValueError:
            return None
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        seconds = value / 1000 if abs(value) >= _MILLISECONDS_FROM else value
        try:
            return datetime.fromtimestamp(seconds, UTC)
        except (OverflowError, ValueError, OSError):
            return None
    return None


def show(value: Any) -> str:
    """Show a value in an error message, cut to a readable length."""
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
