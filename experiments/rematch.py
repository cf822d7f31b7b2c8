"""The matcher of this version on the answers of a finished run, from its records and stored messages alone."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any

from memtrial.datasets.schema import Lure, Message, Question, Turn
from memtrial.experiments.store import Run
from memtrial.metrics.judges.grading import MATCHER, matcher_label
from memtrial.metrics.judges.labels import Verdict
from memtrial.metrics.matching import judge as matcher
from memtrial.metrics.records import Record


def by_matcher(run: Run) -> dict[str, Verdict]:
    """Return the verdicts of this version's rules on a run's stored answers, by key."""
    logs: dict[tuple[str, str], dict[str, Message]] = {}
    for (dataset, corpus, ident), row in run.exact.items():
        logs.setdefault((dataset, corpus), {})[ident] = _message(row)
    found = {}
    for record in run.records:
        if record.result.error is None:
            log = logs.get((record.result.dataset, record.result.corpus_id), {})
            judgement = matcher(_question(record), record.result, log)
            lure = judgement.lures_used[0] if judgement.lures_used else ""
            found[record.result.key] = Verdict(
                matcher_label(judgement), MATCHER, judgement.outcome, lure=lure, status="rule"
            )
    return found


def _question(record: Record) -> Question:
    labels = record.labels
    return Question(
        id=record.result.question_id,
        conversation_id=labels.conversation_id,
        tenant_id=labels.tenant_id,
        asker=labels.asker,
        asked_at=datetime.fromisoformat(labels.asked_at),
        text=labels.text,
        category=labels.category,
        answerable=labels.answerable,
        needs_memory=labels.needs_memory,
        answer_type=labels.answer_type,
        answers=tuple(labels.answers),
        evidence=tuple(labels.evidence),
        cluster_id=labels.cluster_id,
        lures=tuple(Lure(one.kind, tuple(one.message_ids), tuple(one.values)) for one in labels.lures),
        history=tuple(Turn(speaker, text) for speaker, text in labels.history),
        language=labels.language,
        options=tuple(labels.options),
        official_evidence=tuple(labels.official_evidence),
        contested=labels.contested,
    )


def _message(row: Mapping[str, Any]) -> Message:
    return Message(
        id=row["id"],
        conversation_id=row["conversation_id"],
        session_id=row["session_id"],
        tenant_id=row["tenant_id"],
        sender=row["sender"],
        recipient=row["recipient"],
        timestamp=datetime.fromisoformat(row["timestamp"]),
        content=row["content"],
        source=row["source"],
        extra=MappingProxyType({"sender_name": row["sender_name"]}),
    )
