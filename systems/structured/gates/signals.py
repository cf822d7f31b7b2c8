"""What a question's words say about whether it needs memory."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from memtrial.systems.base import Query
from memtrial.systems.models.analyze import has_han
from memtrial.systems.models.reader.arithmetic import compute
from memtrial.systems.models.reader.need import MAX_QUESTION, understand
from memtrial.systems.structured.gates import words
from memtrial.systems.structured.node import Entity

# a place or a topic of the log is a place or a topic of the world as well: its name alone asks for no memory
TELLING = frozenset({"person", "product", "order", "ticket", "contact", "organisation"})
_OWNED_EN = re.compile(rf"\b(?:my|our)\s+(?:\w+ ){{0,2}}?(?:{words.GENERIC_OWNED})\b", re.IGNORECASE)
_OWNED_ZH = re.compile(rf"(?:我|我们|本人|咱)的?(?:这|那)?(?:个|段|篇|句|封)?(?:{words.GENERIC_OWNED_ZH})")
_POSSESSIVE_EN = re.compile(r"\b(?:my|our|mine|ours)\b", re.IGNORECASE)
_POSSESSIVE_ZH = re.compile(r"我的|我们的|本人的|咱的")
# an apostrophe inside a word opens no quotation
_QUOTED = re.compile(r"[“\"「『][^”\"」』]{1,200}[”\"」』]|(?<!\w)[‘'][^’']{1,200}[’'](?!\w)")
_FIGURE = re.compile(r"\d|[二两三四五六七八九十百千半]")
_WORD = re.compile(r"[^\W_]+(?:['’-]\w+)*")

NAMES: tuple[str, ...] = (
    "known",
    "code",
    "product",
    "name",
    *words.MEMORY,
    "generic_owned",
    "computes",
    "figures",
    "quoted",
    *words.NO_MEMORY,
)
"""Signals in the order of a feature vector."""


@dataclass(frozen=True, slots=True)
class Signals:
    """The signals that fire for one question, and how long it is.

    Attributes:
        fired: names out of ``NAMES``.
        length: words; of Chinese, half the characters.
    """

    fired: frozenset[str]
    length: float

    def vector(self) -> list[float]:
        """Return one number per name in ``NAMES``, 1 where it fires."""
        return [float(name in self.fired) for name in NAMES]


def read_signals(query: Query, named: Sequence[Entity] = ()) -> Signals:
    """Read a question's words, without its history.

    Args:
        query: the question.
        named: entities of the memory that it names.
    """
    text = query.text[:MAX_QUESTION]
    fired = set(_by_words(text))
    alone = Query(query.id, query.tenant_id, query.asker, query.asked_at, text, language=query.language)
    need = understand(alone)
    if any(entity.kind in TELLING for entity in named):
        fired.add("known")
    if need.names:
        fired.add("name")
    if compute(need) is not None:
        fired.add("computes")
    if sum(v.kind in ("money", "number", "percent", "date", "duration") for v in need.values) >= 2:
        fired.add("figures")
    return Signals(frozenset(fired), length_of(text))


def length_of(text: str) -> float:
    """Return the number of words; a Chinese character is half a word."""
    han = sum("一" <= c <= "鿿" for c in text)
    return len(_WORD.findall(re.sub(r"[一-鿿]", " ", text))) + han / 2


@lru_cache(maxsize=2048)
def _by_words(text: str) -> tuple[str, ...]:
    # what stands in quotation marks is material of a task, not a word of the asker's
    outside = _QUOTED.sub('""', text)
    found = [name for name, pattern in words.MEMORY.items() if pattern.search(outside)]
    found += [name for name, pattern in words.NO_MEMORY.items() if pattern.search(outside)]
    if "calculation" in found and not _FIGURE.search(text):
        found.remove("calculation")
    if words.CODE.search(text):
        found.append("code")
    if words.PRODUCT.search(text):
        found.append("product")
    if _QUOTED.search(text):
        found.append("quoted")
    owned = _OWNED_ZH if has_han(text) else _OWNED_EN
    possessives = len((_POSSESSIVE_ZH if has_han(text) else _POSSESSIVE_EN).findall(outside))
    generic = len(owned.findall(outside))
    # "my order and my advice" owns something on record all the same
    if generic and generic >= possessives:
        found.append("generic_owned")
    return tuple(found)
