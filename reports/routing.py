"""The section "Routing": where a hybrid's questions went, against a router that knows the better part, and write-back."""

from __future__ import annotations

from collections import Counter, defaultdict

from memtrial.metrics.quality import RIGHT
from memtrial.metrics.records import MetricRow, Record
from memtrial.metrics.routing import FALLBACK, FINAL, FIRST, ORACLE, PARTS, TO_STRUCTURED, decided, routes
from memtrial.reports.sections import DASH, Grid, Section, filled
from memtrial.reports.tables import make_cell
from memtrial.reports.view import DatasetView, View
from memtrial.reports.words import describe, reason

_ROUTER = ("accuracy", ORACLE, FIRST, FINAL, TO_STRUCTURED, FALLBACK)
_WRITTEN = ("write_back_rate", "write_back_wrong_rate", "derived_shown_rate", "derived_used_rate", "derived_wrong_rate")


def routing_section(view: View) -> Section:
    """Return the section; empty where no system chose between parts."""
    section = Section()
    for dataset in view.datasets:
        if dataset.is_variant:
            continue
        of = {t.trial: view.records.get((dataset.label, t.trial), []) for t in dataset.trials}
        routed = [trial for trial, records in of.items() if routes(records)]
        if not routed:
            continue
        section.grids.append(_router(view, dataset, routed))
        section.grids += [_rules(dataset, trial, of[trial]) for trial in routed if not _varied(dataset, trial)]
        written = _grid(view, dataset, routed, _WRITTEN, f"Write-back, {dataset.label}")
        if written is not None:
            section.grids.append(written)
    if section.grids:
        section.lead = "Where questions were sent, by which rule, and what came of it."
    return section


def _router(view: View, dataset: DatasetView, routed: list[str]) -> Grid:
    made = _grid(view, dataset, routed, _ROUTER, f"The router against one that knows, {dataset.label}")
    assert made is not None  # accuracy is always there
    alone = [
        f"{t.trial} alone: {_show(view.row(dataset.label, t.trial, 'accuracy'))} accurate"
        for t in dataset.trials
        if t.target in PARTS and not t.axes
    ]
    return Grid(made.title, made.head, made.rows, (*made.notes, *alone))


def _grid(view: View, dataset: DatasetView, trials: list[str], metrics: tuple[str, ...], title: str) -> Grid | None:
    rows = {trial: [view.row(dataset.label, trial, m) for m in metrics] for trial in trials}
    if not any(any(row) for row in rows.values()):
        return None
    told = [f"{describe(m).title}: {describe(m).sentence}".rstrip(".") for m in metrics]
    why = dict.fromkeys(
        f"{describe(row.metric).title}: {reason(row.status)}"
        for own in rows.values()
        for row in own
        if row is not None and row.value is None
    )
    head = ("system", *(describe(m).title for m in metrics))
    return Grid(title, head, filled([[t, *map(_show, own)] for t, own in rows.items()]), (*told, *why))


def _rules(dataset: DatasetView, trial: str, records: list[Record]) -> Grid:
    """Count what became of the questions of each rule."""
    by_rule: dict[tuple[str, str], list[Record]] = defaultdict(list)
    for record in records:
        way = decided(record)
        by_rule[way.rule or "unknown", way.to or DASH].append(record)
    rows = []
    for (rule, to), own in sorted(by_rule.items(), key=lambda item: (-len(item[1]), item[0])):
        outcomes: Counter[str] = Counter(r.judgement.outcome for r in own)
        right = sum(outcomes[outcome] for outcome in RIGHT)
        fell = sum(decided(r).fell_back for r in own)
        rows.append([rule, to, f"{len(own):,}", f"{right:,}", f"{outcomes['wrong_memory']:,}", f"{fell:,}"])
    head = ("rule", "sent to", "answers", "right", "wrong memory used", "fell back")
    return Grid(f"What {trial} sent where, {dataset.label}", head, filled(rows))


def _varied(dataset: DatasetView, trial: str) -> bool:
    return any(t.trial == trial and t.axes for t in dataset.trials)


def _show(row: MetricRow | None) -> str:
    cell = make_cell(row)
    return f"{cell.text} ({cell.interval})" if cell.text != DASH and cell.interval else cell.text
