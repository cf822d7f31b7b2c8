"""The records of one trial on one data set, laid out in columns.

One place decides what a question is (corpus and id; its repeats are averaged, they add no questions), what a cluster is,
and what happens to a planned question that has no record: it counts as an error.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memtrial.metrics.records import Judgement, Labels, Record, Result, TrialInfo

Floats = NDArray[np.float64]
QuestionKey = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Panel:
    """Columns over records (length m) and over questions (length n), questions sorted by cluster.

    Attributes:
        info: the trial.
        records: m records, those of one question side by side.
        question: shape (m,), index of each record's question.
        labels: n labels.
        keys: n question keys.
        cluster_names: n names, ascending.
        cluster: shape (n,), the same numbered from 0.
        missing: planned answers without a record; they are among ``records`` as errors.
    """

    info: TrialInfo
    records: tuple[Record, ...]
    question: NDArray[np.int64]
    labels: tuple[Labels, ...]
    keys: tuple[QuestionKey, ...]
    cluster_names: tuple[str, ...]
    cluster: NDArray[np.int64]
    missing: int

    @property
    def n(self) -> int:
        """Number of questions."""
        return len(self.keys)

    def mean(self, by_record: Sequence[float] | Floats | NDArray[np.bool_]) -> Floats:
        """Average a column over the repeats of each question: shape (m,) to (n,)."""
        values = np.asarray(by_record, dtype=np.float64)
        if len(self.records) == self.n:
            return values
        repeats = np.bincount(self.question, minlength=self.n)
        return np.asarray(np.bincount(self.question, values, minlength=self.n) / repeats)


def make_panels(records: Iterable[Record], trials: Sequence[TrialInfo]) -> list[Panel]:
    """Sort records into one panel per trial and data set, in the order of ``trials``.

    A question answered twice (one in flight when a run was killed) counts once, with its first record. A planned answer
    without a record becomes an error; its labels come from another trial on the same data where one has them.

    Raises:
        ValueError: if a record belongs to no trial, or if only part of a data set says which cluster a question is in.
    """
    grouped: dict[tuple[str, str], dict[tuple[str, str, int], Record]] = {(t.trial, t.dataset): {} for t in trials}
    for record in records:
        result = record.result
        try:
            group = grouped[record.trial, result.dataset]
        except KeyError:
            raise ValueError(f"a record of trial {record.trial!r} on {result.dataset!r} belongs to no trial") from None
        group.setdefault((result.corpus_id, result.question_id, result.repeat), record)
    known: dict[str, dict[QuestionKey, Labels]] = {}
    for (_, dataset), group in grouped.items():
        labels = known.setdefault(dataset, {})
        for (corpus, question, _), record in group.items():
            labels.setdefault((corpus, question), record.labels)
    return [_panel(info, grouped[info.trial, info.dataset], known[info.dataset]) for info in trials]


def _panel(info: TrialInfo, group: Mapping[tuple[str, str, int], Record], known: Mapping[QuestionKey, Labels]) -> Panel:
    filled = dict(group)
    if group and info.planned:
        _fill_missing(filled, info, known)
    missing = len(filled) - len(group)
    labels = {(corpus, question): record.labels for (corpus, question, _), record in filled.items()}
    names = _clusters(info, labels)
    keys = sorted(labels, key=lambda key: (names[key], key))
    index = {key: i for i, key in enumerate(keys)}
    ordered = sorted(filled, key=lambda k: (index[k[:2]], k[2]))
    numbers = {name: i for i, name in enumerate(dict.fromkeys(names[key] for key in keys))}
    return Panel(
        info=info,
        records=tuple(filled[k] for k in ordered),
        question=np.array([index[k[:2]] for k in ordered], dtype=np.int64),
        labels=tuple(labels[key] for key in keys),
        keys=tuple(keys),
        cluster_names=tuple(names[key] for key in keys),
        cluster=np.array([numbers[names[key]] for key in keys], dtype=np.int64),
        missing=missing,
    )


def _fill_missing(
    filled: dict[tuple[str, str, int], Record], info: TrialInfo, known: Mapping[QuestionKey, Labels]
) -> None:
    # A question that no trial answered has no label at all; it is only known that it was planned.
    unknown = [("", f"unasked-{i}") for i in range(info.planned - len(known))]
    wanted = [(corpus, question, r) for corpus, question in [*known, *unknown] for r in range(info.repeats)]
    for corpus, question, repeat in wanted:
        place = (corpus, question, repeat)
        if place in filled:
            continue
        # A cluster of its own is the least that can be assumed.
        label = known.get((corpus, question)) or Labels(text="", cluster_id=f"\x00{question}")
        result = Result(
            key=f"missing-{corpus}-{question}-{repeat}",
            unit=info.unit,
            dataset=info.dataset,
            corpus_id=corpus,
            question_id=question,
            repeat=repeat,
            error="missing",
        )
        judgement = Judgement(outcome="error", note="planned, never answered")
        filled[place] = Record(trial=info.trial, result=result, labels=label, judgement=judgement)


def _clusters(info: TrialInfo, labels: Mapping[QuestionKey, Labels]) -> dict[QuestionKey, str]:
    without = [key for key, label in labels.items() if not label.cluster_id]
    if not without:
        return {key: label.cluster_id for key, label in labels.items()}
    if len(without) < len(labels):
        raise ValueError(
            f"{info.dataset}: {len(without)} of {len(labels)} questions have no cluster_id, such as {without[0][1]!r}; "
            "either every question of a data set has one or none has"
        )
    return {key: f"{key[0]}\x1f{key[1]}" for key in labels}
