"""One system through one data set, lock-step: hand over messages, ask one question, journal it, then the next."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from memtrial.datasets.schema import Question
from memtrial.experiments.folder import folder_mb
from memtrial.experiments.journal import NOT_ASKED, UNASKED, Measure
from memtrial.experiments.plan import CorpusPlan, Unit, query_of
from memtrial.experiments.process import WorkerDied, WorkerProcess, WorkerTimeout
from memtrial.experiments.redact import redact
from memtrial.experiments.wire import dump_query, folded, without_texts
from memtrial.metrics.records import Result

if TYPE_CHECKING:
    from memtrial.experiments.spending import Spending

# After the worker had to be ended, or ended by itself, this many times in a row, the trial is given up and the rest of
# its questions are errors: a system that always hangs costs minutes, not a night.
GIVE_UP_AFTER = 5
INGEST_USAGE = "ingest_usage"
_FATAL = ("timeout", "crashed")
# With so many questions in a row of which the model was not reached, it will not be for the next one either.
_UNREACHED = 3
# What a model makes of one message; a hand-over that fails for any other reason of the model's fails for all that follow.
_OF_CONTENT = ("refused", "filtered", "truncated", "empty", "tool_call", "invalid", "bad_request")
# All that a worker may set in a result; the rest is the runner's own.
_ANSWERED = (
    "error", "error_detail", "text", "abstained", "citations", "confidence", "retrieved", "context", "context_tokens",
    "latency_ms", "trace",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds allowed for an answer and for everything else, and the number of made-up queries before the first."""

    answer_s: float
    ingest_s: float
    warmup: int


@dataclass(frozen=True, slots=True)
class Desk:
    """What a trial needs from the run around it.

    Attributes:
        results: finished questions by key; a trial adds to it through ``record``.
        measures: what was measured, by (unit, repeat, corpus).
        record: journals a result, judges it and counts it.
        measure: journals a measure.
        working: tells the progress display what goes on.
        spool: gives the file that holds a corpus' messages.
        log: file for what the system prints.
        scratch: folder under which each system gets one of its own.
        cache_dir: shared artifact cache, or None.
        spending: of the run on models, or None where none is asked.
    """

    results: dict[str, Result]
    measures: dict[tuple[str, int, str], Measure]
    record: Callable[[dict[str, Any], Result, Question, CorpusPlan], None]
    measure: Callable[[Measure], None]
    working: Callable[[str], None]
    spool: Callable[[CorpusPlan], Path]
    log: Path
    scratch: Path
    cache_dir: Path | None
    spending: Spending | None = None


class RunStopped(Exception):
    """Going on makes no sense, for the reason that the message gives; what finished is kept."""


class _StepFailed(Exception):
    """Creating a system or handing messages over failed; no question of the corpus can be asked any more."""

    def __init__(self, kind: str, detail: str, *, final: bool = False) -> None:
        super().__init__(detail)
        self.kind = kind
        self.detail = detail
        self.final = final


@dataclass(slots=True)
class _Open:
    """A system that is open on one corpus: how far it is, and what was measured on the way."""

    folder: Path
    given: int = 0
    passed: int = 0
    ms: float = 0.0
    replayed_ms: float = 0.0
    write_ms: list[float] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)
    usage: list[dict[str, Any]] = field(default_factory=list)


class Trial:
    """Runs what is unfinished of one unit and repeat; nothing that has a result is asked again."""

    def __init__(self, unit: Unit, repeat: int, limits: Limits, desk: Desk) -> None:
        """Prepare; nothing is started before it is needed."""
        self._unit = unit
        self._repeat = repeat
        self._limits = limits
        self._desk = desk
        self._worker: WorkerProcess | None = None
        self._open: _Open | None = None
        self._warm = True
        self._folders = 0
        self._streak = 0
        self._unreached = 0

    def run(self) -> None:
        """Go through the corpora one after another.

        Raises:
            RunStopped: quota, key, budget or an endpoint that cannot be reached rule out every further answer.
        """
        try:
            for part in self._unit.data.corpora:
                self._corpus(part)
        finally:
            self._abandon()

    def _corpus(self, part: CorpusPlan) -> None:
        name = (self._unit.info.unit, self._repeat, part.corpus.id)
        keys = [self._unit.key(self._repeat, part.corpus.id, q.id) for q in part.questions]
        measure = self._desk.measures.get(name)
        if measure is not None and (measure.upto < part.upto[-1] or measure.failed == "crashed"):
            measure = None
        if measure is None or not all(key in self._desk.results for key in keys):
            measure = self._work(part, keys, measure)
        else:
            for key in keys:
                self._count(self._desk.results[key])
        self._streak += measure.failed in _FATAL

    def _work(self, part: CorpusPlan, keys: list[str], before: Measure | None) -> Measure:
        measure = Measure(unit=self._unit.info.unit, repeat=self._repeat, corpus_id=part.corpus.id, upto=part.upto[-1])
        try:
            self._through(part, keys, before, measure)
        except _StepFailed as failure:
            measure.failed, measure.detail = failure.kind, failure.detail
            for index, key in enumerate(keys):
                if key not in self._desk.results:
                    row = {
                        "error": failure.kind,
                        "error_detail": NOT_ASKED + failure.detail,
                        "log_size": part.upto[index],
                    }
                    self._write(part, part.questions[index], key, row)
            if failure.kind in _FATAL or self._open is not None:
                self._abandon()
        if before is None:
            self._desk.measure(measure)
        return before or measure

    def _through(self, part: CorpusPlan, keys: list[str], before: Measure | None, measure: Measure) -> None:
        """Ask what is open; a worker that dies while it starts or takes messages in gets a second chance.

        It may have been killed from outside (an operator, a lack of memory); a system that kills it does so again.
        """
        streak = self._streak
        for last in (False, True):
            try:
                self._questions(part, keys)
                if before is None:
                    self._advance(part, len(part.questions) - 1)
                if self._open is not None:
                    self._close(measure)
                return
            except _StepFailed as failure:
                if last or failure.final or failure.kind != "crashed":
                    raise
                self._abandon()
                self._streak = streak

    def _questions(self, part: CorpusPlan, keys: list[str]) -> None:
        for index, key in enumerate(keys):
            result = self._desk.results.get(key)
            if result is None:
                self._stop_when_hopeless()
                self._advance(part, index)
                result = self._ask(part, index, key)
            self._count(result)

    def _count(self, result: Result) -> None:
        if not result.error_detail.startswith(NOT_ASKED):
            self._streak = self._streak + 1 if result.error in _FATAL else 0

    def _stop_when_hopeless(self) -> None:
        if self._streak >= GIVE_UP_AFTER:
            told = f"given up after the worker had to be ended {self._streak} times in a row"
            raise _StepFailed("crashed", told, final=True)

    def _advance(self, part: CorpusPlan, index: int) -> None:
        """Hand over, in the very batches of an undisturbed run, everything up to the question at ``index``."""
        if self._open is None:
            self._start(part)
        while (held := self._open) is not None and held.passed <= index:
            upto = part.upto[held.passed]
            held.passed += 1
            if upto > held.given:
                self._hand_over(held, upto)
                if len(held.write_ms) == 1 and self._warm and self._limits.warmup:
                    self._warm_up(part, index)

    def _hand_over(self, held: _Open, upto: int) -> None:
        count = upto - held.given
        if count >= 1000:
            self._desk.working(f"taking in {count} messages")
        reply = self._step("ingest", {"op": "ingest", "upto": upto}, self._limits.ingest_s)
        spent = reply["ms"] + reply["replayed_ms"]
        held.given = upto
        held.ms += spent
        held.replayed_ms += reply["replayed_ms"]
        held.write_ms.append(round(spent / count, 6))
        held.warnings += [w for w in reply["trace"].get("warnings", []) if w not in held.warnings]
        held.facts.update(reply["trace"].get("facts", {}))
        add_usage(held.usage, reply["trace"].get("usage", []))

    def _warm_up(self, part: CorpusPlan, index: int) -> None:
        limit = self._limits.answer_s * self._limits.warmup
        try:
            self._call({"op": "warmup", "count": self._limits.warmup}, limit)
        except (WorkerTimeout, WorkerDied):
            # Made-up queries must not cost a result: go on without them.
            self._abandon()
            self._warm = False
            self._advance(part, index)

    def _start(self, part: CorpusPlan) -> None:
        if self._worker is None:
            try:
                self._worker = WorkerProcess(self._desk.log)
            except WorkerTimeout:
                raise _StepFailed("timeout", "the worker process did not come up") from None
            except WorkerDied as death:
                raise _StepFailed("crashed", f"start: {death}") from None
        self._folders += 1
        folder = self._desk.scratch / f"{self._unit.info.unit[:12]}-{self._repeat}-{self._folders}"
        folder.mkdir(parents=True)
        self._open = _Open(folder)
        info = self._unit.info
        request = {
            "op": "open",
            "target": info.target,
            "params": info.params,
            "folder": str(folder),
            "seed": self._unit.seed(self._repeat),
            "tenants": list(part.corpus.tenants),
            "cache_dir": str(self._desk.cache_dir) if self._desk.cache_dir else None,
            "models": self._desk.spending.told(self._unit, self._repeat) if self._desk.spending else {},
            "messages": str(self._desk.spool(part)),
        }
        self._step("create", request, self._limits.ingest_s)

    def _step(self, step: str, request: dict[str, Any], limit_s: float) -> dict[str, Any]:
        try:
            reply = self._call(request, limit_s)
        except WorkerTimeout:
            raise _StepFailed("timeout", f"{step}: not done within {limit_s:g} s") from None
        except WorkerDied as death:
            raise _StepFailed("crashed", f"{step}: {death}") from None
        if "error" in reply:
            kind, detail = reply["error"], redact(reply["error_detail"])
            if kind.startswith("model_") and kind.removeprefix("model_") not in _OF_CONTENT:
                raise RunStopped(f"{self._unit.info.trial}: {detail}; run the same command again to go on")
            raise _StepFailed(kind, detail)
        return reply

    def _call(self, request: dict[str, Any], limit_s: float) -> dict[str, Any]:
        """Ask the worker, and count what it asked of models.

        Raises:
            RunStopped: the worker says that nothing more can be asked.
        """
        assert self._worker is not None
        reply = self._worker.call(request, limit_s)
        if self._desk.spending is not None:
            self._desk.spending.take(reply.get("asked"))
        if "stop" in reply:
            raise RunStopped(reply["stop"])
        return reply

    def _ask(self, part: CorpusPlan, index: int, key: str) -> Result:
        question = part.questions[index]
        query = query_of(question, key)
        request: dict[str, Any] = {"op": "ask", "query": dump_query(query)}
        if self._unit.info.target == "oracle":
            request["reveal"] = list(question.evidence)
        try:
            reply = self._call(request, self._limits.answer_s)
        except WorkerTimeout:
            reply = {"error": "timeout", "error_detail": f"no answer within {self._limits.answer_s:g} s"}
            self._abandon()
        except WorkerDied as death:
            reply = {"error": "crashed", "error_detail": str(death)}
            self._abandon()
        row = {name: reply[name] for name in _ANSWERED if name in reply}
        if "retrieved" in row:
            without_texts(row["retrieved"], part.log)
        if "context" in row:
            row["context"] = folded(without_texts(row["context"], part.log))
        row["log_size"] = part.upto[index]
        result = self._write(part, question, key, row)
        self._stop_when_unreached(result)
        return result

    def _stop_when_unreached(self, result: Result) -> None:
        self._unreached = self._unreached + 1 if result.error in UNASKED else 0
        spending = self._desk.spending
        if self._unreached >= _UNREACHED and spending is not None and spending.options.replay != "only":
            raise RunStopped(
                f"{self._unit.info.trial}: the model was not reached {self._unreached} times in a row"
                f" ({result.error_detail}); run the same command again to go on, these questions are asked again then"
            )

    def _write(self, part: CorpusPlan, question: Question, key: str, row: dict[str, Any]) -> Result:
        identity: dict[str, Any] = {
            "key": key,
            "unit": self._unit.info.unit,
            "dataset": self._unit.info.dataset,
            "corpus_id": part.corpus.id,
            "question_id": question.id,
            "repeat": self._repeat,
        }
        try:
            result = Result.model_validate(identity | row)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = ".".join(map(str, first["loc"]))
            row = {"error": "invalid", "error_detail": redact(f"{where}: {first['msg']}"), "log_size": row["log_size"]}
            result = Result.model_validate(identity | row)
        self._desk.record(identity | row, result, question, part)
        return result

    def _close(self, measure: Measure) -> None:
        held, self._open = self._open, None
        assert held is not None
        try:
            reply = self._call({"op": "close"}, self._limits.ingest_s)
            measure.peak_rss_mb = reply.get("peak_rss_mb")
            if "error" in reply:
                held.warnings.append(redact(reply["error_detail"]))
        except (WorkerTimeout, WorkerDied) as end:
            self._abandon()
            held.warnings.append(f"close: {end or 'not done in time'}")
        measure.ingest_s = held.ms / 1000.0
        measure.replayed_s = held.replayed_ms / 1000.0
        measure.messages = held.given
        measure.write_ms = held.write_ms
        measure.index_mb = folder_mb(held.folder)
        measure.warnings = held.warnings
        measure.facts = {**held.facts, INGEST_USAGE: held.usage} if held.usage else held.facts
        shutil.rmtree(held.folder, ignore_errors=True)

    def _abandon(self) -> None:
        """End the worker after a failure: what state it is in nobody knows."""
        if self._worker is not None:
            self._worker.kill()
            self._worker = None
        if self._open is not None:
            shutil.rmtree(self._open.folder, ignore_errors=True)
            self._open = None


def add_usage(sums: list[dict[str, Any]], rows: Iterable[Mapping[str, Any]]) -> None:
    """Add rows of a ``Usage`` up by role, model and phase; a sum with an unknown cost in it is unknown."""
    for row in rows:
        name = tuple(row.get(key) for key in _USAGE_OF)
        held = next((old for old in sums if tuple(old.get(key) for key in _USAGE_OF) == name), None)
        if held is None:
            sums.append(dict(row))
            continue
        for key, value in row.items():
            if key == "usd":
                held[key] = None if value is None or held.get(key) is None else round(held[key] + value, 12)
            elif key == "estimated":
                held[key] = held.get(key, False) or value
            elif key not in _USAGE_OF:
                held[key] = held.get(key, 0) + value


_USAGE_OF = ("role", "model", "phase")
