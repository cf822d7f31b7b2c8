"""A font for every label, found by path: matplotlib's font cache and the machine's fonts play no part."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from memtrial.reports.escape import one_line

if TYPE_CHECKING:
    from matplotlib.font_manager import FontProperties


@cache
def font_path() -> Path:
    """Return the file of Noto Sans SC, which covers Latin, Greek, Cyrillic, kana and simplified Chinese."""
    from pylopdf_fonts_zh_cn import sans_path

    return sans_path()


@cache
def _glyphs() -> frozenset[int]:
    from matplotlib.ft2font import FT2Font

    return frozenset(FT2Font(str(font_path())).get_charmap())


@cache
def font(size: float) -> FontProperties:
    """Return the report's font at a size in points."""
    from matplotlib.font_manager import FontProperties

    return FontProperties(fname=str(font_path()), size=size)


def drawable(text: object, limit: int = 42) -> str:
    """Return a label of which the font has every glyph; a character that it lacks is spelt out as ``⟨U+1F600⟩``."""
    known = _glyphs()
    line = one_line(text, limit)
    return "".join(c if ord(c) in known else f"<U+{ord(c):04X}>" for c in line)
