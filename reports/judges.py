"""The section about judges: the same answers by several judges, how far each can be believed, and which ranks flip."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memtrial.experiments.rejudge import read_rejudged
from memtrial.metrics.judges.grading import published_verdict
from memtrial.metrics.judges.persisted import CorrectedRow, Rejudged, Score
from memtrial.metrics.judges.ranking import ceilings, contested
from memtrial.metrics.judges.scoring import PUBLISHED_JUDGE, own_credit, score_judge
from memtrial.metrics.panel import make_panels
from memtrial.metrics.statistics import FEW_CLUSTERS
from memtrial.reports.sections import DASH, Grid, Section, around, filled, measured, percent
from memtrial.reports.view import DatasetView, View
from memtrial.reports.words import plural

_LEAD = (
    "The same stored answers by every judge that graded them; no system was asked again. Corrected: (p − FPR) / (1 − FPR − FNR), "
    "with the rates at which this very judge erred on planted answers of a kind; the interval carries its error. Systems "
    "that err vaguely belong to the correction by vague answers, those that err specifically to the other."
)


def judges_section(view: View) -> Section:
    """Return the section; empty where one judge alone has judged and no gold label is in doubt."""
    found, notes = read_rejudged(view.run.folder, view.run.records)
    found = [*_published(view, found), *found]
    grids: list[Grid] = []
    for dataset in view.datasets:
        own = [(judge, [s for s in judge.scores if s.dataset == dataset.label]) for judge in found]
        own = [(judge, scores) for judge, scores in own if scores]
        if own:
            grids.append(_side_by_side(view, dataset, own))
            grids += [_judge(dataset, judge, scores) for judge, scores in own]
        grids += _ceiling(view, dataset)
    notes += [line for judge in found for line in _cost(judge)]
    return Section(_LEAD if found else "", grids, notes)


def _published(view: View, found: Sequence[Rejudged]) -> list[Rejudged]:
    """Take the verdicts that came with published answers, unless they were graded with corrections already."""
    if any(judge.judge == PUBLISHED_JUDGE and judge.mask is None for judge in found):
        return []
    verdicts = {r.result.key: v for r in view.run.records if (v := published_verdict(r)) is not None}
    if not verdicts:
        return []
    scores, ranks = score_judge(make_panels(view.run.records, view.run.trials), verdicts, resamples=view.resamples)
    return [Rejudged(judge=PUBLISHED_JUDGE, describe={"judge": PUBLISHED_JUDGE}, scores=scores, ranks=ranks)]


def _side_by_side(view: View, dataset: DatasetView, judges: Sequence[tuple[Rejudged, list[Score]]]) -> Grid:
    rows = []
    for trial in dataset.labels:
        row = view.row(dataset.label, trial, "accuracy")
        cells = [trial, DASH if row is None else around(row.value, row.low, row.high)]
        for _, scores in judges:
            score = next((s for s in scores if s.trial == trial), None)
            cells.append(DASH if score is None else _accuracy(score))
        rows.append(cells)
    names = sorted({r.judgement.judge for t in dataset.labels for r in view.records.get((dataset.label, t), [])})
    head = ("system", f"the run's own ({', '.join(names)})", *(_name(judge) for judge, _ in judges))
    return Grid(f"Accuracy by judge, {dataset.label}", head, filled(rows))


def _judge(dataset: DatasetView, judge: Rejudged, scores: Sequence[Score]) -> Grid:
    kinds = list(dict.fromkeys(c.kind for s in scores for c in s.corrected))
    head = (
        "system",
        "accuracy",
        "scored",
        "kappa with the run's own",
        *(f"corrected, {kind} errors" for kind in kinds),
    )
    rows = []
    for s in scores:
        corrected = {c.kind: _corrected(c) for c in s.corrected}
        kappa = DASH if s.kappa is None else f"{s.kappa:.3f}"
        rows.append(
            [s.trial, _accuracy(s), f"{s.scored:,} of {s.total:,}", kappa, *(corrected.get(k, DASH) for k in kinds)]
        )
    notes = [_sentence(rank.text) for rank in judge.ranks if rank.dataset == dataset.label]
    notes += [f"{s.trial}, {line}" for s in scores for line in s.ceiling]
    notes += list(_limits(judge, scores, kinds))
    return Grid(f"{_name(judge)}, {dataset.label}", head, filled(rows), tuple(notes))


def _limits(judge: Rejudged, scores: Sequence[Score], kinds: Sequence[str]) -> Iterator[str]:
    status = {part for s in scores for c in s.corrected for part in c.status}
    if not kinds:
        yield "Not corrected: this judge's errors on planted answers are not known (memtrial judge check measures them)"
    elif any(not s.corrected for s in scores):
        yield "A dash stands where the answers were judged by another judge than the one whose errors are known"
    if "fnr_assumed_0" in status:
        yield "No right answer was planted, so the judge's FNR is taken as 0: with a larger one corrected scores are higher"
    if "few_clusters" in status:
        yield "Fewer than 8 clusters stand behind the corrections: intervals over them are too narrow to rely on"
    undecidable = {c.kind: c.undecidable for s in scores for c in s.corrected if c.undecidable}
    for kind, why in undecidable.items():
        yield f"Correction by {kind} errors is {why}; no score is given, as it could be anything"
    if "outside" in status:
        yield "Corrected scores and intervals that reach below 0 % or above 100 % are not clipped: there the known errors alone explain more than was observed"
    for s in scores:
        if not s.usable:
            yield f"{s.trial}: too many answers are unscored for a score; it lies between {percent(s.low)} and {percent(s.high)}"
    described = judge.describe
    if "rubric" in described:
        yield (
            f"Model {described.get('judge')}, rubric {described['rubric']}, temperature {described.get('temperature')}, "
            f"seed {described.get('seed')}; prompts {', '.join(described.get('prompts', []))}"
        )


def _ceiling(view: View, dataset: DatasetView) -> list[Grid]:
    """Say what contested gold labels leave to honest answers, and where the run's own judge lies above it."""
    rows: list[list[str]] = []
    doubted = 0
    for trial in dataset.labels:
        records = view.records.get((dataset.label, trial), [])
        lines = ceilings((r.labels.category, contested(r.labels), own_credit(r)) for r in records)
        doubted = max([doubted, *(line.contested for line in lines)])
        rows += [
            [trial, line.category, str(line.contested), percent(line.ceiling), percent(line.score),
             "above the ceiling: the judge credits contested gold" if line.exceeded else "below"]
            for line in lines
            if line.exceeded or line.category == "all"
        ]  # fmt: skip
    if not doubted:
        return []
    head = ("system", "category", "contested", "ceiling", "accuracy, the run's own judge", "")
    return [Grid(f"What contested gold labels leave, {dataset.label}", head, filled(rows))]


def _cost(judge: Rejudged) -> Iterator[str]:
    if judge.usage:
        tokens = sum(u.prompt + u.completion for u in judge.usage)
        known = [u.usd for u in judge.usage if u.usd is not None]
        money = f"${sum(known):,.4f}" if len(known) == len(judge.usage) else "unknown"
        calls = plural(sum(u.calls for u in judge.usage), "call")
        yield f"Judging with {_name(judge)} took {calls} and {tokens:,} tokens; cost {money}. No system is charged with it"


def _accuracy(s: Score) -> str:
    shown = measured(s.accuracy, few=s.accuracy.clusters < FEW_CLUSTERS)
    if s.scored < s.total:
        shown += f"; {s.total - s.scored} unscored: {percent(s.low)}–{percent(s.high)}"
    return shown


def _corrected(row: CorrectedRow) -> str:
    return "not decidable" if row.undecidable else measured(row, few="few_clusters" in row.status)


def _name(judge: Rejudged) -> str:
    return f"{judge.judge}, contested left out" if judge.mask else judge.judge


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
