"""From verdicts on stored answers to scores, corrections and orders that hold or flip."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from memtrial.metrics.compare import contenders
from memtrial.metrics.handed_out import published_fact
from memtrial.metrics.judges.agreement import Pair, agreement
from memtrial.metrics.judges.calibration import correct_score
from memtrial.metrics.judges.labels import Verdict, credited
from memtrial.metrics.judges.persisted import CorrectedRow, ErrorsFile, RankRow, RateRow, Score
from memtrial.metrics.judges.ranking import ceilings, check_ranking, contested
from memtrial.metrics.judges.rates import Sample, rate
from memtrial.metrics.judges.tally import Tally
from memtrial.metrics.panel import Panel
from memtrial.metrics.quality import RIGHT
from memtrial.metrics.records import Record

CONTESTED = "contested"
PUBLISHED_JUDGE = "published"
# Planted wrong answers that no system gives by itself: easy ones, and ones that attack the judge.
_NOT_FOR_CORRECTION = ("abstaining", "override")


def score_judge(
    panels: Sequence[Panel],
    verdicts: Mapping[str, Verdict],
    *,
    errors: ErrorsFile | None = None,
    mask: str | None = None,
    resamples: int = 10_000,
    seed: int = 0,
) -> tuple[list[Score], list[RankRow]]:
    """Score every trial by a judge's verdicts.

    Args:
        panels: of the run; planned answers that are missing are among their records as errors.
        verdicts: by ``record.result.key``; errors need none.
        errors: of this very judge on planted answers.
        mask: ``contested`` leaves out questions whose gold answer is in doubt.
        resamples: behind every interval.
        seed: of the draws.

    Returns:
        Scores in the order of the panels (a trial of which nothing was to be judged has none), and what the order of each
        data set's contenders survives.
    """
    scores: list[Score] = []
    unmasked: dict[tuple[str, str], float | None] = {}
    masked: dict[tuple[str, str], float | None] = {}
    for panel in panels:
        name = panel.info.dataset, panel.info.trial
        everything = list(panel.records)
        sound = [r for r in everything if not contested(r.labels)]
        unmasked[name] = _tally(everything, verdicts).value
        masked[name] = _tally(sound, verdicts).value if len(sound) < len(everything) else unmasked[name]
        records = sound if mask == CONTESTED else everything
        if _judged_at_all(records, verdicts):
            own = _errors_for(records, errors)
            scores.append(_score(panel, records, verdicts, own, resamples, seed))
    return scores, list(_ranks(panels, scores, unmasked, masked))


def credit_of(record: Record, verdicts: Mapping[str, Verdict]) -> bool | None:
    """Whether a judge counts an answer as right; an error is wrong by any judge, None is unscored."""
    if record.judgement.outcome == "error":
        return False
    verdict = verdicts.get(record.result.key)
    return None if verdict is None else credited(verdict.label, answerable=record.labels.answerable)


def own_credit(record: Record) -> bool:
    """Whether the run's own judge counts an answer as right."""
    return record.judgement.outcome in RIGHT


def _judged_at_all(records: Sequence[Record], verdicts: Mapping[str, Verdict]) -> bool:
    return any(r.result.key in verdicts for r in records)


def _score(
    panel: Panel,
    records: Sequence[Record],
    verdicts: Mapping[str, Verdict],
    errors: ErrorsFile | None,
    resamples: int,
    seed: int,
) -> Score:
    tally = _tally(records, verdicts)
    sample = Sample.of([(credit_of(r, verdicts), *_place(r)) for r in records])
    pairs = [
        Pair(r.result.key, r.labels.category, _word(own_credit(r)), _word(credit_of(r, verdicts)))
        for r in records
        if r.judgement.outcome != "error"
    ]
    return Score(
        trial=panel.info.trial,
        dataset=panel.info.dataset,
        own=sum(own_credit(r) for r in records) / len(records),
        credit=tally.credit,
        scored=tally.scored,
        total=tally.total,
        accuracy=RateRow.of(rate(sample, resamples=resamples, seed=seed)),
        low=tally.low,
        high=tally.high,
        kappa=agreement(pairs).overall.kappa,
        corrected=[] if errors is None else list(_corrected(sample, errors, resamples, seed)),
        ceiling=[
            str(line)
            for line in ceilings((r.labels.category, contested(r.labels), credit_of(r, verdicts)) for r in records)
            if line.exceeded
        ],
    )


def _corrected(sample: Sample, errors: ErrorsFile, resamples: int, seed: int) -> Iterator[CorrectedRow]:
    right = errors.right_sample()
    for kind, wrong in errors.wrong_samples().items():
        if kind not in _NOT_FOR_CORRECTION:
            yield CorrectedRow.of(kind, correct_score(sample, wrong, right, resamples=resamples, seed=seed))


def _errors_for(records: Iterable[Record], errors: ErrorsFile | None) -> ErrorsFile | None:
    """Errors of a published judge hold for those answers alone that it judged."""
    if errors is None or errors.judge != PUBLISHED_JUDGE:
        return errors
    facts = [fact for r in records if (fact := published_fact(r)) is not None and fact.get("verdicts")]
    return errors if facts and all(fact.get("judges") == errors.judges for fact in facts) else None


def _ranks(
    panels: Sequence[Panel],
    scores: Sequence[Score],
    unmasked: Mapping[tuple[str, str], float | None],
    masked: Mapping[tuple[str, str], float | None],
) -> Iterator[RankRow]:
    by_dataset: dict[str, list[Score]] = defaultdict(list)
    for score in scores:
        by_dataset[score.dataset].append(score)
    for dataset, found in by_dataset.items():
        names = contenders(p.info for p in panels if p.info.dataset == dataset)
        chosen = [s for s in found if s.trial in names]
        if len(chosen) < 2:
            continue
        own = {s.trial: s.own for s in chosen}
        # A score that leaves too many answers out says nothing about an order.
        judged = {s.trial: s.accuracy.value if s.usable else None for s in chosen}
        yield _rank(dataset, "this judge in place of the run's own", own, judged)
        kinds = dict.fromkeys(c.kind for s in chosen for c in s.corrected)
        for kind in kinds:
            after = {s.trial: c.value for s in chosen for c in s.corrected if c.kind == kind}
            yield _rank(dataset, f"correction by errors on {kind} answers", {n: judged[n] for n in after}, after)
        before = {s.trial: unmasked[dataset, s.trial] for s in chosen}
        after = {s.trial: masked[dataset, s.trial] for s in chosen}
        if before != after:
            yield _rank(dataset, "leaving contested gold out", before, after)


def _rank(dataset: str, what: str, before: Mapping[str, float | None], after: Mapping[str, float | None]) -> RankRow:
    found = check_ranking(what, before, after)
    flips = [(flip.ahead, flip.behind) for flip in found.flips]
    return RankRow(dataset=dataset, what=what, survives=found.survives, text=str(found), flips=flips)


def _tally(records: Iterable[Record], verdicts: Mapping[str, Verdict]) -> Tally:
    return Tally.of(credit_of(r, verdicts) for r in records)


def _place(record: Record) -> tuple[str, str, str]:
    # Named as planted answers are, so that one draw serves both where they stand on the same questions.
    question = record.result.question_id
    return question, record.labels.cluster_id or question, record.labels.category


def _word(credit: bool | None) -> str | None:
    return None if credit is None else "right" if credit else "wrong"
