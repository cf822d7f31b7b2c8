"""Text into index terms, the same way for what is indexed and for what is asked.

Latin-script words are folded, stripped of English function words and stemmed (Snowball "english", the revised Porter
stemmer); Chinese runs are segmented by jieba in search mode, which yields a long word and the words inside it. Mixed
text gets both. A term is made of letters and digits alone, so punctuation can never match punctuation.
"""

from __future__ import annotations

import importlib
import logging
import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from datetime import datetime

ANALYZER = "nfkc+casefold, snowball-english with stop words, jieba search mode"
ANALYZER_VERSION = 1

_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
_CHUNK = re.compile(rf"[{_HAN}]+|(?:(?![{_HAN}])[^\W_])+(?:[-./:,'_#](?:(?![{_HAN}])[^\W_])+)*")
_IS_HAN = re.compile(rf"[{_HAN}]")
_PIECE = re.compile(r"[^-./:,'_#]+")
_SEPARATOR = re.compile(r"[-./:,'_#]+")
_AMOUNT = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+\.\d+")
_APOSTROPHE = str.maketrans({"’": "'", "‘": "'", "ʼ": "'"})


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Closed word classes only (articles, pronouns, auxiliaries, prepositions, conjunctions, question words), without "may",
# which is a month too. Nothing here was picked by what a data set asks.
_ENGLISH_STOP = _words(
    """a an the this that these those i me my mine myself we us our ours ourselves you your yours yourself yourselves
    he him his himself she her hers herself it its itself they them their theirs themselves
    who whom whose what which when where why how am is are was were be been being do does did doing done have has had
    having will would shall should can could might must and or but nor so if then than because as until while
    of at by for with about against between into through during before after above below to from up down in out on
    off over under again further here there all any both each few more most other some such no not only own same too
    very just also ever s t d ll m o re ve don didn doesn isn aren wasn weren hasn haven hadn won wouldn couldn
    shouldn ain let"""
)
_CHINESE_STOP = _words(
    "的 了 着 过 地 得 吗 呢 吧 啊 呀 哦 嗯 哈 么 是 在 有 和 与 及 或 而 但 也 就 都 还 又 很 把 被 给 对 从 到 向 为 以 于 之 其 "
    "我 你 您 他 她 它 我们 你们 他们 她们 它们 咱们 这 那 这个 那个 这些 那些 这里 那里 什么 哪 哪个 哪些 哪里 哪儿 谁 怎么 怎样 如何 "
    "多少 几 为什么 吗 没 没有 不 会 能 可以 要 一个 一下 请 请问"
)
_MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_WEEKDAYS_ZH = "一二三四五六日"


def has_han(text: str) -> bool:
    """Whether the text holds at least one Chinese character."""
    return _IS_HAN.search(text) is not None


@lru_cache(maxsize=1)
def _jieba() -> Any:
    jieba: Any = importlib.import_module("jieba")
    jieba.setLogLevel(logging.WARNING)
    jieba.initialize()
    return jieba


@lru_cache(maxsize=1)
def _stemmer() -> Any:
    import Stemmer

    return Stemmer.Stemmer("english")


@lru_cache(maxsize=65_536)
def _word(word: str) -> str:
    """Return the stem of a folded word, or "" for a function word."""
    return "" if word in _ENGLISH_STOP else str(_stemmer().stemWord(word))


def _latin(chunk: str) -> Iterator[str]:
    if _AMOUNT.fullmatch(chunk):
        yield chunk.replace(",", "")
        return
    parts = _SEPARATOR.split(chunk)
    for part in parts:
        if term := _word(part):
            yield term
    # An order number or a date written as one word is rarer, so worth more, than its pieces.
    if len(parts) > 1 and "'" not in chunk and any(c.isdigit() for c in chunk):
        yield _SEPARATOR.sub("-", chunk)


def terms(text: str) -> list[str]:
    """Return the index terms of a text, in order, repeats kept.

    Args:
        text: anything, query syntax and emoji included; it is never parsed.
    """
    found: list[str] = []
    folded = unicodedata.normalize("NFKC", text).casefold().translate(_APOSTROPHE)
    for match in _CHUNK.finditer(folded):
        chunk = match.group()
        if _IS_HAN.match(chunk):
            found += [w for w in _jieba().lcut_for_search(chunk) if w not in _CHINESE_STOP]
        else:
            found += _latin(chunk)
    return found


def places(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield index terms of a text, each with the half-open span of the text that it comes from.

    What changes its length when it is folded (ﬁ, ß) is one span; a term that only arises across such a change is left out.
    """
    for match in _CHUNK.finditer(text.translate(_APOSTROPHE)):
        chunk, at = match.group(), match.start()
        folded = unicodedata.normalize("NFKC", chunk).casefold()
        if len(folded) != len(chunk):
            yield from ((term, at, match.end()) for term in terms(chunk))
        elif _IS_HAN.match(folded):
            for word, start, end in _jieba().tokenize(folded, mode="search"):
                if word not in _CHINESE_STOP:
                    yield word, at + start, at + end
        else:
            found = list(_latin(folded))
            for piece in _PIECE.finditer(folded):
                if (term := _word(piece.group())) in found:
                    yield term, at + piece.start(), at + piece.end()
                    found.remove(term)
            yield from ((term, at, match.end()) for term in found)


def date_words(when: datetime, *, chinese: bool) -> str:
    """Spell a date the way people name it, so that "in May 2023" finds a turn that does not say so itself."""
    if chinese:
        return f"{when.year}年{when.month}月{when.day}日 周{_WEEKDAYS_ZH[when.weekday()]} {when:%Y-%m-%d}"
    return f"{when.day} {_MONTHS[when.month - 1]} {when.year} {_WEEKDAYS[when.weekday()]} {when:%Y-%m-%d}"
