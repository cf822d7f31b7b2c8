"""Entities that a question names."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memtrial.datasets.schema import Turn
from memtrial.systems.models.reader.cues import is_first_person
from memtrial.systems.structured.extraction.folding import fold
from memtrial.systems.structured.extraction.learn import Learner
from memtrial.systems.structured.node import Entity

# 流星T5SN: Chinese needs no blank between a model number and the word behind it
_GLUED = re.compile(r"([A-Za-z]*\d+[A-Za-z]*?)(?=(?:SN|S/N)(?![A-Za-z0-9]))")
_LATIN_WORD = re.compile(r"[^\W\d_]{5,}")


def resolve(learner: Learner, text: str, asker: str, history: Sequence[Turn] = ()) -> list[Entity]:
    """Return the entities a question names, in order; the asker comes last where it speaks of its own matters.

    Args:
        learner: dictionaries of the question's tenant.
        text: the question.
        asker: id of who asks.
        history: earlier turns; the last that names a thing lends it to a question that names none.
    """
    entities = learner.lexicon.entities
    things = ("product", "order", "ticket", "topic")
    keys = [m.key for m in learner.lexicon.find(text)]
    if not any(entities[k].kind in things for k in keys) and (parted := _GLUED.sub(r"\1 ", text)) != text:
        keys = [m.key for m in learner.lexicon.find(parted)]
    keys = keys or _near(learner, text)
    if not any(entities[k].kind in things for k in keys):
        for turn in reversed(history):
            named = [m.key for m in learner.lexicon.find(turn.text) if m.kind in things]
            if named:
                keys += named
                break
    own = learner.senders.get(asker)
    if own and is_first_person(text):
        keys.append(own)
    return [entities[k] for k in dict.fromkeys(keys)]


def _near(learner: Learner, text: str) -> list[str]:
    """Return people and products written with one letter wrong; digits must be the same, and only one may be meant."""
    words = {fold(w) for w in _LATIN_WORD.findall(text)}
    if not words:
        return []
    folded = fold(text)
    found: dict[str, None] = {}
    for word in words:
        if any(word in name.split() for name, _ in learner.lexicon.forms()):
            continue
        hits = [
            key
            for name, key in learner.lexicon.forms()
            for part in name.split()
            if len(part) >= 5 and _one_off(word, part) and folded.replace(word, part).find(name) >= 0
        ]
        if len(set(hits)) == 1:
            found[hits[0]] = None
    return list(found)


def _one_off(a: str, b: str) -> bool:
    """Whether two words differ by one letter put in, left out, changed, or two neighbours swapped."""
    if a == b or abs(len(a) - len(b)) > 1:
        return False
    start = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    rest_a, rest_b = a[start:], b[start:]
    return (
        rest_a[1:] == rest_b
        or rest_a == rest_b[1:]
        or rest_a[1:] == rest_b[1:]
        or (rest_a[2:] == rest_b[2:] and rest_a[:2] == rest_b[1::-1])
    )
