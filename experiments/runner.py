"""Carries a plan out: every question once, each result on disk before the next question is asked."""

from __future__ import annotations

import gc
import os
import re
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from memtrial.datasets.errors import UserError
from memtrial.datasets.schema import Question
from memtrial.experiments.config import Config, load_config
from memtrial.experiments.desk import Desk, Limits, RunStopped
from memtrial.experiments.folder import LOGS, WORK, claimed, default_folder, locked
from memtrial.experiments.journal import (
    NOT_ASKED,
    OF_SERVICE,
    UNASKED,
    Journal,
    JournalState,
    Measure,
    keep_measure,
    never_asked,
    read_journal,
)
from memtrial.experiments.manifest import build_manifest, header, trial_infos
from memtrial.experiments.models import ModelOptions
from memtrial.experiments.plan import CorpusPlan, Plan, Unit, make_plan
from memtrial.experiments.preflight import cache_dir, preflight
from memtrial.experiments.progress import Progress, RunSummary, Score, Silent
from memtrial.experiments.store import (
    CONFIG,
    JOURNAL,
    MANIFEST,
    MESSAGES,
    METRICS,
    RECORDS,
    SHOWN_ITEMS,
    write_json,
    write_messages,
    write_records,
)
from memtrial.experiments.trial import Trial
from memtrial.experiments.wire import dump_messages
from memtrial.metrics.aggregate import aggregate
from memtrial.metrics.outcomes import make_record
from memtrial.metrics.records import Record, Result, TrialInfo

if TYPE_CHECKING:
    from memtrial.experiments.spending import Spending

_ERROR_SHARE = 0.5


def run(
    plan: Plan, out: Path | None = None, progress: Progress | None = None, options: ModelOptions | None = None
) -> RunSummary:
    """Run what is unfinished of a plan, then write records, metrics and manifest.

    Resuming is running again: results count by their key, whoever asked them, and nothing that has a result is asked
    again.

    Args:
        plan: from ``make_plan``.
        out: folder of the run; by default ``runs/<name>-<hash>``.
        progress: told what happens.
        options: how models are asked.

    Raises:
        UserError: the folder is not usable, the disk is full, a system lacks what it needs of its environment, or a budget
            cannot be kept for want of a price.
        KeyboardInterrupt: passed on after workers are ended; the journal holds everything that finished.
    """
    folder = out or default_folder(plan.config)
    shown = progress or Silent()
    asked = (options or ModelOptions()) if any(unit.models for unit in plan.units) else None
    if asked is not None:
        from memtrial.experiments.spending import Spending, check_options  # a keyless run loads none of it

        check_options(plan, asked)
    try:
        with claimed(folder, plan.config), _no_collector():
            spending = None if asked is None else Spending(plan, folder, asked)
            runner = _Runner(plan, folder, shown, spending, asking=True, options=options)
            preflight(runner.unfinished())
            summary = runner.run()
        shown.finished(summary)
        return summary
    finally:
        shown.stopped()


def finish(folder: Path) -> RunSummary:
    """Judge what the journal holds and write records, metrics and manifest; no system is run.

    Raises:
        UserError: if the folder holds no run, its data cannot be loaded, or a run is going on in it.
    """
    if not (folder / CONFIG).is_file():
        raise UserError(f"{folder} holds no run ({CONFIG} is missing)")
    with locked(folder):
        plan = make_plan(_stored_config(folder))
        return _Runner(plan, folder, Silent()).settle()


@contextmanager
def _no_collector() -> Iterator[None]:
    """Pause the cycle collector: records live to the end and hold no cycles, and walking them took a third of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _stored_config(folder: Path) -> Config:
    config = load_config(folder / CONFIG)
    try:
        limit = orjson.loads((folder / MANIFEST).read_bytes()).get("limit")
    except (OSError, orjson.JSONDecodeError) as error:
        raise UserError(f"{folder / MANIFEST} is missing or corrupt; run the same command again to go on") from error
    return config.model_copy(update={"limit": limit})


class _Runner:
    """The state of one run: results and records by key."""

    def __init__(
        self,
        plan: Plan,
        folder: Path,
        progress: Progress,
        spending: Spending | None = None,
        *,
        asking: bool = False,
        options: ModelOptions | None = None,
    ) -> None:
        self._plan = plan
        self._folder = folder
        self._progress = progress
        self._asked = {key: (unit, part, question) for key, unit, _, part, question in plan.questions()}
        self._spending = spending
        self._stopped = ""
        self._state = read_journal(folder / JOURNAL, self._asked.__contains__)
        paying = spending is not None and spending.options.replay != "only"
        retry = asking and options is not None and options.retry_errors
        for key, result in list(self._state.results.items()):
            again = (paying and result.error in UNASKED) or (asking and never_asked(result))
            if again or (retry and result.error in OF_SERVICE):
                del self._state.results[key]
        self._resumed = len(self._state.results)
        self._records: dict[str, Record] = {}
        self._scores: dict[tuple[str, str], Score] = {}
        self._spooled: dict[int, Path] = {}
        self._start = time.monotonic()
        for key, result in self._state.results.items():
            unit, part, question = self._asked[key]
            self._judge(unit, part, question, result)

    def unfinished(self) -> list[Unit]:
        """Return the trials with a question left to ask."""
        left = {id(unit): unit for key, (unit, _, _) in self._asked.items() if key not in self._state.results}
        return list(left.values())

    def run(self) -> RunSummary:
        plan, folder = self._plan, self._folder
        told = {} if self._spending is None else {"models": self._spending.statement()}
        write_json(folder / MANIFEST, {**header(plan), **told})
        journal = Journal(folder / JOURNAL)
        try:
            now = datetime.now(UTC).isoformat(timespec="seconds")
            journal.append("segment", {"at": now, "pid": os.getpid()}, 0.0)
            self._state.segments.append(now)
            self._progress.started(plan, self._resumed)
            config = plan.config
            limits = Limits(config.time_limit_s, config.ingest_limit_s, config.warmup, config.concurrency)
            for unit in plan.units:
                for repeat in range(unit.info.repeats):
                    Trial(unit, repeat, limits, self._desk(unit, journal)).run()
        except RunStopped as stop:
            self._stopped = str(stop)
        finally:
            journal.close()
        self._state.wall_s += time.monotonic() - self._start
        return self.settle()

    def settle(self) -> RunSummary:
        """Write records, messages, metrics and, last, the manifest that says that they are there."""
        plan, folder = self._plan, self._folder
        records = [self._records[key] for key in self._asked if key in self._records]
        trials = trial_infos(plan, self._state.measures)
        logs = {(label, p.corpus.id): p.log for label, part in plan.data.items() for p in part.corpora}
        write_records(folder / RECORDS, records)
        write_messages(folder / MESSAGES, records, logs)
        rows = aggregate(records, trials, resamples=plan.config.metrics.resamples, seed=0) if records else []
        write_json(folder / METRICS, [row.model_dump() for row in rows])
        size = (folder / JOURNAL).stat().st_size if (folder / JOURNAL).exists() else 0
        manifest = build_manifest(plan, self._state, trials, records, size)
        write_json(folder / MANIFEST, self._with_statement(manifest, records, trials))
        return self._summary(records)

    def _with_statement(
        self, manifest: dict[str, Any], records: list[Record], trials: list[TrialInfo]
    ) -> dict[str, Any]:
        if not any(unit.models for unit in self._plan.units):
            return manifest
        from memtrial.experiments.statement import model_statement

        told = None if self._spending is None else self._spending.statement()
        return {**manifest, "models": model_statement(self._plan, records, trials, told, self._folder)}

    def _desk(self, unit: Unit, journal: Journal) -> Desk:
        def record(row: dict[str, Any], result: Result, question: Question, part: CorpusPlan) -> None:
            journal.append("result", row, time.monotonic() - self._start)
            self._state.results[result.key] = result
            outcome = self._judge(unit, part, question, result)
            if self._spending is not None:
                self._progress.counted(self._spending.line())
            self._progress.advanced(unit.info, outcome, self._scores[unit.info.trial, unit.info.dataset])

        def measure(found: Measure) -> None:
            journal.append("measure", found.model_dump(), time.monotonic() - self._start)
            keep_measure(self._state.measures, found)

        return Desk(
            results=self._state.results,
            measures=self._state.measures,
            record=record,
            measure=measure,
            working=lambda what: self._progress.working(unit.info, what),
            spool=self._spool,
            log=self._log(unit),
            scratch=(self._folder / WORK).resolve(),
            cache_dir=cache_dir(),
            spending=self._spending,
        )

    def _judge(self, unit: Unit, part: CorpusPlan, question: Question, result: Result) -> str:
        record = make_record(unit.info.trial, question, result, part.log)
        # The ranking stands flattened in the record; of the items themselves only those that a page shows are kept.
        del record.result.retrieved[SHOWN_ITEMS:]
        self._records[result.key] = record
        outcome: str = record.judgement.outcome
        self._scores.setdefault((unit.info.trial, unit.info.dataset), Score()).add(outcome)
        return outcome

    def _spool(self, part: CorpusPlan) -> Path:
        file = self._spooled.get(id(part))
        if file is None:
            file = (self._folder / WORK / "messages" / f"{len(self._spooled)}.jsonl").resolve()
            try:
                file.parent.mkdir(parents=True, exist_ok=True)
                dump_messages(part.messages[: part.upto[-1]], file)
            except OSError as error:
                raise UserError(f"cannot write {file}: {error.strerror}") from error
            self._spooled[id(part)] = file
        return file

    def _summary(self, records: list[Record]) -> RunSummary:
        planned = self._plan.planned
        problems = [self._stopped] if self._stopped else []
        problems += _problems(self._state)
        own: dict[int, list[Record]] = {}
        for key, (unit, _, _) in self._asked.items():
            if key in self._records:
                own.setdefault(id(unit), []).append(self._records[key])
        broken = [told for unit in self._plan.units if (told := self._broken(unit, own.get(id(unit), [])))]
        leaks = [told for unit in self._plan.units if (told := _leaking(unit, own.get(id(unit), [])))]
        problems += broken + leaks
        problems += [
            f"data.{label}: {len(part.faults)} faults in its labels, such as {part.faults[0]}; see memtrial datasets check"
            for label, part in self._plan.data.items()
            if part.faults
        ]
        problems += _to_ask_again(records)
        if len(records) < planned:
            problems.append(
                f"incomplete: {len(records)} of {planned} questions finished; run the same command to go on"
            )
        incomplete = bool(broken or self._stopped) or len(records) < planned
        return RunSummary(
            out=self._folder,
            planned=planned,
            finished=len(records),
            errors=sum(score.errors for score in self._scores.values()),
            resumed=self._resumed,
            problems=tuple(problems),
            exit_code=2 if incomplete else 1 if leaks else 0,
        )

    def _broken(self, unit: Unit, records: list[Record]) -> str:
        """Say when a trial's figures rest on fewer answers than they seem to: mostly errors, or questions never asked."""
        errors = [r.result for r in records if r.result.error]
        never = sum(r.error_detail.startswith(NOT_ASKED) for r in errors)
        if not never and len(errors) <= _ERROR_SHARE * len(records):
            return ""
        kind, detail = Counter((r.error, r.error_detail.removeprefix(NOT_ASKED)) for r in errors).most_common(1)[0][0]
        asked = f" ({never} never asked)" if never else ""
        return (
            f"{unit.info.trial} on {unit.info.dataset}: {len(errors)} of {len(records)} questions are errors{asked}, "
            f"mostly {kind}: {detail[:200]}; see {self._log(unit)}"
        )

    def _log(self, unit: Unit) -> Path:
        name = re.sub(r"[^\w.=+-]+", "_", f"{unit.info.trial}-{unit.info.dataset}")[:120]
        return self._folder / LOGS / f"{name}.log"


def _to_ask_again(records: list[Record]) -> list[str]:
    """Say how questions are asked again whose errors are a service's, and how many there are."""
    kinds = Counter(r.result.error for r in records if r.result.error in OF_SERVICE and not never_asked(r.result))
    if not kinds:
        return []
    named = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
    told = f"{sum(kinds.values())} questions ended in errors of a service or a limit ({named})"
    return [f"{told}; the same command with --retry-errors asks them again"]


def _leaking(unit: Unit, records: list[Record]) -> str:
    """Name the gate that a trial fails when it shows another tenant's messages without having been told to."""
    leaking = sum(record.judgement.leaks > 0 for record in records)
    if not leaking or _unfiltered(unit.info.params):
        return ""
    return (
        f"gate failed: {unit.info.trial} on {unit.info.dataset} showed another tenant's messages on {leaking} questions"
    )


def _unfiltered(params: Mapping[str, Any]) -> bool:
    """Whether a system, or a part of one, was told to leave the filter by tenant out."""
    return any(
        value is False if name == "tenant_filter" else isinstance(value, Mapping) and _unfiltered(value)
        for name, value in params.items()
    )


def _problems(state: JournalState) -> list[str]:
    found: Mapping[str, int] = {
        "could not be read and do not count": len(state.corrupt),
        "repeat a finished question and do not count": state.duplicates,
        "belong to another version of code or data, or to a larger --limit, and do not count": state.foreign,
    }
    return [f"{JOURNAL}: {count} lines {what}" for what, count in found.items() if count]
