"""A run, indexed the way a report reads it: data sets in reading order, rows by name, records by question."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from memtrial.metrics.records import OUTCOMES, MetricRow, Record, TrialInfo

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
    name: str
    kind: str
    trials: tuple[TrialInfo, ...]
    planned: int
    questions: int
    clusters: int
    languages: tuple[str, ...] = ()

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
        self._rows = {(r.dataset, r.trial, r.slice, r.metric): r for r in self.run.metrics}

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
    def datasets(self) -> list[DatasetView]:
        """Data sets: handwritten and public first, generated last, the plan's order within a kind."""
        by_label: dict[str, list[TrialInfo]] = defaultdict(list)
        for trial in self.run.trials:
            by_label[trial.dataset].append(trial)
        views = [self._dataset(label, trials) for label, trials in by_label.items()]
        return sorted(views, key=lambda d: _KIND_ORDER.index(d.kind))

    def row(self, dataset: str, trial: str, metric: str, slice_: str = "all") -> MetricRow | None:
        """Return a metric row, or None where the run has none."""
        return self._rows.get((dataset, trial, slice_, metric))

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

    def _dataset(self, label: str, trials: Sequence[TrialInfo]) -> DatasetView:
        spec = data_spec(self.run.config, label)
        name = str(spec.get("name", label))
        labels = [r.labels for t in trials for r in self.records.get((label, t.trial), [])]
        keys = {
            (r.result.corpus_id, r.result.question_id) for t in trials for r in self.records.get((label, t.trial), [])
        }
        return DatasetView(
            label=label,
            name=name,
            kind=kind_of(name),
            trials=tuple(trials),
            planned=max((t.planned for t in trials), default=0),
            questions=len(keys),
            clusters=len({x.cluster_id for x in labels}),
            languages=tuple(sorted({x.language for x in labels if x.language})),
        )


def kind_of(name: str) -> str:
    """Say where a data set comes from: ``handwritten``, ``public``, ``generated`` or the user's ``own``."""
    if name in _HANDWRITTEN:
        return "handwritten"
    if name in _PUBLIC:
        return "public"
    return "generated" if name in _GENERATED else "own"


def data_spec(config: Any, label: str) -> Mapping[str, Any]:
    """Return the specification of a data set in the resolved configuration."""
    data = config.get("data", {}) if isinstance(config, Mapping) else getattr(config, "data", {})
    spec = data.get(label, {}) if isinstance(data, Mapping) else {}
    return spec if isinstance(spec, Mapping) else {}
