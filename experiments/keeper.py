"""The worker of a trial and the system that is open in it: started when needed, and ended for certain."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from memtrial.experiments.desk import Desk, Limits, Open, RunStopped, StepFailed, ends_the_run
from memtrial.experiments.journal import Measure
from memtrial.experiments.plan import CorpusPlan, Unit
from memtrial.experiments.process import WorkerDied, WorkerProcess, WorkerTimeout
from memtrial.experiments.redact import redact


class Keeper:
    """Has at most one worker, and in it at most one system.

    Attributes:
        open: how far the system is that is open, or None.
    """

    def __init__(self, unit: Unit, repeat: int, limits: Limits, desk: Desk) -> None:
        """Prepare; nothing is started before it is needed."""
        self.open: Open | None = None
        self._unit = unit
        self._repeat = repeat
        self._limits = limits
        self._desk = desk
        self._worker: WorkerProcess | None = None
        self._folders = 0

    def worker(self) -> WorkerProcess:
        """Return the worker; a new one where there is none.

        Raises:
            StepFailed: it does not come up.
        """
        if self._worker is None:
            if self._desk.spending is not None:
                self._desk.spending.recall()
            try:
                self._worker = WorkerProcess(self._desk.log)
            except WorkerTimeout:
                raise StepFailed("timeout", "the worker process did not come up") from None
            except WorkerDied as death:
                raise StepFailed("crashed", f"start: {death}") from None
        return self._worker

    def start(self, part: CorpusPlan) -> None:
        """Create the system on a corpus.

        Raises:
            StepFailed, RunStopped: it could not be.
        """
        self.worker()
        request = self.request(part)
        self.open = Open(Path(request["folder"]))
        self.step("create", request, self._limits.ingest_s)

    def request(self, part: CorpusPlan) -> dict[str, Any]:
        """Return what a worker needs to create the system on a corpus, in a folder of its own."""
        self._folders += 1
        folder = self._desk.scratch / f"{self._unit.info.unit[:12]}-{self._repeat}-{self._folders}"
        folder.mkdir(parents=True)
        info = self._unit.info
        return {
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

    def step(self, step: str, request: dict[str, Any], limit_s: float) -> dict[str, Any]:
        """Do something that is no question.

        Raises:
            StepFailed, RunStopped: it was not done.
        """
        try:
            reply = self.call(request, limit_s)
        except WorkerTimeout:
            raise StepFailed("timeout", f"{step}: not done within {limit_s:g} s") from None
        except WorkerDied as death:
            raise StepFailed("crashed", f"{step}: {death}") from None
        if "error" in reply:
            raise self.failure(reply)
        return reply

    def failure(self, reply: dict[str, Any]) -> StepFailed | RunStopped:
        """Return what it means that a step failed."""
        kind, detail = reply["error"], redact(reply["error_detail"])
        if ends_the_run(kind):
            return RunStopped(f"{self._unit.info.trial}: {detail}; run the same command again to go on")
        return StepFailed(kind, detail)

    def call(self, request: dict[str, Any], limit_s: float) -> dict[str, Any]:
        """Ask the worker, and count what it asked of models.

        Raises:
            WorkerTimeout, WorkerDied: there is no reply.
            RunStopped: the worker says that nothing more can be asked.
        """
        assert self._worker is not None
        reply = self._worker.call(request, limit_s)
        if self._desk.spending is not None:
            self._desk.spending.take(reply.get("asked"))
        if "stop" in reply:
            raise RunStopped(reply["stop"])
        return reply

    def close(self, measure: Measure) -> None:
        """Close the system and put down what was measured; what goes wrong in it is a warning."""
        held, self.open = self.open, None
        assert held is not None
        try:
            reply = self.call({"op": "close"}, self._limits.ingest_s)
            measure.peak_rss_mb = reply.get("peak_rss_mb")
            measure.other_work_cores = reply.get("other_work_cores")
            if "error" in reply:
                held.warnings.append(redact(reply["error_detail"]))
        except (WorkerTimeout, WorkerDied) as end:
            self.abandon()
            held.warnings.append(f"close: {end or 'not done in time'}")
        held.measured(measure)
        shutil.rmtree(held.folder, ignore_errors=True)

    def abandon(self) -> None:
        """End the worker after a failure: what state it is in nobody knows."""
        if self._worker is not None:
            self._worker.kill()
            self._worker = None
        if self.open is not None:
            shutil.rmtree(self.open.folder, ignore_errors=True)
            self.open = None
