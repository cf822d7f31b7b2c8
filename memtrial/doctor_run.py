"""What a run's folder holds, and what of it cannot be read. Nothing is mended here: the next ``memtrial run`` does that."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from pathlib import Path

import orjson

from memtrial.datasets.errors import UserError
from memtrial.doctor import Check

_AGAIN = "run the same command again: it goes on from what is whole"


def check_run(folder: Path) -> Iterator[Check]:
    """Look at a run's configuration, journal, calls, records and scores."""
    from memtrial.experiments.config import load_config
    from memtrial.experiments.store import CONFIG, JOURNAL, MANIFEST, RECORDS, is_settled, read_records

    if not folder.is_dir():
        yield Check("run", "warn", f"there is no folder {folder} yet", "memtrial run CONFIG --out makes it")
        return
    if not (folder / CONFIG).is_file():
        yield Check("run", "fail", f"{folder} holds no run: {CONFIG} is missing", "name the folder of a run")
        return
    try:
        load_config(folder / CONFIG)
        yield Check("run configuration", "ok", CONFIG)
    except UserError as error:
        yield Check("run configuration", "fail", str(error), "it can be read by the memtrial that wrote it")
    going = _held(folder / ".lock")
    if going:
        yield Check("run process", "ok", "a process is running in this folder right now")
    yield from _journal(folder / JOURNAL, going)
    yield from _calls(folder, going)
    if not (folder / MANIFEST).is_file():
        yield Check("run records", "warn", f"{MANIFEST} is missing: the run has not got far", _AGAIN)
        return
    try:
        if not is_settled(folder):
            yield Check("run records", "warn", "do not speak of the whole journal yet", f"memtrial report {folder}")
        else:
            manifest = orjson.loads((folder / MANIFEST).read_bytes())
            state = "ok" if manifest["status"] == "complete" else "warn"
            count = len(read_records(folder / RECORDS))
            cure = "" if state == "ok" else _AGAIN
            yield Check("run records", state, f"{count} answers, {manifest['status']}", cure)  # type: ignore[arg-type]
    except Exception as error:  # noqa: BLE001 - whatever reading raises, the file is what is broken
        yield Check("run records", "fail", f"cannot be read ({type(error).__name__}: {error})", _AGAIN)
    yield from _scores(folder)


def _held(lock: Path) -> bool:
    try:
        with lock.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def _journal(path: Path, going: bool) -> Iterator[Check]:
    from memtrial.experiments.journal import read_journal

    if not path.exists():
        yield Check("run journal", "warn", "there is none, so nothing can be resumed")
        return
    state = read_journal(path, lambda _: True)
    whole = f"{len(state.results)} answers in {len(state.segments)} starts"
    if state.corrupt:
        lines = ", ".join(map(str, state.corrupt[:5]))
        yield Check("run journal", "fail", f"{whole}; {len(state.corrupt)} lines cannot be read (line {lines})", _AGAIN)
    elif state.torn and not going:
        yield Check("run journal", "warn", f"{whole}; the last line is torn, as a kill leaves it", _AGAIN)
    else:
        yield Check("run journal", "ok", whole)


def _calls(folder: Path, going: bool) -> Iterator[Check]:
    from memtrial.systems.models.llm.store import CALLS, CallStore

    path = folder / CALLS
    if not path.exists():
        yield Check("run calls", "ok", "no model was asked")
        return
    store = CallStore(path)
    try:
        failed = sum(not call.good for call in store.calls())
        whole, corrupt = f"{len(store)} calls recorded, {failed} of them without a good reply", store.corrupt
    finally:
        store.close()
    if corrupt:
        yield Check(
            "run calls", "fail", f"{whole}; {corrupt} lines cannot be read", "they will be asked and paid again"
        )
    elif _torn(path) and not going:
        yield Check("run calls", "warn", f"{whole}; the last line is torn, as a kill leaves it", _AGAIN)
    else:
        yield Check("run calls", "ok", whole)


def _torn(path: Path) -> bool:
    with path.open("rb") as file:
        size = file.seek(0, 2)
        if not size:
            return False
        file.seek(size - 1)
        return file.read(1) != b"\n"


def _scores(folder: Path) -> Iterator[Check]:
    from memtrial.experiments.ragas_file import RAGAS

    path = folder / RAGAS
    if not path.exists():
        return
    try:
        summaries = orjson.loads(path.read_bytes())["summaries"]
        missing = sum(s["n_total"] - s["n_scored"] for s in summaries)
    except (OSError, ValueError, KeyError, TypeError):
        yield Check("run ragas", "fail", f"{RAGAS} cannot be read", f"memtrial ragas {folder} writes it anew")
        return
    cure = "the same memtrial ragas command asks them again" if missing else ""
    yield Check("run ragas", "warn" if missing else "ok", f"{len(summaries)} rows, {missing} answers unscored", cure)
