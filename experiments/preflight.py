"""What of the environment a run needs, looked at before its first question is asked."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryFile

import platformdirs

from memtrial.datasets.errors import UserError
from memtrial.experiments.plan import Unit

CACHE = "MEMTRIAL_CACHE_DIR"


def preflight(units: Iterable[Unit]) -> None:
    """See that the cache can be written and that every system finds what it needs.

    No system is created and no server asked: what takes time, or can change while the run goes on, shows itself there.

    Args:
        units: trials with a question left to ask.

    Raises:
        UserError: one sentence on what has to be mended; the same command goes on then.
    """
    seen: list[object] = []
    for unit in units:
        if not seen:
            _writable(cache_dir())
        info = unit.info
        if (info.target, info.params) in seen:  # on another data set
            continue
        seen.append((info.target, info.params))
        try:
            unit.factory.preflight(info.params)
        except UserError as error:
            raise UserError(f"{info.trial}: {error}") from error


def cache_dir() -> Path:
    """Return the folder for artifacts shared by all runs (``MEMTRIAL_CACHE_DIR``, or the user's cache folder)."""
    named = os.environ.get(CACHE)
    return Path(named).resolve() if named else Path(platformdirs.user_cache_dir("memtrial")) / "artifacts"


def _writable(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder):
            pass
    except OSError as error:
        of = f"{CACHE} is" if os.environ.get(CACHE) else "the cache folder is"
        raise UserError(
            f"{of} {str(folder)!r}, which cannot be written ({error.strerror}); set {CACHE} to a folder that can be"
        ) from error
