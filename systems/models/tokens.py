"""The one tokenizer by which every system's context is counted."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

CUT = " […]"
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


def longest_beginning(text: str, fits: Callable[[str], bool], most: int) -> str | None:
    """Return the longest beginning of a text that fits, marked as cut; None where not even one character does.

    Args:
        text: any text.
        fits: whether a beginning with its mark is short enough; what a longer one is, it must not deny a shorter one.
        most: characters that no fitting beginning exceeds, so that a megabyte is not counted.
    """
    low, high = 0, min(len(text), most)
    while low < high:
        middle = (low + high + 1) // 2
        if fits(text[:middle] + CUT):
            low = middle
        else:
            high = middle - 1
    return text[:low] + CUT if low else None
