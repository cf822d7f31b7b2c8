"""Verdicts as prose: who leads for which need, with figures and intervals, and what stands beside."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from memtrial.metrics.records import MetricRow
from memtrial.metrics.verdicts import Verdict
from memtrial.reports.tables import MetricTable
from memtrial.reports.words import Column, describe, listing, number, span, with_unit

_SHOWN = 4


@dataclass(frozen=True, slots=True)
class Told:
    """One verdict, written out.

    Attributes:
        need: title of the need.
        kind: ``won``, ``tied``, ``undecided``, ``alone`` or ``none``.
        head: who came out, in a few words.
        metric: title of the metric.
        close: the leader and those that cannot be told from it, each with its figure and interval.
        behind: those that the leader beats, likewise.
        more: how many are left out of the two.
        beside: what must be read beside the leader's figure.
        caveats: sentences that must be read with it.
        table: every candidate, best first: the figure asked for and what must be read beside it.
    """

    need: str
    kind: str
    head: str
    metric: str
    close: tuple[tuple[str, str], ...]
    behind: tuple[tuple[str, str], ...]
    more: int
    beside: str
    caveats: tuple[str, ...]
    table: MetricTable

    @property
    def text(self) -> str:
        """Return the figures as one sentence."""
        if not self.close:
            return ""
        text = f"{self.metric}: {'; '.join(' '.join(pair) for pair in self.close)}"
        if self.behind:
            text += f"; behind: {'; '.join(' '.join(pair) for pair in self.behind)}"
        return f"{text}; and {self.more} more." if self.more else f"{text}."


def tell(verdict: Verdict, said: Collection[str] = ()) -> Told:
    """Write a verdict out, without the caveats that were said before."""
    caveats = tuple(c for c in verdict.caveats if c not in said)
    need, table = verdict.need, _table(verdict)
    metric = describe(need.metric).title
    if verdict.leader is None:
        return Told(need.title, "none", "no system has this figure", metric, (), (), 0, "", caveats, table)
    figures = {row[0].trial: figure(row[0]) for row in verdict.figures}
    close = [name for name in figures if name in {*verdict.tied, *verdict.undecided}]
    kind, head = _head(verdict, close)
    shown, behind = [verdict.leader, *close][:_SHOWN], [name for name in figures if name in verdict.behind][:_SHOWN]
    more = len(figures) - len(shown) - len(behind)
    beside = ", ".join(f"{describe(row.metric).title} {figure(row)}" for row in verdict.figures[0][1:])
    return Told(
        need=need.title,
        kind=kind,
        head=head,
        metric=metric,
        close=tuple((name, figures[name]) for name in shown),
        behind=tuple((name, figures[name]) for name in behind),
        more=more,
        beside=f"{verdict.leader}: {beside}" if beside else "",
        caveats=caveats,
        table=table,
    )


def figure(row: MetricRow) -> str:
    """Write a value with its unit and, in parentheses, its interval."""
    if row.value is None:
        return "—"
    text = with_unit(number(row.value, row.metric), row.metric)
    return text if row.low is None or row.high is None else f"{text} ({span(row.low, row.high, row.metric)})"


def _head(verdict: Verdict, close: Sequence[str]) -> tuple[str, str]:
    leader = verdict.leader or ""
    if not close:
        return ("won", leader) if verdict.behind else ("alone", f"{leader}, the only candidate")
    if verdict.tied:
        names = listing([leader, *(n for n in close if n in verdict.tied)], 5)
        rest = f"; not decidable against {listing(verdict.undecided, 3)}" if verdict.undecided else ""
        return "tied", f"tied: {names}{rest}"
    return "undecided", f"not decidable: {listing([leader, *close], 5)}"


def _table(verdict: Verdict) -> MetricTable:
    metrics = (verdict.need.metric, *verdict.need.beside)
    table = MetricTable(tuple(Column(m, verdict.dataset) for m in metrics))
    for rows in verdict.figures:
        by_metric = {row.metric: row for row in rows}
        table.add(rows[0].trial, [by_metric.get(m) for m in metrics])
    return table.finish()
