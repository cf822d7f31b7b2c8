"""Untrusted text made safe to show: nothing invisible, nothing active.

Chat text, labels and answers come from other people. HTML escaping is left to jinja2; what stands here makes
invisible characters visible and takes the meaning out of Markdown punctuation.
"""

from __future__ import annotations

import re

_INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)
_MARKDOWN = re.compile(r"[\\`*_\[\]#|~$]|@(?=[A-Za-z])")
_URL = re.compile(r"://|(?<=www)\.", re.IGNORECASE)
_SPACE = re.compile(r"[^\S\u00a0]+")


def visible(text: object) -> str:
    """Return text in which control, bidirectional and zero-width characters are spelt out as ``⟨U+202E⟩``.

    Line feeds and tabs stay. Joiners and variation selectors stay too: emoji and several scripts need them, and they
    neither reorder nor hide text.
    """
    plain = str(text).replace("\r\n", "\n")
    return _INVISIBLE.sub(lambda hit: f"⟨U+{ord(hit.group()):04X}⟩", plain)


def one_line(text: object, limit: int | None = None) -> str:
    """Return visible text on one line, cut to ``limit`` characters with an ellipsis."""
    line = _SPACE.sub(" ", visible(text)).strip()
    return line if limit is None or len(line) <= limit else line[: limit - 1].rstrip() + "…"


def markdown(text: object, limit: int | None = None) -> str:
    """Return one line that Markdown shows as written: no markup, no HTML, no automatic link, no broken table cell."""
    line = one_line(text, limit)
    line = _MARKDOWN.sub(lambda hit: "\\" + hit.group(), line)
    line = _URL.sub(lambda hit: ":\\//" if hit.group() == "://" else "\\.", line)
    line = line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return "\\" + line if line[:1] in {"-", "+", "="} else line
