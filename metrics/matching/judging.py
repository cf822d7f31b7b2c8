"""The deterministic judge: one outcome per answer, by the precedence of METRICS.

error, abstention outcomes, wrong_memory, correct, incomplete, hallucination, wrong_other.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from memtrial.datasets.schema import Message, Question
from memtrial.metrics.matching import dates
from memtrial.metrics.matching.assertion import Reader, Status
from memtrial.metrics.matching.forms import (
    OPEN_F1,
    Form,
    Key,
    Mention,
    compile_key,
    find_mentions,
    in_other_words,
    merged_when,
    option_letters,
    partial_when,
    scattered,
)
from memtrial.metrics.matching.phrases import (
    abstaining,
    abstaining_anywhere,
    asking_back,
    declining_spans,
    nothing_found,
)
from memtrial.metrics.matching.polarity import explicit, polarity
from memtrial.metrics.matching.support import unsupported
from memtrial.metrics.matching.text import Text, clauses, content_words, normalise, overlap_f1
from memtrial.metrics.matching.values import DATE, ID, Value, extract
from memtrial.metrics.records import Judgement, Result

_RESTRICTED = re.compile(
    r"\b(?:only|just|merely|other|another|different|someone|somebody|else|belongs|whereas|while|though|although|for)\b|只|仅|别的|其他|另外|另一|但那|那是|而"
)
_NO_TEXT = re.compile(r"[\W_]*")
_NEGATED = re.compile(r"\b(?:not|never|no|neither|nor)\b|n't\b|没有?|不(?!过|仅|但|光|止)|未|无|并非")


@dataclass(slots=True)
class _Found:
    """What an answer names, and how."""

    gold: list[tuple[Mention, Status]] = field(default_factory=list)
    lures: list[tuple[str, Mention, Status]] = field(default_factory=list)


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
        return _abstained(judgement, question, asked=bool(result.text) and asking_back(normalise(result.text).low))
    return _judge_text(judgement, question, result, log)


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


def _abstained(judgement: Judgement, question: Question, *, asked: bool, note: str = "") -> Judgement:
    judgement.outcome = "needless_abstention" if question.answerable else "correct_abstention"
    judgement.abstained = True
    judgement.asked_back = asked
    judgement.note = note
    return judgement


def _judge_text(judgement: Judgement, question: Question, result: Result, log: Mapping[str, Message]) -> Judgement:
    text = normalise(result.text)
    key = compile_key(question, _lure_names(question, log))
    if question.options:
        return _judge_choice(judgement, question, key, result, text.low, log)
    values = tuple(
        replace(v, when=dates.resolve(v.when, key.base)) if v.when is not None else v for v in extract(text.low)
    )
    found, reader = _find(key, text, values)
    gold = [m for m, s in found.gold if _asserted_gold(s, found, key) and not _contradicted(m, key, text.low)]
    lures = _asserted_lures(found, key, gold, values, reader)

    offered = bool(gold or lures)
    if abstaining_anywhere(text.low) or text.low.endswith("?") or "please" in text.low or "请" in text.low:
        asked = asking_back(text.low)
        if (asked and not gold) or _declines(text.low, reader, values, found, key, question):
            return _abstained(judgement, question, asked=asked)
    if not question.answerable:
        return _judge_unanswerable(judgement, question, key, text.low, reader, lures, offered)
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


def _find(key: Key, text: Text, values: tuple[Value, ...]) -> tuple[_Found, Reader]:
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
    found = _Found()
    for m in kept_gold:
        rivals = [(l.start, l.end) for _, l in lures]
        found.gold.append((m, reader.status(m.start, m.end, rivals, dated=m.dated) if m.exact else Status.ASSERTED))
    for kind, m in lures:
        rivals = [(g.start, g.end) for g in kept_gold if g.exact]
        found.lures.append((kind, m, reader.status(m.start, m.end, rivals, dated=m.dated)))
    return found, reader


def _inside(a: Mention, b: Mention) -> bool:
    return b.start <= a.start and a.end <= b.end and (b.end - b.start) > (a.end - a.start)


def _asserted_gold(status: Status, found: _Found, key: Key) -> bool:
    named = [s for _, _, s in found.lures]
    denied = any(s is Status.DENIED for _, s in found.gold) and not key.negative
    if denied and any(s in (Status.NEW, Status.ASSERTED) for s in named):
        return False
    if status is Status.DENIED:
        return key.negative and not any(s in (Status.NEW, Status.ASSERTED) for s in named)
    if status is Status.OLD and not key.past:
        return not any(s in (Status.NEW, Status.ASSERTED, Status.ASIDE) for s in named)
    return True


_CONTINUES = re.compile(r"^[\s号#-]*(\d+)")


def _contradicted(mention: Mention, key: Key, low: str) -> bool:
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
    if len(alike) > 1 and _close(sum(alike) + term.amount, total.amount):
        return True
    for other in others:
        a, b = term.amount, other.amount
        terms = [a + b, a - b, b - a, a * b, a * other.raw] + ([a / b] if b else []) + ([b / a] if a else [])
        if any(_close(t, total.amount) for t in terms):
            return True
    return False


def _close(a: float, b: float) -> bool:
    return abs(a - b) <= 1e-9 * max(1.0, abs(a), abs(b))


def _asserted_lures(
    found: _Found, key: Key, gold: Sequence[Mention], values: Sequence[Value], reader: Reader
) -> list[tuple[str, Mention]]:
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
            status is Status.ASIDE or (gold_is_old and status is Status.NEW) or _operand(mention, gold, values)
        ):
            continue
        out.append((kind, mention))
    return out


def _declines(low: str, reader: Reader, values: Sequence[Value], found: _Found, key: Key, question: Question) -> bool:
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


def _judge_unanswerable(
    judgement: Judgement,
    question: Question,
    key: Key,
    low: str,
    reader: Reader,
    lures: list[tuple[str, Mention]],
    offered: bool,
) -> Judgement:
    if any(overlap_f1(a, low) >= OPEN_F1 for a in question.answers):
        return _abstained(judgement, question, asked=False, note="says what the accepted refusal says")
    if _corrects_premise(low, key, reader, lures):
        return _abstained(judgement, question, asked=False, note="corrects the premise of the question")
    judgement.lures_used = sorted({kind for kind, _ in lures})
    judgement.outcome = "wrong_memory" if lures else "hallucination"
    return judgement


def _corrects_premise(low: str, key: Key, reader: Reader, lures: list[tuple[str, Mention]]) -> bool:
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


def _judge_boolean(
    judgement: Judgement, question: Question, key: Key, low: str, found: _Found, lures: list[tuple[str, Mention]]
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


def _judge_choice(
    judgement: Judgement, question: Question, key: Key, result: Result, low: str, log: Mapping[str, Message]
) -> Judgement:
    """Multiple choice: the letters named, or else the options whose text is named."""
    labels = [normalise(o).low for o in question.options]
    stripped = [re.sub(r"^\W*[a-h][.):、:]\s*", "", label) for label in labels]
    letters = option_letters(low, len(labels))
    if not letters:
        named = [i for i, option in enumerate(stripped) if option and option in low]
        longest = [i for i in named if not any(j != i and stripped[i] in stripped[j] for j in named)]
        letters = frozenset("abcdefgh"[i] for i in longest if i < 8)
        if not letters:
            letters = frozenset(
                "abcdefgh"[i] for i, o in enumerate(stripped[:8]) if o and overlap_f1(o, low) >= OPEN_F1
            )
    gold = _gold_letters(question, stripped)
    if not letters:
        if abstaining(low) or asking_back(low):
            return _abstained(judgement, question, asked=asking_back(low))
        return judgement
    chosen = [stripped["abcdefgh".index(c)] for c in sorted(letters) if "abcdefgh".index(c) < len(stripped)]
    if not question.answerable and letters != gold:
        judgement.outcome = "hallucination"
        return judgement
    used = {l.kind for l in key.lures for f in l.forms if f.low in letters or f.low in chosen}
    if used - ({""}) and letters != gold:
        judgement.outcome, judgement.lures_used = "wrong_memory", sorted(used)
    elif letters == gold:
        judgement.outcome, judgement.matched = "correct", ",".join(sorted(letters))
    elif gold and letters < gold:
        judgement.outcome = "incomplete"
    return judgement


def _gold_letters(question: Question, options: Sequence[str]) -> frozenset[str]:
    letters: set[str] = set()
    for answer in question.answers:
        low = normalise(answer).low.strip()
        if re.fullmatch(r"[a-h](?:\s?[,、/&]\s?[a-h])*[.)]?", low):
            letters |= set(re.findall(r"[a-h]", low))
        else:
            letters |= {
                "abcdefgh"[i] for i, o in enumerate(options[:8]) if o == re.sub(r"^\W*[a-h][.):、:]\s*", "", low)
            }
    return frozenset(letters)


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


def _partial_gold(key: Key, values: Sequence[Value], found: _Found) -> bool:
    """A day without the time asked for, or the time without the day, is part of the answer."""
    if found.gold or not key.gold:
        return False
    whens = [f.values[0].when for f in key.gold if len(f.values) == 1 and f.values[0].when]
    for stated in whens:
        wanted = merged_when(stated, whens)
        if stated.t is None or wanted.t is None or wanted.t is None or not wanted.is_day():
            continue
        for value in values:
            when = value.when
            if (
                when is not None
                and not value.ranged
                and dates.compatible(when, wanted)
                and when.fields() & {"d", "wd", "t"}
            ):
                return True
    return False
