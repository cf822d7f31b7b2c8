"""What a report says, before it is put into HTML or Markdown: banners, verdicts, tables and figures by data set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from memtrial.metrics.compare import Comparison, compare
from memtrial.metrics.verdicts import ReferenceLine, reference_lines, verdicts
from memtrial.reports import plots
from memtrial.reports.axes import find_axes
from memtrial.reports.banners import Banner, banners
from memtrial.reports.caches import caches_grid
from memtrial.reports.choose import choose_section
from memtrial.reports.cost import cost_section
from memtrial.reports.figures.canvas import Drawn
from memtrial.reports.gates import gates_section
from memtrial.reports.graph import graph_findings
from memtrial.reports.groups import MAIN, SIDE_BY_SIDE, grouped
from memtrial.reports.judges import judges_section
from memtrial.reports.pairs import AxisFinding, PairTable, axis_findings, pair_tables
from memtrial.reports.ragas import ragas_section
from memtrial.reports.routing import routing_section
from memtrial.reports.sections import Grid, Section
from memtrial.reports.tables import MetricTable, metric_table, slice_table
from memtrial.reports.verdict import Told, tell
from memtrial.reports.view import DatasetView, View
from memtrial.reports.warned import warnings_section
from memtrial.reports.waterfall import falls, waterfall_figure, waterfall_grid

if TYPE_CHECKING:
    from memtrial.experiments.store import Run

_SLICED = (
    ("Accuracy by category", "category=", "accuracy", "o-correct"),
    ("Recall by category", "category=", "recall@10", "o-correct"),
    ("Wrong memory used, by category", "category=", "wrong_memory_rate", "o-wrong_memory"),
    ("Accuracy by language", "language=", "accuracy", "o-correct"),
    ("Wrong memory used, by language", "language=", "wrong_memory_rate", "o-wrong_memory"),
)
_BY_KIND = (
    ("Wrong memory used, by kind of lure", "lure=", "wrong_memory_rate", "o-wrong_memory"),
    ("Wrong memory shown, by kind of lure", "lure=", "wrong_memory_exposure", "o-wrong_memory"),
)


@dataclass(frozen=True, slots=True)
class SliceTable:
    """One metric over slices; ``colour`` is the theme colour that shades it."""

    title: str
    table: MetricTable
    colour: str


@dataclass(frozen=True, slots=True)
class AxisPart:
    """One varied path: what it changes and its curves."""

    path: str
    findings: list[AxisFinding]
    figure: Drawn | None


@dataclass(slots=True)
class Part:
    """Everything a report shows of one data set."""

    dataset: DatasetView
    told: list[Told]
    references: list[ReferenceLine]
    side: MetricTable
    main: MetricTable
    groups: list[tuple[str, MetricTable]]
    outcomes: Drawn
    losses: Drawn | None
    loss_table: Grid
    recall: Drawn | None
    speed: Drawn | None
    caches: Grid | None
    kinds: list[SliceTable]
    slices: list[SliceTable]
    heatmaps: list[Drawn]
    axes: list[AxisPart] = field(default_factory=list)
    pairs: list[PairTable] = field(default_factory=list)

    @property
    def figures(self) -> list[Drawn]:
        """Every figure of this data set."""
        drawn = [self.outcomes, self.losses, self.recall, *self.heatmaps, self.speed, *(a.figure for a in self.axes)]
        return [d for d in drawn if d is not None]


@dataclass(slots=True)
class Content:
    """A whole report. ``variants`` are data sets that an axis of the data made; they appear in curves and one table."""

    view: View
    title: str
    banners: list[Banner]
    parts: list[Part]
    variants: list[tuple[DatasetView, MetricTable]]
    comparisons: list[Comparison]
    judges: Section = field(default_factory=Section)
    ragas: Section = field(default_factory=Section)
    cost: Section = field(default_factory=Section)
    gates: Section = field(default_factory=Section)
    routing: Section = field(default_factory=Section)
    choose: Section = field(default_factory=Section)
    warned: Section = field(default_factory=Section)

    @property
    def figures(self) -> list[Drawn]:
        """Every figure, in the order in which it appears."""
        sections = (self.choose, self.gates, self.routing, self.judges, self.ragas, self.cost)
        of_sections = [grid.figure for section in sections for grid in section.grids if grid.figure is not None]
        return [*(d for part in self.parts for d in part.figures), *of_sections]


def build(run: Run) -> Content:
    """Compute a report's content; a pure function of the run."""
    view = View(run)
    comparisons = compare(run.records, run.trials, resamples=view.resamples)
    references = reference_lines(run.records)
    told: dict[str, list[Told]] = {}
    for verdict in verdicts(run.metrics, comparisons, run.trials, references):
        own = told.setdefault(verdict.dataset, [])
        # A caveat that holds of several needs is said with the first of them.
        own.append(tell(verdict, said={caveat for t in own for caveat in t.caveats}))
    parts = [_part(view, d, comparisons, told.get(d.label, []), references) for d in view.datasets if not d.is_variant]
    variants = [(d, metric_table(view, d, MAIN)) for d in view.datasets if d.is_variant]
    told_of = {
        "judges": judges_section(view),
        "ragas": ragas_section(view),
        "cost": cost_section(view),
        "gates": gates_section(view),
        "routing": routing_section(view),
        "choose": choose_section(view),
        "warned": warnings_section(view),
    }
    return Content(view, title_of(run.config), banners(view), parts, variants, comparisons, **told_of)


def title_of(config: dict[str, Any]) -> str:
    """Return the name of the run as its configuration gives it."""
    return str(config.get("name") or "Comparison of memory architectures")


def _part(
    view: View, dataset: DatasetView, comparisons: list[Comparison], told: list[Told], references: list[ReferenceLine]
) -> Part:
    own = [c for c in comparisons if c.dataset == dataset.label]
    lost = falls(view, dataset)
    heatmaps = [
        plots.heat(view, dataset, "wrong_memory_rate", "lure=", "wrong-memory-by-kind"),
        plots.heat(view, dataset, "accuracy", "category=", "accuracy-by-category"),
    ]
    others = {t.trial: t.other_work_cores for t in dataset.trials if t.other_work_cores is not None}
    axes = [
        AxisPart(
            axis.path,
            [*graph_findings(view, axis), *axis_findings(axis, comparisons, others)],
            plots.along(view, axis, dataset, f"axis-{number + 1}"),
        )
        for number, axis in enumerate(a for a in find_axes(view.run.trials) if a.dataset == dataset.label)
    ]
    return Part(
        dataset=dataset,
        told=told,
        references=[line for line in references if line.dataset == dataset.label],
        side=metric_table(view, dataset, SIDE_BY_SIDE),
        main=metric_table(view, dataset, MAIN),
        groups=[
            (title, metric_table(view, dataset, metrics)) for title, metrics in grouped(view.metrics(dataset.label))
        ],
        outcomes=plots.outcomes(view, dataset),
        losses=waterfall_figure(dataset, lost),
        loss_table=waterfall_grid(dataset, lost),
        recall=plots.recall(view, dataset),
        speed=plots.speed(view, dataset),
        caches=caches_grid(view, dataset),
        kinds=_slice_tables(view, dataset, _BY_KIND),
        slices=_slice_tables(view, dataset, _SLICED),
        heatmaps=[h for h in heatmaps if h is not None],
        axes=axes,
        pairs=pair_tables(own),
    )


def _slice_tables(view: View, dataset: DatasetView, wanted: Sequence[tuple[str, str, str, str]]) -> list[SliceTable]:
    made = []
    for title, prefix, metric, colour in wanted:
        slices = view.slices(dataset.label, prefix)
        if prefix == "language=" and len(slices) < 2:
            continue
        table = slice_table(view, dataset, metric, slices)
        if table.columns:
            made.append(SliceTable(title, table, colour))
    return made
