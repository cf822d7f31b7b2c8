"""From records on disk to a page that a design review decides from."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memtrial.experiments.store import Run

__all__ = ["write_report"]


def write_report(run: Run, out: Path) -> None:
    """Write ``report.html``, ``report.md`` and ``figures/`` into a folder.

    A pure function of the run: equal records give equal bytes. Files of an earlier report are overwritten, figures that
    no longer exist are removed.

    Args:
        run: what ``experiments.store.read_run`` gave.
        out: an existing folder, usually the run's own.
    """
    from memtrial.reports.write import write

    write(run, out)
