"""Whether an answer declines, or corrects the premise of its question."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memtrial.datasets.schema import Question
from memtrial.metrics.matching.assertion import Reader, Status
from memtrial.metrics.matching.forms import Key, Mention
from memtrial.metrics.matching.holding import Found
from memtrial.metrics.matching.phrases import abstaining, declining_spans, nothing_found
from memtrial.metrics.matching.polarity import explicit
from memtrial.metrics.matching.quantities import DATE, Value
from memtrial.metrics.matching.text import content_words
from memtrial.metrics.records import Judgement

_RESTRICTED = re.compile(
    r"\b(?:only|just|merely|other|another|different|someone|somebody|else|belongs|whereas|while|though|although|for)\b|只|仅|别的|其他|另外|另一|但那|那是|而"
)
_NEGATED = re.compile(r"\b(?:not|never|no|neither|nor)\b|n't\b|没有?|不(?!过|仅|但|光|止)|未|无|并非")


def abstained(judgement: Judgement, question: Question, *, asked: bool, note: str = "") -> Judgement:
    """Fill in the outcome of an answer that abstained."""
    judgement.outcome = "needless_abstention" if question.answerable else "correct_abstention"
    judgement.abstained = True
    judgement.asked_back = asked
    judgement.note = note
    return judgement


def declines(low: str, reader: Reader, values: Sequence[Value], found: Found, key: Key, question: Question) -> bool:
    """Say whether the text declines to answer and offers no value as the answer beside it."""
    if key.polar and explicit(low):
        return False
    if any(abstaining(m.form.low) for m, s in found.gold if s is not Status.DENIED):
        return False
    declining = [abstaining(low[s:e]) or (not key.polar and nothing_found(low[s:e])) for s, e in reader.clauses]
    if not any(declining) and not abstaining(low):
        return False

    inside = declining_spans(low)

    def offers(start: int, end: int) -> bool:
        i = reader.clause(start)
        left, right = reader.clauses[i] if reader.clauses else (0, len(low))
        aside = _RESTRICTED.search(low[left:right]) or reader.own_statement(start, end, key.words)
        return not declining[i] and not aside and not any(s <= start < e for s, e in inside)

    if any(not declining[reader.clause(m.start)] for m, s in found.gold if s is not Status.DENIED and m.exact):
        return False
    named = [m for _, m, s in found.lures if s in (Status.ASSERTED, Status.NEW)]
    if any(offers(m.start, m.end) for m in named):
        return False
    wanted = {"date": (DATE,), "money": ("money:",), "number": ("",), "duration": ("seconds", "months", "workdays")}
    prefixes = wanted.get(question.answer_type, ())
    return not any(
        offers(v.start, v.end) for v in values for p in prefixes if v.family == p or (p and v.family.startswith(p))
    )


def corrects_premise(low: str, key: Key, reader: Reader, lures: list[tuple[str, Mention]]) -> bool:
    """Say whether the first clause denies something the question takes for granted, and offers no lure in that clause."""
    if not reader.clauses:
        return False
    asked = set(content_words(key.question))
    for left, right in reader.clauses[:2]:
        clause = low[left:right]
        cut = _NEGATED.search(clause)
        if cut is None or any(left <= m.start < right for _, m in lures):
            if len(clause) > 12:
                return False
            continue
        shared = asked & set(content_words(clause[cut.start() :]))
        if len([w for w in shared if len(w) > 1]) >= 1 or len(shared) >= 2:
            return True
    return False
