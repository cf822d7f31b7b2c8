"""Reading the template files and filling them in.

A file ``ROLE.LANGUAGE.md`` starts with the lines ``version:`` and ``fields:``; its sections follow, each under a line
``## system``, ``## user`` or ``## assistant``: the instruction, examples in turns of user and assistant, and last the
user's turn with the open ``{{fields}}``.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Literal

from memtrial.datasets.errors import did_you_mean
from memtrial.systems.models.llm.messages import ChatMessage
from memtrial.systems.models.prompts.fence import Row, fence

ROLES: tuple[str, ...] = ("plan", "extract", "rerank", "read", "summarise", "gate", "check", "agent")
LANGUAGES: tuple[str, ...] = ("en", "zh")

Field = int | str | Row | Sequence[Row]
Speaker = Literal["system", "user", "assistant"]

_SECTION = re.compile(r"^## (system|user|assistant)\n", re.MULTILINE)
_FIELD = re.compile(r"\{\{(\w+)\}\}")


@dataclass(frozen=True, slots=True)
class Prompt:
    """One template file.

    Attributes:
        role: one of ROLES.
        language: ``en`` or ``zh``.
        version: as the file says; raised with every change of its words.
        hash: first 12 hex digits of the SHA-256 of the file.
        text: the file.
        fields: names of what has to be filled in.
        turns: instruction, examples, and the turn with the open fields.
    """

    role: str
    language: str
    version: str
    hash: str
    text: str
    fields: tuple[str, ...]
    turns: tuple[tuple[Speaker, str], ...]

    @property
    def ident(self) -> str:
        """What records and reports say: role, language, version and hash."""
        return f"{self.role}.{self.language}@{self.version}#{self.hash}"

    def render(self, **fields: Field) -> list[ChatMessage]:
        """Fill in the fields.

        Whole numbers stand as they are; everything else is data and goes into a block of the field's name, which
        nothing in it can end (see :mod:`memtrial.systems.models.prompts.fence`).

        Raises:
            TypeError: a field is missing, or the template has none of that name.
        """
        if set(fields) != set(self.fields):
            raise TypeError(f"{self.role}.{self.language} takes {', '.join(self.fields)}, not {', '.join(fields)}")
        filled = {name: str(value) if isinstance(value, int) else fence(name, value) for name, value in fields.items()}
        # One pass: a {{field}} that stands in somebody's message is text.
        return [
            {"role": speaker, "content": _FIELD.sub(lambda found: filled[found[1]], text)}
            for speaker, text in self.turns
        ]


def load_prompt(role: str, language: str) -> Prompt:
    """Return the template of a role.

    Args:
        role: one of ROLES.
        language: a language code; ``zh…`` takes the Chinese template, all others the English one.
    """
    if role not in ROLES:
        raise ValueError(f"there is no prompt for {role!r}{did_you_mean(role, ROLES)}; there are {', '.join(ROLES)}")
    return _load(role, "zh" if language.startswith("zh") else "en")


@lru_cache(maxsize=len(ROLES) * len(LANGUAGES))
def _load(role: str, language: str) -> Prompt:
    name = f"{role}.{language}.md"
    source = (files("memtrial.systems.models.prompts") / name).read_text(encoding="utf-8").replace("\r\n", "\n")
    return parse_prompt(source, role, language)


def parse_prompt(source: str, role: str, language: str) -> Prompt:
    """Read a template.

    Raises:
        ValueError: it is not of the form that this module's docstring gives.
    """
    where = f"{role}.{language}.md"
    head, *parts = _SECTION.split(source)
    settings: Mapping[str, str] = dict(line.split(": ", 1) for line in head.strip().splitlines())
    speakers, texts = parts[::2], [text.strip() for text in parts[1::2]]
    pairs = len(speakers) // 2 - 1
    if pairs < 0 or speakers != ["system", *["user", "assistant"] * pairs, "user"]:
        raise ValueError(f"{where}: sections must be system, then user and assistant in turns, then user")
    fields = tuple(settings["fields"].split(", "))
    open_ones = {found for text in texts for found in _FIELD.findall(text)}
    if open_ones != set(fields) or any(_FIELD.search(text) for text in texts[1:-1]):
        raise ValueError(f"{where}: the fields {', '.join(fields)} must be those open in its instruction and last turn")
    digest = hashlib.sha256(source.encode()).hexdigest()[:12]
    turns: list[tuple[Speaker, str]] = [("system", texts[0])]
    turns += [("assistant" if place % 2 else "user", text) for place, text in enumerate(texts[1:])]
    return Prompt(role, language, settings["version"], digest, source, fields, tuple(turns))
