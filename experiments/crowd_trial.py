"""The runner's side of a pass with many questions under way.

Results are journaled one by one as they come, so a kill loses what was under way and nothing else. Where the worker has
to be ended, or ends by itself, nobody knows which of the questions under way did it: those are asked alone, as in a
serial pass, and then the pass goes on with the rest.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memtrial.experiments.desk import Open, RunStopped, StepFailed
from memtrial.experiments.plan import CorpusPlan
from memtrial.experiments.process import WorkerDied, WorkerTimeout
from memtrial.experiments.redact import redact

if TYPE_CHECKING:
    from memtrial.experiments.trial import Trial

# The worker says twice a second that it is alive; a machine under load may be late with that.
SLACK_S = 10.0
# How long a question that was cancelled may take to go; one that does not go ends the worker.
GRACE_S = 5.0
# A worker that ends while nothing was under way was ended from outside; that may happen, but not for ever.
_LIVES = 3


@dataclass(slots=True)
class _Lane:
    """A corpus in the pass: how far it is.

    Attributes:
        busy: it is being created, takes messages in or is closed.
        flying: indices of the questions under way.
    """

    part: CorpusPlan
    open: Open
    busy: bool = False
    flying: set[int] = field(default_factory=set)


class CrowdTrial:
    """Asks what is open of a trial, many questions at a time; what it leaves open is the serial pass's to do."""

    def __init__(self, trial: Trial) -> None:
        """Work for a trial."""
        self._trial = trial
        self._lanes: list[_Lane] = []
        self._apart: set[str] = set()
        self._lives = _LIVES

    def run(self) -> None:
        """Go on until everything is asked, or is left to the serial pass.

        Raises:
            RunStopped: nothing more can be asked in this run.
        """
        trial = self._trial
        while True:
            parts = [part for part in trial.unit.data.corpora if part.corpus.id not in self._apart and self._open(part)]
            if not parts:
                return
            try:
                if self._pass(parts):
                    return
            finally:
                for lane in self._lanes:
                    shutil.rmtree(lane.open.folder, ignore_errors=True)
            trial.keeper.abandon()
            suspected = [lane for lane in self._lanes if lane.busy or lane.flying]
            if trial.hopeless or (not suspected and not self._lives):
                return
            self._lives -= not suspected
            for lane in suspected:
                if lane.busy:
                    self._apart.add(lane.part.corpus.id)
                else:
                    keys = trial.keys(lane.part)
                    trial.solo(lane.part, {keys[index] for index in lane.flying})

    def _open(self, part: CorpusPlan) -> bool:
        trial = self._trial
        return trial.measured(part) is None or any(key not in trial.desk.results for key in trial.keys(part))

    def _pass(self, parts: list[CorpusPlan]) -> bool:
        """Ask; return whether the worker came to the end."""
        trial = self._trial
        try:
            worker = trial.keeper.worker()
        except StepFailed:
            return True  # the serial pass tries again, and says what is wrong
        corpora = []
        self._lanes = []
        for part in parts:
            request = trial.keeper.request(part)
            self._lanes.append(_Lane(part, Open(Path(request["folder"]))))
            corpora.append({"open": request, "steps": list(self._steps(part))})
        limits = trial.limits
        worker.send(
            {
                "op": "crowd",
                "at_once": limits.at_once,
                "answer_s": limits.answer_s,
                "ingest_s": limits.ingest_s,
                "grace_s": GRACE_S,
                "corpora": corpora,
            }
        )
        while not trial.hopeless:
            busy = any(lane.busy for lane in self._lanes)
            limit = max(limits.answer_s, limits.ingest_s) if busy else limits.answer_s
            try:
                event = worker.receive(limit + SLACK_S)
            except (WorkerTimeout, WorkerDied):
                return False
            if trial.desk.spending is not None:
                trial.desk.spending.take(event.get("asked_beside") or event.get("asked"))
                trial.desk.spending.take(event.get("reply", {}).get("asked"))
            kind = event.get("event")
            if kind == "done" or "stop" in event:
                if "stop" in event:
                    raise RunStopped(event["stop"])
                return True
            if kind == "stuck":
                return False
            if kind != "beat":
                self._take(self._lanes[event["lane"]], str(kind), event)
        return False

    def _steps(self, part: CorpusPlan) -> Iterator[tuple[int, list[tuple[int, list[Any], list[str] | None]]]]:
        """Yield the places in the log at which something is asked, with what is open there."""
        trial = self._trial
        keys = trial.keys(part)
        still = [index for index, key in enumerate(keys) if key not in trial.desk.results]
        whole = trial.measured(part) is None
        for upto in dict.fromkeys(part.upto):
            if not whole and (not still or upto > part.upto[still[-1]]):
                return
            asked = [(index, *trial.asked(part, index, keys[index])) for index in still if part.upto[index] == upto]
            yield upto, asked

    def _take(self, lane: _Lane, kind: str, event: dict[str, Any]) -> None:
        trial = self._trial
        lane.busy = kind == "begin"
        if kind == "begin" and event["what"] == "ingest" and event["count"] >= 1000:
            trial.desk.working(f"taking in {event['count']} messages")
        elif kind == "ingested":
            lane.open.took_in(event["reply"], event["upto"])
        elif kind == "asking":
            lane.flying.add(event["index"])
        elif kind == "unanswered":
            lane.flying.discard(event["index"])
        elif kind == "answered":
            self._answered(lane, event["index"], event["reply"])
        elif kind == "failed":
            failure = trial.keeper.failure(event)
            if isinstance(failure, RunStopped):
                raise failure
            measure = trial.blank(lane.part)
            measure.failed, measure.detail = failure.kind, failure.detail
            trial.fail(lane.part, failure)
            if trial.measured(lane.part) is None:
                trial.desk.measure(measure)
        elif kind == "closed":
            self._closed(lane, event["reply"])

    def _answered(self, lane: _Lane, index: int, reply: dict[str, Any]) -> None:
        trial = self._trial
        lane.flying.discard(index)
        trace = reply.setdefault("trace", {})
        trace["facts"] = {**trace.get("facts", {}), "concurrency": trial.limits.at_once}
        trial.count(trial.take(lane.part, index, trial.keys(lane.part)[index], reply))

    def _closed(self, lane: _Lane, reply: dict[str, Any]) -> None:
        """Journal what was measured; how much memory one of several systems in a process took nobody can say."""
        if "error" in reply:
            lane.open.warnings.append(redact(reply["error_detail"]))
        if self._trial.measured(lane.part) is None:
            measure = self._trial.blank(lane.part)
            lane.open.measured(measure)
            measure.warnings.append(
                f"up to {self._trial.limits.at_once} questions were asked at a time: their latency is not measured, and"
                " times of taking messages in include waiting for other work"
            )
            self._trial.desk.measure(measure)
        shutil.rmtree(lane.open.folder, ignore_errors=True)
