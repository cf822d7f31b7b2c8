"""What systems warned of, while they took in a log and while they answered: per system, each warning once, with a count."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

from memtrial.reports.sections import Grid, Section, filled
from memtrial.reports.view import View
from memtrial.reports.words import plural

_HEAD = ("system", "warning", "in")
_MOST = 12
_IN_SHORT = 3
_NUMBER = re.compile(r"\d+")


def warnings_section(view: View, most: int = _MOST) -> Section:
    """Return the section; empty where nothing was warned of.

    Warnings that differ in their numbers alone count as one and are then written with "…" in the place of those; one that
    is the same everywhere stands as it was given. What most answers carry comes first.

    Args:
        view: of the run.
        most: rows for each system; the rest is counted in a note.
    """
    section = Section()
    rows: list[tuple[str, str, str]] = []
    for trial in view.trial_order:
        own = _of(view, trial)
        rows += [(trial, text, where) for text, where in own[:most]]
        if len(own) > most:
            section.notes.append(
                f"{trial}: {plural(len(own) - most, 'more warning')}; memtrial show tells those of a question"
            )
    if rows:
        section.lead = (
            "What systems warned of, with how many answers carry it; a question's own stand beside its answer."
        )
        section.grids.append(Grid("By system", _HEAD, filled(rows)))
    return section


def in_short(section: Section) -> Section:
    """Return the section with the first rows of each system alone, for a page that cannot fold anything."""
    grids, notes = [], list(section.notes)
    for grid in section.grids:
        seen: Counter[str] = Counter()
        kept = []
        for row in grid.rows:
            seen[row[0]] += 1
            if seen[row[0]] <= _IN_SHORT:
                kept.append(row)
        grids.append(replace(grid, rows=tuple(kept)))
        if len(kept) < len(grid.rows):
            notes.insert(0, f"{plural(len(grid.rows) - len(kept), 'more row')} in report.html")
    return Section(section.lead, grids, notes)


def _of(view: View, trial: str) -> list[tuple[str, str]]:
    """Return a trial's distinct warnings with where they came up: those of taking in a log first."""
    taken = dict.fromkeys(w for t in view.run.trials if t.trial == trial for w in t.warnings)
    counts: Counter[str] = Counter()
    texts: dict[str, set[str]] = {}
    answers = 0
    for record in view.run.records:
        if record.trial == trial:
            answers += 1
            alike = [(_NUMBER.sub("…", text), text) for text in record.result.trace.warnings]
            counts.update({key for key, _ in alike})
            for key, text in alike:
                texts.setdefault(key, set()).add(text)
    told = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return [
        *((text, "taking in the log") for text in taken),
        *((_as_given(key, texts[key]), f"{count:,} of {answers:,} answers") for key, count in told),
    ]


def _as_given(key: str, texts: set[str]) -> str:
    return next(iter(texts)) if len(texts) == 1 else key
