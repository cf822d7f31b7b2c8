"""Verdicts put onto records: what a second judge, a published one or a model, makes of stored answers."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import get_args

from memtrial.metrics.judges.labels import JudgeLabel, Verdict, credited
from memtrial.metrics.judges.majority import Judge, majority
from memtrial.metrics.judges.tally import Tally
from memtrial.metrics.records import Judgement, Record

MATCHER = "matcher"
_WRONG = ("wrong_memory", "hallucination", "wrong_other")
_LABELS: Mapping[str, JudgeLabel] = {
    "correct": "correct",
    "incomplete": "partial",
    "correct_abstention": "abstained",
    "needless_abstention": "abstained",
    **dict.fromkeys((*_WRONG, "error"), "wrong"),
}


async def grade(records: Sequence[Record], judge: Judge, *, concurrency: int = 64) -> dict[str, Verdict]:
    """Have stored answers judged; no system is asked anything.

    Args:
        records: errors among them are not sent and have no verdict.
        judge: a model, or a panel.
        concurrency: most answers under way at a time.

    Returns:
        Verdicts by ``record.result.key``, in the order of the records.
    """
    gate = asyncio.Semaphore(concurrency)

    async def one(record: Record) -> Verdict:
        async with gate:
            return await judge.judge(
                record.labels, record.result.text, abstained=record.result.abstained, trial=record.trial
            )

    wanted = [record for record in records if record.result.error is None]
    verdicts = await asyncio.gather(*(one(record) for record in wanted))
    return {record.result.key: verdict for record, verdict in zip(wanted, verdicts, strict=True)}


def published_verdict(record: Record) -> Verdict | None:
    """Return the majority of the published verdicts that travelled in a record's trace; None where there are none.

    What stands in a trace may come from anybody's system: anything but known labels is unscored.
    """
    fact = record.result.trace.facts.get("published")
    if not isinstance(fact, dict):
        return None
    given = fact.get("verdicts")
    if not isinstance(given, list) or not given:
        return None
    labels: list[JudgeLabel] = [v if v in get_args(JudgeLabel) else "unscored" for v in given]
    return Verdict(majority(labels), f"published:{fact.get('run', '')}", f"{len(given)} verdicts given", status="rule")


def matcher_label(judgement: Judgement) -> JudgeLabel:
    """Translate an outcome of the deterministic judge into a judge's label; an error is ``wrong``."""
    return _LABELS[judgement.outcome]


def rejudged(record: Record, verdict: Verdict | None) -> Record | None:
    """Return the record with another judge's verdict; None where that judge gave none.

    The kind of a wrong answer is the judge's where it names a lure, else the matcher's where that found the answer wrong
    too. Facts about the context (exposure, leaks, citations) do not depend on a judge and stay.
    """
    base = record.judgement
    if base.outcome == "error":
        return record
    if verdict is None or verdict.label == "unscored":
        return None
    answerable = record.labels.answerable
    changed: dict[str, object] = {
        "judge": verdict.judge,
        "note": verdict.detail,
        "abstained": verdict.label == "abstained",
        "lures_used": [],
        "unsupported": [],
        "matched": "",
        "mixed": False,
        "asked_back": base.asked_back and verdict.label == "abstained",
    }
    if verdict.label == "correct" and answerable:
        changed |= {"outcome": "correct", "matched": base.matched}
    elif verdict.label == "abstained":
        changed["outcome"] = "needless_abstention" if answerable else "correct_abstention"
    elif verdict.label == "partial" and answerable:
        changed |= {"outcome": "incomplete", "matched": base.matched}
    elif verdict.lure:
        changed |= {"outcome": "wrong_memory", "lures_used": [verdict.lure], "mixed": base.mixed}
    elif base.outcome in _WRONG:
        changed |= {
            "outcome": base.outcome,
            "lures_used": base.lures_used,
            "unsupported": base.unsupported,
            "mixed": base.mixed,
        }
    else:
        changed["outcome"] = "wrong_other" if answerable else "hallucination"
    return record.model_copy(update={"judgement": base.model_copy(update=changed)})


def tally(records: Sequence[Record], verdicts: Mapping[str, Verdict]) -> Tally:
    """Score records by other verdicts; an error is wrong, a missing or unscored verdict is unscored."""
    credits: list[bool | None] = []
    for record in records:
        verdict = verdicts.get(record.result.key)
        if record.judgement.outcome == "error":
            credits.append(False)
        else:
            credits.append(None if verdict is None else credited(verdict.label, answerable=record.labels.answerable))
    return Tally.of(credits)
