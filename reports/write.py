"""Put a report on disk."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from memtrial.datasets.errors import UserError
from memtrial.reports.content import build
from memtrial.reports.html import render_html
from memtrial.reports.markdown import render_markdown

if TYPE_CHECKING:
    from memtrial.experiments.store import Run


def write(run: Run, out: Path) -> None:
    """Write page, Markdown and figures; see ``memtrial.reports.write_report``."""
    content = build(run)
    figures = out / "figures"
    try:
        figures.mkdir(parents=True, exist_ok=True)
        made = {f"{drawn.name}{ending}" for drawn in content.figures for ending in (".svg", ".png")}
        for old in figures.iterdir():
            if old.suffix in {".svg", ".png"} and old.name not in made:
                old.unlink()
        for drawn in content.figures:
            (figures / f"{drawn.name}.svg").write_bytes(drawn.svg)
            (figures / f"{drawn.name}.png").write_bytes(drawn.png)
        (out / "report.md").write_text(render_markdown(content), encoding="utf-8", newline="\n")
        (out / "report.html").write_text(render_html(content), encoding="utf-8", newline="\n")
    except OSError as error:
        raise UserError(f"cannot write the report to {out}: {error.strerror or error}") from error
