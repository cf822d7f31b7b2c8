"""Voting among several plans for one question: an instruction stays if more than half of the plans have it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import replace

from memtrial.systems.raw_log.plan.boolean import And, Leaf, Node, Not, Or, leaves, normal
from memtrial.systems.raw_log.plan.instructions import Concept, Cue, DateRange, Instruction, Keyword, Person
from memtrial.systems.raw_log.plan.words import content_terms


def elect(plans: Sequence[Sequence[Instruction]]) -> tuple[list[Instruction], list[tuple[str, str]]]:
    """Return what the majority has, in the order of the first plan that has it, and what was outvoted.

    Date ranges agree if their days do, persons if their ids do, topics if their terms do, cues if their names do. Two
    keyword expressions are never alike: their words are elected one by one, and one that is outvoted leaves its
    expression; those of the first plan of which any is left stay. Sentences of ``concept`` are never alike either and only rank: those of the first plan stay. An instruction
    is certain where more than half of all plans say so.
    """
    if len(plans) == 1:
        return list(plans[0]), []
    need = len(plans) / 2
    votes: Counter[Hashable] = Counter(key for plan in plans for key in {_key(one) for one in plan})
    sure: Counter[Hashable] = Counter(key for plan in plans for key in {_key(one) for one in plan if one.certain})
    words: Counter[str] = Counter(
        word for plan in plans for word in {t for one in plan if isinstance(one, Keyword) for t in _words(one.tree)}
    )
    kept: list[Instruction] = []
    dropped: list[tuple[str, str]] = []
    done: set[Hashable] = set()
    worded = -1  # the first plan of which an expression stays
    for number, plan in enumerate(plans):
        for one in plan:
            key = _key(one)
            if key in done:
                continue
            done.add(key)
            if isinstance(one, Concept):
                if number == 0:
                    kept.append(one)
            elif isinstance(one, Keyword):
                tree = normal(_elected(one.tree, words, need))
                if tree is None:
                    dropped.append((f"keyword {one.words}", "outvoted"))
                elif worded in (-1, number):
                    worded = number
                    kept.append(replace(one, tree=tree, certain=sure[key] > need))
            elif votes[key] > need:
                kept.append(replace(one, certain=sure[key] > need))
            else:
                dropped.append((f"{one.kind} {one.words}", f"in {votes[key]} of {len(plans)} plans"))
    return kept, dropped


def _key(one: Instruction) -> Hashable:
    if isinstance(one, DateRange):
        return (one.kind, one.start, one.end)
    if isinstance(one, Person):
        return (one.kind, frozenset(one.ids))
    if isinstance(one, Keyword):
        return (one.kind, frozenset(_words(one.tree)))
    if isinstance(one, Cue):
        return (one.kind, one.name)
    return (one.kind, frozenset(content_terms(one.words, 64)) or one.words)


def _words(tree: Node) -> list[str]:
    return [" ".join(leaf.terms) for side in (True, False) for leaf in leaves(tree, positive=side)]


def _elected(node: Node, votes: Counter[str], need: float) -> Node | None:
    if isinstance(node, Leaf):
        return node if votes[" ".join(node.terms)] > need else None
    if isinstance(node, Not):
        inner = _elected(node.part, votes, need)
        return Not(inner) if inner is not None else None
    parts = tuple(p for part in node.parts if (p := _elected(part, votes, need)) is not None)
    if not parts:
        return None
    return And(parts) if isinstance(node, And) else Or(parts)
