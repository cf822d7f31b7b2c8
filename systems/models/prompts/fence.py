"""Chat content as data inside a prompt: what it says can never end the block that it stands in.

A block is a pair of tags around JSON lines. JSON keeps every text inside its quotes, line breaks included, and each
``<`` of a text is written ``\\u003c``, which JSON reads back as the same character: no tag, ours or a look-alike, can come
out of content. Nothing is random, so the same content makes the same prompt and is found again in the record of calls.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

Row = Mapping[str, Any]
Data = str | Row | Sequence[Row]

# Besides "<": controls (JSON escapes those below U+0020 itself), separators of lines, marks that turn the direction of
# writing, characters without width and the invisible copies of ASCII and of variation selectors in plane 14, in which
# orders to a model can be hidden; halves of surrogate pairs. Joiners stay, as emoji and Persian words are made with them.
_HIDDEN = re.compile(
    "[<\x7f-\x9f\xad\u061c\u115f\u1160\u180b-\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff"
    "\ufdd0-\ufdef\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_TAG = re.compile(r"[a-z][a-z_]*")


def row_text(row: Row | str) -> str:
    """Return a row as one line of JSON in which control characters are visible and no ``<`` stands."""
    text = json.dumps(row, ensure_ascii=False, separators=(", ", ": "), allow_nan=False)
    return _HIDDEN.sub(_escape, text)


def fence(tag: str, data: Data) -> str:
    """Return data between tags: one line of JSON, or one for each row.

    Args:
        tag: name of the block, lower case letters and ``_``.
        data: a text, a mapping, or a sequence of mappings; everything in it may be untrusted.
    """
    if not _TAG.fullmatch(tag):
        raise ValueError(f"{tag!r} cannot be the name of a block")
    rows: Sequence[Row | str] = [data] if isinstance(data, (str, Mapping)) else data
    return "\n".join([f"<{tag}>", *(row_text(row) for row in rows), f"</{tag}>"])


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x10000:
        return f"\\u{code:04x}"
    code -= 0x10000
    return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"
