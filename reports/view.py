"""A run, indexed the way a report reads it: data sets in reading order, rows by name, records by question."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from memtrial.metrics.aggregate import BY_QUESTION
from memtrial.metrics.panel import Panel, make_panels
from memtrial.metrics.records import OUTCOMES, MetricRow, Record, TrialInfo
from memtrial.metrics.second_judge import is_second, own_rows
from memtrial.reports.axes import base_of

if TYPE_CHECKING:
    from memtrial.experiments.store import Run

#: Order of a stacked bar: what is right, what is silence, what is wrong, what failed.
BAR_ORDER: tuple[tuple[str, str], ...] = (
    ("correct", "correct"),
    ("correct_abstention", "rightly abstained"),
    ("needless_abstention", "needlessly abstained"),
    ("incomplete", "incomplete"),
    ("wrong_other", "wrong, other"),
    ("hallucination", "hallucination"),
    ("wrong_memory", "wrong memory"),
    ("error", "error"),
)
OUTCOME_LABEL: dict[str, str] = dict(BAR_ORDER)

_HANDWRITTEN = {"handwritten"}
_PUBLIC = {"locomo", "lifebench", "longmemeval"}
_GENERATED = {"supportdesk"}
_KIND_ORDER = ("handwritten", "public", "own", "generated")


@dataclass(frozen=True, slots=True)
class DatasetView:
    """One data set of a run, with its trials in the order of the plan."""

    label: str
    place: int
    name: str
    kind: str
    trials: tuple[TrialInfo, ...]
    planned: int
    questions: int
    clusters: int
    languages: tuple[str, ...] = ()
    is_variant: bool = False

    @property
    def labels(self) -> list[str]:
        """Labels of the trials."""
        return [t.trial for t in self.trials]


@dataclass
class View:
    """Everything a report looks up, computed once from the run's files."""

    run: Run
    _rows: dict[tuple[str, str, str, str], MetricRow] = field(init=False)

    def __post_init__(self) -> None:
        """Index the metric rows by (data set, trial, slice, metric)."""
        self._rows = {(r.dataset, r.trial, r.slice, r.metric): r for r in own_rows(self.run.metrics)}

    @cached_property
    def trial_order(self) -> dict[str, int]:
        """Place of each trial in the plan; its colour everywhere in the report."""
        return {name: place for place, name in enumerate(dict.fromkeys(t.trial for t in self.run.trials))}

    @cached_property
    def records(self) -> dict[tuple[str, str], list[Record]]:
        """Records by (data set, trial)."""
        found: dict[tuple[str, str], list[Record]] = defaultdict(list)
        for record in self.run.records:
            found[record.result.dataset, record.trial].append(record)
        return found

    @cached_property
    def panels(self) -> dict[tuple[str, str], Panel]:
        """Records by (data set, trial) with their questions and clusters; a planned answer that is missing is an error."""
        return {(p.info.dataset, p.info.trial): p for p in make_panels(self.run.records, self.run.trials)}

    @cached_property
    def datasets(self) -> list[DatasetView]:
        """Data sets: handwritten and public first, generated last, the plan's order within a kind."""
        by_label: dict[str, list[TrialInfo]] = defaultdict(list)
        for trial in self.run.trials:
            by_label[trial.dataset].append(trial)
        order = sorted(by_label, key=lambda label: _KIND_ORDER.index(self._kind(label)))
        return [self._dataset(label, place, by_label) for place, label in enumerate(order)]

    @property
    def resamples(self) -> int:
        """Return how many bootstrap resamples the run asked for."""
        return int((self.run.config.get("metrics") or {}).get("resamples", 10_000))

    def row(self, dataset: str, trial: str, metric: str, slice_: str = "all") -> MetricRow | None:
        """Return a metric row, or None where the run has none."""
        return self._rows.get((dataset, trial, slice_, metric))

    def second(self, dataset: str, trial: str, metric: str) -> list[MetricRow]:
        """Return the rows of other judges than the run's own over all questions."""
        wanted = (dataset, trial, metric, "all")
        return [r for r in self.run.metrics if is_second(r) and (r.dataset, r.trial, r.metric, r.slice) == wanted]

    def by_question(self, dataset: str, trial: str, metric: str) -> MetricRow | None:
        """Return the row whose interval takes questions as independent; there is one where clusters are few."""
        return self.row(dataset, trial, metric, BY_QUESTION)

    def metrics(self, dataset: str) -> list[str]:
        """Return the names of all metrics of a data set, in the order of the rows."""
        return list(dict.fromkeys(m for d, _, s, m in self._rows if d == dataset and s == "all"))

    def slices(self, dataset: str, prefix: str) -> list[str]:
        """Return slice names of a data set that start with a prefix such as ``category=``, sorted."""
        return sorted({s for d, _, s, _ in self._rows if d == dataset and s.startswith(prefix)})

    def outcomes(self, dataset: str, trial: TrialInfo) -> dict[str, int]:
        """Count outcomes over planned questions; ``not_run`` is what an unfinished run still owes."""
        counts = dict.fromkeys(OUTCOMES, 0)
        records = self.records.get((dataset, trial.trial), [])
        for record in records:
            counts[record.judgement.outcome] += 1
        counts["not_run"] = max(0, trial.planned * trial.repeats - len(records))
        return counts

    def _kind(self, label: str) -> str:
        return kind_of(str(data_spec(self.run.config, label).get("name", base_of(label))))

    def _dataset(self, label: str, place: int, by_label: Mapping[str, Sequence[TrialInfo]]) -> DatasetView:
        trials = by_label[label]
        records = [r for t in trials for r in self.records.get((label, t.trial), [])]
        return DatasetView(
            label=label,
            place=place,
            name=str(data_spec(self.run.config, label).get("name", base_of(label))),
            kind=self._kind(label),
            trials=tuple(trials),
            planned=max((t.planned for t in trials), default=0),
            questions=len({(r.result.corpus_id, r.result.question_id) for r in records}),
            clusters=len({r.labels.cluster_id or (r.result.corpus_id, r.result.question_id) for r in records}),
            languages=tuple(sorted({r.labels.language for r in records if r.labels.language})),
            is_variant=label != base_of(label) and base_of(label) in by_label,
        )


def kind_of(name: str) -> str:
    """Say where a data set comes from: ``handwritten``, ``public``, ``generated`` or the user's ``own``."""
    if name in _HANDWRITTEN:
        return "handwritten"
    if name in _PUBLIC:
        return "public"
    return "generated" if name in _GENERATED else "own"


def data_spec(config: Mapping[str, Any], label: str) -> Mapping[str, Any]:
    """Return the specification of a data set (or of the one it is a variant of) in the resolved configuration."""
    data = config.get("data") or {}
    spec = data.get(label) or data.get(base_of(label)) or {}
    return spec if isinstance(spec, Mapping) else {}
