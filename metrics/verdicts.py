"""What came out for which need, and how good the numbers are that it rests on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from memtrial.metrics.compare import Comparison, against, contenders
from memtrial.metrics.definitions import define
from memtrial.metrics.records import Labels, MetricRow, Record, TrialInfo
from memtrial.metrics.second_judge import own_rows
from memtrial.metrics.suspects import ORACLE, is_named

READING_BOTTLENECK_BELOW = 0.6
"""Where the oracle, which is handed the evidence, is right less often than this, reading limits every system."""
QUALIFIES_FROM = 0.5
"""Share of the best accuracy on answerable questions that a system must reach to win on anything but accuracy."""


@dataclass(frozen=True, slots=True)
class Need:
    """Something a reader of the report may want. ``beside``: metrics that are always shown next to the one asked for."""

    key: str
    title: str
    metric: str
    beside: tuple[str, ...]
    must_answer: bool


NEEDS = (
    Need("accuracy", "Most accurate", "accuracy", ("abstention_rate", "wrong_memory_rate"), False),
    Need("wrong_memory", "Fewest wrong memories used", "wrong_memory_rate", ("accuracy", "abstention_rate"), True),
    Need("retrieval", "Best evidence recall", "recall@10", ("tokens@10",), False),
    Need("exposure", "Fewest wrong memories shown", "wrong_memory_exposure", ("recall@10", "accuracy"), True),
    Need("latency", "Fastest at P95", "latency_p95_ms", ("accuracy", "error_rate"), True),
    Need("context", "Cheapest context", "context_tokens", ("accuracy",), True),
)
_RETRIEVAL_FIRST = ("retrieval", "exposure")


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came out for one need on one data set.

    Attributes:
        dataset: label of the data.
        need: what was asked for.
        leader: trial with the best figure among the candidates, or None where none has one.
        tied: candidates that cannot be told from the leader.
        undecided: candidates for which this number of clusters cannot decide at all.
        behind: candidates that the leader beats.
        figures: rows of every candidate, best first, each with the rows of ``need.beside`` after it.
        sentence: the verdict in words.
        caveats: sentences that a reader must see with it.
    """

    dataset: str
    need: Need
    leader: str | None
    tied: tuple[str, ...]
    undecided: tuple[str, ...]
    behind: tuple[str, ...]
    figures: tuple[tuple[MetricRow, ...], ...]
    sentence: str
    caveats: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ReferenceLine:
    """What a system that looks at nothing would get.

    ``abstention_precision`` is None for a line that never abstains; ``accuracy_answerable`` and ``abstention_recall``
    are None where no question is of that kind.
    """

    dataset: str
    name: str
    accuracy: float
    accuracy_answerable: float | None
    abstention_precision: float | None
    abstention_recall: float | None
    n: int


def reference_lines(records: Iterable[Record]) -> list[ReferenceLine]:
    """The always-abstain and the always-guess line of every data set, in order of first appearance.

    Always guessing picks one of the options where a question offers some, yes or no where it asks for that, and is
    otherwise taken to be wrong; figures are expectations.
    """
    questions: dict[str, dict[tuple[str, str], Labels]] = {}
    for record in records:
        result = record.result
        questions.setdefault(result.dataset, {}).setdefault((result.corpus_id, result.question_id), record.labels)
    found = []
    for dataset, by_key in questions.items():
        labels = list(by_key.values())
        n = len(labels)
        answerable = [label for label in labels if label.answerable]
        unanswerable = n - len(answerable)
        guessed = sum(_chance(label) for label in answerable)
        found.append(
            ReferenceLine(
                dataset,
                "always_abstain",
                unanswerable / n,
                0.0 if answerable else None,
                unanswerable / n,
                1.0 if unanswerable else None,
                n,
            )
        )
        found.append(
            ReferenceLine(
                dataset,
                "always_guess",
                guessed / n,
                guessed / len(answerable) if answerable else None,
                None,
                0.0 if unanswerable else None,
                n,
            )
        )
    return found


def _chance(label: Labels) -> float:
    if label.options:
        return 1.0 / len(label.options)
    return 0.5 if label.answer_type == "boolean" else 0.0


def reading_bottlenecks(rows: Iterable[MetricRow], trials: Sequence[TrialInfo]) -> dict[str, float]:
    """Data sets on which reading limits every system, with the oracle's accuracy there (below 0.6)."""
    oracles = {(t.trial, t.dataset) for t in trials if is_named(t, ORACLE)}
    best: dict[str, float] = {}
    for row in rows:
        headline = row.metric == "accuracy" and row.slice == "all" and (row.trial, row.dataset) in oracles
        if headline and row.value is not None:
            best[row.dataset] = max(row.value, best.get(row.dataset, 0.0))
    return {dataset: value for dataset, value in best.items() if value < READING_BOTTLENECK_BELOW}


def verdicts(
    rows: Iterable[MetricRow],
    comparisons: Iterable[Comparison],
    trials: Sequence[TrialInfo],
    references: Iterable[ReferenceLine] = (),
) -> list[Verdict]:
    """Say what came out for each need on each data set.

    The contenders are one trial per system (``contenders``); results whose adapter is suspect never win. Where reading is the bottleneck the needs
    about retrieval come first.

    Args:
        rows: of ``aggregate``.
        comparisons: of ``compare`` without a baseline.
        trials: the plan.
        references: of ``reference_lines``; with them a verdict says when its leader does not beat abstaining.
    """
    rows = own_rows(rows)
    index = {(r.dataset, r.trial, r.metric): r for r in rows if r.slice == "all"}
    made = list(comparisons)
    bottlenecks = reading_bottlenecks(rows, trials)
    abstaining = {line.dataset: line.accuracy for line in references if line.name == "always_abstain"}
    found = []
    for dataset in dict.fromkeys(t.dataset for t in trials):
        names = contenders([t for t in trials if t.dataset == dataset])
        needs = sorted(NEEDS, key=lambda need: dataset in bottlenecks and need.key not in _RETRIEVAL_FIRST)
        for need in needs:
            general = list(_general_caveats(need, dataset, bottlenecks, abstaining))
            own = [c for c in made if c.dataset == dataset and c.metric == need.metric and {c.a, c.b} <= set(names)]
            found.append(_verdict(dataset, need, names, index, own, general))
    return found


def _verdict(
    dataset: str,
    need: Need,
    names: Sequence[str],
    index: Mapping[tuple[str, str, str], MetricRow],
    comparisons: Sequence[Comparison],
    general: list[str],
) -> Verdict:
    shown = {name: row for name in names if (row := _usable(index.get((dataset, name, need.metric)))) is not None}
    left_out = _mute(dataset, shown, index) if need.must_answer else []
    candidates = [name for name in shown if name not in left_out]
    sign = 1.0 if define(need.metric).better == "lower" else -1.0
    candidates.sort(key=lambda name: sign * _value(shown[name]))
    figures = tuple(
        (shown[name], *(row for metric in need.beside if (row := index.get((dataset, name, metric))) is not None))
        for name in candidates
    )
    if not candidates:
        sentence = f"{need.title} on {dataset}: no system has this figure."
        return Verdict(dataset, need, None, (), (), (), (), sentence, tuple(general))
    leader, rest = candidates[0], candidates[1:]
    pairs = [c for c in comparisons if {c.a, c.b} <= set(candidates)]
    found = {c.b: c for c in against(leader, pairs)}
    versus = {name: found.get(name) for name in rest}
    behind = tuple(name for name, c in versus.items() if c is not None and c.status == "better")
    undecided = tuple(
        name for name, c in versus.items() if c is None or c.status in ("not_decidable", "not_comparable")
    )
    tied = tuple(name for name in rest if name not in behind and name not in undecided)
    caveats = [*general, *_own_caveats(need, dataset, leader, shown[leader], index, left_out)]
    sentence = _sentence(need, dataset, shown[leader], rest, tied, undecided)
    return Verdict(dataset, need, leader, tied, undecided, behind, figures, sentence, tuple(caveats))


def _usable(row: MetricRow | None) -> MetricRow | None:
    return None if row is None or row.value is None or "adapter_suspect" in row.status.split(";") else row


def _value(row: MetricRow) -> float:
    assert row.value is not None
    return row.value


def _mute(dataset: str, names: Iterable[str], index: Mapping[tuple[str, str, str], MetricRow]) -> list[str]:
    """Systems that answer so little that being quick, cheap or harmless is no merit of theirs."""
    right = {}
    for name in names:
        row = index.get((dataset, name, "accuracy_answerable"))
        right[name] = row.value or 0.0 if row else 0.0
    bar = QUALIFIES_FROM * max(right.values(), default=0.0)
    return [name for name, value in right.items() if value < bar]


def _general_caveats(
    need: Need, dataset: str, bottlenecks: Mapping[str, float], abstaining: Mapping[str, float]
) -> Iterable[str]:
    if dataset in bottlenecks and need.key not in _RETRIEVAL_FIRST:
        yield (
            f"Reading is the bottleneck: handed the evidence itself, the oracle is right on {bottlenecks[dataset]:.1%}. "
            "Judge the systems by retrieval and exposure first."
        )
    if need.key == "accuracy" and dataset in abstaining:
        yield f"Abstaining on everything would reach {abstaining[dataset]:.1%}."


def _own_caveats(
    need: Need,
    dataset: str,
    leader: str,
    row: MetricRow,
    index: Mapping[tuple[str, str, str], MetricRow],
    left_out: Sequence[str],
) -> Iterable[str]:
    status = row.status.split(";")
    if "few_clusters" in status:
        yield "Fewer than 8 independent clusters stand behind these figures: intervals over them are too narrow to rely on."
    if "few_samples" in status:
        yield f"The percentile rests on {row.n} samples, too few to trust it."
    if "saturated" in status:
        yield "Some logs are no longer than the ranking, so that everything is found by retrieving everything."
    if "short_ranking" in status:
        yield f"{leader} mostly returns fewer items than the K of this figure."
    if need.key == "wrong_memory":
        accuracy = index.get((dataset, leader, "accuracy"))
        abstained = index.get((dataset, leader, "abstention_rate"))
        yield (
            f"{leader} is accurate on {define('accuracy').show(accuracy.value if accuracy else None)} and abstains on "
            f"{define('abstention_rate').show(abstained.value if abstained else None)}; abstaining alone uses no wrong memory."
        )
    if left_out:
        yield (
            f"Not considered, as they answer less than half as many answerable questions rightly as the best: "
            f"{', '.join(left_out)}."
        )


def _sentence(
    need: Need, dataset: str, row: MetricRow, rest: Sequence[str], tied: Sequence[str], undecided: Sequence[str]
) -> str:
    definition = define(need.metric)
    figure = f"{definition.title} {definition.show(row.value)}"
    if row.low is not None and row.high is not None:
        figure += f" (95 % interval {definition.show(row.low)} to {definition.show(row.high)})"
    if not rest:
        return f"{need.title} on {dataset}: {row.trial}, the only candidate, with {figure}."
    parts = [f"{need.title} on {dataset}: {row.trial} has the best figure, {figure}"]
    if tied:
        parts.append(f"tied with {', '.join(tied)}")
    if undecided:
        parts.append(f"not decidable against {', '.join(undecided)}")
    if not tied and not undecided:
        parts.append("better than every other candidate")
    return "; ".join(parts) + "."
