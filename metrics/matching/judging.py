"""The deterministic judge: one outcome per answer, by the precedence of METRICS.

error, abstention outcomes, wrong_memory, correct, incomplete, hallucination, wrong_other.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from memtrial.datasets.schema import Message, Question
from memtrial.metrics.matching.assertion import Reader
from memtrial.metrics.matching.choice import judge_choice
from memtrial.metrics.matching.declining import abstained, corrects_premise, declines
from memtrial.metrics.matching.forms import Form, Key, Mention, compile_key, merged_when
from memtrial.metrics.matching.holding import Found, asserted_gold, asserted_lures, contradicted, find
from memtrial.metrics.matching.mentions import OPEN_F1, in_other_words, scattered
from memtrial.metrics.matching.phrases import abstaining_anywhere, asks_explicitly, last_question
from memtrial.metrics.matching.polarity import polarity
from memtrial.metrics.matching.quantities import Value
from memtrial.metrics.matching.support import unsupported
from memtrial.metrics.matching.text import normalise, overlap_f1
from memtrial.metrics.matching.values import extract
from memtrial.metrics.matching.when import compatible, resolve
from memtrial.metrics.records import Judgement, Result

_NO_TEXT = re.compile(r"[\W_]*")


def judge(question: Question, result: Result, log: Mapping[str, Message]) -> Judgement:
    """Judge one answer by its labels alone; the same answer gets the same judgement on any machine.

    Args:
        question: the question with its labels.
        result: what the system answered.
        log: messages of the corpus by id: tenants of what was shown, and support for values.

    Returns:
        The outcome with what it rests on. Never raises on any answer text.
    """
    judgement = _context_facts(question, result, log)
    if result.error is not None:
        judgement.outcome = "error"
        return judgement
    if result.abstained or _NO_TEXT.fullmatch(result.text):
        return abstained(judgement, question, asked=_asks(result.text))
    return _judge_text(judgement, question, result, log)


def _asks(text: str) -> bool:
    return bool(text) and last_question(normalise(text).low) >= 0


def _context_facts(question: Question, result: Result, log: Mapping[str, Message]) -> Judgement:
    evidence = set(question.evidence)
    shown = {i for item in result.context for i in item.ids} if question.lures else set()
    exposed = {lure.kind for lure in question.lures if any(i in shown and i not in evidence for i in lure.message_ids)}
    lured = {i for lure in question.lures for i in lure.message_ids} - evidence
    return Judgement(
        outcome="wrong_other",
        lures_exposed=sorted(exposed),
        lure_cited=any(i in lured for i in result.citations),
        leaks=_leaks(question, result, log),
    )


def _leaks(question: Question, result: Result, log: Mapping[str, Message]) -> int:
    """Count what belongs to another tenant in ranking, context and citations: each message once, and each item without ids."""
    if not question.tenant_id:
        return 0
    foreign: set[str] = set()
    nameless = 0
    seen: set[str] = set()
    for item in (*result.retrieved, *result.context):
        other = bool(item.tenant_id) and item.tenant_id != question.tenant_id
        nameless += other and not item.ids
        for i in item.ids:
            if i not in seen:
                seen.add(i)
                message = log.get(i)
                if (message is not None and message.tenant_id != question.tenant_id) or (message is None and other):
                    foreign.add(i)
            if other:
                foreign.add(i)
    for i in result.citations:
        message = log.get(i)
        if message is not None and message.tenant_id != question.tenant_id:
            foreign.add(i)
    return len(foreign) + nameless


def _judge_text(judgement: Judgement, question: Question, result: Result, log: Mapping[str, Message]) -> Judgement:
    text = normalise(result.text)
    key = compile_key(question, _lure_names(question, log))
    if question.options:
        return judge_choice(judgement, question, key, text.low)
    values = tuple(replace(v, when=resolve(v.when, key.base)) if v.when is not None else v for v in extract(text.low))
    found, reader = find(key, text, values)
    gold = [m for m, s in found.gold if asserted_gold(s, found, key) and not contradicted(m, key, text.low)]
    lures = asserted_lures(found, key, gold, values, reader)

    if abstaining_anywhere(text.low) or text.low.endswith("?") or "please" in text.low or "请" in text.low:
        start = last_question(text.low)
        named = any(m.start < start for m in gold) or any(m.start < start for _, m in lures)
        asked = start >= 0 and not named and (asks_explicitly(text.low) or not (gold or lures or values))
        if asked or declines(text.low, reader, values, found, key, question):
            return abstained(judgement, question, asked=asked)
    if not question.answerable:
        return _judge_unanswerable(judgement, question, key, text.low, reader, lures)
    if key.polar:
        verdict = _judge_boolean(judgement, question, key, text.low, found, lures)
        if verdict is not None:
            return verdict
    judgement.lures_used = sorted({kind for kind, _ in lures})
    if lures:
        judgement.outcome, judgement.mixed = "wrong_memory", bool(gold)
        judgement.matched = gold[0].form.low if gold else ""
        return judgement
    complete, part = _completeness(question, key, gold, text.low)
    if complete:
        judgement.outcome, judgement.matched = "correct", gold[0].form.low if gold else complete
        return judgement
    if part or _partial_gold(key, values, found):
        judgement.outcome, judgement.matched = "incomplete", gold[0].form.low if gold else ""
        return judgement
    judgement.unsupported = unsupported(question, key, result, log, values)
    judgement.outcome = "hallucination" if judgement.unsupported else "wrong_other"
    return judgement


def _lure_names(question: Question, log: Mapping[str, Message]) -> frozenset[str]:
    names = set()
    for lure in question.lures:
        if lure.kind.startswith("other"):
            for i in lure.message_ids:
                message = log.get(i)
                if message is not None:
                    names.add(message.sender_name)
    return frozenset(names)


def _judge_unanswerable(
    judgement: Judgement,
    question: Question,
    key: Key,
    low: str,
    reader: Reader,
    lures: list[tuple[str, Mention]],
) -> Judgement:
    if any(overlap_f1(a, low) >= OPEN_F1 for a in question.answers):
        return abstained(judgement, question, asked=False, note="says what the accepted refusal says")
    if corrects_premise(low, key, reader, lures):
        return abstained(judgement, question, asked=False, note="corrects the premise of the question")
    judgement.lures_used = sorted({kind for kind, _ in lures})
    judgement.outcome = "wrong_memory" if lures else "hallucination"
    return judgement


def _judge_boolean(
    judgement: Judgement, question: Question, key: Key, low: str, found: Found, lures: list[tuple[str, Mention]]
) -> Judgement | None:
    said = polarity(low, key.question)
    worded = [
        (k, m)
        for k, m in lures
        if not m.form.polar and len(m.form.low) > 3 and polarity(m.form.low, form=True) in (said, 0)
    ]
    if worded and (said != key.polar or all(polarity(m.form.low, form=True) == key.polar for _, m in worded)):
        judgement.outcome, judgement.lures_used = "wrong_memory", sorted({k for k, _ in worded})
        return judgement
    if said == 0:
        return None
    if said == key.polar:
        judgement.outcome, judgement.matched = "correct", "yes" if said > 0 else "no"
        return judgement
    used = {l.kind for l in key.lures if any((f.polar or polarity(f.low, form=True)) == said for f in l.forms)}
    judgement.lures_used = sorted(used)
    judgement.outcome = "wrong_memory" if used else "wrong_other"
    return judgement


def _completeness(question: Question, key: Key, gold: Sequence[Mention], low: str) -> tuple[str, bool]:
    """Return the form found ("" if none) and whether a part of a list is there."""
    if question.answer_type == "list" and len(key.gold) > 1:
        named = {m.form.low for m in gold}
        said = polarity(low, key.question)
        missing = [
            f
            for f in key.gold
            if f.low not in named
            and not (f.polar and f.polar == said)
            and not _in_other_words(f, low)
            and not scattered(f, low)
        ]
        if not missing:
            return "; ".join(f.low for f in key.gold), False
        return "", len(missing) < len(key.gold)
    if gold:
        return gold[0].form.low, False
    for form in key.gold:
        if not form.typed and not form.polar and _in_other_words(form, low):
            return form.low, False
    return "", False


_DONT = re.compile(r"(?:不要|不用|不必|无需|不需要|勿|请勿|别|不)")


def _in_other_words(form: Form, low: str) -> bool:
    """An instruction not to do something may be put as 别, 不要, 不用 or 不必; "don't", "do not", "never" or "no"."""
    cut = _DONT.match(form.low)
    if cut:
        rest = re.escape(form.low[cut.end() :])
        if re.search(rf"(?:不要|不用|不必|无需|不需要|勿|别|不)\w{{0,3}}{rest}", low):
            return True
    return in_other_words(form, low)


def _partial_gold(key: Key, values: Sequence[Value], found: Found) -> bool:
    """A day without the time asked for, or the time without the day, is part of the answer."""
    if found.gold or not key.gold:
        return False
    whens = [f.values[0].when for f in key.gold if len(f.values) == 1 and f.values[0].when]
    for stated in whens:
        wanted = merged_when(stated, whens)
        if stated.t is None or wanted.t is None or not wanted.is_day():
            continue
        for value in values:
            when = value.when
            if when is not None and not value.ranged and compatible(when, wanted) and when.fields() & {"d", "wd", "t"}:
                return True
    return False
