"""From scored candidates to the words of an answer and the items it rests on."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from memtrial.systems.models.reader import derive, verdicts
from memtrial.systems.models.reader.candidates import Candidate
from memtrial.systems.models.reader.lists import join_items, join_people
from memtrial.systems.models.reader.need import Need
from memtrial.systems.models.reader.passages import Passage
from memtrial.systems.models.reader.spans import plain_statement

# these may have been done by several people; "who is the owner" has one answer
_WHO_ALL = re.compile(
    r"\b(?:reported|complained|said|told|hear|mentioned|bought|ordered|asked|raised|came|went|attended|joined|has|have|likes?|plays?)\b|说过|反映|投诉|买了|买过|报|提过|参加|订了|用过|有谁|都有",
    re.IGNORECASE,
)
_SHORT, _SHORT_ZH = 140, 60


@dataclass(frozen=True, slots=True)
class Draft:
    """An answer before it is decided whether to give it.

    Attributes:
        text: the answer in words.
        passages: what it rests on; never empty.
        best: the candidate it rests on most.
    """

    text: str
    passages: tuple[Passage, ...]
    best: Candidate


def compose(
    need: Need, options: Sequence[str], candidates: Sequence[Candidate], passages: Sequence[Passage]
) -> Draft | None:
    """Word the answer; None where nothing fits.

    Args:
        need: the question.
        options: choices offered apart from the text.
        candidates: scored, best first.
        passages: all sentences of the context.
    """
    if not candidates:
        return None
    best = candidates[0]
    kind = need.asked.kind
    if kind == "boolean":
        return Draft(verdicts.answer_boolean(need, best), (best.passage,), best)
    if kind == "choice":
        return _choose(need, options, candidates)
    derived = derive.derive(need, candidates, passages)
    if derived is not None:
        text, used = derived
        return Draft(text, tuple(used), best)
    if need.asked.many or (kind == "person" and _WHO_ALL.search(need.question)):
        joined = join_people(need, candidates) if need.asked.people else join_items(need, candidates, passages)
        if joined is not None:
            return Draft(joined[0], tuple(joined[1]), best)
    if best.kind == "free" and best.say == plain_statement(best.passage.text) and _is_short(best):
        return Draft(plain_statement(best.passage.shown.item.text), (best.passage,), best)
    return Draft(best.say, (best.passage,), best)


def _is_short(best: Candidate) -> bool:
    """Tell whether the whole item is short enough to answer with: its sentences often need each other."""
    text = best.passage.shown.item.text
    return len(text) <= (_SHORT_ZH if text[:1] > "一" else _SHORT)


def _choose(need: Need, options: Sequence[str], candidates: Sequence[Candidate]) -> Draft | None:
    offered = verdicts.find_options(need.question, options)
    if not offered:
        return Draft(candidates[0].say, (candidates[0].passage,), candidates[0])
    rated = verdicts.rate_options(offered, candidates)
    winner = max(range(len(rated)), key=lambda i: rated[i][0])
    supporter = rated[winner][1]
    if supporter is None:
        return None
    letter, text = offered[winner]
    return Draft(f"{letter}. {text}" if letter else text, (supporter.passage,), supporter)
