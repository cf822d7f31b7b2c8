"""The glyphs of a page's Chinese text, carried inside the page for machines that have no such font."""

from __future__ import annotations

import base64
import io

from memtrial.reports.figures.fonts import font_path

FAMILY = "memtrial han"
_FIRST = 0x2E80
_INSTALLED = (
    "PingFang SC",
    "PingFangSC-Regular",
    "Microsoft YaHei",
    "Noto Sans CJK SC",
    "NotoSansCJKsc-Regular",
    "Source Han Sans SC",
)


def font_face(text: str) -> str:
    """Return an ``@font-face`` rule with the CJK glyphs that ``text`` uses, or an empty string where it uses none.

    The family goes first in the page's list of fonts (behind others, Chromium paints the first such text before the font is
    there and never again); its range leaves Latin text to the fonts after it, and fonts of the machine go before the carried one.
    """
    wanted = {ord(c) for c in set(text) if ord(c) >= _FIRST}
    if not wanted:
        return ""
    from fontTools import subset  # type: ignore[import-untyped]

    options = subset.Options(
        flavor="woff",
        with_zopfli=False,
        hinting=False,
        layout_features=[],
        name_IDs=[],
        recalc_timestamp=False,
        notdef_outline=False,
    )
    options.drop_tables += ["GPOS", "GSUB", "BASE", "VORG", "vhea", "vmtx"]
    loaded = subset.load_font(str(font_path()), options, lazy=True)
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=wanted)
    subsetter.subset(loaded)
    data = io.BytesIO()
    subset.save_font(loaded, data, options)
    encoded = base64.b64encode(data.getvalue()).decode("ascii")
    local = ",".join(f'local("{name}")' for name in _INSTALLED)
    source = f'{local},url(data:font/woff;base64,{encoded}) format("woff")'
    return f'@font-face{{font-family:"{FAMILY}";unicode-range:U+{_FIRST:X}-10FFFF;src:{source}}}'
