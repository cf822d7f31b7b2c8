"""Several judges, one verdict: what more than half of the verdicts given say."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Protocol

from memtrial.metrics.judges.labels import JudgeLabel, Verdict
from memtrial.metrics.judges.model_judge import Judged


def majority(labels: Iterable[JudgeLabel]) -> JudgeLabel:
    """Return the label that more than half of the scored verdicts give; a tie, or none, is ``unscored``.

    Unscored verdicts have no vote: they neither make nor break a majority of those given.
    """
    votes = Counter(label for label in labels if label != "unscored")
    if not votes:
        return "unscored"
    label, count = votes.most_common(1)[0]
    return label if 2 * count > votes.total() else "unscored"


class Judge(Protocol):
    """Whatever grades an answer."""

    name: str

    async def judge(self, labels: Judged, answer_text: str, *, abstained: bool = False, trial: str = "") -> Verdict:
        """Grade one answer."""
        ...


class Panel:
    """Several judges asked side by side."""

    def __init__(self, judges: Sequence[Judge]) -> None:
        """Take at least one judge."""
        if not judges:
            raise ValueError("a panel needs at least one judge")
        self.judges = tuple(judges)
        self.name = f"majority of {', '.join(judge.name for judge in judges)}"

    async def votes(
        self, labels: Judged, answer_text: str, *, abstained: bool = False, trial: str = ""
    ) -> list[Verdict]:
        """Return what each judge says, in their order."""
        asked = (judge.judge(labels, answer_text, abstained=abstained, trial=trial) for judge in self.judges)
        return list(await asyncio.gather(*asked))

    async def judge(self, labels: Judged, answer_text: str, *, abstained: bool = False, trial: str = "") -> Verdict:
        """Return the verdict of the majority; ``usage`` is the list of what each judge used."""
        return combine(self.name, await self.votes(labels, answer_text, abstained=abstained, trial=trial))


def combine(name: str, votes: Sequence[Verdict]) -> Verdict:
    """Return the verdict of the majority; a lure is named where the majority says wrong and a judge named one."""
    lures = Counter(v.lure for v in votes if v.lure)
    label = majority(v.label for v in votes)
    lure = lures.most_common(1)[0][0] if lures and label == "wrong" else ""
    detail = "; ".join(f"{v.judge}: {v.label}" for v in votes)
    return Verdict(label, name, detail, [v.usage for v in votes if v.usage is not None], lure)
