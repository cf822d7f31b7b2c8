"""Records: a result with the labels of its question, its flattened ranking and its judgement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from memtrial.datasets.schema import Message, Question
from memtrial.metrics.matching import judge
from memtrial.metrics.records import Item, Labels, LureLabel, Record, Result


def make_record(trial: str, question: Question, result: Result, log: Mapping[str, Message]) -> Record:
    """Judge a result and put it beside its labels.

    Args:
        trial: label of the trial.
        question: the labelled question.
        result: what the system answered.
        log: messages of the corpus by id.

    Returns:
        The record; ``ranking``, ``ranking_sessions`` and ``ranking_tokens`` have equal length. An id that the log does not
        know keeps its rank with session "".
    """
    ranking, tokens = flatten(result.retrieved, log)
    return Record(
        trial=trial,
        result=result,
        labels=_labels(question, _evidence_sessions(question, log)),
        judgement=judge(question, result, log),
        ranking=ranking,
        ranking_sessions=[session_of(i, log) for i in ranking],
        ranking_tokens=tokens,
    )


def flatten(items: Sequence[Item], log: Mapping[str, Message]) -> tuple[list[str], list[int]]:
    """Flatten a ranking to message ids: item by item, in time order inside an item, duplicates at their first place.

    Returns:
        The ids, and parallel to them the tokens each rank adds: a wide item's tokens stand on its first new id, so that
        the sum over the first k never leaves out text that came with them.
    """
    ids: list[str] = []
    tokens: list[int] = []
    seen: set[str] = set()
    for item in items:
        order = item.ids if len(item.ids) < 2 else sorted(item.ids, key=lambda i: _time_key(i, log))
        first = True
        for i in order:
            if i in seen:
                continue
            seen.add(i)
            ids.append(i)
            tokens.append(item.tokens if first else 0)
            first = False
    return ids, tokens


def _time_key(message_id: str, log: Mapping[str, Message]) -> tuple[bool, float]:
    """Unknown ids come last inside their item; the sort is stable, so equal times keep the item's order."""
    message = log.get(message_id)
    return (True, 0.0) if message is None else (False, message.timestamp.timestamp())


def session_of(message_id: str, log: Mapping[str, Message]) -> str:
    """Return ``conversation_id/session_id`` of a message, or "" where the log does not know it."""
    message = log.get(message_id)
    return "" if message is None else f"{message.conversation_id}/{message.session_id}"


def _evidence_sessions(question: Question, log: Mapping[str, Message]) -> tuple[str, ...]:
    if question.evidence_sessions:
        return tuple(f"{question.conversation_id}/{session}" for session in question.evidence_sessions)
    return tuple(dict.fromkeys(s for i in question.evidence if (s := session_of(i, log))))


@lru_cache(maxsize=4096)
def _labels(question: Question, evidence_sessions: tuple[str, ...]) -> Labels:
    return Labels(
        text=question.text,
        history=[(t.speaker, t.text) for t in question.history],
        options=list(question.options),
        asker=question.asker,
        asked_at=question.asked_at.isoformat(),
        tenant_id=question.tenant_id,
        conversation_id=question.conversation_id,
        cluster_id=question.cluster_id,
        category=question.category,
        language=question.language,
        answerable=question.answerable,
        needs_memory=question.needs_memory,
        answer_type=question.answer_type,
        answers=list(question.answers),
        evidence=list(question.evidence),
        evidence_sessions=list(evidence_sessions),
        official_evidence=list(question.official_evidence),
        lures=[LureLabel(kind=l.kind, message_ids=list(l.message_ids), values=list(l.values)) for l in question.lures],
        contested=question.contested,
    )
