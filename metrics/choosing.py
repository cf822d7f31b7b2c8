"""Which architecture to choose when: the criteria that a run can measure, and who leads in each.

Criteria are those of the usual argument for typed memories or for search in the raw log: what is asked, how fast, at what
cost, how well an answer can be traced, how often it is wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from memtrial.metrics.compare import LATENCY, against, comparable, compare
from memtrial.metrics.definitions import define
from memtrial.metrics.estimates import figures
from memtrial.metrics.latency import latency_percentiles
from memtrial.metrics.panel import Panel, make_panels
from memtrial.metrics.records import Record, TrialInfo

ARCHITECTURES = ("structured", "raw_log", "hybrid")
_ONCE = ("ingest_s", "index_mb")


@dataclass(frozen=True, slots=True)
class Criterion:
    """What is measured, under the name of what one would choose by; ``categories`` empty for all questions."""

    title: str
    metric: str
    categories: frozenset[str] = frozenset()


CRITERIA: tuple[Criterion, ...] = (
    Criterion("Long-tail questions, outside every schema", "accuracy", frozenset({"no_schema", "open_domain"})),
    Criterion(
        "Questions of a fixed pattern: look-up, state, policy",
        "accuracy",
        frozenset({"lookup", "state", "policy", "spec", "update", "list"}),
    ),
    Criterion("Joins over several hops", "accuracy", frozenset({"join", "multi_hop", "aggregate"})),
    Criterion("All questions", "accuracy"),
    Criterion("Wrong memory used", "wrong_memory_rate"),
    Criterion("Fast answers: latency P95", LATENCY),
    Criterion("Quick to set up: time to take in the log", "ingest_s"),
    Criterion("Little to keep: index size", "index_mb"),
    Criterion("Cheap answers: context tokens", "context_tokens"),
    Criterion("Traceable answers: evidence cited", "evidence_cited_rate"),
)


@dataclass(frozen=True, slots=True)
class Measured:
    """One figure with its interval, which what is measured once has not; ``n`` questions stand behind it."""

    value: float
    low: float | None = None
    high: float | None = None
    n: int = 0


@dataclass(frozen=True, slots=True)
class Choice:
    """One criterion over all architectures.

    Attributes:
        criterion: what is measured.
        cells: by trial; None where it cannot be measured.
        leader: the trial that leads, or "".
        behind: trials that are worse than the leader, decided by a paired test.
        open: trials that it cannot be told apart from.
        once: the figure was measured once, so the order of the figures is all there is.
    """

    criterion: Criterion
    cells: dict[str, Measured | None]
    leader: str = ""
    behind: tuple[str, ...] = ()
    open: tuple[str, ...] = ()
    once: bool = False


def architectures(trials: Sequence[TrialInfo], dataset: str) -> list[TrialInfo]:
    """Return one trial of each architecture on a data set, the one in which nothing is varied; [] where there are not two."""
    found: list[TrialInfo] = []
    for name in ARCHITECTURES:
        own = [t for t in trials if t.target == name and t.dataset == dataset]
        own.sort(key=lambda t: len(t.axes))
        found += own[:1]
    return found if len(found) > 1 else []


def choices(
    records: Sequence[Record], chosen: Sequence[TrialInfo], *, resamples: int = 10_000, seed: int = 0
) -> list[Choice]:
    """Measure every criterion on the trials of one data set; those that no trial has a figure for are left out.

    Args:
        records: of the run.
        chosen: from :func:`architectures`.
        resamples: of bootstrap and permutation.
        seed: of both.
    """
    names = {t.trial for t in chosen}
    own = [r for r in records if r.trial in names and r.result.dataset == chosen[0].dataset]
    made = []
    for criterion in CRITERIA:
        choice = _once(criterion, chosen) if criterion.metric in _ONCE else None
        if choice is None:
            some = [r for r in own if not criterion.categories or r.labels.category in criterion.categories]
            choice = _measure(criterion, some, chosen, resamples, seed)
        if sum(cell is not None for cell in choice.cells.values()) > 1:
            made.append(choice)
    return made


def _once(criterion: Criterion, chosen: Sequence[TrialInfo]) -> Choice:
    values = {t.trial: getattr(t, criterion.metric) for t in chosen}
    cells = {trial: None if value is None else Measured(float(value)) for trial, value in values.items()}
    return Choice(criterion, cells, _best(criterion, cells), once=True)


def _measure(
    criterion: Criterion, records: Sequence[Record], chosen: Sequence[TrialInfo], resamples: int, seed: int
) -> Choice:
    if not records:
        return Choice(criterion, dict.fromkeys((t.trial for t in chosen), None))
    asked = len({(r.result.corpus_id, r.result.question_id) for r in records})
    planned = asked if criterion.categories else max(t.planned for t in chosen)
    infos = [t.model_copy(update={"planned": planned}) for t in chosen]
    cells = {p.info.trial: _cell(criterion.metric, p, resamples, seed) for p in make_panels(records, infos)}
    leader = _best(criterion, cells)
    if not leader:
        return Choice(criterion, cells)
    found = compare(records, infos, metrics=[criterion.metric], resamples=resamples, seed=seed)
    told = against(leader, found)
    return Choice(
        criterion,
        cells,
        leader,
        tuple(c.b for c in told if c.status == "better"),
        tuple(c.b for c in told if c.status != "better" and cells.get(c.b) is not None),
    )


def _cell(metric: str, panel: Panel, resamples: int, seed: int) -> Measured | None:
    if not panel.n:
        return None
    if metric == LATENCY:
        found = dict(latency_percentiles(panel))[LATENCY]
        return None if found.value is None else Measured(found.value, found.low, found.high, found.n)
    estimate = next(e for e in comparable(panel) if e.metric == metric)
    if estimate.reason:
        return None
    [figure] = figures([estimate], panel.cluster, [np.ones(panel.n)], resamples=resamples, seed=seed)
    return None if figure is None else Measured(figure.value, figure.interval.low, figure.interval.high, figure.n)


def _best(criterion: Criterion, cells: dict[str, Measured | None]) -> str:
    there = [(cell.value, trial) for trial, cell in cells.items() if cell is not None]
    if not there:
        return ""
    lower = define(criterion.metric).better == "lower"
    return min(there, key=lambda pair: pair[0] if lower else -pair[0])[1]
