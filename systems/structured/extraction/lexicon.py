"""What a tenant's log has named so far: entities by key, and every way they are written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from memtrial.systems.structured.extraction.folding import fold, key_of, stands_alone
from memtrial.systems.structured.node import Entity, EntityKind

_PREFIX = 2


@dataclass(frozen=True, slots=True)
class Mention:
    """A place in a text where an entity is named; ``exact`` is False where an alias named it."""

    start: int
    end: int
    key: str
    kind: EntityKind
    exact: bool = True


class Lexicon:
    """The entities of one tenant.

    A form that names two things names neither, unless it is the full name of one of them: a first name that two people
    share says nothing.
    """

    def __init__(self, tenant: str) -> None:
        """Start empty."""
        self.tenant = tenant
        self.entities: dict[str, Entity] = {}
        self._names: dict[str, str] = {}
        self._aliases: dict[str, set[str]] = {}
        self._lengths: dict[str, list[int]] = {}

    def add(self, kind: EntityKind, name: str, *aliases: str, ident: str = "") -> Entity:
        """Return the entity of that kind and name, made or given more aliases where needed.

        Args:
            kind: what it is.
            name: as written.
            aliases: other ways to write it.
            ident: tells two of the same name apart (a sender's id), where they are known to differ.
        """
        folded = key_of(name)
        key = f"{kind}:{folded}" + (f"#{key_of(ident)}" if ident else "")
        known = self.entities.get(key)
        if known is None:
            known = Entity(key, kind, name.strip(), self.tenant)
            self.entities[key] = known
            if self._names.setdefault(folded, key) == key:
                self._index(folded)
            else:
                self._alias(folded, key)
        new = [a for alias in aliases if len(a := key_of(alias)) > 1 and a != folded and a not in known.aliases]
        if new:
            known = replace(known, aliases=(*known.aliases, *dict.fromkeys(new)))
            self.entities[key] = known
            for alias in new:
                self._alias(alias, key)
        return known

    def _alias(self, form: str, key: str) -> None:
        self._aliases.setdefault(form, set()).add(key)
        self._index(form)

    def _index(self, form: str) -> None:
        lengths = self._lengths.setdefault(form[:_PREFIX], [])
        if len(form) not in lengths:
            lengths.append(len(form))
            lengths.sort(reverse=True)

    def lookup(self, form: str) -> Entity | None:
        """Return what a form names, if it names one thing."""
        folded = key_of(form)
        key = self._names.get(folded) or self._only(folded)
        return self.entities[key] if key else None

    def _only(self, folded: str) -> str | None:
        keys = self._aliases.get(folded, ())
        return next(iter(keys)) if len(keys) == 1 else None

    def forms(self) -> Iterator[tuple[str, str]]:
        """Yield every full name, folded, with its key."""
        yield from self._names.items()

    def find(self, text: str) -> list[Mention]:
        """Return the entities named in a text, longest form first at each place, not overlapping."""
        folded = fold(text)
        found: list[Mention] = []
        at = 0
        while at < len(folded) - 1:
            mention = self._at(folded, at)
            if mention is None:
                at += 1
            else:
                found.append(mention)
                at = mention.end
        return found

    def _at(self, folded: str, at: int) -> Mention | None:
        for length in self._lengths.get(folded[at : at + _PREFIX], ()):
            form = folded[at : at + length]
            if len(form) < length:
                continue
            key = self._names.get(form)
            exact = key is not None
            if key is None:
                key = self._only(form)
            if key is not None and stands_alone(folded, at, at + length):
                return Mention(at, at + length, key, self.entities[key].kind, exact)
        return None
