"""Yes and no: what a text affirms or denies as a whole."""

from __future__ import annotations

import re

from memtrial.metrics.matching.text import content_words, is_cjk

_LEAD_IN = re.compile(
    r"^[\W_]*(?:(?:the\sanswer\s(?:is|to\sthat\sis)|answer|it\sis|it's|well|hmm|so|ok|okay|as\sfar\sas\si\sknow|答案(?:是|为)?|回答|目前(?:来看)?|现在|据记录|按记录|后来|最后|结果)[\W_]+)"
)
_YES = re.compile(
    r"^\W*(?:yes|yep|yeah|correct|indeed|certainly|true|definitely|absolutely|of\scourse|still\sdoes|(?:it|they|he|she|we|you|i)\s(?:do|does|did|is|are|was|were|has|have|can|will)(?!\s?n[o']?t|\snot)(?=\W*$))(?![a-z])"
    r"|^\W*(?:是的|对的?|有的?|能的?|可以的?|会的?|要的?|嗯|没错|没问题|行的?|好的|当然|是|确实|属实|已经|还在|还有|仍然?)(?=\W|$)"
)
_NO = re.compile(
    r"^\W*(?:do|does|did|is|are|was|were|can|could|should|would|will|has|have|must)(?:n't|\snot)\b"
    r"|^\W*(?:no|nope|not|never|false|incorrect|negative|none|cannot|can't)(?![a-z-])"
    r"|^\W*(?:没有?(?![错问])|不(?![错过])|否|未|尚未|还没|并没|并未|无(?!论)|没(?![错问])|非也)"
)
_NEGATION_EN = re.compile(
    r"\b(?:not|no|never|none|neither|nor|without|cannot|nobody|nothing)\b(?!\sonly|\sdoubt|\sproblem|\sjust)|n't\b"
)
_NEGATION_ZH = re.compile(
    r"不(?![错少但仅过同止光久论管])|没(?![错问])|未(?![来])|(?<![所])无(?![锡论线])|(?<![区特级分性识个类告])别(?![人的处])|尚未|否"
)
_IMPLIED = (
    "called off", "cancel", "remov", "dropped", "discontinu", "refus", "reject", "declin", "fell through", "stopped", "withdr", "abandon",
    "scrapped", "gave up", "given up", "ended", "取消", "作罢", "撤回", "拒绝", "停了", "停用", "下线", "作废", "驳回", "放弃", "黄了", "泡汤", "算了",
)  # fmt: skip
_FIRST = re.compile(r"[,;:。!?(\n]|\.(?=\s|$)|\s-\s|$")


_EXPLICIT = re.compile(
    r"^\W*(?:yes|yep|yeah|no|nope|是的?|对的?|有的?|能的?|可以的?|会的?|没有?|不能|不是|不会|不行|不可以|否|没错|不用)\s*(?:[,.。!;:-]|$)"
)


def explicit(low: str) -> bool:
    """Say whether a text begins with a yes or no that stands by itself."""
    return bool(_EXPLICIT.match(_LEAD_IN.sub("", low)))


def polarity(low: str, question: str = "", *, form: bool = False) -> int:
    """Read +1 (yes), -1 (no) or 0 (neither) from a normalised, lowered text.

    Args:
        low: the answer.
        question: the question, lowered: a statement counts as yes or no only where it speaks of what was asked.
        form: True for an accepted form or lure, which needs no such link.
    """
    text = _LEAD_IN.sub("", low)
    text = re.sub(r"^是(?=没|不|否|有|能|可|会|要|未|无|压|扣)", "", text)
    if _NO.match(text):
        return -1
    if _YES.match(text):
        return 1
    head = text[: _head_end(text)]
    negative = bool(_NEGATION_EN.search(head) or _NEGATION_ZH.search(head))
    if any(w in head and w not in question for w in _IMPLIED):
        negative = not negative
    if negative:
        return -1
    if form:
        return 1
    return 1 if question and _speaks_of(head, question) else 0


def _head_end(text: str) -> int:
    """End of the first clause that has more than a word of introduction."""
    for cut in _FIRST.finditer(text):
        if cut.start() > 6 or (cut.start() > 2 and is_cjk(text[: cut.start()])):
            return cut.start()
    return len(text)


def _speaks_of(head: str, question: str) -> bool:
    ours, theirs = set(content_words(head)), set(content_words(question))
    shared = ours & theirs
    return len(shared) >= (2 if is_cjk(head) else 1)
