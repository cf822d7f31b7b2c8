"""Answers that name several things or people."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memtrial.systems.models.reader.candidates import Candidate
from memtrial.systems.models.reader.need import Need
from memtrial.systems.models.reader.passages import Passage
from memtrial.systems.models.reader.spans import plain_statement
from memtrial.systems.models.reader.text import terms

JOIN = {"en": ", ", "zh": "、"}
_SHARE = 0.8
_MOST = 10
_HEAD = re.compile(
    r"(?:can(?:no|['’])t|could(?: not|n['’]t)|did(?: not|n['’]t)) (?:\w+ )?(?:find|see|get|include|come with)|no sign of|without|missing|lack(?:s|ing|ed)?|absent|short of|forgot|lists?|includ(?:es?|ing)|contains?"
    r"|bought|ordered|need|want|\badd|\balso|\bno\b|\bare|\bwere"
    r"|[缺少漏差](?:发|了|的是|掉)*|没(?:有|看到|见着?|找到|装|给|放)|包括|包含|买了|还有|另外|分别是|有",
    re.IGNORECASE,
)
_TAIL_ZH = re.compile(r"(?:也|同样|都|还|全)?(?:没|不见|缺|漏|少了).*$")
_TAIL_EN = re.compile(
    r"\s(?:in|inside|from|with|for|on|at|when|to|either|too|as well|also)\b.*$|\s(?:is|are|was|were)\s(?:missing|absent|not)\b.*$",
    re.IGNORECASE,
)
# "A and B are missing", A和B没给: the items stand before the verb
_BEFORE_EN = re.compile(
    r"^(?P<x>.+?)\s(?:(?:is|are|was|were)\s)?(?:also\s)?(?:missing|absent|not in\b|not there|did(?:n['’]t| not) come|lacking)",
    re.IGNORECASE,
)
_BEFORE_ZH = re.compile(
    r"(?:^|[，,。])(?P<x>[^，,。]+?)(?:也|同样|都|还|全)*(?:没给|没装|没见|没有|没看|没放|不见|不在|缺失|缺)"
)
_POLITE = re.compile(
    r"^(?:thanks?|cheers|please|sorry|too|either|辛苦|谢谢|麻烦|拜托|哦|对|那个).{0,3}$", re.IGNORECASE
)
_SPLIT = re.compile(
    r",? and (?:the |a |an |my )?|, ?(?:and )?(?:the |a |an |no )?| & |、|，|和|以及|还有|跟|与|及", re.IGNORECASE
)
_EDGE = re.compile(
    r"^(?:(?:the|a|an|my|some|any|no|also|both|either)\s+)+|^[了的也还：:]+|[了的呀啊呢吧]$|\s*\[[^\]]*\]",
    re.IGNORECASE,
)
_LONGEST = {"en": 45, "zh": 14}


def join_items(
    need: Need, candidates: Sequence[Candidate], passages: Sequence[Passage]
) -> tuple[str, list[Passage]] | None:
    """Join what the best passages enumerate.

    Passages count that score nearly as high as the best, and those of the same exchange. A later statement that names an
    item once more takes it back ("the cable turned up after all"): people do not repeat what they have listed.
    """
    best = candidates[0]
    floor = best.score - (1 - _SHARE) * abs(best.score)
    exchange = {id(best.passage.shown), *(id(s) for s in best.passage.shown.near)}
    exchange |= {id(p.shown) for p in passages if best.passage.shown in p.shown.near}
    chosen = [best.passage]
    for candidate in candidates[1:]:
        passage = candidate.passage
        same_voice = passage.shown.item.sender == best.passage.shown.item.sender
        if passage not in chosen and (candidate.score >= floor or (id(passage.shown) in exchange and same_voice)):
            chosen.append(passage)
    chosen = sorted(chosen[:_MOST], key=lambda p: (-p.shown.age, p.shown.index))
    items: dict[str, str] = {}
    used: list[Passage] = []
    for passage in chosen:
        again = [key for key in items if key in passage.text.lower()]
        for key in again:
            del items[key]
        if not again:
            for item in enumerated(passage.text, need):
                items.setdefault(item.lower(), item)
        used.append(passage)
    if not items:
        return None
    return JOIN[need.language].join(items.values()), used


def enumerated(sentence: str, need: Need) -> list[str]:
    """Return the members of the enumeration in a sentence, without what the question itself names."""
    sentence = plain_statement(sentence)
    before = _BEFORE_ZH.search(sentence) if need.language == "zh" else _BEFORE_EN.search(sentence)
    parts = [before["x"]] if before else []
    parts += [sentence[m.end() :] for m in _HEAD.finditer(sentence)]
    for part in [*parts, sentence]:
        found = [item for piece in _SPLIT.split(part) if (item := _item(piece, need))]
        if found:
            return found
    return []


def _item(piece: str, need: Need) -> str:
    """Clean a piece of an enumeration; empty where it is none."""
    item = _TAIL_ZH.sub("", _TAIL_EN.sub("", piece.strip(" \t.。!！?？,，;；:：~～")))
    item = _EDGE.sub("", _EDGE.sub("", item)).strip()
    if len(item) > _LONGEST[need.language] or _POLITE.match(item) or item.endswith(("里", "里面", "中", "内")):
        return ""
    return "" if terms(item) & _subject(need) else item


def _subject(need: Need) -> frozenset[str]:
    return frozenset(t for t in need.terms if not t.startswith("§"))


def join_people(need: Need, candidates: Sequence[Candidate]) -> tuple[str, list[Passage]] | None:
    """Join the names of the people whom nearly equally good passages speak of."""
    floor = max(c.passage.relevance for c in candidates[:3]) * _SHARE
    people: dict[str, Candidate] = {}
    told: set[int] = set()
    # each item names one person: its best name, whoever was first or last to say so
    for candidate in candidates:
        shown = candidate.passage.shown
        if candidate.kind == "person" and candidate.passage.relevance >= floor and id(shown) not in told:
            told.add(id(shown))
            people.setdefault(candidate.norm, candidate)
    if len(people) < 2:
        return None
    kept = list(people.values())[:_MOST]
    return JOIN[need.language].join(c.say for c in kept), list({id(c.passage): c.passage for c in kept}.values())
