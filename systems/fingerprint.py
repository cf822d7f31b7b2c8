"""A hash of the source behind a system, so that a resumed run notices that the code has changed."""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import inspect
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

_DATA = {".json", ".txt", ".yaml", ".csv"}


@lru_cache(maxsize=256)
def code_fingerprint(cls: type[Any]) -> str:
    """Hash the class's module and, through its imports, every module of memtrial.systems or of its own package.

    Imports inside functions count, and so do data files that lie beside a module, since answers depend on both.

    Read once per class and process: a sweep asks for the same class thousands of times, and what has been imported does
    not change.

    Returns:
        The first 16 hex digits of a SHA-256.
    """
    source = Path(inspect.getfile(cls))
    package = cls.__module__.partition(".")[0]
    files: dict[Path, None] = {}
    seen: set[str] = {cls.__module__}
    queue = [source]
    while queue:
        path = queue.pop()
        files[path] = None
        for name in _imports(path):
            if name in seen or not name.startswith(("memtrial.systems.", f"{package}.")):
                continue
            seen.add(name)
            if (found := _file_of(name)) is not None and not name.startswith(("memtrial.datasets", "memtrial.cli")):
                queue.append(found)
    digest = hashlib.sha256()
    data = {p for f in files if f != source or package == "memtrial" for p in f.parent.iterdir() if p.suffix in _DATA}
    for path in sorted({*files, *data}, key=lambda p: (p.name, str(p))):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def _imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _file_of(module: str) -> Path | None:
    try:
        spec = importlib.util.find_spec(module)
    except (ImportError, ValueError):
        return None
    return Path(spec.origin) if spec is not None and spec.origin and spec.origin.endswith(".py") else None
