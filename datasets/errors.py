"""The one error type whose message is meant for the person at the keyboard."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class UserError(Exception):
    """Something the user can mend: bad input, a missing file, an unknown name.

    The command line prints the message alone (no traceback) and exits with 2. The message is one
    sentence that names the file, the place in it, the value found and what is allowed.
    """


class UnavailableError(UserError):
    """What the work rests on is not there or gave way: a full disk, a lock, a server that went away.

    It is the fault of no question and of no system: a run that meets it ends, keeps what is finished, and goes on by the same
    command once the fault is mended.
    """


class MissingExtraError(UserError):
    """An optional dependency is not installed; the message carries the pip command that brings it."""

    def __init__(self, what: str, extra: str) -> None:
        """Say which feature needs which extra.

        Args:
            what: the feature, as a user would call it.
            extra: name of the extra in memtrial's package metadata.
        """
        super().__init__(f"{what} needs an optional dependency: pip install 'memtrial[{extra}]'")


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return `` (did you mean 'x'?)`` for a near miss, or an empty string."""
    close = difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f" (did you mean {close[0]!r}?)" if close else ""
