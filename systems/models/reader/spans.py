"""From a sentence to the part of it that answers an open question."""

from __future__ import annotations

import re

from memtrial.systems.models.reader.need import Need
from memtrial.systems.models.reader.text import terms

_COPULA = re.compile(
    r"(?P<x>.{2,80}?)(?:\b(?:is|are|was|were|will be|should be|means|called|named)\b|[:：]|[是为叫](?!了|什么))\s*(?P<y>.+)",
    re.IGNORECASE | re.DOTALL,
)
_GREETING = re.compile(
    r"^(?:(?:hi|hello|hey|ok|okay|sure|yes|yeah|no problem|thanks|thank you|sorry|well|good morning|good afternoon|dear \w+)\b[\w ]{0,12}[,!.]\s*|(?:你好|您好|好的|嗯|是的|亲|抱歉|不好意思|谢谢)[呀啊亲]?[，,！!。~～]\s*)+",
    re.IGNORECASE,
)
_BECAUSE = re.compile(
    r"\b(?:because|since|due to|as|so that|in order to)\b\s*(?P<y>.+)|(?:因为|由于|原因是|为了)(?P<z>[^，。]+)",
    re.IGNORECASE | re.DOTALL,
)
_END = " \t\n.。!！;；,，~～"


def trim_statement(sentence: str, need: Need) -> str:
    """Return the part of a sentence that answers: what follows the copula when the question names what stands before it.

    "My favourite colour is teal." asked for the favourite colour gives "teal"; a sentence that does not fit is kept whole.
    """
    statement = plain_statement(sentence)
    if need.asked.kind == "reason" and (cause := _BECAUSE.search(statement)):
        return (cause["y"] or cause["z"]).strip(_END)
    match = _COPULA.match(statement)
    if match:
        left, right = terms(match["x"]), terms(match["y"])
        asked = set(need.terms)
        if left and left & asked and not right & asked and len(left & asked) * 2 >= len(left):
            return match["y"].strip(_END) or statement
    return statement


def plain_statement(sentence: str) -> str:
    """Return a sentence without its greeting and its full stop."""
    return _GREETING.sub("", sentence).strip().strip(_END) or sentence.strip()
