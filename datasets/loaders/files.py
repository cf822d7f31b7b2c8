"""Reading JSON and JSONL from files that people and other programs wrote.

Survives a byte-order mark, CRLF, blank lines and U+2028 inside strings; replaces lone surrogates (they pass the
JSON parser and break hashing, requests and reports much later) and counts them. Everything else that is wrong is
an error with file and line.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from memtrial.datasets.errors import UserError
from memtrial.datasets.loaders.notes import NoteBook

_SURROGATE = re.compile("[\ud800-\udfff]")
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
_LINES_SUFFIXES = (".jsonl", ".ndjson")


class _Object(dict[str, Any]):
    """An object in which a key stands more than once; the last value counts, as in every common reader."""

    __slots__ = ("repeated",)

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        counts = Counter(key for key, _ in pairs)
        self.repeated = [(key, n) for key, n in counts.items() if n > 1]


class _Decoder:
    """Decodes, and remembers whether the last text held an object with a repeated key: then alone it is searched."""

    def __init__(self) -> None:
        self.repeated = False
        # parse_constant: Python reads NaN and Infinity, which no JSON file may hold and which would poison fingerprints.
        self._json = json.JSONDecoder(parse_constant=_refuse_constant, object_pairs_hook=self._object)

    def decode(self, text: str) -> Any:
        self.repeated = False
        return self._json.decode(text)

    def _object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) == len(pairs):
            return found
        self.repeated = True
        return _Object(pairs)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


_DECODER = _Decoder()


@dataclass(frozen=True, slots=True)
class Part:
    """One JSON value and where it stands (``log.jsonl, line 7``; a whole document has the file alone)."""

    where: str
    value: Any


def existing(path: str | Path, what: str) -> Path:
    """Return ``path`` with ``~`` expanded.

    Raises:
        UserError: nothing is there.
    """
    found = Path(path).expanduser()
    if not found.exists():
        raise UserError(f"{what}: {str(path)!r} does not exist; give the path of a file or folder that does")
    return found


def read_parts(path: Path, notes: NoteBook) -> list[Part]:
    """Read a JSON document (one part) or JSONL (one part a line, blank lines skipped).

    A file is JSONL by its suffix (``.jsonl``, ``.ndjson``), or when it does not parse as one document but its first line does.

    Raises:
        UserError: unreadable, not UTF-8, empty, or not JSON; names file and line.
    """
    text = _read_text(path)
    if not text.strip():
        raise UserError(f"{path}: the file is empty; a JSON document or JSON lines are expected")
    if path.suffix.lower() in _LINES_SUFFIXES:
        return list(_read_lines(path, text, notes))
    try:
        value = _decode(text)
    except json.JSONDecodeError as error:
        if error.msg == "Extra data" and _first_line_is_json(text):
            return list(_read_lines(path, text, notes))
        raise UserError(f"{path}, line {error.lineno}: not valid JSON ({error.msg}, column {error.colno})") from None
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path}: not valid JSON ({_short(error)})") from None
    _note_repeated(value, str(path), notes)
    return [Part(str(path), _scrub_if_needed(value, text, path.name, notes))]


def read_document(path: Path, notes: NoteBook) -> Any:
    """Read a file that must hold exactly one JSON document.

    Raises:
        UserError: as ``read_parts``, or the file holds JSON lines.
    """
    parts = read_parts(path, notes)
    if len(parts) != 1 or parts[0].where != str(path):
        raise UserError(f"{path}: holds JSON lines; one JSON document is expected")
    return parts[0].value


def _read_text(path: Path) -> str:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror or error})") from None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UserError(
            f"{path}, line {line}: byte 0x{data[error.start]:02x} is not UTF-8; save the file as UTF-8"
        ) from None


def _read_lines(path: Path, text: str, notes: NoteBook) -> Iterator[Part]:
    # Never str.splitlines(): it also cuts at U+2028, which may stand inside a JSON string.
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        where = f"{path}, line {number}"
        try:
            value = _decode(line)
        except json.JSONDecodeError as error:
            raise UserError(f"{where}: not valid JSON ({error.msg}, column {error.colno})") from None
        except (ValueError, RecursionError) as error:
            raise UserError(f"{where}: not valid JSON ({_short(error)})") from None
        _note_repeated(value, where, notes)
        yield Part(where, _scrub_if_needed(value, line, path.name, notes))


def _decode(text: str) -> Any:
    # JSONDecoder.decode skips no leading BOM and allows surrounding white space, as wanted.
    return _DECODER.decode(text)


def _first_line_is_json(text: str) -> bool:
    first = next(line for line in text.split("\n") if line.strip())
    try:
        _decode(first)
    except (ValueError, RecursionError):
        return False
    return True


def _short(error: Exception) -> str:
    return "nested too deeply" if isinstance(error, RecursionError) else str(error)[:200]


def _note_repeated(value: Any, where: str, notes: NoteBook) -> None:
    """Note every object of the text decoded last in which a key stands twice, by its place in the file."""
    todo = [(where, value)] if _DECODER.repeated else []
    while todo:
        place, found = todo.pop()
        if isinstance(found, _Object):
            for key, n in found.repeated:
                notes.add("duplicate_key", place, f"the key {key!r} stands {n} times; its last value counts")
        if isinstance(found, dict):
            inner = [(f"{place}, {key}" if place == where else f"{place}.{key}", item) for key, item in found.items()]
        elif isinstance(found, list):
            inner = [(f"{place}, [{i}]" if place == where else f"{place}[{i}]", item) for i, item in enumerate(found)]
        else:
            continue
        todo += [pair for pair in reversed(inner) if isinstance(pair[1], (dict, list))]


def _scrub_if_needed(value: Any, source: str, where: str, notes: NoteBook) -> Any:
    # Strict UTF-8 decoding yields no surrogate, so only an escape can: a search in the source spares the walk.
    return _scrub(value, where, notes) if _SURROGATE_ESCAPE.search(source) else value


def _scrub(value: Any, where: str, notes: NoteBook) -> Any:
    if isinstance(value, str):
        cleaned, n = _SURROGATE.subn("\ufffd", value)
        if n:
            notes.count("lone_surrogate", where, "lone surrogates replaced by U+FFFD", n)
        return cleaned
    if isinstance(value, list):
        return [_scrub(item, where, notes) for item in value]
    if isinstance(value, dict):
        return {_scrub(key, where, notes): _scrub(item, where, notes) for key, item in value.items()}
    return value
