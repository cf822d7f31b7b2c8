"""Cutting text into sentences and terms, cheaply enough to read a whole log of a few hundred messages per question."""

from __future__ import annotations

import re
import threading
from functools import lru_cache

import Stemmer

from memtrial.systems.models.reader.concepts import CONCEPTS

_WORD = re.compile(r"[A-Za-z0-9à-ÿ]+(?:['’-][A-Za-z0-9à-ÿ]+)*|[一-鿿]+")
_CJK = re.compile(r"[一-鿿]")
_BREAK = re.compile(r"(?<=[。！？!?；;\n])(?!\s*$)|(?<=[.])\s+(?=[\"'“(]?[A-Z0-9一-鿿])")
_ABBREVIATION = re.compile(r"\b(?:Mr|Mrs|Ms|Dr|Prof|St|No|vs|approx|e\.g|i\.e|a\.m|p\.m|[A-Z])\.$")
# what is longer is no sentence: patterns stay fast on a megabyte without a full stop
_LONG = re.compile(r".{1,400}(?:(?<=[\s，,、])|$)|.{1,400}", re.DOTALL)
_EN_STOP_WORDS = (
    "a an the of to in on at for from by with and or but if so as is are was were be been being am do does did done has have had "
    "i me my mine we us our you your he him his she her they them their it its this that these those there here what which who "
    "whom whose when where why how many much long will would can could should shall may might must not no yes than then too very "
    "just about into over up out please tell say said get got s t re ve ll d m any some all also again one don't didn't doesn't "
    "isn't i'm it's what's that's let know give remind hi hey hello thanks thank sorry ok okay please cheers oh hm like"
)
_EN_STOP = frozenset(_EN_STOP_WORDS.split())
_ZH_STOP_CHARS = frozenset(
    "的了吗呢吧啊呀么是在有和与及就都也还又很到我你他她它们这那个为什怎哪谁几多少请问把被给跟对能会要想说过着得地之其以于从上下一"
)
# a pair that holds one of these crosses the edge of a word
_ZH_PARTICLES = frozenset("的了吗呢吧啊呀么我你您他她它这那很都也就把被给跟请")
_stemmer_lock = threading.Lock()
_stemmer = Stemmer.Stemmer("english")


def language_of(text: str, hint: str = "") -> str:
    """Return ``zh`` or ``en``: the hint where it is one of them, else what the characters say."""
    if hint[:2] in ("zh", "en"):
        return hint[:2]
    return "zh" if len(_CJK.findall(text)) * 3 > len(text.strip()) else "en"


@lru_cache(maxsize=4096)
def terms(text: str) -> frozenset[str]:
    """Return the content terms: stemmed English words, and Chinese characters and pairs of them, concepts.

    Pairs stand in for words: they need no segmentation, match inside any compound, and cost a tenth of jieba's time.
    A pair made of function characters alone carries nothing and is left out.
    """
    found: set[str] = set()
    english: list[str] = []
    for match in _WORD.finditer(text):
        run = match.group()
        if _CJK.match(run):
            found.update(c for c in run if c not in _ZH_STOP_CHARS)
            found.update(
                run[i : i + 2]
                for i in range(len(run) - 1)
                if not (run[i] in _ZH_STOP_CHARS and run[i + 1] in _ZH_STOP_CHARS)
                and run[i] not in _ZH_PARTICLES
                and run[i + 1] not in _ZH_PARTICLES
            )
        else:
            lower = run.lower().replace("’", "'").removesuffix("'s")
            if lower not in _EN_STOP:
                english.append(lower)
                if "-" in lower:
                    english.extend(p for p in lower.split("-") if p not in _EN_STOP)
    with _stemmer_lock:
        found.update(_stemmer.stemWords(english))
    found.update([CONCEPTS[t] for t in found if t in CONCEPTS])
    return frozenset(found)


@lru_cache(maxsize=4096)
def sentences(text: str) -> tuple[str, ...]:
    """Split into sentences; never empty for text with anything but blanks in it."""
    parts: list[str] = []
    for piece in _BREAK.split(text):
        if parts and _ABBREVIATION.search(parts[-1]):
            parts[-1] = f"{parts[-1]} {piece}"
        else:
            parts += [cut.strip() for cut in _LONG.findall(piece) if cut.strip()]
    return tuple(parts)
