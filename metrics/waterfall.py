"""Where answers are lost: every one that is not right falls to the first stage that lost it (METRICS.md, "Loss waterfall").

Told from records alone. A question needs all its evidence: it is lost at the first stage after which not all of it is
left. What a system records in ``trace.facts`` tells more stages apart:

- ``candidates``: ids of the messages behind its candidates, before anything was reranked or cut (at most 200);
- ``overwritten``: ids of messages that gave way to another version of what they say;
- ``unindexed``, in the trace of taking the log in or of an answer: ids of messages that no memory holds.

All three are optional. Without ``candidates`` the ranking stands for them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from memtrial.metrics.gates import decision
from memtrial.metrics.handed_out import hands_out
from memtrial.metrics.judges.grading import published_verdict
from memtrial.metrics.judges.labels import credited
from memtrial.metrics.judges.ranking import contested
from memtrial.metrics.quality import RIGHT
from memtrial.metrics.records import Record, TrialInfo

Stage = Literal[
    "right", "gate", "unindexed", "unfound", "cut", "stale", "unread", "doubt", "unanswerable", "unlabelled", "error"
]
STAGES: tuple[Stage, ...] = get_args(Stage)

#: What a report prints.
STAGE_LABEL: Mapping[Stage, str] = {
    "right": "right",
    "gate": "a gate skipped it",
    "unindexed": "never extracted or indexed",
    "unfound": "not among the candidates",
    "cut": "cut by rerank or budget",
    "stale": "overwritten, or a stale version chosen",
    "unread": "in context, not used",
    "doubt": "judge or gold label in doubt",
    "unanswerable": "answered what nothing answers",
    "unlabelled": "no evidence is labelled",
    "error": "no answer (error)",
}

CANDIDATES, OVERWRITTEN, UNINDEXED = "candidates", "overwritten", "unindexed"
MOST_CANDIDATES = 200

# A version that does not hold any more, by the kind of its lure.
_STALE = frozenset({"stale", "retracted", "closed"})


@dataclass(frozen=True, slots=True)
class Waterfall:
    """Where the answers of one trial on one data set were lost.

    Attributes:
        counts: answers by stage, every stage with a count; they sum to the answers given.
        notes: stages that cannot be told apart for this system, in words.
        traceable: whether stages between gate and reader can be told at all; without message ids they cannot, and every
            count of them is 0 and ``untraced`` holds those answers.
        untraced: answers that were lost somewhere between gate and reader.
    """

    counts: dict[Stage, int]
    notes: tuple[str, ...] = ()
    traceable: bool = True
    untraced: int = 0


def waterfall(info: TrialInfo, records: Sequence[Record]) -> Waterfall:
    """Count the answers of a trial by the stage that lost them.

    Args:
        info: the trial.
        records: its answers on one data set.
    """
    unindexed = ids_of(info.facts, UNINDEXED)
    found = Counter(stage_of(record, unindexed=unindexed) for record in records)
    counts: dict[Stage, int] = {stage: found[stage] for stage in STAGES}
    if hands_out(info) or not any(_ids(r) for r in records):
        between: tuple[Stage, ...] = ("unindexed", "unfound", "cut", "stale", "unread")
        within = [r for r in records if stage_of(r, unindexed=unindexed) in between]
        # With no stage before it to be lost at, doubt about the judgement is all that is known.
        doubted = sum(_doubted(r) for r in within)
        counts["doubt"] += doubted
        lost = len(within) - doubted
        why = "its answers were given elsewhere" if hands_out(info) else "it names no messages"
        note = f"{why}, so what lies between gate and reader cannot be told"
        return Waterfall({**counts, **dict.fromkeys(between, 0)}, (note,) if lost else (), False, lost)
    return Waterfall(counts, tuple(_notes(info, records, counts)))


def stage_of(record: Record, *, unindexed: frozenset[str] = frozenset()) -> Stage:
    """Return the first stage that lost an answer, or ``right``.

    Args:
        record: of the answer.
        unindexed: ids that no memory of the system holds, where it says so.
    """
    outcome, labels, result = record.judgement.outcome, record.labels, record.result
    if outcome in RIGHT:
        return "right"
    if outcome == "error":
        return "error"
    if not labels.answerable:
        return "unanswerable"
    evidence = set(labels.evidence)
    if labels.needs_memory and decision(record) is False:
        return "gate"
    if not evidence:
        return "doubt" if _doubted(record) else "unlabelled"
    facts = result.trace.facts
    missing = evidence - {i for item in result.context for i in item.ids}
    if missing & (unindexed | ids_of(facts, UNINDEXED)):
        return "unindexed"
    if missing:
        candidates = ids_of(facts, CANDIDATES) | {i for item in result.retrieved for i in item.ids}
        if missing - candidates - ids_of(facts, OVERWRITTEN):
            return "unfound"
        return "stale" if missing & ids_of(facts, OVERWRITTEN) else "cut"
    if outcome == "wrong_memory" and _STALE & set(record.judgement.lures_used):
        return "stale"
    return "doubt" if _doubted(record) else "unread"


def ids_of(facts: Mapping[str, Any], name: str) -> frozenset[str]:
    """Return the ids under a name of a trace's facts; what is no list of texts comes from anybody's system and is nothing."""
    given = facts.get(name)
    return frozenset(i for i in given if isinstance(i, str)) if isinstance(given, list) else frozenset()


def _doubted(record: Record) -> bool:
    """Whether the gold label is in doubt, or a published judge credits the answer."""
    verdict = published_verdict(record)
    return contested(record.labels) or (verdict is not None and credited(verdict.label) is True)


def _ids(record: Record) -> bool:
    return any(item.ids for item in (*record.result.retrieved, *record.result.context))


def _notes(info: TrialInfo, records: Iterable[Record], counts: Mapping[Stage, int]) -> Iterable[str]:
    """Say which stages are one for this system."""
    facts = [record.result.trace.facts for record in records]
    if counts["unfound"] and not _told(info, facts, UNINDEXED):
        yield "never indexed and not among the candidates are one stage"
    if counts["unfound"] and not any(CANDIDATES in fact for fact in facts):
        yield "its ranking stands for its candidates: what was dropped before it counts as not among them"
    if counts["cut"] and not any(OVERWRITTEN in fact for fact in facts):
        yield "an overwritten version counts as cut"


def _told(info: TrialInfo, facts: Iterable[Mapping[str, Any]], name: str) -> bool:
    return name in info.facts or any(name in fact for fact in facts)
