"""Accepted forms and lure values, compiled once per question, and where an answer names them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from itertools import pairwise

from memtrial.datasets.schema import Question
from memtrial.metrics.matching.numerals import ZH_CHARS, ZH_DIGITS, listed, zh_number
from memtrial.metrics.matching.polarity import polarity
from memtrial.metrics.matching.quantities import DATE, ID, Value
from memtrial.metrics.matching.text import CJK, content_words, is_cjk, normalise
from memtrial.metrics.matching.units import UNITS
from memtrial.metrics.matching.values import extract
from memtrial.metrics.matching.when import When, compatible, resolve

_FLUFF = re.compile(
    r"(?:\b(?:about|around|approximately|approx|roughly|circa|exactly|at|on|by|in|the|within|after|from|per\s\w+|every|for|a|an|and|to|minus|plus|less|more|ago|earlier|later|before|old|long|local|time|central|eastern|pacific|mountain|standard|sharp|o'clock)\b|"
    r"每|约|大约|左右|内|以内|之内|以后|之后|后|开始|起|的|减少了?|减|增加了?|增|加|涨了?|降了?|共|一共|总共|多|整|到|至|元整|/\s?[a-z年月日天次人个位]+|[\s.,()~+=:;!\"-])*"
)
_POLAR = frozenset(
    listed(
        "yes no yep nope true false correct 是 否 对 不对 不 没 没有 有 能 不能 可以 不可以 会 不会 要 不要 是的 不是 行 不行 未 还没 还没有 已 不用 需要 不需要"
    )
)
TOKEN = re.compile(rf"[a-z0-9]+(?:[.'][a-z0-9]+)*|[{CJK}]")
_SKIP_WORDS = frozenset(listed("the a an and of his her its their my our your"))
_GLUE_WORDS = "|".join(sorted(_SKIP_WORDS))
ZH_FILLER = frozenset("的了呢吧啊")


@dataclass(frozen=True, slots=True)
class Form:
    """One accepted form or lure value.

    Attributes:
        low: normalised, lowered text.
        values: the typed values it consists of, where it is nothing else (one, or several in order).
        pattern: the form as a phrase, whole words.
        tokens: its content words.
        polar: +1 or -1 for a bare yes or no in either language.
        bare: a number without a unit beside a form that is the same number with one.
    """

    low: str
    values: tuple[Value, ...]
    pattern: re.Pattern[str] | None
    tokens: tuple[str, ...]
    polar: int = 0
    bare: bool = False

    @property
    def typed(self) -> bool:
        """Say whether the form is compared by value."""
        return bool(self.values)


@dataclass(frozen=True, slots=True)
class LureForms:
    """The compiled values of one lure."""

    kind: str
    forms: tuple[Form, ...]
    families: frozenset[str]


@dataclass(frozen=True, slots=True)
class Mention:
    """A place where an answer names a form."""

    start: int
    end: int
    form: Form
    exact: bool = True
    dated: bool = False
    partial: bool = False


@dataclass(frozen=True, slots=True)
class Key:
    """Everything of a question that matching needs, compiled."""

    gold: tuple[Form, ...]
    families: frozenset[str]
    lures: tuple[LureForms, ...]
    asked: frozenset[str]
    base: datetime
    question: str
    polar: int
    past: bool
    typed: bool
    names: frozenset[str]
    negative: bool
    words: frozenset[str]


_ASKED_PAST = re.compile(
    r"\b(?:originally|initially|at\sfirst|used\sto|back\sthen|at\sthe\stime|previous(?:ly)?|former(?:ly)?|before|last\s(?:year|month|spring|summer|autumn|fall|winter))\b"
    r"|之前|以前|原来|原先|最初|最早|当时|那时|起初|一开始|原定|原本|原价|当初|先前|此前"
)


# What is asked for is itself a refusal or an exclusion, so that the answer's own "can't" takes nothing back.
NEGATIVE = re.compile(
    r"\b(?:not|no|never|without|avoid|except|exclude[ds]?|allergic|allergy|forbidden|banned|leave\sout|cannot|wrong|refused?|rejected)\b|n't\b"
    r"|不(?!知|过)|没(?!有[吗么])|别|忌|禁|除了|过敏|拒|未|避免|取消"
)


def compile_form(text: str, base: datetime) -> Form | None:
    """Compile an accepted form or lure value; None where it holds no word."""
    low = normalise(text).low.strip(" .。!?,;")
    if not low:
        return None
    values = extract(low)
    if values:
        rest = low
        for v in reversed(values):
            rest = rest[: v.start] + " " + rest[v.end :]
        if not _FLUFF.fullmatch(rest.strip()):
            values = ()
        elif len(values) == 1 and values[0].ranged:
            values = (replace(values[0], ranged=False),)
    values = tuple(replace(v, when=resolve(v.when, base)) if v.when else v for v in values)
    polar = polarity(low, form=True) if low in _POLAR else 0
    identifier = len(values) == 1 and values[0].family == ID and values[0].text
    return Form(low, values, _identifier(low) if identifier else _phrase(low), tuple(content_words(low)), polar)


def _identifier(low: str) -> re.Pattern[str]:
    """An identifier with any separators between its letters and digits."""
    return re.compile(r"(?<![a-z0-9])" + r"[\s\-_/#.]{0,2}".join(re.findall(r"[a-z]+|\d+", low)) + r"(?![a-z0-9])")


def _phrase(low: str) -> re.Pattern[str] | None:
    tokens = TOKEN.findall(low)
    kept = [t for t in tokens if t not in _SKIP_WORDS] or tokens
    if not kept:
        return None
    parts: list[str] = []
    i = 0
    while i < len(kept):
        token = kept[i]
        if token in ZH_CHARS:
            run = token
            while i + 1 < len(kept) and kept[i + 1] in ZH_CHARS:
                i += 1
                run += kept[i]
            number = zh_number(run)
            digits = f"|{int(number)}" if number is not None and number == int(number) else ""
            alt = "两|二" if run in ("两", "二") else re.escape(run)
            parts.append(f"(?:{alt}{digits})")
        elif token.isdigit() and len(token) == 1:
            zh = "".join(c for c, n in ZH_DIGITS.items() if n == int(token))
            parts.append(rf"(?<![\d.])(?:{token}|[{zh}])(?!\d)" if is_cjk(low) else rf"(?<![\d.]){token}(?![\d])")
        elif token[0].isascii():
            base = token[:-1] if len(token) > 3 and token.endswith("s") and not token.endswith("ss") else token
            plural = r"(?:'s|s'|s|es|')?" if token[-1].isalpha() and len(token) > 1 else ""
            head = r"(?<![a-z0-9])"
            parts.append(head + re.escape(base) + plural + r"(?![a-z0-9])")
        else:
            parts.append(re.escape(token))
        i += 1
    glue = r"[\s()、,·'\"/&.-]*"
    out = parts[0]
    for previous, part in pairwise(parts):
        latin = previous.endswith("])") and part.startswith("(?<![a-z")
        out += (rf"[\W_]+(?:(?:{_GLUE_WORDS})\W+)*" if latin else glue) + part
    return re.compile(out)


@lru_cache(maxsize=4096)
def compile_key(question: Question, names: frozenset[str]) -> Key:
    """Compile a question's labels. Cached, since every system is asked the same questions.

    Args:
        question: the labelled question.
        names: people whose messages the lures rest on.
    """
    base = question.asked_at
    low = normalise(question.text).low
    gold = tuple(f for a in _alternatives(question) if (f := compile_form(a, base)) is not None)
    gold = _mark_bare(gold)
    gold_texts = {f.low for f in gold}
    lures = []
    for lure in question.lures:
        forms = tuple(f for v in lure.values if (f := compile_form(v, base)) is not None and f.low not in gold_texts)
        lures.append(LureForms(lure.kind, _mark_bare(forms), _families(forms)))
    polar = 0
    if question.answer_type == "boolean" or (gold and all(f.polar for f in gold)):
        polar = next((p for f in gold if (p := f.polar or polarity(f.low, form=True))), 0)
    asked = frozenset(family for unit, (family, _) in UNITS.items() if family and len(unit) > 1 and unit in low)
    everyone = " ".join([low, *(f.low for f in gold), *(f.low for lure in lures for f in lure.forms)])
    foreign = frozenset(n for n in (normalise(n).low for n in names) if len(n) > 1 and n not in everyone)
    return Key(
        gold=gold,
        families=_families(gold),
        lures=tuple(lures),
        asked=asked
        | (
            {"seconds"}
            if re.search(r"几天|多少天|几小时|几个小时|几分钟|几周|多少小时|多少秒|几秒", low)
            else frozenset()
        )
        | ({"months"} if re.search(r"几个月|多少个月|几年|多少年", low) else frozenset()),
        base=base,
        question=low,
        polar=polar,
        past=bool(_ASKED_PAST.search(low)),
        typed=question.answer_type in ("number", "money", "date", "duration") or any(f.typed for f in gold),
        names=foreign,
        words=frozenset(content_words(low)).union(*(f.tokens for f in gold)),
        negative=bool(NEGATIVE.search(low)) or any(NEGATIVE.search(f.low) for f in gold),
    )


_YES_NO = re.compile(r"\s*(?:likely\s|probably\s)?(?:yes|no)\b", re.IGNORECASE)


def _alternatives(question: Question) -> Sequence[str]:
    """A list given as one text is cut into its parts; other answers stand as they are."""
    if question.answer_type == "list" and len(question.answers) == 1 and not _YES_NO.match(question.answers[0]):
        parts = [p for p in re.split(r"\s*(?:[,;、，；]|\band\b|和|以及)\s*", question.answers[0]) if p.strip()]
        return parts or question.answers
    return question.answers


def _mark_bare(forms: tuple[Form, ...]) -> tuple[Form, ...]:
    united = {v.raw for f in forms for v in f.values if v.family not in ("", DATE, ID)}
    return tuple(
        replace(f, bare=True) if len(f.values) == 1 and not f.values[0].family and f.values[0].raw in united else f
        for f in forms
    )


def _families(forms: Sequence[Form]) -> frozenset[str]:
    return frozenset(v.family for f in forms for v in f.values if v.family not in ("", DATE, ID))


def merged_when(form: When, others: Sequence[When]) -> When:
    """Add what the accepted forms beside it state and it does not: "Thursday 16:45" beside "16 May 16:45" is that Thursday."""
    for other in others:
        if other is form or not compatible(form, other) or not form.fields() & other.fields():
            continue
        filled = {n: getattr(other, n) for n in ("y", "m", "d", "wd", "t", "part", "tz") if getattr(form, n) is None}
        if "wd" in filled:
            filled["computed_wd"] = other.computed_wd
        if filled.get("t") is not None:
            filled["half"] = other.half
        elif form.half and other.t is not None and not other.half:
            filled |= {"t": other.t, "half": False}
        form = replace(form, **filled)
    return form
