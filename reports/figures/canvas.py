"""From a matplotlib figure to bytes that depend on nothing but what was drawn.

Figures are drawn in the light theme. In SVG each theme colour becomes a CSS variable with that colour as its fallback,
so that the same drawing follows a page (or a browser) into the dark.
"""

from __future__ import annotations

import hashlib
import io
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: name of the CSS variable -> (light, dark). Every colour a chart may use stands here.
THEME: dict[str, tuple[str, str]] = {
    "ink": ("#1d2329", "#e6e9ec"),
    "muted": ("#5b6670", "#9ba6b0"),
    "line": ("#dfe3e7", "#343b42"),
    "paper": ("#ffffff", "#14181c"),
    "o-correct": ("#0b6fb3", "#3d9be0"),
    "o-correct_abstention": ("#7fbfe8", "#8fd0f7"),
    "o-needless_abstention": ("#a0a8af", "#68727b"),
    "o-incomplete": ("#f0d264", "#e8cf6d"),
    "o-wrong_other": ("#e69f00", "#e3a32b"),
    "o-hallucination": ("#c77aa6", "#d58fb6"),
    "o-wrong_memory": ("#cf4a0a", "#ea6a2c"),
    "o-error": ("#3a4149", "#c3cad1"),
    "o-doubt": ("#5f8f62", "#8fbf92"),
    "o-unanswerable": ("#7a4b8c", "#b58ac6"),
    "o-untraced": ("#c9bfae", "#6b6252"),
    "t-0": ("#0072b3", "#4aa8e8"),
    "t-1": ("#d55e01", "#f08245"),
    "t-2": ("#009e74", "#35c69c"),
    "t-3": ("#b3558c", "#dc8fbc"),
    "t-4": ("#8a6d00", "#d6b53c"),
    "t-5": ("#4b4fa8", "#979bf0"),
    "t-6": ("#2b8a9b", "#5fc3d3"),
    "t-7": ("#7d4a2d", "#c99a7c"),
    "t-8": ("#6b7680", "#a8b3bd"),
    "t-9": ("#a3123f", "#f0708f"),
}
PNG_DPI = 144
COLOUR: dict[str, str] = {name: pair[0] for name, pair in THEME.items()}
SANS = (
    'ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", "PingFang SC", '
    '"Hiragino Sans GB", "Microsoft YaHei", "Noto Sans CJK SC", "Noto Sans SC", "Source Han Sans SC", '
    '"WenQuanYi Micro Hei", sans-serif'
)

_BY_HEX = {pair[0]: name for name, pair in THEME.items()}
_HEX = re.compile("|".join(_BY_HEX))
_PROLOGUE = re.compile(r"\A.*?(?=<svg)|<metadata>.*?</metadata>", re.DOTALL)
_IDS = re.compile(r' id="([^"]*)"')
_USED = re.compile(r'(?:url\(#|href="#)([^")]+)')


@dataclass(frozen=True, slots=True)
class Drawn:
    """A figure in the forms a report needs: ``inline`` for HTML, ``svg`` and ``png`` for files."""

    name: str
    title: str
    inline: str
    svg: bytes
    png: bytes


def theme_css(dark: bool) -> str:
    """Return the CSS declarations of every theme colour."""
    return "".join(f"--{name}:{pair[dark]};" for name, pair in THEME.items())


def render(figure: Figure, name: str, title: str) -> Drawn:
    """Render a figure; equal drawings give equal bytes.

    Args:
        figure: drawn in COLOUR only, with fonts from ``fonts``.
        name: file name without ending, unique in the report.
        title: what the picture shows, for readers who cannot see it. Escaped here.

    Raises:
        RuntimeError: a glyph was missing, which ``fonts.drawable`` exists to prevent.
    """
    import warnings

    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    text, png = io.StringIO(), io.BytesIO()
    salt = hashlib.sha256(name.encode()).hexdigest()[:12]
    with rc_context({"svg.hashsalt": salt, "svg.fonttype": "none"}), warnings.catch_warnings():
        warnings.filterwarnings("error", message="Glyph")
        try:
            figure.set_facecolor("none")
            svg_canvas: Any = FigureCanvasSVG(figure)
            svg_canvas.print_svg(text, metadata={"Date": None, "Creator": None})
            figure.set_facecolor(COLOUR["paper"])
            figure.set_dpi(PNG_DPI)
            png_canvas: Any = FigureCanvasAgg(figure)
            png_canvas.print_png(png, metadata={"Software": None})
        except UserWarning as warning:
            raise RuntimeError(f"figure {name}: {warning}") from warning
    inline = _themed(text.getvalue(), title)
    return Drawn(name, title, inline, _standalone(inline), png.getvalue())


def _themed(svg: str, title: str) -> str:
    """Drop prologue, metadata and unused ids; name theme colours; let the page choose the font."""
    svg = _PROLOGUE.sub("", svg)
    svg = svg.replace("xlink:href", "href").replace(' xmlns:xlink="http://www.w3.org/1999/xlink"', "")
    used = set(_USED.findall(svg))
    svg = _IDS.sub(lambda hit: hit.group() if hit.group(1) in used else "", svg)
    svg = _HEX.sub(lambda hit: f"var(--{_BY_HEX[hit.group()]},{hit.group()})", svg)
    from markupsafe import escape

    return svg.replace("<svg ", f'<svg role="img" aria-label="{escape(title)}" ', 1).strip()


def _standalone(inline: str) -> bytes:
    css = (
        f"svg{{{theme_css(False)}}}text{{font-family:{SANS}!important}}"
        f"@media(prefers-color-scheme:dark){{svg{{{theme_css(True)}background:{THEME['paper'][1]}}}}}"
    ).replace('"', "'")
    head, rest = inline.split(">", 1)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{head}>\n <style>{css}</style>{rest}\n'.encode()
