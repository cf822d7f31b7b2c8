"""What a person sees while a run goes on: done, rate, time left, errors, running score."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Protocol

from rich.console import Console
from rich.live import Live
from rich.text import Text

from memtrial.experiments.estimate import estimate
from memtrial.experiments.plan import Plan
from memtrial.metrics.records import TrialInfo

_REFRESH_S = 0.25
_LINE_S = 15.0
_BAR = 24


@dataclass(slots=True)
class Score:
    """Running counts of one trial on one data set, over finished questions."""

    done: int = 0
    right: int = 0
    errors: int = 0
    wrong_memory: int = 0

    def add(self, outcome: str) -> None:
        """Count one outcome."""
        self.done += 1
        self.right += outcome in ("correct", "correct_abstention")
        self.errors += outcome == "error"
        self.wrong_memory += outcome == "wrong_memory"

    def __str__(self) -> str:
        """Return the score in words; accuracy never stands alone."""
        if not self.done:
            return "-"
        return f"accuracy {self.right / self.done:.2f}, wrong memory {self.wrong_memory / self.done:.2f}"


@dataclass(frozen=True, slots=True)
class RunSummary:
    """How a run ended.

    Attributes:
        out: its folder.
        planned: questions over all trials and repeats.
        finished: of those, how many have a result, in this run or an earlier part of it.
        errors: results that are errors.
        resumed: results that were there before this part of the run.
        problems: sentences that the person should read.
        exit_code: 0, or 2 where the run is incomplete or a trial failed on more than half of its questions.
    """

    out: Path
    planned: int
    finished: int
    errors: int
    resumed: int
    problems: tuple[str, ...] = ()
    exit_code: int = 0


class Progress(Protocol):
    """Callbacks of a run; all are called from the runner's own thread."""

    def started(self, plan: Plan, done: int) -> None:
        """The run begins; ``done`` questions are finished already."""

    def working(self, trial: TrialInfo, what: str) -> None:
        """Something that takes time and finishes no question, such as taking in messages."""

    def advanced(self, trial: TrialInfo, outcome: str, score: Score) -> None:
        """A question is finished and journaled."""

    def counted(self, line: str) -> None:
        """What models were asked for so far, in calls, tokens and money; only where any is asked."""

    def finished(self, summary: RunSummary) -> None:
        """The run is over and its files are written."""

    def stopped(self) -> None:
        """Called last, however the run ended."""


class Silent:
    """Shows nothing."""

    def started(self, plan: Plan, done: int) -> None:
        """Ignore."""

    def working(self, trial: TrialInfo, what: str) -> None:
        """Ignore."""

    def advanced(self, trial: TrialInfo, outcome: str, score: Score) -> None:
        """Ignore."""

    def counted(self, line: str) -> None:
        """Ignore."""

    def finished(self, summary: RunSummary) -> None:
        """Ignore."""

    def stopped(self) -> None:
        """Ignore."""


class _Shown:
    """Keeps the counts that both displays show."""

    interval_s = _REFRESH_S

    def __init__(self) -> None:
        self._planned = self._done = self._before = self._errors = 0
        self._start = self._last = time.monotonic()
        self._text = self._counted = ""
        self._weights: dict[tuple[str, str], float] = {}
        self._ahead = self._behind = 0.0

    def started(self, plan: Plan, done: int) -> None:
        """Show the first line."""
        self._planned, self._done, self._before = plan.planned, done, done
        self._start = time.monotonic()
        # Trials differ a hundredfold in speed, so what is left is counted in estimated seconds, not in questions.
        rows = estimate(plan)
        self._weights = {(row.trial, row.dataset): row.seconds / row.asks for row in rows}
        self._ahead = sum(row.seconds for row in rows) * (1 - done / plan.planned)
        if done:
            self._say(f"{done} of {plan.planned} questions were finished before; going on")

    def working(self, trial: TrialInfo, what: str) -> None:
        """Show what goes on."""
        self._text = f"{trial.trial} on {trial.dataset}: {what}"
        self._throttled()

    def advanced(self, trial: TrialInfo, outcome: str, score: Score) -> None:
        """Count; draw only now and then."""
        self._done += 1
        self._errors += outcome == "error"
        weight = self._weights[trial.trial, trial.dataset]
        self._behind += weight
        self._ahead = max(0.0, self._ahead - weight)
        now = time.monotonic()
        if now - self._last >= self.interval_s or self._done == self._planned:
            self._text = f"{trial.trial} on {trial.dataset}: {score}"
            self._last = now
            self._draw(self._line(now))

    def counted(self, line: str) -> None:
        """Keep the counter for the next line."""
        self._counted = line

    def finished(self, summary: RunSummary) -> None:
        """Say how it ended."""
        self.stopped()
        if self._counted:
            self._say(f"models: {self._counted}")
        for problem in summary.problems:
            self._say(problem)

    def _throttled(self) -> None:
        now = time.monotonic()
        if now - self._last >= self.interval_s:
            self._last = now
            self._draw(self._line(now))

    def _line(self, now: float) -> str:
        asked = self._done - self._before
        rate = asked / (now - self._start) if now > self._start else 0.0
        pace = (now - self._start) / self._behind if self._behind else 0.0
        left = f"about {_clock(self._ahead * pace)} left" if pace else "time left unknown"
        counted = f"{self._counted}  " if self._counted else ""
        return f"{self._done}/{self._planned}  {rate:.1f}/s  {left}  errors {self._errors}  {counted}{self._text}"

    def _draw(self, line: str) -> None:
        raise NotImplementedError

    def _say(self, line: str) -> None:
        raise NotImplementedError

    def stopped(self) -> None:
        """Take the display down."""


class Lines(_Shown):
    """Plain lines every few seconds, for logs and pipes."""

    interval_s = _LINE_S

    def __init__(self, out: IO[str] | None = None) -> None:
        """Write to ``out``, standard error by default."""
        super().__init__()
        self._out = out or sys.stderr

    def _draw(self, line: str) -> None:
        print(line, file=self._out, flush=True)

    _say = _draw


class Bar(_Shown):
    """A bar that redraws itself on a terminal."""

    def __init__(self, console: Console) -> None:
        """Draw on ``console``."""
        super().__init__()
        self._console = console
        self._live: Live | None = None

    def _draw(self, line: str) -> None:
        if self._live is None:
            self._live = Live(console=self._console, auto_refresh=False, transient=True)
            self._live.start()
        full = int(_BAR * self._done / self._planned) if self._planned else _BAR
        text = Text(f"{'━' * full}{'╌' * (_BAR - full)} {line}", overflow="ellipsis", no_wrap=True)
        self._live.update(text, refresh=True)

    def _say(self, line: str) -> None:
        self._console.print(Text(line))

    def stopped(self) -> None:
        """Take the bar off the screen."""
        if self._live is not None:
            self._live.stop()
            self._live = None


def make_progress() -> Progress:
    """Return a bar on a terminal, plain lines elsewhere; both write to standard error."""
    console = Console(stderr=True)
    return Bar(console) if console.is_terminal else Lines()


def _clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
