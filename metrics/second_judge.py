"""Rows of a second judge beside the run's own: verdicts that were published with the answers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from memtrial.metrics.estimates import Estimate, ratio_of
from memtrial.metrics.judges.grading import published_verdict
from memtrial.metrics.judges.labels import credited
from memtrial.metrics.panel import Panel
from memtrial.metrics.records import MetricRow, Record

PREFIX = "published:"
"""How ``MetricRow.judge`` of a second judge begins."""


def own_rows(rows: Iterable[MetricRow]) -> list[MetricRow]:
    """Return the rows of the run's own judge, and those that no judge has a part in."""
    return [row for row in rows if not is_second(row)]


def is_second(row: MetricRow) -> bool:
    """Whether a row repeats a metric by another judge than the run's own."""
    return (row.judge or "").startswith(PREFIX)


def second_judge(panel: Panel) -> tuple[str, list[Estimate]]:
    """Return the name of the judge whose verdicts travelled with the answers, and accuracy by it.

    Answers that it did not score are in no denominator; how many they are stands in the status (``unscored:<n>``). An
    error has credit 0 by any judge.

    Returns:
        "" and no estimate where no verdict was published.
    """
    verdicts = [published_verdict(record) for record in panel.records]
    names = sorted({verdict.judge for verdict in verdicts if verdict is not None})
    return ("+".join(names), list(_accuracies(panel))) if names else ("", [])


def _accuracies(panel: Panel) -> Iterator[Estimate]:
    credits = [_credit(record) for record in panel.records]
    scored = panel.mean([credit is not None for credit in credits])
    right = panel.mean([bool(credit) for credit in credits])
    left = sum(credit is None for credit in credits)
    flags = (f"unscored:{left}",) if left else ()
    answerable = np.array([float(label.answerable) for label in panel.labels])
    for metric, mask in (("accuracy", np.ones(panel.n)), ("accuracy_answerable", answerable)):
        if (scored * mask).any():
            yield ratio_of(metric, right * mask, scored * mask, judged=True, flags=flags)


def _credit(record: Record) -> bool | None:
    if record.result.error is not None:
        return False
    verdict = published_verdict(record)
    return None if verdict is None else credited(verdict.label, answerable=record.labels.answerable)
