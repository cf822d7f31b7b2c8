"""The journal: one appended line per finished question, written before anything else happens.

Lines are JSON objects with a ``type``: ``result`` (a ``Result``), ``measure`` (what was measured once per corpus) or
``segment`` (a start of the run). ``s`` is seconds since the start of the segment. A line counts when it is whole.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from memtrial.datasets.errors import UserError
from memtrial.experiments.wire import dumps
from memtrial.metrics.records import Result


class Measure(BaseModel):
    """What was measured once for a system on one corpus.

    Attributes:
        upto: messages that the plan hands over before the last question; a larger ``--limit`` may ask for more.
        failed: error kind when the system could not be created or could not take the messages in; then nothing else is set.
        ingest_s: time of all hand-overs, replayed work included.
        replayed_s: the part of it that an artifact cache served and that was measured earlier.
        write_ms: milliseconds per message, one value for each hand-over.
        index_mb: size of the system's folder after closing, in MB (1e6 bytes).
    """

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    unit: str
    repeat: int
    corpus_id: str
    upto: int
    failed: str | None = None
    detail: str = ""
    ingest_s: float | None = None
    replayed_s: float | None = None
    messages: int = 0
    write_ms: list[float] = Field(default_factory=list)
    index_mb: float | None = None
    peak_rss_mb: float | None = None
    other_work_cores: float | None = None
    warnings: list[str] = Field(default_factory=list)
    facts: dict[str, Any] = Field(default_factory=dict)


@dataclass(slots=True)
class JournalState:
    """What a journal holds of a plan.

    Attributes:
        results: finished planned questions by key; the first line of a key counts.
        measures: by (unit, repeat, corpus).
        wall_s: seconds over all segments.
        segments: start times (ISO, UTC) of the segments.
        duplicates: lines whose key had been seen.
        foreign: finished questions that the plan does not hold (another version of code or data, or a larger limit).
        corrupt: line numbers that could not be read.
        torn: whether a partial last line was cut off.
    """

    results: dict[str, Result] = field(default_factory=dict)
    measures: dict[tuple[str, int, str], Measure] = field(default_factory=dict)
    wall_s: float = 0.0
    segments: list[str] = field(default_factory=list)
    duplicates: int = 0
    foreign: int = 0
    corrupt: list[int] = field(default_factory=list)
    torn: bool = False


# Kinds of error that say nothing about the system: no model has worked on it. Such a question is asked again, and its last
# line counts.
UNASKED = frozenset({"model_not_recorded", "model_connection", "model_rate_limited"})
# Kinds that a service, the network or the machine is to blame for, and not what the model was asked: asking again may help.
# A refusal, a reply cut short or one of the wrong form is the model's answer; to ask until it is another would be to choose.
OF_SERVICE = UNASKED | {"timeout", "crashed", "model_timeout", "model_server_error", "model_bad_reply"}
NOT_ASKED = "not asked: "


def never_asked(result: Result) -> bool:
    """Whether the worker had died before the question could be put to it; something outside may have killed it."""
    return result.error == "crashed" and result.error_detail.startswith(NOT_ASKED)


def read_journal(path: Path, wanted: Callable[[str], bool]) -> JournalState:
    """Read a journal; bad lines are counted, never fatal.

    Args:
        path: the file; a missing one is an empty journal.
        wanted: whether a question key belongs to the plan.

    Raises:
        UserError: if the file cannot be read.
    """
    state = JournalState()
    segment_s = 0.0
    seen: set[str] = set()
    if path.exists() and not path.is_file():
        raise UserError(f"{path} is not a regular file, so it cannot be a journal")
    try:
        lines = path.open("rb")
    except FileNotFoundError:
        return state
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from error
    with lines:
        for number, line in enumerate(lines, 1):
            if not line.endswith(b"\n"):
                state.torn = True
                break
            try:
                row = orjson.loads(line)
                kind, seconds = row.pop("type"), float(row.pop("s", 0.0))
                if kind == "segment":
                    state.segments.append(str(row["at"]))
                    state.wall_s, segment_s = state.wall_s + segment_s, 0.0
                elif kind == "measure":
                    measure = Measure.model_validate(row)
                    keep_measure(state.measures, measure)
                elif kind == "result":
                    _take(state, seen, row, wanted)
                else:
                    raise ValueError(kind)
                segment_s = max(segment_s, seconds)
            except (ValueError, KeyError, TypeError, AttributeError, ValidationError):
                state.corrupt.append(number)
    state.wall_s += segment_s
    return state


def keep_measure(measures: dict[tuple[str, int, str], Measure], measure: Measure) -> None:
    """Put a measure in its place unless one that went at least as far, and no worker died on, is there."""
    name = (measure.unit, measure.repeat, measure.corpus_id)
    before = measures.get(name)
    if before is None or before.upto < measure.upto or before.failed == "crashed":
        measures[name] = measure


def _take(state: JournalState, seen: set[str], row: dict[str, Any], wanted: Callable[[str], bool]) -> None:
    key = row["key"]
    before = state.results.get(key)
    if before is not None and before.error in OF_SERVICE:  # it was asked again
        state.results[key] = Result.model_validate(row)
    elif key in seen:
        state.duplicates += 1
    elif not wanted(key):
        seen.add(key)
        state.foreign += 1
    else:
        state.results[key] = Result.model_validate(row)
        seen.add(key)


class Journal:
    """Appends lines: one ``write`` each on a file opened for appending, so a kill loses at most the line in flight."""

    def __init__(self, path: Path) -> None:
        """Open or create; a partial last line left by a kill is cut off.

        Raises:
            UserError: if the file cannot be opened.
        """
        self._path = path
        try:
            self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
            _cut_torn_tail(self._fd)
        except OSError as error:
            raise UserError(f"cannot write {path}: {error.strerror}") from error

    def append(self, kind: str, row: dict[str, Any], seconds: float) -> None:
        """Write one line.

        Raises:
            UserError: if the disk is full or the file can no longer be written; what was written before stays valid.
        """
        line = dumps({"type": kind, "s": round(seconds, 4), **row}) + b"\n"
        try:
            written = os.write(self._fd, line)
            while written < len(line):
                written += os.write(self._fd, line[written:])
        except OSError as error:
            raise UserError(
                f"cannot write {self._path}: {error.strerror}; make room and run the same command again to go on"
            ) from error

    def close(self) -> None:
        """Flush to the disk and close."""
        with suppress(OSError):
            os.fsync(self._fd)
        os.close(self._fd)


def _cut_torn_tail(fd: int) -> None:
    size = os.fstat(fd).st_size
    end = size
    while end > 0:
        start = max(0, end - 65_536)
        newline = os.pread(fd, end - start, start).rfind(b"\n")
        if newline >= 0:
            end = start + newline + 1
            break
        end = start
    if end < size:
        os.ftruncate(fd, end)
