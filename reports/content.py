"""What a report says, before it is put into HTML or Markdown: banners, verdicts, tables and figures by data set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from memtrial.reports.figures import charts
from memtrial.reports.figures.canvas import Drawn, render
from memtrial.reports.tables import MetricTable
from memtrial.reports.view import BAR_ORDER, DatasetView, View
from memtrial.reports.words import Column, describe

if TYPE_CHECKING:
    from memtrial.experiments.store import Run

SIDE = ("accuracy", "abstention_recall", "abstention_precision", "wrong_memory_rate")
MAIN = (
    "accuracy", "accuracy_answerable", "abstention_precision", "abstention_recall", "wrong_memory_rate", "wrong_memory_exposure",
    "hallucination_rate", "recall@10", "session_recall@5", "latency_p95_ms", "context_tokens", "error_rate",
)  # fmt: skip


@dataclass(slots=True)
class Part:
    """Everything a report shows of one data set."""

    dataset: DatasetView
    side: MetricTable
    main: MetricTable
    outcomes: Drawn


@dataclass(slots=True)
class Content:
    """A whole report."""

    view: View
    title: str
    parts: list[Part] = field(default_factory=list)

    @property
    def figures(self) -> list[Drawn]:
        """Every figure, in the order in which it appears."""
        return [p.outcomes for p in self.parts]


def build(run: Run) -> Content:
    """Compute a report's content; a pure function of the run."""
    view = View(run)
    content = Content(view, title_of(run))
    for place, dataset in enumerate(view.datasets):
        content.parts.append(_part(view, dataset, place))
    return content


def title_of(run: Run) -> str:
    """Return the name of the run as its configuration gives it."""
    config = run.config
    name = config.get("name") if isinstance(config, dict) else getattr(config, "name", "")
    return str(name or "Comparison of memory architectures")


def _part(view: View, dataset: DatasetView, place: int) -> Part:
    return Part(
        dataset=dataset,
        side=metric_table(view, dataset, SIDE),
        main=metric_table(view, dataset, MAIN),
        outcomes=_outcome_figure(view, dataset, f"{place + 1}-outcomes"),
    )


def metric_table(view: View, dataset: DatasetView, metrics: Sequence[str], slice_: str = "all") -> MetricTable:
    """Return a table of metrics (columns) over trials (rows), empty columns left out."""
    table = MetricTable(tuple(Column(m, dataset.label, slice_, describe(m).title) for m in metrics))
    for trial in dataset.labels:
        table.add(trial, [view.row(dataset.label, trial, m, slice_) for m in metrics])
    return table.without_empty()


def _outcome_figure(view: View, dataset: DatasetView, name: str) -> Drawn:
    order = [*BAR_ORDER, ("not_run", "not run yet")]
    counts = [view.outcomes(dataset.label, t) for t in dataset.trials]
    order = [pair for pair in order if pair[0] != "not_run" or any(c["not_run"] for c in counts)]
    figure = charts.outcome_bars(dataset.labels, [[c[o] for o, _ in order] for c in counts], order)
    return render(figure, name, f"Outcomes of all planned questions by system, {dataset.label}")
