"""Key terms of a question: quoted phrases, codes, content words with their near words, and what is to be left out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from memtrial.systems.models.analyze import terms
from memtrial.systems.raw_log.plan.boolean import And, Leaf, Node, Not, Or, normal
from memtrial.systems.raw_log.plan.instructions import Keyword, Topic
from memtrial.systems.raw_log.plan.near import near_words
from memtrial.systems.raw_log.plan.params import PlanParams
from memtrial.systems.raw_log.plan.speech import SAYING
from memtrial.systems.raw_log.plan.view import LogView

QUOTED = re.compile(
    r"[\"“”]([^\"“”]{2,80})[\"“”]|「([^」]{1,80})」|『([^』]{1,80})』|《([^》]{1,80})》|(?<!\w)['‘]([^'‘’]{3,80})['’](?!\w)"
)
# Letters with figures, or figures of five and more: orders, tickets, serial numbers. A year or a count is none.
CODE = re.compile(
    r"(?<![\w-])(?=[A-Za-z0-9_/-]*\d)(?:[A-Za-z]+[-_/]?\d[A-Za-z0-9_/-]*|\d[A-Za-z0-9]*[A-Za-z-][A-Za-z0-9-]*\d|\d{5,})(?![\w-])",
    re.ASCII,
)
_ORDINAL = re.compile(r"\d+(?:st|nd|rd|th|s|am|pm|h|x|k|m|kg|g|cm|mm|km|l|ml|w|v)|[QH]\d|\d+-\d+", re.IGNORECASE)
_EXCEPT = re.compile(
    r"\b(?:except(?:\sfor)?|besides|apart from|other than|aside from|but not|excluding|not counting|instead of)\s+(?:the\s|a\s|an\s)?(?P<en>[\w'-]+(?:\s(?!and\b|or\b|did\b|do\b|does\b|have\b|has\b|is\b|are\b|was\b|were\b|who\b|what\b)[\w'-]+)?)"
    r"|(?:除了?|除去|不算|不包括)(?P<zh>[^，,。？?的]{1,12}?)(?:之外|以外|外|，|,|还|都)",
    re.IGNORECASE,
)
# Words of asking that name no matter: nouns of the log and of time, besides the analyser's function words.
_ASKING_EN = """tell know remember recall find look search chat log message conversation thing something anything please give show name list
    kind sort much many long ago often time date day week month year when happen get go went come ever exactly again mention say said talk"""
_ASKING_ZH = """记得 知道 告诉 帮 找 查 看 聊天 记录 消息 事 事情 东西 时候 时间 哪天 几号 情况 发生 具体 到底 一下 之前 以前 上次 最近 关于 有关 说 提到
    讨论 聊 还有 除了 另外"""


@lru_cache(maxsize=1)
def _asking() -> frozenset[str]:
    return frozenset(terms(f"{_ASKING_EN} {_ASKING_ZH}"))


def find_keywords(
    text: str, history: Sequence[str], cut: Iterable[tuple[int, int]], view: LogView, params: PlanParams
) -> list[Keyword]:
    """Return keyword instructions: phrases and codes, which are certain, and the key terms, which are not.

    Args:
        text: the question. It is never parsed as an expression.
        history: earlier turns of the dialogue; their terms join at a third of the weight.
        cut: spans that other instructions take care of (relative times, names that filter).
        view: the log.
        params: settings.
    """
    found: list[Keyword] = []
    literal: list[tuple[int, int]] = []
    for m in QUOTED.finditer(text):
        phrase = next(g for g in m.groups() if g is not None)
        if (tree := normal(Leaf(phrase, phrase=True))) is not None:
            found.append(Keyword(m.group(), tree, certain=True))
            literal.append(m.span())
    for m in CODE.finditer(text):
        if any(a <= m.start() < b for a, b in literal) or _ORDINAL.fullmatch(m.group()):
            continue
        if any(a <= m.start() < b for a, b in cut):
            continue
        # "M1L" is a model that people also write in other ways; three figures and more make a number
        certain = sum(c.isdigit() for c in m.group()) >= 3
        if (tree := normal(Leaf(m.group(), phrase=True))) is not None:
            found.append(Keyword(m.group(), tree, certain=certain))
    barred = left_out(text)
    spans = [*cut, *(span for span, _ in barred)]
    own = content_terms(_without(text, spans), params.most_terms)
    parts: list[Node] = []
    for term in own:
        parts.append(Leaf(term, indexed=True))
        near = near_words(term, view, params.expansion)
        parts += [Leaf(other, weight, indexed=True) for other, weight in near if other not in _asking()]
    for turn in history[-4:]:
        parts += [Leaf(term, 0.3, indexed=True) for term in content_terms(turn, params.most_terms) if term not in own]
    distinct = {part.text: part for part in reversed([p for p in parts if isinstance(p, Leaf)])}
    wanted = normal(Or(tuple(reversed(distinct.values()))))
    if wanted is not None:
        nots = tuple(Not(node) for _, words in barred if (node := normal(Leaf(words))) is not None)
        found.append(Keyword(" ".join(own), And((wanted, *nots)) if nots else wanted))
    return found


def find_topic(text: str, cut: Iterable[tuple[int, int]], view: LogView) -> Topic | None:
    """Return the matter: up to three key terms, those rarest in the log; terms that the log lacks come last."""
    own = content_terms(_without(text, [*cut, *(span for span, _ in left_out(text))]), 32)
    if not own:
        return None
    known = sorted(own, key=lambda t: (view.frequency(t) == 0, view.frequency(t), own.index(t)))[:3]
    return Topic(" ".join(t for t in own if t in known))


def content_terms(text: str, most: int) -> list[str]:
    """Return the distinct index terms of a text that name a matter; all of its terms where none does."""
    distinct = list(dict.fromkeys(terms(text)))
    return ([t for t in distinct if t not in _asking() and not SAYING.fullmatch(t)] or distinct)[:most]


def left_out(text: str) -> list[tuple[tuple[int, int], str]]:
    """Return the spans of "except Kim", 除了周乔 and their like, each with what is to be left out."""
    return [(m.span(), (m["en"] or m["zh"]).strip()) for m in _EXCEPT.finditer(text)]


def _without(text: str, spans: Iterable[tuple[int, int]]) -> str:
    chars = list(text)
    for start, end in spans:
        chars[start:end] = " " * (end - start)
    return "".join(chars)
