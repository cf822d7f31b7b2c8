"""The folder of a run: one process at a time, one configuration for ever."""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson
import yaml

from memtrial.datasets.errors import UserError
from memtrial.experiments.config import Config
from memtrial.experiments.paths import first_difference
from memtrial.experiments.store import (
    BUDGET,
    CALLS,
    CONFIG,
    JOURNAL,
    MANIFEST,
    MESSAGES,
    METRICS,
    RECORDS,
    write_config,
)

WORK, LOGS, _LOCK = "work", "logs", ".lock"
_OURS = {CONFIG, MANIFEST, JOURNAL, RECORDS, METRICS, MESSAGES, CALLS, BUDGET, WORK, LOGS, _LOCK}


def default_folder(config: Config) -> Path:
    """Return ``runs/<name>-<hash of the resolved configuration>``: the same command comes back to the same folder."""
    resolved = orjson.dumps(config.resolved(), option=orjson.OPT_SORT_KEYS)
    name = re.sub(r"[\s.]+", "-", config.name)
    return Path("runs") / f"{name}-{hashlib.sha256(resolved).hexdigest()[:8]}"


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the folder against every other process until the block ends; a kill releases it.

    Raises:
        UserError: if another process holds it, or it cannot be written.
    """
    try:
        fd = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise UserError(f"cannot write in {folder}: {error.strerror}") from error
    try:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise UserError(
                f"another process is running in {folder}; wait for it, or choose another folder with --out"
            ) from error
        yield
    finally:
        os.close(fd)


@contextmanager
def claimed(folder: Path, config: Config) -> Iterator[None]:
    """Create the folder or go on in it, hold its lock, and keep its scratch space while the block runs.

    Raises:
        UserError: if it holds something else than a run, or a run of another configuration.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"cannot make the folder {folder}: {error.strerror}") from error
    _refuse_foreign(folder)
    with locked(folder):
        _refuse_other(folder, config.resolved())
        shutil.rmtree(folder / WORK, ignore_errors=True)
        if not (folder / CONFIG).exists():
            write_config(folder / CONFIG, config.resolved())
        try:
            yield
        finally:
            shutil.rmtree(folder / WORK, ignore_errors=True)


def folder_mb(folder: Path) -> float:
    """Return what the files below a folder hold, in MB (1e6 bytes); holes in sparse files do not count."""
    total = 0
    for root, _, names in os.walk(folder):
        for name in names:
            try:
                status = os.stat(os.path.join(root, name), follow_symlinks=False)
            except OSError:
                continue
            total += min(status.st_size, status.st_blocks * 512) if status.st_blocks else status.st_size
    return total / 1e6


def _refuse_foreign(folder: Path) -> None:
    if (folder / CONFIG).exists():
        return
    foreign = sorted(e.name for e in folder.iterdir() if e.name not in _OURS and not e.name.endswith(".tmp"))
    if foreign:
        raise UserError(
            f"{folder} holds files that are no run ({', '.join(foreign[:3])}); choose an empty or new folder with --out"
        )


def _refuse_other(folder: Path, resolved: Mapping[str, Any]) -> None:
    file = folder / CONFIG
    if not file.exists():
        if (folder / JOURNAL).exists():
            raise UserError(
                f"{folder} has a journal but no {CONFIG}, so nobody knows what it is of; choose another --out"
            )
        return
    try:
        before = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise UserError(f"{file} cannot be read, so nobody knows what the run is of; choose another --out") from error
    found = first_difference(before, resolved)
    if found:
        path, old, new = found
        raise UserError(
            f"{folder} belongs to another configuration: {path} was {_show(old)} there and is {_show(new)} now; "
            f"choose another folder with --out, or leave --out away"
        )


def _show(value: Any) -> str:
    text = "absent" if value is None else repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"
