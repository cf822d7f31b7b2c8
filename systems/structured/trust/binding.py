"""How firmly a memory is tied to what the question names."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping

from pydantic import Field

from memtrial.systems.baselines.parts import Part
from memtrial.systems.structured.node import Entity, Fact


class BindingParams(Part):
    """What a tie is worth, in [0, 1].

    Attributes:
        exact: the question names the entity as it is called.
        alias: by another name, or nearly.
        none: the memory names nothing of that kind.
        rival: the memory names another thing of that kind: another person's, another order's.
    """

    exact: float = Field(default=1.0, ge=0, le=1)
    alias: float = Field(default=0.7, ge=0, le=1)
    none: float = Field(default=0.4, ge=0, le=1)
    rival: float = Field(default=0.0, ge=0, le=1)


def bind(question: str, named: Iterable[Entity], params: BindingParams, *, asker: str = "") -> dict[str, float]:
    """Return the keys of the entities that a question means, with how firmly it names them.

    Args:
        question: its text, as asked.
        named: what the question was found to name.
        params: what a tie is worth.
        asker: key of the asker's own entity where "my" or "I" means them; "" where not.
    """
    text = _folded(question)
    anchors = {entity.key: params.exact if _names(text, entity) else params.alias for entity in named}
    if asker:
        anchors.setdefault(asker, params.exact)
    return anchors


def binding(fact: Fact, anchors: Mapping[str, float], params: BindingParams) -> float | None:
    """Return how firmly a fact is tied to the anchors, in [0, 1]: the mean over them; None where there are none."""
    if not anchors:
        return None
    held = {*fact.entities, fact.subject, fact.owner} - {""}
    total = 0.0
    for key, strength in anchors.items():
        if key in held:
            total += strength
        else:
            # A thing of the same kind that the question means as well is no rival.
            rivals = {other for other in held if _kind(other) == _kind(key)} - anchors.keys()
            total += params.rival if rivals else params.none
    return total / len(anchors)


def _kind(key: str) -> str:
    return key.partition(":")[0]


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def _names(text: str, entity: Entity) -> bool:
    """Tell whether a folded text holds an entity's full name: Nova 10 does not stand in Nova 10X."""
    names = {_folded(entity.name), _folded(entity.key.partition(":")[2])} - {""}
    return any(re.search(rf"(?<![a-z0-9]){re.escape(name)}(?![a-z0-9])", text) for name in names)
