"""Put a report on disk."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from memtrial.datasets.errors import UserError
from memtrial.experiments.store import atomically
from memtrial.reports.content import build
from memtrial.reports.html import render_html
from memtrial.reports.markdown import render_markdown

if TYPE_CHECKING:
    from memtrial.experiments.store import Run


def write(run: Run, out: Path) -> None:
    """Write page, Markdown and figures, each whole or not at all; see ``memtrial.reports.write_report``."""
    content = build(run)
    figures = out / "figures"
    try:
        figures.mkdir(parents=True, exist_ok=True)
        made = {f"{drawn.name}{ending}" for drawn in content.figures for ending in (".svg", ".png")}
        for old in figures.iterdir():
            if old.suffix in {".svg", ".png"} and old.name not in made:
                old.unlink()
    except OSError as error:
        raise UserError(f"cannot write the report to {out}: {error.strerror or error}") from error
    for drawn in content.figures:
        _put(figures / f"{drawn.name}.svg", drawn.svg)
        _put(figures / f"{drawn.name}.png", drawn.png)
    _put(out / "report.md", render_markdown(content).encode())
    _put(out / "report.html", render_html(content).encode())


def _put(path: Path, data: bytes) -> None:
    atomically(path, lambda temporary: temporary.write_bytes(data))
