"""Load a phrasing bank and check it against the specification."""

from __future__ import annotations

import importlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memtrial.datasets.errors import UserError, did_you_mean
from memtrial.datasets.supportdesk.phrasings.spec import INTENTS, PAIR_LISTS, VALUE_LISTS

_SLOT = re.compile(r"\{([^{}]*)\}")


@dataclass(frozen=True, slots=True)
class Bank:
    """The checked wording of one split and language.

    Attributes:
        phrases: variants by intent key.
        values: by list key, tuples of accepted forms whose first one goes into the text.
        pairs: by list key, (question, accepted answers).
    """

    split: str
    language: str
    phrases: Mapping[str, tuple[str, ...]]
    values: Mapping[str, tuple[tuple[str, ...], ...]]
    pairs: Mapping[str, tuple[tuple[str, tuple[str, ...]], ...]]


def load_bank(split: str, language: str) -> Bank:
    """Import ``<split>_<language>`` and return it checked.

    Raises:
        UserError: there is no such bank, or it breaks the specification; the sentence names the key.
    """
    name = f"memtrial.datasets.supportdesk.phrasings.{split}_{language}"
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        raise UserError(f"supportdesk: the phrasing bank {split}_{language} does not exist") from None
    tables = [getattr(module, table, None) for table in ("PHRASES", "VALUES", "PAIRS")]
    return check_bank(f"{split}_{language}", split, language, *tables)


def check_bank(where: str, split: str, language: str, phrases: Any, values: Any, pairs: Any) -> Bank:
    """Return a bank made of three tables, or raise a UserError naming the table, the key and what is wrong."""
    for table, found, wanted in (
        ("PHRASES", phrases, INTENTS),
        ("VALUES", values, VALUE_LISTS),
        ("PAIRS", pairs, PAIR_LISTS),
    ):
        _check_keys(f"{where}.{table}", found, wanted)
    for key, intent in INTENTS.items():
        _check_variants(f"{where}.PHRASES[{key!r}]", phrases[key], intent.count, intent.required, intent.allowed)
    for key, spec in VALUE_LISTS.items():
        rows = [(row,) if isinstance(row, str) else tuple(row) for row in values[key]]
        _check_count(f"{where}.VALUES[{key!r}]", [row[0] for row in rows], spec.count)
        values = {**values, key: tuple(rows)}
    for key, pair in PAIR_LISTS.items():
        place = f"{where}.PAIRS[{key!r}]"
        _check_count(place, [row[0] for row in pairs[key]], pair.count)
        for row in pairs[key]:
            if len(row) != 2 or isinstance(row[1], str) or not row[1] or not all(row[1]):
                raise UserError(f"{place}: {row!r} must be (question, (answer, …)) with at least one answer")
    return Bank(
        split,
        language,
        {key: tuple(phrases[key]) for key in INTENTS},
        {key: values[key] for key in VALUE_LISTS},
        {key: tuple((question, tuple(answers)) for question, answers in pairs[key]) for key in PAIR_LISTS},
    )


def _check_keys(where: str, found: Any, wanted: Mapping[str, object]) -> None:
    if not isinstance(found, Mapping):
        raise UserError(f"{where} must be a dictionary, found {type(found).__name__}")
    missing = [key for key in wanted if key not in found]
    if missing:
        raise UserError(f"{where}: missing {', '.join(missing)}")
    for key in found:
        if key not in wanted:
            raise UserError(f"{where}: unknown key {key!r}{did_you_mean(str(key), wanted)}")


def _check_count(where: str, texts: Sequence[str], count: int) -> None:
    if len(texts) < count:
        raise UserError(f"{where}: {len(texts)} entries, at least {count} are needed")
    seen: set[str] = set()
    for text in texts:
        if not isinstance(text, str) or not text.strip():
            raise UserError(f"{where}: empty or not a text: {text!r}")
        if text in seen:
            raise UserError(f"{where}: {text!r} stands there twice")
        seen.add(text)


def _check_variants(
    where: str, variants: Sequence[str], count: int, required: frozenset[str], allowed: frozenset[str]
) -> None:
    _check_count(where, variants, count)
    for text in variants:
        slots = _SLOT.findall(text)
        if text.count("{") != len(slots) or text.count("}") != len(slots):
            raise UserError(f"{where}: unbalanced braces in {text!r}")
        for slot in slots:
            if slot not in allowed:
                raise UserError(
                    f"{where}: unknown slot {{{slot}}} in {text!r}; allowed: {', '.join(sorted(allowed)) or 'none'}"
                )
        absent = sorted(required - set(slots))
        if absent:
            raise UserError(f"{where}: {text!r} lacks the slot {{{absent[0]}}}")
