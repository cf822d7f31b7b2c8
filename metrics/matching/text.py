"""Normalised text, clauses and words, for English and Chinese alike."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import Stemmer

from memtrial.metrics.matching.numerals import listed

CJK = r"\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"

# Only characters that occur in values, negations and time words: enough to compare values written in traditional script.
_TRADITIONAL = str.maketrans(
    "兩萬億點號週個後沒無點塊錢圓鐘時間電話發這裡從對條單處會過還換給幾內歲臺張號層樓長達斷錯誤變為來",
    "两万亿点号周个后没无点块钱圆钟时间电话发这里从对条单处会过还换给几内岁台张号层楼长达断错误变为来",
)
_PUNCTUATION = str.maketrans(
    {
        "‐": "-", "‑": "-", "‒": "-", "–": "-", "—": "-", "−": "-", "⁄": "/", "∕": "/",
        "‘": "'", "’": "'", "“": '"', "”": '"', "「": '"', "」": '"', "『": '"', "』": '"', "《": '"', "》": '"',
        "【": "(", "】": ")", "〔": "(", "〕": ")", "～": "~", "〜": "~", "．": ".", "。": "。", "➔": "→", "⇒": "→",
        "\u200b": "", "\u200c": "", "\u200d": "", "\ufeff": "", "*": "", "`": "",
    }
)  # fmt: skip
_MULTIPLY = re.compile(r"(?<=\d)\s*\*\s*(?=\d)")
_DASH = re.compile(r"(?<!\d)(?:—|--)+|(?:—|--)+(?!\d)")
_VULGAR = re.compile(r"(?<=\d)(?=[¼½¾⅓⅔])")
_SPACE = re.compile(r"\s+")

_BOUNDARY = re.compile(r"[,;:。!?()、\n…]+|\.(?=\s|$|[A-Z\"'])|\s--?\s|\"(?=\s|$)")
_SENTENCE_END = re.compile(r"[。!?;\n…]+|\.(?=\s|$)")
_WORD = re.compile(rf"[a-z0-9]+(?:'[a-z]+)?|[{CJK}]")

STOPWORDS = frozenset(
    listed(
        "a an the of in on at to for by with and or is are was were be been it its it's this that these those i you he she they "
        "we my your his her their our me him them us as from into do does did has have had will would can could there here s"
    )
)
CHANGE_VERB = (
    r"(?:changed?|changes|moved?|moves|raised?|lowered|cut|reduced|increased?|switched|renamed|corrected|postponed|rescheduled|shifted|brought|went|goes|rose|"
    r"fell|dropped|updated|upgraded|downgraded|revised|amended|converted|extended|shortened|negotiated|pushed|adjusted)"
)
"""Verbs of change: "moved from A to B" names A as past and is no range."""

_ARTICLES = frozenset(("a", "an", "the"))
_CJK_STOP = frozenset("的了是在呢吧啊哦嘛")

_stem = Stemmer.Stemmer("english")


@dataclass(frozen=True, slots=True)
class Text:
    """A normalised text: ``cased`` and ``low`` have equal length, so that spans hold in both."""

    cased: str
    low: str


@lru_cache(maxsize=4096)
def normalise(text: str) -> Text:
    """Fold width, dashes, quotes, zero-width characters, emphasis marks and blanks; casing is kept beside the folded text."""
    folded = unicodedata.normalize("NFKC", _DASH.sub(" - ", _VULGAR.sub(" ", _MULTIPLY.sub("×", text))))
    folded = folded.translate(_PUNCTUATION).translate(_TRADITIONAL)
    folded = "\n".join(" ".join(line.split()) for line in folded.splitlines() if line.strip())
    low = folded.lower()
    if len(low) != len(folded):
        low = "".join(c.lower() if len(c.lower()) == 1 else c for c in folded)
    return Text(folded, low)


def clauses(text: str, keep: list[tuple[int, int]] | None = None) -> list[tuple[int, int]]:
    """Cut a normalised text at punctuation.

    Args:
        text: normalised text.
        keep: spans (values, found phrases) inside which punctuation does not cut: ``1,299`` is one number.

    Returns:
        Spans of the clauses in order, at least one for a text that has a word.
    """
    spans: list[tuple[int, int]] = []
    start = 0
    for cut in _BOUNDARY.finditer(text):
        if keep and any(s < cut.end() and cut.start() < e for s, e in keep):
            continue
        if text[start : cut.start()].strip():
            spans.append((start, cut.start()))
        start = cut.end()
    if text[start:].strip():
        spans.append((start, len(text)))
    return spans


def sentences(text: str) -> list[str]:
    """Split into sentences at Latin and CJK full stops alike; a text with a word yields at least one."""
    return [part.strip() for part in _SENTENCE_END.split(normalise(text).cased) if part.strip()]


@lru_cache(maxsize=8192)
def stem(word: str) -> str:
    """Return the English stem; other words pass unchanged."""
    return str(_stem.stemWord(word.removesuffix("'s")))


def words(text: str) -> list[str]:
    """Return stems of Latin words and single CJK characters of a normalised, lowered text."""
    return [w if w[0] >= "\u3400" else stem(w) for w in _WORD.findall(text)]


def content_words(text: str) -> list[str]:
    """Return the words that carry meaning; all words where none would be left (``The The``)."""
    found = _WORD.findall(text)
    kept = [w for w in found if w not in STOPWORDS and w not in _CJK_STOP]
    return [w if w[0] >= "\u3400" else stem(w) for w in (kept or found)]


def overlap_f1(gold: str, answer: str) -> float:
    """Token overlap F1: CJK by characters, Latin by stems without articles.

    Equal strings are 1.0 before anything is dropped, so that an answer made of articles alone still equals itself.

    Returns:
        F1 in [0, 1]; 0.0 where either side has no word.
    """
    left, right = normalise(gold).low, normalise(answer).low
    if left == right:
        return 1.0
    ours = [w for w in words(left) if w not in _ARTICLES]
    theirs = [w for w in words(right) if w not in _ARTICLES]
    return f1(ours, theirs)


def f1(ours: Sequence[str], theirs: Sequence[str]) -> float:
    """Harmonic mean of precision and recall of two bags of words, in [0, 1]."""
    common = sum((Counter(ours) & Counter(theirs)).values())
    return 2 * common / (len(ours) + len(theirs)) if common else 0.0


def is_cjk(text: str) -> bool:
    """Say whether the text holds a CJK ideograph."""
    return any("\u3400" <= c <= "\u9fff" for c in text)
