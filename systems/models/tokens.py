"""The one tokenizer by which every system's context is counted."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

TOKENIZER = "o200k_base (quicktok)"


@lru_cache(maxsize=1)
def _encoding() -> Any:
    import quicktok

    return quicktok.get_encoding("o200k_base")


@lru_cache(maxsize=131_072)
def count_tokens(text: str) -> int:
    """Count the tokens of a text; special-token strings such as ``<|endoftext|>`` count as the plain text they are.

    Args:
        text: any text; lone surrogates are counted as replacement characters.
    """
    return len(_encoding().encode_ordinary(text.encode("utf-8", "replace").decode("utf-8")))
