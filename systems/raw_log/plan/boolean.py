"""Boolean keyword expressions: ``tent AND (price OR cost) NOT "second hand"``, read into a tree that never matches everything.

Only a planner's output is ever parsed here. Words of a question become leaves directly, so nothing that a user writes is
read as syntax.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from memtrial.systems.models.analyze import terms

_DEEPEST = 24
_MOST_LEAVES = 64
_LONGEST_LEAF = 80
_TOKEN = re.compile(
    r'(?P<phrase>["“”][^"“”]*(?:["“”]|$)|「[^」]*(?:」|$)|『[^』]*(?:』|$))|(?P<open>[(（])|(?P<close>[)）])|(?P<word>[^\s()（）"“”「『]+)'
)
_QUOTES = '"“”「」『』'


@dataclass(frozen=True, slots=True)
class Leaf:
    """A word or a phrase. ``weight`` in (0, 1]: 1 for the question's own, less for a near word.

    ``phrase``: its terms must stand one after the other. ``indexed``: the text is an index term already.
    """

    text: str
    weight: float = 1.0
    phrase: bool = False
    indexed: bool = False

    @property
    def terms(self) -> tuple[str, ...]:
        """Index terms, as the log is indexed with."""
        return (self.text,) if self.indexed else _terms(self.text)


@dataclass(frozen=True, slots=True)
class And:
    """All of them hold; a ``Not`` among them must not."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """At least one holds."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """It does not hold. Stands only inside an ``And`` that has something positive too."""

    part: Node


Node = Leaf | And | Or | Not


@lru_cache(maxsize=4096)
def _terms(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(terms(text)))


def parse(text: str) -> Node | None:
    """Read an expression of words, "phrases", AND, OR, NOT (upper case) and brackets.

    Nothing is refused: brackets that do not match are closed or passed over, an operator without an operand is left out,
    words side by side are joined by AND. Brackets nested deeper than 24 count as one, leaves beyond 64 are left out.

    Returns:
        The tree in the form of :func:`normal`, or None where nothing is left that could match.
    """
    tokens = [(m.lastgroup or "word", m.group()) for m in _TOKEN.finditer(text)][: 6 * _MOST_LEAVES]
    reader = _Reader(tokens)
    parts: list[Node] = []
    while reader.place < len(tokens):
        if (node := reader.either(0)) is not None:
            parts.append(node)
        reader.place += reader.peek() == "close"  # a bracket that closes nothing
    return normal(_group(And, parts))


class _Reader:
    """Recursive descent; each step takes at least one token or ends."""

    def __init__(self, tokens: Sequence[tuple[str, str]]) -> None:
        self._tokens = tokens
        self.place = 0
        self._leaves = 0

    def peek(self) -> str:
        if self.place >= len(self._tokens):
            return "end"
        kind, text = self._tokens[self.place]
        return text if kind == "word" and text in ("AND", "OR", "NOT") else kind

    def either(self, depth: int) -> Node | None:
        parts = [self._all(depth)]
        while self.peek() == "OR":
            self.place += 1
            parts.append(self._all(depth))
        return _group(Or, [p for p in parts if p is not None])

    def _all(self, depth: int) -> Node | None:
        parts: list[Node] = []
        while (kind := self.peek()) not in ("OR", "close", "end"):
            if kind == "AND":
                self.place += 1
                continue
            if (node := self._one(depth)) is not None:
                parts.append(node)
        return _group(And, parts)

    def _one(self, depth: int) -> Node | None:
        odd = False
        while self.peek() == "NOT":
            odd = not odd
            self.place += 1
        node: Node | None = None
        kind = self.peek()
        if kind in ("word", "phrase"):
            text = self._tokens[self.place][1].strip(_QUOTES + " ")[:_LONGEST_LEAF]
            self.place += 1
            self._leaves += 1
            node = Leaf(text, phrase=kind == "phrase") if self._leaves <= _MOST_LEAVES else None
        elif kind == "open":
            self.place += 1
            if depth < _DEEPEST:
                node = self.either(depth + 1)
                self.place += self.peek() == "close"
        if node is None:
            return None
        return Not(node) if odd else node


def _group(of: type[And | Or], parts: Sequence[Node]) -> Node | None:
    if not parts:
        return None
    return parts[0] if len(parts) == 1 else of(tuple(parts))


def normal(node: Node | None) -> Node | None:
    """Return a tree that holds only where one of its positive leaves does; what would break that is left out.

    Leaves without an index term go. A ``Not`` with nothing positive beside it in an ``And`` (``NOT a``,
    ``b OR NOT a``) would match nearly everything and goes. None where nothing is left.
    """
    if node is None or isinstance(node, Leaf):
        return node if node is not None and node.terms else None
    if isinstance(node, Not):
        return normal(node.part.part) if isinstance(node.part, Not) else None
    if isinstance(node, Or):
        return _group(Or, [p for part in node.parts if (p := normal(part)) is not None])
    wanted = [p for part in node.parts if (p := normal(part)) is not None]
    if not wanted:
        return None
    barred: list[Node] = []
    for part in node.parts:
        if isinstance(part, Not) and not isinstance(part.part, Not) and (p := normal(part.part)) is not None:
            barred.append(Not(p))
    return _group(And, [*wanted, *barred])


def leaves(node: Node | None, *, positive: bool = True) -> Iterator[Leaf]:
    """Yield the leaves that speak for a text, or those that speak against it."""
    if isinstance(node, Leaf):
        if positive:
            yield node
    elif isinstance(node, Not):
        yield from leaves(node.part, positive=not positive)
    elif node is not None:
        for part in node.parts:
            yield from leaves(part, positive=positive)


def holds(node: Node, words: Sequence[str]) -> bool:
    """Whether a tree holds for a text, given its index terms in order. This is what an engine's query must agree with."""
    return _holds(node, words, frozenset(words))


def _holds(node: Node, words: Sequence[str], known: Collection[str]) -> bool:
    if isinstance(node, Leaf):
        wanted = node.terms
        if not wanted or not all(t in known for t in wanted):
            return False
        return not node.phrase or len(wanted) == 1 or _in_a_row(tuple(terms(node.text)), words)
    if isinstance(node, Not):
        return not _holds(node.part, words, known)
    if isinstance(node, And):
        return all(_holds(part, words, known) for part in node.parts)
    return any(_holds(part, words, known) for part in node.parts)


def _in_a_row(wanted: tuple[str, ...], words: Sequence[str]) -> bool:
    size = len(wanted)
    return any(tuple(words[n : n + size]) == wanted for n in range(len(words) - size + 1))


def show(node: Node | None) -> str:
    """Write a tree as an expression that :func:`parse` reads back, weights aside."""
    if node is None:
        return ""
    if isinstance(node, Leaf):
        text = re.sub(rf"[{_QUOTES}]", " ", node.text).strip()
        plain = not node.phrase and re.fullmatch(r"[^\s()（）]+", text) and text not in ("AND", "OR", "NOT")
        return text if plain else f'"{text}"'
    if isinstance(node, Not):
        return f"NOT {_bracket(node.part)}"
    word = " AND " if isinstance(node, And) else " OR "
    return word.join(_bracket(part) for part in node.parts)


def _bracket(node: Node) -> str:
    return f"({show(node)})" if isinstance(node, (And, Or)) else show(node)


def weigh(node: Node, own: frozenset[str], weight: float) -> Node:
    """Return the tree with leaves that hold no term of ``own`` at a lower weight."""
    if isinstance(node, Leaf):
        return node if own.intersection(node.terms) else replace(node, weight=weight)
    if isinstance(node, Not):
        return node
    parts = tuple(weigh(part, own, weight) for part in node.parts)
    return And(parts) if isinstance(node, And) else Or(parts)
