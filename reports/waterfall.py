"""The loss waterfall of a data set: a bar and a row per system, and what cannot be told apart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from memtrial.metrics.waterfall import STAGE_LABEL, STAGES, Stage, Waterfall, waterfall
from memtrial.reports.figures import charts
from memtrial.reports.figures.canvas import Drawn, render
from memtrial.reports.plots import file_name
from memtrial.reports.sections import Grid, filled
from memtrial.reports.view import DatasetView, View

#: Colours are those of the outcome that is nearest in kind.
_COLOUR: Mapping[Stage, str] = {
    "right": "correct",
    "gate": "needless_abstention",
    "unindexed": "hallucination",
    "unfound": "wrong_other",
    "cut": "incomplete",
    "stale": "wrong_memory",
    "unread": "correct_abstention",
    "doubt": "doubt",
    "unanswerable": "unanswerable",
    "unlabelled": "unlabelled",
    "error": "error",
}
_UNTRACED = "lost, stage unknown"
HOW = (
    "Every answer that is not right falls to the first stage that lost it; a question needs all its evidence, so it is lost where "
    "the first part of it is. Two kinds belong to no stage: answers to what nothing answers, and questions without labelled evidence"
)


def falls(view: View, dataset: DatasetView) -> dict[str, Waterfall]:
    """Return the waterfall of every trial; planned answers that are missing count as errors."""
    found = {}
    for trial in dataset.trials:
        made = waterfall(trial, view.records.get((dataset.label, trial.trial), []))
        missing = view.outcomes(dataset.label, trial)["not_run"]
        found[trial.trial] = replace(made, counts={**made.counts, "error": made.counts["error"] + missing})
    return found


def waterfall_figure(dataset: DatasetView, found: Mapping[str, Waterfall]) -> Drawn | None:
    """Draw one stacked bar per system; None where every answer is right."""
    shown = _shown(found)
    untraced = any(one.untraced for one in found.values())
    if shown in ([], ["right"]) and not untraced:
        return None
    counts = [[one.counts[s] for s in shown] + ([one.untraced] if untraced else []) for one in found.values()]
    order = [(_COLOUR[s], STAGE_LABEL[s]) for s in shown] + ([("untraced", _UNTRACED)] if untraced else [])
    figure = charts.outcome_bars(list(found), counts, order)
    return render(figure, file_name(dataset, "losses"), f"Stage that lost each answer, by system on {dataset.label}")


def waterfall_grid(dataset: DatasetView, found: Mapping[str, Waterfall]) -> Grid:
    """Return the counts with what limits them."""
    shown = _shown(found)
    untraced = any(one.untraced for one in found.values())
    head = ("system", *(STAGE_LABEL[s] for s in shown), *([_UNTRACED] if untraced else []))
    rows = [
        [trial, *(f"{one.counts[s]:,}" for s in shown), *([f"{one.untraced:,}"] if untraced else [])]
        for trial, one in found.items()
    ]
    by_note: dict[str, list[str]] = {}
    for trial, one in found.items():
        for note in one.notes:
            by_note.setdefault(note, []).append(trial)
    notes = [
        f"{', '.join(trials) if len(trials) < len(found) else 'Every system'}: {note}"
        for note, trials in by_note.items()
    ]
    return Grid(f"Where answers are lost, {dataset.label}", head, filled(rows), (HOW, *notes))


def _shown(found: Mapping[str, Waterfall]) -> list[Stage]:
    return [s for s in STAGES if any(one.counts[s] for one in found.values())]
