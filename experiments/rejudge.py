"""Grades the stored answers of a run again: from its records alone, no system is asked anything."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import orjson
from pydantic import ValidationError

from memtrial.datasets.errors import UserError, did_you_mean
from memtrial.experiments.judge_models import Asked, JudgeOptions, ask, configured_judge, label_of, settings_of
from memtrial.experiments.judging import MAJORITY
from memtrial.experiments.rejudge_text import lines_of
from memtrial.experiments.rematch import by_matcher
from memtrial.experiments.store import Run, atomically, read_run, write_json
from memtrial.metrics.judges.grading import grade, published_verdict
from memtrial.metrics.judges.labels import Verdict
from memtrial.metrics.judges.majority import combine
from memtrial.metrics.judges.persisted import (
    SCHEMA_VERSION,
    ErrorsFile,
    Rejudged,
    UsageRow,
    VerdictRow,
)
from memtrial.metrics.judges.scoring import CONTESTED, PUBLISHED_JUDGE, score_judge
from memtrial.metrics.panel import make_panels
from memtrial.metrics.records import Record
from memtrial.systems.models.llm.ledger import Ledger
from memtrial.systems.models.llm.store import CALLS

FOLDER = "rejudged"
SUMMARY = "summary.md"
MATCHER = "matcher"
KEYLESS = (MATCHER, PUBLISHED_JUDGE)
MASKS = (CONTESTED,)
FEWEST_FOR_MAJORITY = 3
"""Of two judges neither is outvoted; where they differ there would be no verdict at all."""


@dataclass(frozen=True, slots=True)
class Graded:
    """What came of it: one entry for each judge, the majority last where three or more judged.

    ``line`` says what was asked and paid now; the files hold the same figures after a replay and say nothing of that.
    ``taken`` says which judge was taken where none was named, or "".
    """

    folder: Path
    judges: list[Rejudged]
    line: str
    taken: str = ""

    @property
    def unusable(self) -> list[str]:
        """Scores of which so many answers are unscored that they tell nothing."""
        return [
            f"{judge.judge}: {score.total - score.scored} of {score.total} answers of {score.trial} on {score.dataset} are unscored"
            for judge in self.judges
            for score in judge.scores
            if not score.usable
        ]


def rejudge(
    folder: Path,
    options: JudgeOptions,
    *,
    judges: Sequence[str] = (),
    mask: str | None = None,
    errors: Sequence[ErrorsFile] = (),
) -> Graded:
    """Grade a run's answers with other judges and write ``rejudged/<judge>.json`` and ``rejudged/summary.md``.

    Args:
        folder: of the run.
        options: models that judge, and how they are asked; their calls are recorded in the run's own file. Where neither
            they nor ``judges`` name one, the run's configuration may (``models: {judge: NAME}``).
        judges: of ``matcher`` (this version's rules, from the stored messages) and ``published`` (verdicts that came with
            published answers).
        mask: ``contested`` leaves questions with a gold answer in doubt out of the scores.
        errors: from ``memtrial judge check``; each corrects the judge that it was measured on.

    Raises:
        UserError: no run, no judge, errors of a judge that does not judge here, a key is missing, the budget is spent, a
            judge did not answer. Nothing is written then but the replies that came.
    """
    for name in judges:
        if name not in KEYLESS:
            raise UserError(
                f"there is no judge {name!r}; there are {', '.join(KEYLESS)}{did_you_mean(name, KEYLESS)}, or --model NAME"
            )
    if mask is not None and mask not in MASKS:
        raise UserError(f"there is no mask {mask!r}; there is {', '.join(MASKS)}{did_you_mean(mask, MASKS)}")
    run = read_run(folder)
    taken = ""
    if not judges and not options.judges:
        options, taken = _from_configuration(run, options)
    described, verdicts, ledger = _verdicts(run, options, judges)
    given = {e.judge: e for e in errors}
    for label, found in given.items():
        if label not in verdicts:
            raise UserError(
                f"the errors given were measured on the judge {label!r}, but {', '.join(verdicts)} judged here; errors of one "
                "judge say nothing about another"
            )
        _same_judge(label, found, described[label])
    panels = make_panels(run.records, run.trials)
    resamples = int((run.config.get("metrics") or {}).get("resamples", 10_000))
    answers = answers_hash(run.records)
    made = []
    for label, own in verdicts.items():
        used = given.get(label)
        scores, ranks = score_judge(panels, own, errors=used, mask=mask, resamples=resamples)
        made.append(
            Rejudged(
                judge=label,
                describe=described[label],
                mask=mask,
                answers=answers,
                errors={} if used is None else {"judge": used.judge, "data": used.data},
                scores=scores,
                ranks=ranks,
                usage=_usage(ledger, label, options),
                verdicts=[
                    VerdictRow(key=key, label=v.label, detail=v.detail, lure=v.lure, status=v.status)
                    for key, v in own.items()
                ],
            )
        )
    _write(folder / FOLDER, made)
    _write_summary(folder, run.records)
    return Graded(folder / FOLDER, made, ledger.line(options.budget_usd) if options.judges else "", taken)


def _from_configuration(run: Run, options: JudgeOptions) -> tuple[JudgeOptions, str]:
    """Take the judge that the run's configuration names."""
    found = configured_judge(run.config.get("models") or {})
    if found is None:
        raise UserError(
            "no judge is named: give --model NAME [--base-url URL], --judge matcher or --judge published; the run's "
            "configuration names none under models: {judge: NAME}"
        )
    chosen = replace(options, configured=found)
    asked = settings_of(found.model, chosen)
    return chosen, f"{asked.model} at {asked.public_url}, from models.judge of the run's configuration"


def read_rejudged(folder: Path, records: Sequence[Record] = ()) -> tuple[list[Rejudged], list[str]]:
    """Read what judges made of a run.

    Args:
        folder: of the run.
        records: of the run; what was made of other answers than these is not returned.

    Returns:
        Judges in the order of their file names, the majority last, and sentences about files that cannot be used.
    """
    found: list[Rejudged] = []
    notes: list[str] = []
    now = answers_hash(records)
    for path in sorted((folder / FOLDER).glob("*.json")):
        try:
            one = Rejudged.model_validate(orjson.loads(path.read_bytes()))
        except (OSError, orjson.JSONDecodeError, ValidationError):
            notes.append(f"{FOLDER}/{path.name} cannot be read; memtrial rejudge writes it anew")
            continue
        if one.schema_version != SCHEMA_VERSION or one.answers != now:
            notes.append(
                f"{FOLDER}/{path.name} speaks of other answers than this run holds now; memtrial rejudge writes it anew"
            )
            continue
        found.append(one)
    return sorted(found, key=lambda one: one.judge == MAJORITY), notes


def answers_hash(records: Sequence[Record]) -> str:
    """Return a hash of what was answered, without anything measured or judged."""
    digest = hashlib.sha256()
    for record in sorted(records, key=lambda r: r.result.key):
        result = record.result
        row = [record.trial, result.key, result.error, result.text, result.abstained]
        digest.update(orjson.dumps(row) + b"\n")
    return digest.hexdigest()


def file_name(judge: str, mask: str | None) -> str:
    """Return the name of a judge's file, in plain letters."""
    slug = re.sub(r"[^A-Za-z0-9._-]+", "-", judge).strip("-.") or "judge"
    if slug != judge.replace("/", "-"):  # two names must not meet in one file
        slug = f"{slug}-{hashlib.sha256(judge.encode()).hexdigest()[:6]}"
    return f"{slug}{f'.{mask}' if mask else ''}.json"


_Described = dict[str, dict[str, Any]]


def _verdicts(
    run: Run, options: JudgeOptions, judges: Sequence[str]
) -> tuple[_Described, dict[str, dict[str, Verdict]], Ledger]:
    described: _Described = {}
    verdicts: dict[str, dict[str, Verdict]] = {}
    for name in dict.fromkeys(judges):
        described[name] = {"judge": name}
        verdicts[name] = by_matcher(run) if name == MATCHER else _by_published(run)
    ledger = Ledger()
    if options.judges:

        async def work(asked: Asked) -> Ledger:
            for judge in asked.judges:
                label = label_of(judge.name, options.rubric)
                described[label] = judge.describe()
                verdicts[label] = await grade(run.records, judge, concurrency=options.max_concurrency)
            return asked.ledger

        ledger = ask(options, run.folder / CALLS, work)
    if len(verdicts) >= FEWEST_FOR_MAJORITY:
        labels = list(verdicts)
        keys = dict.fromkeys(key for own in verdicts.values() for key in own)
        unscored = Verdict("unscored", "", "this judge gave no verdict")
        described[MAJORITY] = {"judge": MAJORITY, "of": labels}
        verdicts[MAJORITY] = {
            key: combine(MAJORITY, [verdicts[label].get(key, unscored) for label in labels]) for key in keys
        }
    return described, verdicts, ledger


def _by_published(run: Run) -> dict[str, Verdict]:
    found = {r.result.key: v for r in run.records if (v := published_verdict(r)) is not None}
    if not found:
        raise UserError(
            f"{run.folder} holds no published verdict: none of its systems hands out published answers with some"
        )
    return found


def _same_judge(label: str, errors: ErrorsFile, described: Mapping[str, Any]) -> None:
    """Refuse errors measured with other prompts or another seed under the same name."""
    measured = next((d for d in errors.describe.get("judges", []) if label_of(d["judge"], d["rubric"]) == label), None)
    if measured is not None and measured != described:
        changed = ", ".join(name for name in described if measured.get(name) != described[name])
        raise UserError(
            f"the errors given for {label} were measured with another {changed}; measure them again with judge check"
        )


def _usage(ledger: Ledger, label: str, options: JudgeOptions) -> list[UsageRow]:
    """Return what this judge's calls take, whether they were asked now or replayed."""
    return [
        UsageRow(
            model=model,
            trial=trial,
            calls=sums.calls,
            prompt=sums.prompt,
            cached=sums.cached,
            completion=sums.completion,
            reasoning=sums.reasoning,
            estimated=sums.estimated,
            usd=sums.usd,
        )
        for (trial, model), sums in ledger.totals("trial", "model").items()
        if label_of(model, options.rubric) == label
    ]


def _write(folder: Path, judges: Sequence[Rejudged]) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"cannot make the folder {folder}: {error.strerror}") from error
    for judge in judges:
        write_json(folder / file_name(judge.judge, judge.mask), judge.model_dump(mode="json"))


def _write_summary(folder: Path, records: Sequence[Record]) -> None:
    """Put together what every judge so far makes of these answers."""
    judges, notes = read_rejudged(folder, records)
    lines = ["# Stored answers graded again", "", "```", *(line for j in judges for line in lines_of(j)), "```", ""]
    text = "\n".join([*lines, *(f"- {note}" for note in notes), *([""] if notes else [])])
    atomically(folder / FOLDER / SUMMARY, lambda temporary: temporary.write_text(text, encoding="utf-8"))
