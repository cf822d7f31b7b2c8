"""Figures of published judgements: ``python -m memtrial.metrics.judges.published_figures --data LOCOMO.json --published FILES…``.

Files named ``wrong_*`` hold planted wrong answers; every other file is a system's run. Printed: published accuracy, the
published judge's errors, corrected scores, what the order of systems survives, and how the matcher agrees. Such a run is a
line in docs/runs_on_judging_sets.md, and nothing in the matcher may be changed because of it.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from memtrial.datasets.errors import UserError
from memtrial.datasets.registry import load_dataset
from memtrial.datasets.schema import Dataset, Message
from memtrial.metrics.judges.agreement import Agreement, Kappa, Pair, agreement
from memtrial.metrics.judges.calibration import Corrected, correct_score
from memtrial.metrics.judges.grading import matcher_label
from memtrial.metrics.judges.labels import credited
from memtrial.metrics.judges.published import Joined, join, matcher_judgement, read_published, verbatim
from memtrial.metrics.judges.ranking import RankCheck, ceilings, check_ranking, contested, open_pairs
from memtrial.metrics.judges.rates import RESAMPLES, Rate, Sample, by_stratum, rate
from memtrial.metrics.judges.tally import Tally

PLANTED_PREFIX = "wrong_"


@dataclass(frozen=True, slots=True)
class Figures:
    """Everything that is printed, for whoever wants the numbers.

    Attributes:
        accuracy: published score of each run.
        planted: FPR of the published judge on each file of planted answers, and by category.
        fnr: share of word-for-word gold answers that the published judge did not credit; None without such an answer.
        corrected: for each run and planted file of the same judge the corrected score, as a whole and by category.
        other_judges: runs that nobody's planted answers were put before the judge of: they are not corrected.
        checks: what the order of the runs survives.
        open_pairs: pairs whose order depends on what kind of wrong answers each gives.
        matcher: score of each run by the matcher.
        agreement: matcher against published verdict.
        missed: outcomes by the matcher of the answers that the published judge credits and the matcher does not.
        ceiling_warnings: lines about categories whose score exceeds the ceiling from contested gold.
    """

    accuracy: dict[str, tuple[Tally, Rate]]
    planted: dict[str, tuple[Rate, dict[str, Rate]]]
    fnr: Rate | None
    corrected: dict[tuple[str, str], tuple[Corrected, Corrected]]
    other_judges: tuple[str, ...]
    checks: tuple[RankCheck, ...]
    open_pairs: tuple[tuple[str, str], ...]
    matcher: dict[str, Rate]
    agreement: dict[str, Agreement]
    missed: dict[str, dict[str, int]]
    ceiling_warnings: tuple[str, ...]


def compute(data: Dataset, joined: Sequence[Joined], *, resamples: int = RESAMPLES, seed: int = 0) -> Figures:
    """Compute the figures of published runs on one data set."""
    judged = [j for j in joined if any(row.answer.verdicts for row in j.rows)]
    runs = [j for j in judged if not j.name.startswith(PLANTED_PREFIX)]
    plants = [j for j in judged if j.name.startswith(PLANTED_PREFIX)]
    options = {"resamples": resamples, "seed": seed}
    samples = {j.name: j.sample() for j in judged}
    pairs = [(run, plant) for run in runs for plant in plants if run.judged_by == plant.judged_by]
    measured = [run for run in runs if any(run is one for one, _ in pairs)]
    right = _verbatim(measured)
    corrected = {
        (run.name, plant.name): (
            correct_score(samples[run.name], samples[plant.name], right, resamples=resamples, seed=seed),
            _by_category(samples[run.name], samples[plant.name], right, resamples, seed),
        )
        for run, plant in pairs
    }
    by_matcher = {j.name: _matched(j, data) for j in judged}
    matched = {j.name: j.sample({m.question: m.credit for m in by_matcher[j.name]}) for j in judged}
    ranges = {
        run.name: (min(values), max(values))
        for run in measured
        if (values := [v for (name, _), (c, _) in corrected.items() if name == run.name and (v := c.value) is not None])
    }
    return Figures(
        accuracy={r.name: (Tally.of(row.credit for row in r.rows), rate(samples[r.name], **options)) for r in runs},
        planted={p.name: (rate(samples[p.name], **options), by_stratum(samples[p.name], **options)) for p in plants},
        fnr=None if right is None else rate(right, **options),
        corrected=corrected,
        other_judges=tuple(run.name for run in runs if run not in measured) if plants else (),
        checks=tuple(_checks(runs, measured, plants, samples, corrected, matched)),
        open_pairs=tuple(open_pairs(ranges)),
        matcher={name: rate(sample, **options) for name, sample in matched.items()},
        agreement={j.name: agreement(_pairs(j, by_matcher[j.name])) for j in judged},
        missed={
            j.name: dict(
                Counter(
                    m.outcome for row, m in zip(j.rows, by_matcher[j.name], strict=True) if row.credit and not m.credit
                ).most_common()
            )
            for j in judged
        },
        ceiling_warnings=tuple(
            f"{run.name}, {line}"
            for run in runs
            for line in ceilings((row.question.category, contested(row.question), row.credit) for row in run.rows)
            if line.exceeded
        ),
    )


def _checks(
    runs: Sequence[Joined],
    measured: Sequence[Joined],
    plants: Sequence[Joined],
    samples: Mapping[str, Sample],
    corrected: Mapping[tuple[str, str], tuple[Corrected, Corrected]],
    matched: Mapping[str, Sample],
) -> Iterator[RankCheck]:
    for plant in plants:
        own = [run.name for run in measured if (run.name, plant.name) in corrected]
        for i, how in enumerate(("correction", "correction by category")):
            before = {name: _mean(samples[name]) for name in own}
            after = {name: corrected[name, plant.name][i].value for name in own}
            yield check_ranking(f"{how} with {plant.name}", before, after)
    before = {run.name: _mean(samples[run.name]) for run in runs}
    yield check_ranking("the matcher as judge", before, {run.name: _mean(matched[run.name]) for run in runs})
    if any(contested(row.question) for run in runs for row in run.rows):
        yield check_ranking("the label mask", before, {run.name: _mean(_masked(run)) for run in runs})


def show(figures: Figures, joined: Sequence[Joined], out: Callable[[str], None], disagreements: int = 0) -> None:
    """Print figures as text, with the first disagreements of each run between matcher and published judge."""
    out("Published accuracy (majority of the verdicts given)")
    for name, (tally, measured) in figures.accuracy.items():
        out(f"  {name:34} {tally.credit:g} of {tally.total} = {measured}")
    for j in joined:
        if j.unmatched:
            out(f"  {j.name}: {len(j.unmatched)} answers to questions that the data does not have")
    out("FPR of the published judge on planted wrong answers")
    for name, (measured, categories) in figures.planted.items():
        out(f"  {name:34} {measured}")
        for category, share in categories.items():
            out(f"    {category:32} {share}")
    if figures.fnr is not None:
        out(f"FNR on answers that are the gold answer word for word (a lower bound): {figures.fnr}")
    out("Corrected scores: (p - FPR) / (1 - FPR - FNR); below each, corrected category by category")
    for (name, plant), (whole, split) in figures.corrected.items():
        out(f"  {name:34} FPR of {plant:18} {whole}")
        out(f"  {'':34} {'by category':25} {split}")
    for name in figures.other_judges:
        out(f"  {name:34} not corrected: its judge was asked about no planted answer")
    for check in figures.checks:
        out(f"Ranking: {check}")
    if figures.open_pairs:
        out("Pairs whose order depends on the kind of wrong answers each system gives (vague ones are credited more):")
        for a, b in figures.open_pairs:
            out(f"  {a} and {b}")
    for line in figures.ceiling_warnings:
        out(f"Ceiling: {line}")
    out("The matcher: its score, and its agreement with the published verdict (Cohen's kappa)")
    for name, agreed in figures.agreement.items():
        out(f"  {name:34} matcher {figures.matcher[name]}")
        out(f"    {'all':32} {_kappa(agreed.overall)}; {_confusion(agreed.confusion)}")
        for category, part in agreed.by_category.items():
            out(f"    {category:32} {_kappa(part)}")
        if figures.missed[name]:
            outcomes = ", ".join(f"{outcome} {n}" for outcome, n in figures.missed[name].items())
            out(f"    {'published right, matcher says':32} {outcomes}")
    if disagreements:
        rows = {(j.name, row.question.id): row for j in joined for row in j.rows}
        for name, agreed in figures.agreement.items():
            for pair in agreed.disagreements[:disagreements]:
                row = rows[name, pair.key]
                out(
                    f"- {name} {pair.key} [{pair.category}] published {pair.a}, matcher {pair.b} | "
                    f"{row.question.text} | gold {' / '.join(row.question.answers)} | {' '.join(row.answer.text.split())[:300]}"
                )


def main(argv: Sequence[str] | None = None) -> int:
    """Read files, compute, print; 2 and one sentence for what the user can mend."""
    parser = argparse.ArgumentParser(prog="published_figures", description="Figures of published judgements on LoCoMo.")
    parser.add_argument("--data", required=True, help="LoCoMo's JSON file")
    parser.add_argument("--published", required=True, nargs="+", help="result files (wrong_*: planted wrong answers)")
    parser.add_argument("--audit", help="errors.json of locomo-audit: contested gold answers")
    parser.add_argument("--disagreements", type=int, default=0, metavar="N", help="list N a run")
    parser.add_argument("--resamples", type=int, default=RESAMPLES)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(argv)
    try:
        spec = {"name": "locomo", "path": given.data} | ({"audit": given.audit} if given.audit else {})
        data = load_dataset(spec)
        joined = [join(read_published(Path(path)), data) for path in given.published]
        show(compute(data, joined, resamples=given.resamples, seed=given.seed), joined, print, given.disagreements)
    except UserError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


@dataclass(frozen=True, slots=True)
class _Matched:
    question: str
    credit: bool | None
    outcome: str


def _matched(joined: Joined, data: Dataset) -> list[_Matched]:
    logs: dict[str, Mapping[str, Message]] = {}
    for corpus in data.corpora:
        log = {m.id: m for c in corpus.conversations for m in c.messages}
        logs |= dict.fromkeys((q.id for q in corpus.questions), log)
    rows = []
    for row in joined.rows:
        judgement = matcher_judgement(row, logs[row.question.id])
        credit = credited(matcher_label(judgement), answerable=row.question.answerable)
        rows.append(_Matched(row.question.id, credit, judgement.outcome))
    return rows


def _pairs(joined: Joined, matched: Sequence[_Matched]) -> list[Pair]:
    return [
        Pair(m.question, row.question.category, _word(row.credit), _word(m.credit))
        for row, m in zip(joined.rows, matched, strict=True)
    ]


def _verbatim(runs: Sequence[Joined]) -> Sample | None:
    """Collect gold answers given word for word, each question once: the run that comes first stands for it."""
    seen: dict[str, tuple[bool, str, str, str]] = {}
    for run in runs:
        for row in run.rows:
            if row.question.answerable and verbatim(row) and row.credit is not None:
                q = row.question
                seen.setdefault(q.id, (not row.credit, q.id, q.cluster_id, q.category))
    return Sample.of(list(seen.values())) if seen else None


def _by_category(observed: Sample, wrong: Sample, right: Sample | None, resamples: int, seed: int) -> Corrected:
    """Correct by category, with the FNR where every category has an answer that shows it."""
    covered = right is not None and set(observed.strata_scored()) <= set(right.strata_scored())
    known = right if covered else None
    return correct_score(observed, wrong, known, by_category=True, resamples=resamples, seed=seed)


def _masked(run: Joined) -> Sample:
    return Joined(run.name, tuple(row for row in run.rows if not contested(row.question))).sample()


def _mean(sample: Sample) -> float | None:
    scored = sample.hits[sample.hits == sample.hits]
    return float(scored.mean()) if scored.size else None


def _word(credit: bool | None) -> str | None:
    return None if credit is None else "right" if credit else "wrong"


def _kappa(part: Kappa) -> str:
    kappa = "undefined" if part.kappa is None else f"{part.kappa:.3f}"
    return f"kappa {kappa}, agree {part.observed or 0:.3f} of {part.n}"


def _confusion(counts: Mapping[tuple[str, str], int]) -> str:
    return ", ".join(f"published {a} / matcher {b} {n}" for (a, b), n in counts.items())


if __name__ == "__main__":
    sys.exit(main())
