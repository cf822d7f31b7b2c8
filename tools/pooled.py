"""Compare the trials of several runs of one configuration whose generated data differ in the seed alone, all tenants together.

    python tools/pooled.py runs/ladder-3 runs/ladder-4 runs/ladder-5 --dataset supportdesk

A run on one seed has 16 tenants, too few to decide a difference of some points; three seeds have 48. Differences are paired by
question and resampled over tenants, as in a report, and Holm's p adjusts for all pairs of a metric.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from memtrial.experiments.store import Run, read_run
from memtrial.metrics.compare import Comparison, compare
from memtrial.metrics.records import Record, TrialInfo

METRICS = ("wrong_memory_rate", "accuracy", "abstention_rate", "recall@10")


def pooled(runs: Sequence[Run], dataset: str) -> tuple[list[Record], list[TrialInfo]]:
    """Return records and trials of one data set as if one run had asked them all; tenants of different runs stay apart.

    Raises:
        ValueError: the runs do not hold the same trials on that data set.
    """
    first = [t for t in runs[0].trials if t.dataset == dataset]
    planned: dict[str, int] = {}
    records: list[Record] = []
    for number, run in enumerate(runs):
        own = [t for t in run.trials if t.dataset == dataset]
        if not own or [(t.trial, t.params) for t in own] != [(t.trial, t.params) for t in first]:
            raise ValueError(f"run {number + 1} has not the same trials on {dataset} as the first one")
        for trial in own:
            planned[trial.trial] = planned.get(trial.trial, 0) + trial.planned
        records += [_apart(r, number) for r in run.records if r.result.dataset == dataset]
    return records, [t.model_copy(update={"planned": planned[t.trial]}) for t in first]


def _apart(record: Record, number: int) -> Record:
    where = f"{number}:{record.result.corpus_id}"
    return record.model_copy(
        update={
            "result": record.result.model_copy(update={"corpus_id": where}),
            "labels": record.labels.model_copy(update={"cluster_id": f"{number}:{record.labels.cluster_id}"}),
        }
    )


def told(c: Comparison) -> str:
    """Return one comparison as a line."""
    if c.value_a is None or c.value_b is None or c.difference is None or c.low is None or c.high is None:
        return f"{c.metric}: {c.a} and {c.b}: {c.status}"
    return (
        f"{c.metric}: {c.a} {c.value_a:.3f}, {c.b} {c.value_b:.3f}, difference {c.difference:+.3f} "
        f"({c.low:+.3f} to {c.high:+.3f}), p {c.p_holm:.4f} (Holm): the first is {c.status}; {c.n} questions, {c.clusters} clusters"
    )


def main() -> None:
    """Parse the command line and run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+", type=Path)
    parser.add_argument("--dataset", default="supportdesk")
    given = parser.parse_args()
    records, trials = pooled([read_run(folder) for folder in given.runs], given.dataset)
    for comparison in compare(records, trials, metrics=METRICS):
        print(told(comparison))


if __name__ == "__main__":
    main()
