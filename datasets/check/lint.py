"""Faults of ids, times and labels in a loaded data set, however it was made."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from memtrial.datasets.check.hints import contested_hints
from memtrial.datasets.check.report import CheckReport, Finding, Severity
from memtrial.datasets.schema import LURE_KINDS, Corpus, Dataset, Message, Question

_ORDER = {"error": 0, "warning": 1, "info": 2}


@dataclass(frozen=True, slots=True)
class _Places:
    """What the labels of a corpus may point to."""

    corpus: str
    messages: dict[str, Message]
    sessions: frozenset[str]
    conversations: frozenset[str]
    tenants: frozenset[str]

    @classmethod
    def of(cls, corpus: Corpus) -> _Places:
        messages = {m.id: m for c in corpus.conversations for m in c.messages}
        return cls(
            corpus=corpus.id,
            messages=messages,
            sessions=frozenset(m.session_id for m in messages.values()),
            conversations=frozenset(c.id for c in corpus.conversations),
            tenants=frozenset(corpus.tenants),
        )


def check_dataset(dataset: Dataset) -> CheckReport:
    """Check a data set.

    Errors make figures wrong: ids that are used twice or lead nowhere, answerable questions without an answer, a lure whose
    value is the gold answer, evidence that is later than its question (where the clock counts) or of another tenant,
    naive or unsorted times. Warnings are unlikely labels; infos are hints that a gold label may be in doubt.
    """
    findings: list[Finding] = []
    questions_seen: dict[str, str] = {}
    for corpus in dataset.corpora:
        findings += _messages(corpus)
        places = _Places.of(corpus)
        for question in corpus.questions:
            if question.id in questions_seen:
                detail = f"question id is used in corpus {questions_seen[question.id]!r} and in {corpus.id!r}"
                findings.append(Finding("error", "duplicate_id", question.id, detail))
            questions_seen[question.id] = corpus.id
            findings += _question(question, places, dataset.clock_usable)
        findings += contested_hints(corpus)
    findings.sort(key=lambda f: _ORDER[f.severity])
    return CheckReport(dataset.name, tuple(findings), dataset.notes, _totals(dataset), _counts(dataset))


def normalised(text: str) -> str:
    """Fold case, width and punctuation, so that spellings of one value compare equal."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    kept = "".join(c if c.isalnum() or c in ".%+-" else " " for c in folded)
    return " ".join(kept.split()).strip(". ")


def _messages(corpus: Corpus) -> Iterator[Finding]:
    seen: dict[str, str] = {}
    for conversation in corpus.conversations:
        previous: Message | None = None
        for message in conversation.messages:
            if message.id in seen:
                detail = f"message id is used in conversation {seen[message.id]!r} and in {conversation.id!r}"
                yield Finding("error", "duplicate_id", message.id, detail)
            seen[message.id] = conversation.id
            if message.timestamp.tzinfo is None:
                yield Finding("error", "naive_time", message.id, f"{message.timestamp.isoformat()} has no time zone")
            elif previous is not None and previous.timestamp.tzinfo and message.timestamp < previous.timestamp:
                yield Finding("error", "unsorted", message.id, f"is earlier than {previous.id} before it")
            if (message.conversation_id, message.tenant_id) != (conversation.id, conversation.tenant_id):
                stated = f"{message.conversation_id!r} of tenant {message.tenant_id!r}"
                yield Finding(
                    "error", "misplaced", message.id,
                    f"says conversation {stated} but stands in {conversation.id!r} of {conversation.tenant_id!r}",
                )  # fmt: skip
            previous = message
    for conversation in corpus.conversations:
        for message in conversation.messages:
            if message.reply_to is not None and message.reply_to not in seen:
                yield Finding(
                    "warning", "dangling_reply", message.id, f"replies to {message.reply_to!r}, which does not exist"
                )


def _question(q: Question, places: _Places, clock: bool) -> Iterator[Finding]:
    yield from _dangling(q, places)
    messages = places.messages
    if not q.text.strip():
        yield Finding("error", "empty_question", q.id, "the question has no text")
    if q.answerable and not any(a.strip() for a in q.answers):
        yield Finding("error", "empty_answer", q.id, "answerable, but no accepted answer")
    if q.asked_at.tzinfo is None:
        yield Finding("error", "naive_time", q.id, f"asked_at {q.asked_at.isoformat()} has no time zone")
    gold = {normalised(a) for a in q.answers} - {""}
    for lure in q.lures:
        if lure.kind not in LURE_KINDS:
            yield Finding("error", "unknown_lure", q.id, f"lure kind {lure.kind!r}; allowed: {', '.join(LURE_KINDS)}")
        for value in lure.values:
            if normalised(value) in gold:
                yield Finding(
                    "error", "lure_equals_answer", q.id, f"{lure.kind} lure says {value!r}, which is an accepted answer"
                )
        if lure.kind == "other_tenant" and any(
            messages[i].tenant_id == q.tenant_id for i in lure.message_ids if i in messages
        ):
            yield Finding(
                "warning", "lure_tenant", q.id, "an other_tenant lure points to a message of the question's own tenant"
            )
    for ident in q.evidence:
        message = messages.get(ident)
        if message is None:
            continue
        if message.tenant_id != q.tenant_id:
            yield Finding("error", "evidence_tenant", q.id, f"evidence {ident} belongs to tenant {message.tenant_id!r}")
        if q.asked_at.tzinfo and message.timestamp.tzinfo and message.timestamp > q.asked_at:
            severity: Severity = "error" if clock else "info"
            yield Finding(
                severity, "evidence_later", q.id, f"evidence {ident} is later than asked_at {q.asked_at.isoformat()}"
            )
    if len(set(q.evidence)) < len(q.evidence):
        yield Finding("warning", "duplicate_evidence", q.id, "an evidence id is named twice")
    if q.evidence and not q.needs_memory:
        yield Finding("warning", "evidence_unneeded", q.id, "needs no memory, yet has evidence")
    if q.answerable and q.needs_memory and not q.evidence and not q.evidence_sessions:
        yield Finding("info", "no_evidence", q.id, "answerable without labelled evidence: recall cannot be measured")


def _dangling(q: Question, places: _Places) -> Iterator[Finding]:
    references = [("evidence", q.evidence), ("official_evidence", q.official_evidence)]
    references += [(f"{lure.kind} lure", lure.message_ids) for lure in q.lures]
    for what, idents in references:
        for ident in idents:
            if ident not in places.messages:
                yield Finding(
                    "error", "dangling_id", q.id, f"{what} {ident!r} is not a message of corpus {places.corpus!r}"
                )
    for session in q.evidence_sessions:
        if session not in places.sessions:
            yield Finding(
                "error", "dangling_id", q.id, f"evidence session {session!r} is not in corpus {places.corpus!r}"
            )
    if q.conversation_id not in places.conversations:
        yield Finding(
            "error", "dangling_id", q.id, f"conversation {q.conversation_id!r} is not in corpus {places.corpus!r}"
        )
    if q.tenant_id not in places.tenants:
        yield Finding(
            "error", "dangling_id", q.id, f"tenant {q.tenant_id!r} has no conversation in corpus {places.corpus!r}"
        )


def _totals(dataset: Dataset) -> dict[str, int]:
    conversations = [c for corpus in dataset.corpora for c in corpus.conversations]
    questions = [q for _, q in dataset.questions()]
    return {
        "corpora": len(dataset.corpora),
        "conversations": len(conversations),
        "tenants": len({c.tenant_id for c in conversations}),
        "messages": sum(len(c.messages) for c in conversations),
        "questions": len(questions),
        "unanswerable": sum(not q.answerable for q in questions),
        "without need of memory": sum(not q.needs_memory for q in questions),
        "contested": sum(bool(q.contested) for q in questions),
    }


def _counts(dataset: Dataset) -> dict[str, dict[str, int]]:
    questions = [q for _, q in dataset.questions()]
    messages = (m for corpus in dataset.corpora for c in corpus.conversations for m in c.messages)
    return {
        "category": dict(Counter(q.category for q in questions)),
        "language": dict(Counter(q.language for q in questions)),
        "answer type": dict(Counter(q.answer_type for q in questions)),
        "lure": dict(Counter(kind for q in questions for kind in {lure.kind for lure in q.lures})),
        "source of messages": dict(Counter(m.source for m in messages)),
    }
