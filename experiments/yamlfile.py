"""YAML as people write it, read strictly: no key lost, no label turned into a truth value, every error with its line."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import Any

import yaml

from memtrial.datasets.errors import UserError

Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Document:
    """A parsed mapping and the line (from 1) on which each of its values stands."""

    source: str
    value: dict[str, Any]
    lines: dict[Path, int] = field(default_factory=dict)

    def where(self, path: Path) -> str:
        """Return ``file:line`` of the value at ``path``, of its nearest parent, or the file alone."""
        for end in range(len(path), 0, -1):
            if path[:end] in self.lines:
                return f"{self.source}:{self.lines[path[:end]]}"
        return self.source


class _Loader(yaml.SafeLoader):
    """SafeLoader that leaves dates as text (1:30 and 2024-01-01 are what was typed) and reads 1e-3 as a number.

    Of booleans it knows true and false alone, as YAML 1.2 does: ``off`` is the name of a choice in many parameters, and where a
    yes or no is wanted the words on, off, yes and no still say it.
    """


_Loader.yaml_implicit_resolvers = {
    first: [(tag, regex) for tag, regex in resolvers if not tag.endswith((":timestamp", ":float", ":int", ":bool"))]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:bool", re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$"), list("tTfF")
)
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:int", re.compile(r"^[-+]?(?:0|[1-9][0-9_]*|0x[0-9a-fA-F]+)$"), list("-+0123456789")
)
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(
        r"^[-+]?(?:(?:[0-9][0-9_]*)?\.[0-9]+(?:[eE][-+]?[0-9]+)?|[0-9][0-9_]*\.?(?:[eE][-+]?[0-9]+)"
        r"|[0-9][0-9_]*\.|\.inf|\.Inf|\.INF)$|^(?:\.nan|\.NaN|\.NAN)$"
    ),
    list("-+.0123456789"),
)


def parse_document(text: str, source: str) -> Document:
    """Parse a configuration file.

    Args:
        text: the file's content.
        source: how to name the file in an error.

    Returns:
        The mapping with the line of every value.

    Raises:
        UserError: naming file and line, for broken YAML, a key given twice, a label that YAML does not read as
            text, an empty file, or a top level that is not a mapping.
    """
    try:
        loader = _Loader(text)
        try:
            node = loader.get_single_node()
        finally:
            loader.dispose()
    except yaml.YAMLError as error:
        raise UserError(_explain(error, text, source)) from error
    except RecursionError as error:
        raise UserError(f"{source} is nested too deeply to be a configuration") from error
    if node is None:
        raise UserError(f"{source} is empty; a configuration needs at least data: and systems:")
    if not isinstance(node, yaml.MappingNode):
        kind = "a list" if isinstance(node, yaml.SequenceNode) else f"the single value {node.value!r}"
        raise UserError(
            f"{source}:{node.start_mark.line + 1}: the top level is {kind}, but must be a mapping with data: and systems:"
        )
    reader = _Reader(source)
    return Document(source, reader.build(node, ()), reader.lines)


def parse_value(text: str, source: str) -> Any:
    """Parse one value as it would stand in a file (``3``, ``true``, ``[0, 1]``, ``{a: 1}``); text stays text.

    Raises:
        UserError: if the text is not valid YAML.
    """
    try:
        loader = _Loader(text)
        try:
            node = loader.get_single_node()
        finally:
            loader.dispose()
    except yaml.YAMLError as error:
        raise UserError(f"{source}: {text!r} cannot be read as a value; put it in quotes if it is text") from error
    return None if node is None else _Reader(source).build(node, ())


class _Reader:
    """Builds plain values from a node tree, noting lines."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.lines: dict[Path, int] = {}
        self._scalars = _Loader("")
        self._open: set[int] = set()

    def build(self, node: yaml.Node, path: Path) -> Any:
        self.lines.setdefault(path, node.start_mark.line + 1)
        if id(node) in self._open:
            raise UserError(f"{self._at(node)}: an anchor contains itself")
        self._open.add(id(node))
        try:
            kind = "map" if isinstance(node, yaml.MappingNode) else "seq"
            if isinstance(node, yaml.CollectionNode) and node.tag != f"tag:yaml.org,2002:{kind}":
                raise UserError(f"{self._at(node)}: the tag {node.tag!r} is not supported; write a plain value")
            if isinstance(node, yaml.MappingNode):
                return self._mapping(node, path)
            if isinstance(node, yaml.SequenceNode):
                return [self.build(item, (*path, index)) for index, item in enumerate(node.value)]
            return self._scalar(node, path)
        finally:
            self._open.discard(id(node))

    def _mapping(self, node: yaml.MappingNode, path: Path) -> dict[str, Any]:
        built: dict[str, Any] = {}
        merged: dict[str, Any] = {}
        seen: dict[str, int] = {}
        for key_node, value_node in node.value:
            line = key_node.start_mark.line + 1
            if key_node.tag == "tag:yaml.org,2002:merge":
                merged.update(self._merge(value_node, path))
                continue
            key = self._key(key_node)
            if key in seen:
                raise UserError(f"{self.source}:{line}: {key!r} is given twice (first on line {seen[key]}); keep one")
            seen[key] = line
            self.lines[(*path, key)] = line
            built[key] = self.build(value_node, (*path, key))
        return {**merged, **built}

    def _merge(self, node: yaml.Node, path: Path) -> dict[str, Any]:
        value = self.build(node, (*path, "<<"))
        parts = value if isinstance(value, list) else [value]
        if not all(isinstance(part, dict) for part in parts):
            raise UserError(f"{self._at(node)}: '<<' merges mappings only")
        return {key: item for part in reversed(parts) for key, item in part.items()}

    def _key(self, node: yaml.Node) -> str:
        if not isinstance(node, yaml.ScalarNode):
            raise UserError(f"{self._at(node)}: a list or mapping cannot be a key")
        kind = node.tag.rsplit(":", 1)[-1]
        if kind in ("bool", "null"):
            raise UserError(
                f"{self._at(node)}: YAML reads the key {node.value!r} as "
                f"{'a truth value' if kind == 'bool' else 'null'}; write it in quotes: '{node.value}'"
            )
        return str(node.value)

    def _scalar(self, node: yaml.Node, path: Path) -> Any:
        known = ("str", "int", "float", "bool", "null")
        if node.tag.rsplit(":", 1)[-1] not in known or not node.tag.startswith("tag:yaml.org,2002:"):
            raise UserError(f"{self._at(node)}: the tag {node.tag!r} is not supported; write a plain value")
        try:
            value = self._scalars.construct_object(node)
        except (yaml.YAMLError, ValueError) as error:
            raise UserError(f"{self._at(node)}: {node.value!r} is not a valid value") from error
        if isinstance(value, float) and not math.isfinite(value):
            name = ".".join(map(str, path)) or "the value"
            raise UserError(f"{self._at(node)}: {name} is {node.value}, but must be a finite number")
        return value

    def _at(self, node: yaml.Node) -> str:
        return f"{self.source}:{node.start_mark.line + 1}"


def _explain(error: yaml.YAMLError, text: str, source: str) -> str:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    if mark is None:
        position = getattr(error, "position", None)
        line = text[:position].count("\n") + 1 if isinstance(position, int) else 1
        return f"{source}:{line}: there is a character that YAML does not allow"
    line = mark.line + 1
    lines = text.splitlines()
    shown = lines[mark.line] if mark.line < len(lines) else ""
    if "\t" in shown[: len(shown) - len(shown.lstrip())] or "\\t" in str(getattr(error, "problem", "")):
        return f"{source}:{line}: the line is indented with a tab; YAML allows spaces only"
    if "document" in str(getattr(error, "context", "")) + str(
        getattr(error, "problem", "")
    ) and "but found another" in str(error):
        return f"{source}:{line}: a second document starts here (---); a configuration is one document"
    problem = str(getattr(error, "problem", None) or getattr(error, "context", None) or "broken YAML")
    return f"{source}:{line}: this is not valid YAML ({problem}): {shown.strip()[:80]!r}"
