"""Facts about people in anybody's talk: where they work and live, when their birthday is."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memtrial.systems.structured.extraction.drafts import Case, Draft
from memtrial.systems.structured.extraction.folding import key_of

_NAME = r"(?P<who>I|[A-Z][\w'’-]+(?:\s[A-Z][\w'’-]+)?)"
_THING = r"(?P<what>[A-Z][\w&'’.-]*(?:\s(?:of\s|the\s|and\s)?[A-Z][\w&'’.-]*){0,3})"
_RULES = (
    ("employer", re.compile(rf"\b{_NAME}(?:['’]m| am| is)?(?: now)? (?:works?|working|employed) (?:at|for|by) (?:the )?{_THING}")),
    ("residence", re.compile(rf"\b{_NAME}(?:['’]ve| have| has| just)? (?:lives?|moved|relocated) (?:in|to) {_THING}")),
    ("employer", re.compile(r"(?P<who>我|[\u4e00-\u9fff]{2,3}?)(?:现在)?(?:就职于|任职于|供职于|在)(?P<what>[\u4e00-\u9fffA-Za-z]{2,12}?)(?:工作|上班|任职|$|[，。])")),
    ("residence", re.compile(r"(?P<who>我|[\u4e00-\u9fff]{2,3}?)(?:现在)?(?:住在|搬到了?|搬去了?)(?P<what>[\u4e00-\u9fff]{2,8}?)(?:了|住|$|[，。！])")),
)  # fmt: skip
_WORK_ZH = re.compile(r"工作|上班|任职|就职|供职")


def profiles(case: Case) -> Iterator[Draft]:
    """Where somebody works or lives; the person named is the subject, never the one who tells it."""
    said = case.said
    if said.voice not in ("person", "customer") or said.asks:
        return
    for attribute, pattern in _RULES:
        match = pattern.search(case.text)
        if match is None or (attribute == "employer" and said.language == "zh" and not _WORK_ZH.search(match.group())):
            continue
        who, what = match["who"], match["what"].rstrip(".")
        if who in ("I", "我"):
            subject = said.speaker
        else:
            known = case.learner.lexicon.lookup(who)
            if known is not None and known.kind != "person":
                continue
            subject = known.key if known else case.learner.lexicon.add("person", who).key
        kind = "organisation" if attribute == "employer" else "place"
        target = case.learner.lexicon.add("organisation" if kind == "organisation" else "place", what).key
        if subject and key_of(what):
            yield Draft(attribute, what, "name", subject, subject, fact_type="profile", also=(target,))
