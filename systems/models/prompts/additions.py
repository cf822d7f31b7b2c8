"""Paragraphs that an instruction gets only where they are needed, so that all other prompts stay as they are.

A file ``ROLE.NAME.LANGUAGE.md`` has a line ``version:``, an empty line, and the paragraph.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from functools import lru_cache
from importlib.resources import files

from memtrial.systems.models.prompts.template import Prompt


@lru_cache(maxsize=64)
def with_addition(prompt: Prompt, name: str) -> Prompt:
    """Return a prompt whose instruction ends with a further paragraph; version and hash tell of both.

    Args:
        prompt: of a role and a language that have a file of this name.
        name: of the paragraph, such as ``trust``.
    """
    file = f"{prompt.role}.{name}.{prompt.language}.md"
    source = (files("memtrial.systems.models.prompts") / file).read_text(encoding="utf-8").replace("\r\n", "\n")
    head, text = source.split("\n\n", 1)
    (speaker, instruction), *turns = prompt.turns
    both = f"{prompt.text}\n{source}"
    return replace(
        prompt,
        version=f"{prompt.version}+{name}{head.removeprefix('version: ')}",
        hash=hashlib.sha256(both.encode()).hexdigest()[:12],
        text=both,
        turns=((speaker, f"{instruction}\n\n{text.strip()}"), *turns),
    )
