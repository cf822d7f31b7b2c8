"""Cold start: the same data set early in its life."""

from __future__ import annotations

import math
from dataclasses import replace

from memtrial.datasets.schema import Corpus, Dataset, Lure, Note, Question


def first_fraction(dataset: Dataset, fraction: float) -> Dataset:
    """Cut every corpus to its first part in time.

    A question stays if all its evidence is inside the cut (so one without evidence stays). Lures whose messages all
    lie outside are dropped with it, since they tempt nobody. ``asked_at`` stays as it is.

    Args:
        dataset: what to cut; unchanged.
        fraction: share of each corpus's messages to keep, in (0, 1]; rounded up to whole messages.
    """
    corpora = tuple(_cut(corpus, fraction) for corpus in dataset.corpora)
    before, after = _sizes(dataset.corpora), _sizes(corpora)
    detail = f"{fraction:g}: {after[0]} of {before[0]} messages and {after[1]} of {before[1]} questions kept"
    return replace(dataset, corpora=corpora, notes=(*dataset.notes, Note("fraction", dataset.name, detail)))


def _cut(corpus: Corpus, fraction: float) -> Corpus:
    messages = corpus.messages()
    kept = {m.id for m in messages[: math.ceil(fraction * len(messages))]}
    conversations = tuple(
        replace(
            c,
            messages=tuple(
                m if m.reply_to is None or m.reply_to in kept else replace(m, reply_to=None)
                for m in c.messages
                if m.id in kept
            ),
        )
        for c in corpus.conversations
    )
    cut_sessions = {m.session_id for m in messages if m.id not in kept}
    questions = tuple(
        _trim(q, kept)
        for q in corpus.questions
        if kept.issuperset(q.evidence) and cut_sessions.isdisjoint(q.evidence_sessions)
    )
    return replace(corpus, conversations=conversations, questions=questions)


def _trim(question: Question, kept: set[str]) -> Question:
    lures = []
    for lure in question.lures:
        inside = tuple(ident for ident in lure.message_ids if ident in kept)
        if inside or not lure.message_ids:
            lures.append(Lure(lure.kind, inside, lure.values, lure.why))
    official = tuple(ident for ident in question.official_evidence if ident in kept)
    return replace(question, lures=tuple(lures), official_evidence=official)


def _sizes(corpora: tuple[Corpus, ...]) -> tuple[int, int]:
    return (
        sum(len(c.messages) for corpus in corpora for c in corpus.conversations),
        sum(len(corpus.questions) for corpus in corpora),
    )
