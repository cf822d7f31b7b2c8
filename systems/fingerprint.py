"""A hash of the source behind a system, so that a resumed run notices that the code has changed."""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import inspect
from functools import lru_cache
from pathlib import Path
from typing import Any

_DATA = {".json", ".txt", ".yaml", ".csv", ".md"}


def code_fingerprint(cls: type[Any]) -> str:
    """Hash the class's module and, through its imports, every module of memtrial.systems or of its own package.

    Imports inside functions count, and so do data files that lie beside a module, since answers depend on both.

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
        for name in _imports(path, path.stat().st_mtime_ns):
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


@lru_cache(maxsize=4096)
def _imports(path: Path, changed: int) -> tuple[str, ...]:
    """Names a module imports; kept until the file changes, since a sweep asks for the same files thousands of times."""
    found: dict[str, None] = {}
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            found |= dict.fromkeys(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found |= dict.fromkeys([node.module, *(f"{node.module}.{alias.name}" for alias in node.names)])
    return tuple(found)


@lru_cache(maxsize=4096)
def _file_of(module: str) -> Path | None:
    try:
        spec = importlib.util.find_spec(module)
    except (ImportError, ValueError):
        return None
    return Path(spec.origin) if spec is not None and spec.origin and spec.origin.endswith(".py") else None
