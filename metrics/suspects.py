"""Results that say more about how a system was connected than about the system."""

from __future__ import annotations

from collections.abc import Sequence

from memtrial.metrics.gates import decision
from memtrial.metrics.handed_out import hands_out
from memtrial.metrics.panel import Panel
from memtrial.metrics.records import MetricRow, TrialInfo
from memtrial.metrics.second_judge import own_rows

FLOOR = "no_memory"
ORACLE = "oracle"


def is_named(info: TrialInfo, name: str) -> bool:
    """Whether a trial runs the built-in system ``name``, whatever its label."""
    return info.target == name or (not info.target and info.system == name)


def suspect_trials(panels: Sequence[Panel], rows: Sequence[MetricRow]) -> set[tuple[str, str]]:
    """Find (trial, dataset) pairs whose adapter probably asked in the wrong way.

    Either nothing was retrieved or shown on any question although the system is not ``no_memory``, or its accuracy on
    answerable questions lies below that of ``no_memory`` on the same data by more than chance (its whole interval does).
    On unanswerable questions a system with a memory may well do worse than one that has nothing to answer from. Answers
    that were published elsewhere are asked nothing, so nothing can be asked in the wrong way. A trial whose own gates kept
    memory closed on every question did what it was set to do: it is no suspect either.
    """
    accuracy = {
        (r.trial, r.dataset): r for r in own_rows(rows) if r.metric == "accuracy_answerable" and r.slice == "all"
    }
    floors = {
        panel.info.dataset: row.value
        for panel in panels
        if is_named(panel.info, FLOOR) and (row := accuracy[panel.info.trial, panel.info.dataset]).value is not None
    }
    suspects = set()
    for panel in panels:
        info = panel.info
        if not panel.n or is_named(info, FLOOR) or hands_out(info):
            continue
        looked = {decision(record) for record in panel.records}
        if False in looked and True not in looked:
            continue
        nothing = not any(r.result.retrieved or r.result.context for r in panel.records)
        high, floor = accuracy[info.trial, info.dataset].high, floors.get(info.dataset)
        if nothing or (high is not None and floor is not None and high < floor):
            suspects.add((info.trial, info.dataset))
    return suspects
