"""Which of the values that an answer names it asserts as what holds."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from memtrial.metrics.matching.assertion import Reader, Status
from memtrial.metrics.matching.forms import Key, Mention
from memtrial.metrics.matching.mentions import find_mentions, partial_when
from memtrial.metrics.matching.quantities import ID, Value, close
from memtrial.metrics.matching.text import Text, clauses


@dataclass(slots=True)
class Found:
    """What an answer names, and how."""

    gold: list[tuple[Mention, Status]] = field(default_factory=list)
    lures: list[tuple[str, Mention, Status]] = field(default_factory=list)


def find(key: Key, text: Text, values: tuple[Value, ...]) -> tuple[Found, Reader]:
    """Find accepted forms and lure values in an answer, and how each is named."""
    gold = find_mentions(key.gold, key.families, text.low, values, key, gold=True)
    lures = [
        (l.kind, m)
        for l in key.lures
        for m in find_mentions(l.forms, l.families | key.families, text.low, values, key, gold=False)
    ]
    # The longest exact reading of a place wins; a value that is gold and lure alike is gold.
    kept_gold = [m for m in gold if not any(_inside(m, l) for _, l in lures)]
    lures = [
        (k, m)
        for k, m in lures
        if not any(_inside(m, g) or (m.start, m.end) == (g.start, g.end) for g in gold if g.exact)
    ]
    if not kept_gold:
        lures += [
            (l.kind, m)
            for l in key.lures
            for m in partial_when(l.forms, key.gold, values, key)
            if not any(m.start == x.start for _, x in lures)
        ]
    spans = [(m.start, m.end) for m in kept_gold if m.exact] + [(m.start, m.end) for _, m in lures]
    reader = Reader(text, clauses(text.cased, [(v.start, v.end) for v in values] + spans), values, spans, key.names)
    found = Found()
    for m in kept_gold:
        rivals = [(l.start, l.end) for _, l in lures]
        found.gold.append((m, reader.status(m.start, m.end, rivals, dated=m.dated) if m.exact else Status.ASSERTED))
    for kind, m in lures:
        rivals = [(g.start, g.end) for g in kept_gold if g.exact]
        found.lures.append((kind, m, reader.status(m.start, m.end, rivals, dated=m.dated)))
    return found, reader


def _inside(a: Mention, b: Mention) -> bool:
    return b.start <= a.start and a.end <= b.end and (b.end - b.start) > (a.end - a.start)


def asserted_gold(status: Status, found: Found, key: Key) -> bool:
    """Say whether an accepted form with this status is asserted, given what else is named."""
    named = [s for _, _, s in found.lures]
    later = [s for kind, _, s in found.lures if not (key.past and kind.startswith("other"))]
    denied = any(s is Status.DENIED for _, s in found.gold) and not key.negative
    if denied and any(s in (Status.NEW, Status.ASSERTED) for s in named):
        return False
    if status is Status.DENIED:
        return key.negative and not any(s in (Status.NEW, Status.ASSERTED) for s in named)
    if status is Status.OLD:
        # Where the question asks how things were, what came later belongs to another time, not to a better answer.
        return not any(s in (Status.NEW, Status.ASSERTED, Status.ASIDE) for s in later)
    return True


_CONTINUES = re.compile(r"^[\s号#-]*(\d+)")


def contradicted(mention: Mention, key: Key, low: str) -> bool:
    """Say whether the answer goes on with another number than the fuller accepted form does: "9号4幢1103" for "9号4幢1102"."""
    if mention.form.typed:
        return False
    said = _CONTINUES.match(low[mention.end :])
    if said is None:
        return False
    longer = [
        f.low.partition(mention.form.low)[2]
        for f in key.gold
        if mention.form.low in f.low and f.low != mention.form.low
    ]
    wanted = [m[1] for rest in longer if (m := _CONTINUES.match(rest))]
    return bool(wanted) and said[1] not in wanted


def _operand(mention: Mention, gold: Sequence[Mention], values: Sequence[Value]) -> bool:
    """Say whether a lure is only a term of the sum, difference, product or quotient that the gold is, worked out in the answer."""
    term = next((v for v in values if v.start == mention.start and v.when is None), None)
    total = next((v for v in values for g in gold if v.start == g.start and v.when is None and g.form.typed), None)
    if term is None or total is None or term.start == total.start:
        return False
    others = [v for v in values if v.when is None and v.family != ID and v.start not in (term.start, total.start)]
    alike = [v.amount for v in others if v.family == total.family]
    if len(alike) > 1 and close(sum(alike) + term.amount, total.amount):
        return True
    for other in others:
        a, b = term.amount, other.amount
        terms = [a + b, a - b, b - a, a * b, a * other.raw] + ([a / b] if b else []) + ([b / a] if a else [])
        if any(close(t, total.amount) for t in terms):
            return True
    return False


def _named_in_question(mention: Mention, key: Key) -> bool:
    """Say whether the question itself names the lure, so that an answer may repeat it: "Ravi, while Dana is away"."""
    if any(f.pattern is not None and f.pattern.search(key.question) for f in key.gold):
        return False
    pattern = mention.form.pattern
    return not mention.form.typed and pattern is not None and pattern.search(key.question) is not None


def asserted_lures(
    found: Found, key: Key, gold: Sequence[Mention], values: Sequence[Value], reader: Reader
) -> list[tuple[str, Mention]]:
    """Return the lures asserted as what holds, with their kinds."""
    out = []
    gold_is_old = key.past and gold and any(s is Status.OLD for _, s in found.gold)
    for kind, mention, status in found.lures:
        if status is Status.OLD or (status is Status.DENIED and (gold or not key.negative)):
            continue
        before = [g.end for g in gold if g.exact and g.end <= mention.start]
        if (
            status is Status.ASSERTED
            and before
            and reader.own_statement(mention.start, mention.end, key.words, before[0])
        ):
            continue
        if status is Status.ASSERTED and any(s is Status.NEW and g.start >= mention.end for g, s in found.gold):
            continue
        if gold and (
            status is Status.ASIDE
            or _named_in_question(mention, key)
            or (gold_is_old and status is Status.NEW and kind.startswith("other"))
            or _operand(mention, gold, values)
        ):
            continue
        out.append((kind, mention))
    return out
