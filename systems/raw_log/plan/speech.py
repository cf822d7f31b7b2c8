"""Verbs and nouns of saying, and whether a time or a name in a question limits who said something and when.

Written from general knowledge of both languages. A question about the log speaks of messages ("what did Kim say last
week") or of what they tell ("where did Kim go last week"). Only the first kind says when a message was written.
"""

from __future__ import annotations

import re

_I = re.IGNORECASE
_EN_SAY = (
    r"say|says|said|saying|tell|tells|told|telling|mention(?:s|ed|ing)?|talk(?:s|ed|ing)?|discuss(?:es|ed|ing|ions?)?|ask(?:s|ed|ing)?|write|writes|wrote|written|"
    r"messaged?|messages|texted|chat(?:s|ted|ting)?|conversations?|report(?:s|ed)|promis(?:es|ed)|announc(?:es|ed)|argu(?:es|ed|ing)|debat(?:es|ed)|"
    r"suggest(?:s|ed)|recommend(?:s|ed)|complain(?:s|ed)|confirm(?:s|ed)|repl(?:y|ies|ied)|answered|post(?:s|ed)|email(?:s|ed)|claim(?:s|ed)|admit(?:s|ted)|agree[ds]?|decide[ds]?"
)
_ZH_SAY = "说|讲|聊|谈|讨论|争论|争吵|商量|提到|提过|提起|告诉|问过|问了|回复|回答|发过|发了|发的|写道|留言|消息|聊天|对话|承诺|答应|抱怨|建议|推荐|通知|汇报|反馈|决定|确认"
# Whoever "said" wrote the message; that somebody decided or argued may be told by others.
_EN_TELL = (
    r"say|says|said|saying|tell|tells|told|telling|mention(?:s|ed|ing)?|ask(?:s|ed|ing)?|write|writes|wrote|written|messaged|texted|promis(?:es|ed)|"
    r"suggest(?:s|ed)?|recommend(?:s|ed)?|promise|repl(?:y|ies|ied)|answer(?:ed)?|post(?:s|ed)?|email(?:s|ed)?"
)
_ZH_TELL = "说(?!明书)|讲|提到|提过|提起|告诉|问过|问了|回复|回答|发过|发了|发的|写道|留言|承诺|答应|抱怨|建议|推荐|通知|汇报|反馈"
SAYING = re.compile(rf"\b(?:{_EN_SAY})\b|(?:{_ZH_SAY})(?!明书)", _I)
_WHEN = re.compile(
    r"\bwhen\b|\bwhat (?:date|day|time|month|year)\b|\bhow long ago\b|什么时候|何时|哪天|几号|哪一天|几月|多久(?:以前|之前|前)|哪年|几点",
    _I,
)
# Between the verb and the time, such words begin what was said, so the time may be that of the matter.
_MATTER = re.compile(
    r"\b(?:that|about|on how|whether|if|regarding|concerning|of|for|going|doing|being|he|she|they|it|we|would|will|was|were|had)\b|关于|[，。；]|她|他",
    _I,
)
_PRONOUN_SUBJECT = re.compile(r"\b(?:i|you|he|she|they|we)\s+\w+", _I)
_CLAUSE = re.compile(r"[，。；;.!?！？]")


def asks_when(text: str) -> bool:
    """Whether a question asks for a time; the times it names then belong to the matter."""
    return _WHEN.search(text) is not None


def limits_saying(text: str, span: tuple[int, int]) -> bool:
    """Whether the time at ``span`` is when something was said.

    In Chinese the time stands before the verb of its clause (上周小王说 …), in English after what it belongs to or at the
    head (last week, what did Kim say …). After a verb of saying and the beginning of what was said, it may be either's:
    no.
    """
    if asks_when(text):
        return False
    start, end = span
    for verb in SAYING.finditer(text):
        if verb.start() >= end:
            between = text[end : verb.start()]
            if _CLAUSE.search(between.replace(",", "")) or len(between) > 60:
                return False
            # "the party last week that Kim talked about": what is before the time has it
            lead = text[:start].strip().lower()
            chinese = re.search(r"[一-鿿]", verb.group()) is not None
            if chinese:
                return _leads(text[:start]) and re.search(r"的时候|那次|[去买到来做].{0,6}的", between) is None
            return lead in ("", "in", "on", "at", "during", "so", "and", "the") or lead.endswith((",", "and"))
        if verb.end() <= start:
            if re.search(r"[一-鿿]", verb.group()):
                continue  # what follows a Chinese verb is what was said
            between = text[verb.end() : start]
            return _MATTER.search(between) is None and not text[end:].strip(" ?.!")[:40].count(" that ")
    return False


def _leads(before: str) -> bool:
    """Whether what stands before a time in a Chinese clause leaves it the time of the clause: nothing, or who acts."""
    clause = _CLAUSE.split(before)[-1]
    return SAYING.search(clause) is None


def says(text: str, start: int, end: int) -> bool:
    """Whether the name at ``start:end`` is the subject of a verb of saying, or the sender of messages that are named."""
    after, before = text[end:], text[:start]
    if re.match(
        r"(?:['’]s)?\s*(?:messages?|texts?|replies|reply|emails?|words|suggestions?|recommendations?|posts?)\b",
        after,
        _I,
    ):
        return True
    if re.search(r"\b(?:messages?|texts?|emails?|repl(?:y|ies)|notes?|word)\s+from\s+$|\baccording to\s+$", before, _I):
        return True
    if re.match(
        rf"\s+(?:ever\s+|also\s+|just\s+|actually\s+|first\s+|last\s+|have\s+|has\s+|had\s+)?(?:{_EN_TELL})\b",
        after,
        _I,
    ):
        # "who told Kim said", "what should Kim say", "where do I write to": not what Kim said
        aside = r"\b(?:to|with|by|about|told|tell|ask|asked|should|can|could|must|may|shall|would|will)\s+$"
        return re.search(rf"{aside}|\bdo\s+(?=$)" if text[start:end] == "I" else aside, before, _I) is None
    # time words, companions and adverbs may stand between a Chinese subject and its verb, an object may not
    if re.search(r"(?:跟|和|对|向|给|告诉|问|关于|把|被|同|与)$", before):
        return False
    if re.match(r"(?:的)?(?:消息|回复|留言|原话|话(?!题)|发言|建议(?!书)|意见)", after):
        return True
    middle = r"(?:(?:在|是|有没有|都|还|也|曾经?|之前|以前|最近|后来|昨天|前天|今天|上个?月|上上?周[一二三四五六日天末]?|去年|晚上|下午|上午|早上|有|跟我|和我|对我|给我|向我|怎么|具体|到底|当时|一共|已经|刚才?|最后|曾|第一次|上次|跟[^，。的]{1,4}|和[^，。的]{1,4}|对[^，。的]{1,4}))*"
    return re.match(rf"\s*{middle}(?:{_ZH_TELL})", after) is not None


def together(text: str, start: int, end: int) -> bool:
    """Whether the names between ``start`` and ``end`` talked with each other: 我和小王…的讨论, Kim and I discussed."""
    between = text[end : end + 40]
    clause = _CLAUSE.split(between)[0]
    talk = r"\b(?:talk|discuss|chat|argu|debat|agree|decid|conversation|messaged)\w*|讨论|争论|争吵|商量|聊|谈|对话|约定|决定"
    lead = text[max(0, start - 30) : start]
    return (
        re.search(talk, clause, _I) is not None
        or re.search(r"\b(?:conversation|chat|discussion|argument|talk)s?\s+(?:between|of|with)\s+$", lead, _I)
        is not None
    )
