"""Where an answer names an accepted form or a lure value."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from itertools import pairwise

from memtrial.metrics.matching.forms import NEGATIVE, TOKEN, ZH_FILLER, Form, Key, Mention, merged_when
from memtrial.metrics.matching.numerals import EN_WORDS
from memtrial.metrics.matching.quantities import DATE, ID, Value, same_quantity
from memtrial.metrics.matching.text import content_words, f1, is_cjk, stem
from memtrial.metrics.matching.when import When, compatible, covers, resolve, with_year

OPEN_F1 = 0.8
"""An open answer whose content words overlap with an accepted form to this F1 is that form in other words."""


def find_mentions(
    forms: Sequence[Form], families: frozenset[str], low: str, values: Sequence[Value], key: Key, *, gold: bool
) -> list[Mention]:
    """Find where an answer names any of the forms.

    Args:
        forms: accepted forms, or the values of one lure.
        families: unit families among them.
        low: the normalised, lowered answer.
        values: its typed values, points in time resolved.
        key: the compiled question.
        gold: the forms are accepted ones: also look for forms whose words are there with others between, and let a day
            stand for the month that was asked for.
    """
    found: list[Mention] = []
    whens = [f.values[0].when for f in forms if len(f.values) == 1 and f.values[0].when]
    whole = low.strip(" .。!?,;")
    for form in forms:
        if form.typed:
            found += _typed(form, families, low, values, key, [w for w in whens if w])
            if any(v.family == ID for v in form.values) and form.pattern is not None:
                found += [
                    Mention(m.start(), m.end(), form)
                    for m in form.pattern.finditer(low)
                    if not any(x.start <= m.start() < x.end for x in found)
                ]
            if form.low == whole and not any(m.form is form for m in found):
                found.append(Mention(0, len(low), form))
        elif form.polar:
            if whole == form.low:
                found.append(Mention(0, len(low), form))
        elif form.pattern is not None:
            found += [Mention(m.start(), m.end(), form) for m in form.pattern.finditer(low) if m.end() > m.start()]
    if not gold:
        found = [m for m in found if not _narrower(m, values)]
    elif not found:
        for form in forms:
            if not form.typed and not form.polar:
                span = scattered(form, low)
                if span:
                    found.append(Mention(*span, form, exact=False))
                    break
    return found


def _narrower(mention: Mention, values: Sequence[Value]) -> bool:
    """Say whether a named day merely lies in the month (or its end) that a lure names."""
    wanted = mention.form.values[0].when if len(mention.form.values) == 1 else None
    if wanted is None or wanted.d is not None or wanted.m is None:
        return False
    said = next((v.when for v in values if v.start == mention.start and v.when), None)
    return said is not None and said.d is not None


def _typed(
    form: Form, families: frozenset[str], low: str, values: Sequence[Value], key: Key, whens: Sequence[When]
) -> list[Mention]:
    found: list[Mention] = []
    size = len(form.values)
    if size > 1:
        for i in range(len(values) - size + 1):
            run = values[i : i + size]
            if all(_same(v, f, families, key, whens, bare=False) for v, f in zip(run, form.values, strict=True)):
                found.append(Mention(run[0].start, run[-1].end, form))
        return found
    wanted = form.values[0]
    for value in values:
        if value.ranged and not (
            value.family == DATE and re.search(r"(?:from|between|从|自|于)\s?$", low[: value.start])
        ):
            continue
        if _same(value, wanted, families, key, whens, bare=form.bare):
            found.append(Mention(value.start, value.end, form, dated=value.family == DATE))
    return found


def _same(value: Value, form: Value, families: frozenset[str], key: Key, whens: Sequence[When], *, bare: bool) -> bool:
    if form.when is not None:
        when = value.when or (_dotted(value) if form.when.t is not None else _dotted_day(value))
        if when is None:
            return False
        full = merged_when(form.when, whens)
        return covers(when, form.when, key.base) and compatible(_aligned(when, full, key.base), full)
    if value.when is not None:
        return bool(value.raw) and same_quantity(
            replace(value, family="", when=None), form, families, key.asked, bare=bare
        )
    return same_quantity(value, form, families, key.asked, bare=bare)


def _aligned(when: When, full: When, base: datetime) -> When:
    """Give a dated mention the year in question, so that it can be held against a weekday."""
    if full.d is None and full.wd is not None and when.wd is None:
        return resolve(with_year(when, base), base)
    return when


def _dotted(value: Value) -> When | None:
    """ "11.40" is a time of day where the accepted form is one."""
    hour, minute = int(value.raw), round((value.raw % 1) * 100, 6)
    if value.family or not 0 <= hour < 24 or minute != int(minute) or minute > 59 or value.end - value.start < 4:
        return None
    return When(t=hour * 60 + int(minute), half=1 <= hour <= 12)


def _dotted_day(value: Value) -> When | None:
    """ "7.15" is the 15th of July where the accepted form is a day."""
    month = int(value.raw)
    decimals = value.end - value.start - len(str(month)) - 1
    if value.family or not 1 <= month <= 12 or decimals not in (1, 2):
        return None
    day = round((value.raw - month) * 10**decimals)
    return When(m=month, d=day) if 1 <= day <= 31 else None


def partial_when(forms: Sequence[Form], others: Sequence[Form], values: Sequence[Value], key: Key) -> list[Mention]:
    """Find points in time that agree with a form in all they state, state less, and disagree with every one of ``others``."""
    found: list[Mention] = []
    rest = [f.values[0].when for f in others if len(f.values) == 1 and f.values[0].when]
    for form in forms:
        if len(form.values) != 1 or form.values[0].when is None:
            continue
        wanted = form.values[0].when
        for value in values:
            when = value.when
            if when is None or value.ranged or not when.fields() & wanted.fields() & {"d", "wd", "t"}:
                continue
            if compatible(when, wanted) and not any(compatible(when, o) for o in rest if o):
                found.append(Mention(value.start, value.end, form, dated=True, partial=True))
    return found


def numbers_in(low: str) -> frozenset[str]:
    """The runs of digits in a text: whatever else is put in other words, they must all be there."""
    return frozenset(re.findall(r"\d+", low))


def counted(low: str) -> frozenset[tuple[str, str]]:
    """Pairs of a number and the word after it: "two cats and a dog" is not "a cat and two dogs"."""
    tokens = [str(EN_WORDS.get(w, w)) for w in TOKEN.findall(low)]
    return frozenset((n, stem(w)) for n, w in pairwise(tokens) if n.isdigit() and w.isascii() and w.isalpha())


def in_other_words(form: Form, low: str) -> bool:
    """Say whether a whole answer is an accepted form in other words.

    The content words of both overlap with an F1 of at least ``OPEN_F1`` (CJK by characters), digits and counted things are
    the same, and neither alone denies.
    """
    if numbers_in(form.low) != numbers_in(low) or counted(form.low) != counted(low):
        return False
    if bool(NEGATIVE.search(form.low)) != bool(NEGATIVE.search(low)):
        return False
    return form.low == low.strip(" .。!?,;") or f1(form.tokens, content_words(low)) >= OPEN_F1


def scattered(form: Form, low: str) -> tuple[int, int] | None:
    """Span of a form whose content words all stand in one sentence.

    Latin: every content word (four fifths of them from six words on) in any order. CJK: all characters in order, where
    the inserted ones are at most half as many as its own, and no gap is longer than three; only from four characters on.
    """
    if not numbers_in(form.low) <= numbers_in(low) or not counted(form.low) <= counted(low):
        return None
    if is_cjk(form.low):
        return _subsequence([t for t in form.tokens if t not in ZH_FILLER], low)
    wanted = set(form.tokens)
    if len(wanted) < 2:
        return None
    need = len(wanted) if len(wanted) < 6 else -(-len(wanted) * 4 // 5)
    start = 0
    for sentence in re.split(r"[.!?;\n](?=\s|$)", low):
        if len(wanted & set(content_words(sentence))) >= need and (
            not NEGATIVE.search(sentence) or NEGATIVE.search(form.low)
        ):
            return start, start + len(sentence)
        start += len(sentence) + 1
    return None


def _without(text: str, tokens: Sequence[str]) -> str:
    """What was inserted between the tokens."""
    for token in tokens:
        text = text.replace(token, "", 1)
    return text


def _subsequence(tokens: list[str], low: str) -> tuple[int, int] | None:
    if len(tokens) < 4:
        return None
    limit = len(tokens) // 2
    first = low.find(tokens[0])
    while first >= 0:
        place, inserted, ok = first + len(tokens[0]), 0, True
        for token in tokens[1:]:
            at = low.find(token, place, place + 4 + len(token))
            if at < 0:
                ok = False
                break
            inserted += at - place
            place = at + len(token)
        if ok and inserted <= limit and not re.search(r"[。!?;不没未别]", _without(low[first:place], tokens)):
            return first, place
        first = low.find(tokens[0], first + 1)
    return None
