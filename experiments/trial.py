"""One system through one data set, lock-step: hand over messages, ask one question, journal it, then the next."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from pydantic import ValidationError

from memtrial.datasets.schema import Question
from memtrial.experiments.desk import Desk, Limits, Open, RunStopped, StepFailed
from memtrial.experiments.journal import NOT_ASKED, UNASKED, Measure
from memtrial.experiments.keeper import Keeper
from memtrial.experiments.plan import CorpusPlan, Unit, query_of
from memtrial.experiments.process import WorkerDied, WorkerTimeout
from memtrial.experiments.redact import redact
from memtrial.experiments.wire import count_items, dump_query, folded, without_texts
from memtrial.metrics.records import Result
from memtrial.systems.registry import BUILT_IN

# After the worker had to be ended, or ended by itself, this many times in a row, the trial is given up and the rest of
# its questions are errors: a system that always hangs costs minutes, not a night.
GIVE_UP_AFTER = 5
_FATAL = ("timeout", "crashed")
# In the facts of an answer's trace: what a system with a coroutine ``establish`` is handed back for good.
ESTABLISHED = "established"
# With so many questions in a row of which the model was not reached, it will not be for the next one either.
_UNREACHED = 3
# All that a worker may set in a result; the rest is the runner's own.
_ANSWERED = (
    "error", "error_detail", "text", "abstained", "citations", "confidence", "retrieved", "context", "latency_ms",
    "trace",
)  # fmt: skip


class Trial:
    """Runs what is unfinished of one unit and repeat; nothing that has a result is asked again."""

    def __init__(self, unit: Unit, repeat: int, limits: Limits, desk: Desk) -> None:
        """Prepare; nothing is started before it is needed."""
        self.unit = self._unit = unit
        self.repeat = self._repeat = repeat
        self.limits = self._limits = limits
        self.desk = self._desk = desk
        self.keeper = self._keeper = Keeper(unit, repeat, limits, desk)
        self._warm = True
        self._streak = 0
        self._unreached = 0

    def run(self) -> None:
        """Go through the corpora one after another.

        Raises:
            RunStopped: quota, key, budget or an endpoint that cannot be reached rule out every further answer.
        """
        try:
            if self._limits.at_once > 1 and may_overlap(self._unit):
                from memtrial.experiments.crowd_trial import CrowdTrial  # a serial run loads none of it

                CrowdTrial(self).run()
            for part in self._unit.data.corpora:
                self._corpus(part)
        finally:
            self._keeper.abandon()

    def keys(self, part: CorpusPlan) -> list[str]:
        """Return the keys of a corpus' questions."""
        return [self._unit.key(self._repeat, part.corpus.id, q.id) for q in part.questions]

    def measured(self, part: CorpusPlan) -> Measure | None:
        """Return what was measured on a corpus, unless it has to be measured again."""
        measure = self._desk.measures.get((self._unit.info.unit, self._repeat, part.corpus.id))
        if measure is not None and (measure.upto < part.upto[-1] or measure.failed == "crashed"):
            return None
        return measure

    @property
    def hopeless(self) -> bool:
        """Whether the worker had to be ended too often in a row to go on."""
        return self._streak >= GIVE_UP_AFTER

    def _corpus(self, part: CorpusPlan) -> None:
        keys, measure = self.keys(part), self.measured(part)
        if measure is None or not all(key in self._desk.results for key in keys):
            measure = self._work(part, keys, measure)
        else:
            for key in keys:
                self.count(self._desk.results[key])
        self._streak += measure.failed in _FATAL

    def blank(self, part: CorpusPlan) -> Measure:
        """Return a measure in which nothing stands yet."""
        return Measure(unit=self._unit.info.unit, repeat=self._repeat, corpus_id=part.corpus.id, upto=part.upto[-1])

    def fail(self, part: CorpusPlan, failure: StepFailed, only: Collection[str] | None = None) -> None:
        """Give the questions of a corpus that are open, or some of them, the failure for a result."""
        for index, key in enumerate(self.keys(part)):
            if key not in self._desk.results and (only is None or key in only):
                told = {"error": failure.kind, "error_detail": NOT_ASKED + failure.detail}
                self._write(part, part.questions[index], key, {**told, "log_size": part.upto[index]})

    def solo(self, part: CorpusPlan, keys: Collection[str]) -> None:
        """Ask some questions of a corpus alone: with one at a time it shows which of them ends the worker."""
        try:
            self._questions(part, self.keys(part), only=keys)
        except StepFailed as failure:
            self.fail(part, failure, keys)
        finally:
            self._keeper.abandon()

    def _work(self, part: CorpusPlan, keys: list[str], before: Measure | None) -> Measure:
        measure = self.blank(part)
        try:
            self._through(part, keys, before, measure)
        except StepFailed as failure:
            measure.failed, measure.detail = failure.kind, failure.detail
            self.fail(part, failure)
            if failure.kind in _FATAL or self._keeper.open is not None:
                self._keeper.abandon()
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
                if self._keeper.open is not None:
                    self._keeper.close(measure)
                return
            except StepFailed as failure:
                if last or failure.final or failure.kind != "crashed":
                    raise
                self._keeper.abandon()
                self._streak = streak

    def _questions(self, part: CorpusPlan, keys: list[str], only: Collection[str] | None = None) -> None:
        for index, key in enumerate(keys):
            if only is not None and key not in only:
                continue
            result = self._desk.results.get(key)
            if result is None:
                self._stop_when_hopeless()
                self._advance(part, index)
                result = self._ask(part, index, key)
                if self._keeper.open is not None:
                    self._establish(part, index)
            self.count(result)

    def count(self, result: Result) -> None:
        """Keep track of how often in a row the worker had to be ended."""
        if not result.error_detail.startswith(NOT_ASKED):
            self._streak = self._streak + 1 if result.error in _FATAL else 0

    def _stop_when_hopeless(self) -> None:
        if self.hopeless:
            told = f"given up after the worker had to be ended {self._streak} times in a row"
            raise StepFailed("crashed", told, final=True)

    def _advance(self, part: CorpusPlan, index: int) -> None:
        """Hand over, in the very batches of an undisturbed run, everything up to the question at ``index``."""
        if self._keeper.open is None:
            self._keeper.start(part)
        while (held := self._keeper.open) is not None and held.passed <= index:
            place = held.passed
            upto = part.upto[place]
            held.passed += 1
            if upto > held.given:
                self._hand_over(held, upto)
                if len(held.write_ms) == 1 and self._warm and self._limits.warmup:
                    self._warm_up(part, index)
            if place < index and self._keeper.open is held:
                self._establish(part, place)

    def _hand_over(self, held: Open, upto: int) -> None:
        count = upto - held.given
        if count >= 1000:
            self._desk.working(f"taking in {count} messages")
        reply = self._keeper.step("ingest", {"op": "ingest", "upto": upto}, self._limits.ingest_s)
        held.took_in(reply, upto)

    def _warm_up(self, part: CorpusPlan, index: int) -> None:
        limit = self._limits.answer_s * self._limits.warmup
        try:
            self._keeper.call({"op": "warmup", "count": self._limits.warmup}, limit)
        except (WorkerTimeout, WorkerDied):
            # Made-up queries must not cost a result: go on without them.
            self._keeper.abandon()
            self._warm = False
            self._advance(part, index)

    def _ask(self, part: CorpusPlan, index: int, key: str) -> Result:
        query, revealed = self.asked(part, index, key)
        request: dict[str, Any] = {"op": "ask", "query": query, **({} if revealed is None else {"reveal": revealed})}
        try:
            reply = self._keeper.call(request, self._limits.answer_s)
        except WorkerTimeout:
            reply = {"error": "timeout", "error_detail": f"no answer within {self._limits.answer_s:g} s"}
            self._keeper.abandon()
        except WorkerDied as death:
            reply = {"error": "crashed", "error_detail": str(death)}
            self._keeper.abandon()
        return self.take(part, index, key, reply)

    def _establish(self, part: CorpusPlan, index: int) -> None:
        """Tell a system that writes back what its stored answer established, before anything more is handed over or asked.

        A system that was started again is told the same of every answer it is led past: it stands where it would have.
        """
        if not callable(getattr(self._unit.factory.cls, "establish", None)):
            return
        key = self.keys(part)[index]
        result = self._desk.results.get(key)
        kept = result.trace.facts.get(ESTABLISHED) if result is not None and result.error is None else None
        if isinstance(kept, dict):
            query, _ = self.asked(part, index, key)
            self._keeper.step("establish", {"op": "establish", "query": query, "kept": kept}, self._limits.ingest_s)

    def asked(self, part: CorpusPlan, index: int, key: str) -> tuple[list[Any], list[str] | None]:
        """Return a question as the worker is given it, and the evidence that is revealed beside it, if any is."""
        question = part.questions[index]
        revealed = list(question.evidence) if self._unit.info.target == "oracle" else None
        return dump_query(query_of(question, key)), revealed

    def take(self, part: CorpusPlan, index: int, key: str, reply: dict[str, Any]) -> Result:
        """Journal what a worker has answered.

        Raises:
            RunStopped: the model was not reached for some questions in a row.
        """
        row = {name: reply[name] for name in _ANSWERED if name in reply}
        count_items(row)
        if "retrieved" in row:
            without_texts(row["retrieved"], part.log)
        if "context" in row:
            row["context"] = folded(without_texts(row["context"], part.log))
        row["log_size"] = part.upto[index]
        result = self._write(part, part.questions[index], key, row)
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


def may_overlap(unit: Unit) -> bool:
    """Whether questions of a trial are asked at the same time where the run allows it.

    Where no model is waited for there is nothing to win, and a latency to lose. What a class of somebody else's waits
    for nobody knows; its attribute ``serial`` (or what that says of the parameters, where it is a function) tells whether
    it must be asked one question at a time.
    """
    serial = getattr(unit.factory.cls, "serial", False)
    if callable(serial):
        serial = serial(unit.info.params)
    return bool(unit.models or unit.info.target not in BUILT_IN) and not serial
