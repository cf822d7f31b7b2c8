"""Judges at work: models asked about planted answers, and published verdicts on planted answers counted."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson
from pydantic import ValidationError

from memtrial.datasets.errors import UserError
from memtrial.datasets.schema import Dataset
from memtrial.experiments.judge_models import Asked, JudgeOptions, ask, label_of
from memtrial.experiments.plan import select
from memtrial.experiments.redact import redact
from memtrial.experiments.store import write_json
from memtrial.metrics.judges.calibration import judge_errors
from memtrial.metrics.judges.labels import Verdict
from memtrial.metrics.judges.majority import Panel
from memtrial.metrics.judges.persisted import SCHEMA_VERSION, ErrorsFile, RateRow, SampleRow, rows_of, sample_of
from memtrial.metrics.judges.planted import KINDS, Kind, Planted, judge_planted, plant
from memtrial.metrics.judges.published import Joined, join, read_published, verbatim
from memtrial.metrics.judges.rates import RESAMPLES, rate
from memtrial.metrics.judges.scoring import PUBLISHED_JUDGE
from memtrial.systems.models.llm.ledger import Ledger

MAJORITY = "majority"
PLANTED_PREFIX = "wrong_"


def check_judge(
    dataset: Dataset,
    options: JudgeOptions,
    calls: Path,
    *,
    data: dict[str, Any] | None = None,
    limit: int | None = None,
    kinds: Sequence[Kind] = KINDS,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> tuple[ErrorsFile, Ledger]:
    """Ask a judge (or several, by majority) about planted answers.

    Args:
        dataset: whose questions the answers are planted on.
        options: which models.
        calls: file of recorded calls.
        data: the data set's specification, for the file.
        limit: at most this many questions, taken from every corpus in turn.
        kinds: of planted answers.
        seed: of what is planted.
        resamples: behind every interval.

    Returns:
        Its errors by kind, and what asking used.
    """
    if not options.judges:
        raise UserError("no judge is named: give --model NAME [--base-url URL], or --published FILE…")
    chosen = select(dataset, limit)
    planted = plant([q for corpus in dataset.corpora for q in chosen[corpus.id]], seed=seed, kinds=kinds)
    if not planted:
        raise UserError("this data set has no question on which an answer could be planted")

    async def work(asked: Asked) -> tuple[list[tuple[Planted, Verdict]], dict[str, Any], Ledger]:
        judge = asked.judges[0] if len(asked.judges) == 1 else Panel(asked.judges)
        judged = await judge_planted(judge, planted, concurrency=options.max_concurrency)
        describe = {"judges": [j.describe() for j in asked.judges]}
        return judged, describe, asked.ledger

    judged, describe, ledger = ask(options, calls, work)
    wrong: dict[str, list[SampleRow]] = {}
    right: dict[str, list[SampleRow]] = {}
    for kind in kinds:
        found = judge_errors([pair for pair in judged if pair[0].kind == kind], resamples=100)
        for side, sample in ((wrong, found.wrong), (right, found.right)):
            if len(sample.hits):
                side[kind] = rows_of(sample)
    label = label_of(options.judges[0], options.rubric) if len(options.judges) == 1 else MAJORITY
    spec = {**(data or {"name": dataset.name}), "fingerprint": dataset.fingerprint(), "limit": limit, "seed": seed}
    return _file(label, [], describe, spec, wrong, right, resamples), ledger


def check_published(
    files: Sequence[Path], dataset: Dataset, *, data: dict[str, Any] | None = None, resamples: int = RESAMPLES
) -> ErrorsFile:
    """Count the errors of a published judge.

    Args:
        files: result files; those named ``wrong_*`` hold planted wrong answers, each a kind of its own. Of any other file
            the answers that are the gold answer word for word stand in for planted right ones, which nobody published.
        dataset: that the questions come from.
        data: its specification, for the file.
        resamples: behind every interval.

    Raises:
        UserError: no planted answers among the files, or not all were judged by the same judges.
    """
    joined = [(read_published(path), path) for path in files]
    runs = [(join(run, dataset), run.judges) for run, _ in joined if run.judges]
    plants = [(run, judges) for run, judges in runs if run.name.startswith(PLANTED_PREFIX)]
    if not plants:
        raise UserError(f"none of the files holds planted answers: the name of one must begin with {PLANTED_PREFIX!r}")
    by = {run.judged_by for run, _ in runs}
    if len(by) > 1:
        raise UserError(
            f"the files were judged by different judges ({'; '.join(sorted(by))}); errors of one say nothing about another"
        )
    wrong = {run.name.removeprefix(PLANTED_PREFIX): rows_of(run.sample()) for run, _ in plants}
    right = _verbatim([run for run, _ in runs if not run.name.startswith(PLANTED_PREFIX)])
    spec = {**(data or {"name": dataset.name}), "fingerprint": dataset.fingerprint()}
    describe = {"judged_by": next(iter(by)), "files": [path.name for path in files]}
    return _file(PUBLISHED_JUDGE, list(plants[0][1]), describe, spec, wrong, right, resamples)


def write_errors(path: Path, errors: ErrorsFile) -> None:
    """Write what was found, for ``memtrial rejudge --errors``."""
    write_json(path, errors.model_dump(mode="json"))


def read_errors(path: Path) -> ErrorsFile:
    """Read a file of :func:`write_errors`.

    Raises:
        UserError: it cannot be read, or is no such file.
    """
    try:
        found = ErrorsFile.model_validate(orjson.loads(path.read_bytes()))
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror or error}") from error
    except (ValidationError, orjson.JSONDecodeError) as error:
        raise UserError(
            f"{path} holds no errors of a judge ({redact(str(error).splitlines()[0], 120)}); memtrial judge check --out "
            "writes such a file"
        ) from error
    if found.schema_version != SCHEMA_VERSION:
        raise UserError(f"{path} has schema version {found.schema_version}, but this memtrial reads {SCHEMA_VERSION}")
    return found


def render_errors(errors: ErrorsFile) -> str:
    """Return what is printed: FPR and FNR as a whole and by kind, each with its intervals."""
    lines = [f"judge {errors.judge}" + (f" ({', '.join(errors.judges)})" if errors.judges else "")]
    for one in errors.describe.get("judges", []):
        lines.append(
            f"  {one['judge']}: rubric {one['rubric']}, temperature {one['temperature']:g}, seed {one['seed']}"
        )
    names = {"FPR": "wrong answers credited", "FNR": "right answers not credited"}
    for rate_name, meaning in names.items():
        rows = {kind: row for kind, row in errors.rates.items() if kind.startswith(rate_name)}
        for kind, row in rows.items():
            what = kind.removeprefix(rate_name).strip() or f"all ({meaning})"
            lines.append(f"  {rate_name} {what:<34} {show_rate(row)}")
        if not rows:
            lines.append(f"  {rate_name} unknown: no {'right' if rate_name == 'FNR' else 'wrong'} answer was judged")
    if errors.judge == PUBLISHED_JUDGE and errors.right:
        lines.append("  FNR rests on gold answers given word for word, the easiest right ones: it is a lower bound.")
    return "\n".join(lines)


def show_rate(row: RateRow) -> str:
    """Return a rate with its intervals and counts."""
    if row.value is None:
        return f"unmeasurable (0 of {row.unscored} scored)"
    beside = f"; by question {row.low_by_question:.3f}–{row.high_by_question:.3f}" if row.clusters < 8 else ""
    left = f", {row.unscored} unscored" if row.unscored else ""
    return f"{row.value:.3f} [{row.low:.3f}–{row.high:.3f}{beside}] ({row.hits} of {row.n}{left})"


def _file(
    label: str,
    judges: list[str],
    describe: dict[str, Any],
    data: dict[str, Any],
    wrong: dict[str, list[SampleRow]],
    right: dict[str, list[SampleRow]],
    resamples: int,
) -> ErrorsFile:
    found = ErrorsFile(judge=label, judges=judges, describe=describe, data=data, wrong=wrong, right=right)
    for name, kinds in (("FPR", wrong), ("FNR", right)):
        samples = {kind: sample_of(rows) for kind, rows in kinds.items()}
        if len(samples) > 1 and label != PUBLISHED_JUDGE:
            whole = sum(list(samples.values())[1:], next(iter(samples.values())))
            found.rates[name] = RateRow.of(rate(whole, resamples=resamples))
        for kind, sample in samples.items():
            found.rates[f"{name} {kind}"] = RateRow.of(rate(sample, resamples=resamples))
    return found


def _verbatim(runs: Sequence[Joined]) -> dict[str, list[SampleRow]]:
    """Collect gold answers given word for word, each question once: the run that comes first stands for it."""
    seen: dict[str, SampleRow] = {}
    for run in runs:
        for row in run.rows:
            q = row.question
            if q.answerable and row.credit is not None and verbatim(row):
                seen.setdefault(q.id, (int(not row.credit), q.id, q.cluster_id, q.category))
    return {"verbatim": list(seen.values())} if seen else {}
