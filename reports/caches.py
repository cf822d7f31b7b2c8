"""How often a cache served: of the answers for which memory was looked up, those with a hit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from memtrial.metrics.gates import decision
from memtrial.metrics.panel import Panel
from memtrial.reports.sections import Grid, filled
from memtrial.reports.shares import share_of, show_share
from memtrial.reports.view import DatasetView, View

_MOST_NAMES = 20
_HEAD = ("system", "cache", "answers with a hit", "hit rate", "hits in all")
_HOW = (
    "Hit rate: answers with at least one hit in that cache, of those for which memory was looked up; in parentheses the 95 % "
    "interval over clusters"
)
_NONE = (
    "A cache that is on and was never hit leaves no name, and changed no answer. A hit needs a question that "
    "comes again while its result is kept, by the clock of the dialogue, with nothing written in between"
)


def caches_grid(view: View, dataset: DatasetView) -> Grid | None:
    """Return hit rates by system and cache; None where no system has a cache that is on, or hit one."""
    rows = []
    unhit = False
    for trial in dataset.trials:
        panel = view.panels[dataset.label, trial.trial]
        names = sorted({name for record in panel.records for name in record.result.trace.cache_hits})
        rows += [_row(view, panel, name) for name in names[:_MOST_NAMES]]
        if not names and panel.records and (on := list(caches_on(trial.params))):
            unhit = True
            rows.append(_row(view, panel, None, ", ".join(on)))
    if not rows:
        return None
    notes = (_HOW, *([_NONE] if unhit else []))
    return Grid(f"Caches, {dataset.label}", _HEAD, filled(rows), notes)


def caches_on(params: Mapping[str, Any], path: Sequence[str] = ()) -> Iterator[str]:
    """Yield the paths of the parameters ``cache`` that say ``enabled: true``."""
    for name, value in params.items():
        if isinstance(value, Mapping):
            if name == "cache" and value.get("enabled") is True:
                yield ".".join((*path, name))
            yield from caches_on(value, (*path, name))


def _row(view: View, panel: Panel, name: str | None, told: str = "") -> list[str]:
    hits = np.array([0 if name is None else r.result.trace.cache_hits.get(name, 0) for r in panel.records], dtype=float)
    looked = np.array([decision(record) is True for record in panel.records], dtype=float)
    served = (hits > 0) * looked
    rate = show_share(share_of(panel, served, looked, view.resamples))
    answers = f"{int(served.sum()):,} of {int(looked.sum()):,}"
    return [panel.info.trial, name or f"none hit ({told} is on)", answers, rate, f"{int(hits.sum()):,}"]
