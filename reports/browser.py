"""The questions of a run as a page shows them: labels, answers of every system, and who retrieved what."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from memtrial.metrics.records import Labels, Record
from memtrial.reports.decisions import MOST, decisions
from memtrial.reports.escape import one_line, visible
from memtrial.reports.view import OUTCOME_LABEL, DatasetView, View

SHOWN_PER_DATASET = 400
TOP = 10
_TEXT_LIMIT = 420
#: Characters that the decisions of all answers may take on a page, and those of a usual line.
_WHY_ON_PAGE, _USUAL = 2_000_000, 110
_LEAST_LINES, _LINES_ALONE, _CHARS_ALONE = 2, 40, 600
_Messages = Mapping[tuple[str, str, str], Mapping[str, Any]]
#: Which questions stand first where not all are shown: those from which there is most to learn.
_SEVERITY = {"wrong_memory": 0, "hallucination": 1, "error": 2}


@dataclass(frozen=True, slots=True)
class Given:
    """What one trial answered."""

    trial: str
    place: int
    outcome: str
    label: str
    text: str
    cited: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    latency: str = ""
    repeats: tuple[str, ...] = ()
    why: tuple[str, ...] = ()

    @property
    def remarks(self) -> list[str]:
        """Return what stands under the answer: citations, flags, other repeats. Why it came about is told apart."""
        cited = [f"cites {one_line(', '.join(self.cited), 160)}"] if self.cited else []
        repeats = [f"other repeats: {', '.join(self.repeats)}"] if self.repeats else []
        return [*cited, *self.flags, *repeats]


@dataclass(slots=True)
class Found:
    """One memory (a message, or what a system made of some) with its rank in every trial.

    ``ranks`` runs parallel to the trials: rank from 1, or None; ``shown`` says whether the reader saw it. ``inside``: nothing
    found the message as it was written, but memories made of it stand in other rows.
    """

    ids: tuple[str, ...]
    text: str
    who: str = ""
    when: str = ""
    gold: bool = False
    lures: tuple[str, ...] = ()
    kind: str = "message"
    ranks: list[int | None] = field(default_factory=list)
    shown: list[bool] = field(default_factory=list)
    inside: bool = False

    @property
    def found(self) -> bool:
        """Whether any trial ranked it among the first ten or showed it."""
        return any(self.ranks) or any(self.shown)


@dataclass(frozen=True, slots=True)
class QuestionView:
    """One question with everything that happened to it."""

    id: str
    corpus: str
    dataset: int
    category: str
    labels: Labels
    answers: tuple[Given, ...]
    found: tuple[Found, ...]

    @property
    def severity(self) -> int:
        """Return 0 for the questions that teach most."""
        return min((_SEVERITY.get(a.outcome, 9) for a in self.answers), default=9)


@dataclass(frozen=True, slots=True)
class Shelf:
    """The questions of one data set that the page shows, and how many it leaves out."""

    dataset: DatasetView
    questions: tuple[QuestionView, ...]
    left_out: int


def shelves(view: View, limit: int = SHOWN_PER_DATASET) -> list[Shelf]:
    """Choose and prepare the questions of every data set; the choice depends on the records alone."""
    made = []
    told = [(d, grouped_records(view, d)) for d in view.datasets if not d.is_variant]
    answers = sum(min(len(grouped), limit) * len(d.trials) for d, grouped in told)
    lines = max(_LEAST_LINES, min(MOST, _WHY_ON_PAGE // (_USUAL * max(1, answers))))
    for place, (dataset, grouped) in enumerate(told):
        keys = list(grouped)
        if len(keys) > limit:
            ranked = sorted(keys, key=lambda k: (min(_severity(r) for r in grouped[k]), keys.index(k)))
            chosen = set(ranked[:limit])
            keys = [k for k in keys if k in chosen]
        made.append(
            Shelf(
                dataset,
                tuple(question_view(view, dataset, place, grouped[k], lines=lines) for k in keys),
                len(grouped) - len(keys),
            )
        )
    return made


def grouped_records(view: View, dataset: DatasetView) -> dict[tuple[str, str], list[Record]]:
    """Return the records of a data set by (corpus, question), questions in the order in which they were asked."""
    grouped: dict[tuple[str, str], list[Record]] = {}
    for trial in dataset.trials:
        for record in view.records.get((dataset.label, trial.trial), []):
            grouped.setdefault((record.result.corpus_id, record.result.question_id), []).append(record)
    return grouped


def question_view(
    view: View, dataset: DatasetView, place: int, records: Sequence[Record], *, cut: bool = True, lines: int = MOST
) -> QuestionView:
    """Gather what every trial did with one question; long texts are cut, and decisions told in ``lines``, unless told otherwise."""
    limit = _TEXT_LIMIT if cut else None
    by_trial: dict[str, list[Record]] = {}
    for record in records:
        by_trial.setdefault(record.trial, []).append(record)
    first = records[0]
    present = [t for t in dataset.labels if t in by_trial]
    why = {t: tuple(_why(by_trial[t], lines if cut else None)) for t in present}
    answers = tuple(_given(by_trial[t], view.trial_order[t], limit, why[t]) for t in present)
    found = _found(view.run.exact, first, [by_trial[t][0] for t in present], limit)
    return QuestionView(
        id=first.result.question_id,
        corpus=first.result.corpus_id,
        dataset=place,
        category=first.labels.category,
        labels=first.labels,
        answers=answers,
        found=tuple(found),
    )


def _severity(record: Record) -> int:
    return _SEVERITY.get(record.judgement.outcome, 9)


def _why(records: Sequence[Record], lines: int | None) -> list[str]:
    trace = min(records, key=lambda r: r.result.repeat).result.trace
    return decisions(trace, _LINES_ALONE, _CHARS_ALONE) if lines is None else decisions(trace, lines)


def _given(records: Sequence[Record], place: int, limit: int | None, why: tuple[str, ...]) -> Given:
    ordered = sorted(records, key=lambda r: r.result.repeat)
    record = ordered[0]
    result, judged = record.result, record.judgement
    flags = []
    if judged.lures_used:
        flags.append("used " + ", ".join(k.replace("_", " ") for k in judged.lures_used))
    if judged.lures_exposed and judged.outcome != "error":
        flags.append("was shown a lure: " + ", ".join(k.replace("_", " ") for k in judged.lures_exposed))
    flags += [name for name, on in (("cited a lure", judged.lure_cited), ("gold and lure mixed", judged.mixed),
                                    ("asked back", judged.asked_back), (f"{judged.leaks} items of another tenant", judged.leaks > 0)) if on]  # fmt: skip
    if judged.unsupported:
        flags.append("unsupported: " + one_line(", ".join(judged.unsupported), 120))
    text = visible(result.text)
    if result.error:
        text = f"{result.error}: {one_line(result.error_detail, 300)}" if result.error_detail else result.error
    elif not text.strip():
        text = "(abstained without words)" if result.abstained else "(empty answer)"
    return Given(
        trial=record.trial,
        place=place,
        outcome=judged.outcome,
        label=OUTCOME_LABEL.get(judged.outcome, judged.outcome),
        text=_cut(text, limit),
        cited=tuple(result.citations),
        flags=tuple(flags),
        latency="" if result.latency_ms is None else f"{result.latency_ms:.3g} ms",
        repeats=tuple(OUTCOME_LABEL.get(r.judgement.outcome, r.judgement.outcome) for r in ordered[1:]),
        why=why,
    )


def _found(messages: _Messages, first: Record, records: Sequence[Record], limit: int | None) -> list[Found]:
    labels, home = first.labels, (first.result.dataset, first.result.corpus_id)
    gold = set(labels.evidence)
    lures: dict[str, list[str]] = {}
    for lure in labels.lures:
        for message_id in lure.message_ids:
            lures.setdefault(message_id, []).append(lure.kind)
    rows: dict[tuple[tuple[str, ...], str | None], Found] = {}

    def row(ids: Iterable[str], text: str | None, kind: str) -> Found:
        key = (tuple(ids), text)
        if key not in rows:
            known = [messages[(*home, i)] for i in key[0] if (*home, i) in messages]
            rows[key] = _memory(known, key[0], text, kind, gold, lures, len(records), limit)
        return rows[key]

    for message_id in [*labels.evidence, *(m for m in lures if m not in gold)]:
        row([message_id], None, "message")
    for column, record in enumerate(records):
        for rank, item in enumerate(record.result.retrieved[:TOP], start=1):
            entry = row(item.ids, item.text, item.kind)
            if entry.ranks[column] is None:
                entry.ranks[column] = rank
        for item in record.result.context:
            if (
                (tuple(item.ids), item.text) in rows
                or not gold.isdisjoint(item.ids)
                or not lures.keys().isdisjoint(item.ids)
            ):
                row(item.ids, item.text, item.kind).shown[column] = True
    return sorted(
        _without_doubles(rows.values()),
        key=lambda f: (not f.gold, not f.lures, min((r for r in f.ranks if r), default=99), f.ids),
    )


def _without_doubles(rows: Iterable[Found]) -> list[Found]:
    """Leave out a message that nothing found as it was written where a memory that was found tells all of it."""
    found = [row for row in rows if row.found]
    kept = list(found)
    for row in rows:
        around = [] if row.found else [other for other in found if set(row.ids) <= set(other.ids)]
        row.inside = bool(around)
        if not row.found and not any(row.text in other.text for other in around):
            kept.append(row)
    return kept


def _memory(known: Sequence[Mapping[str, Any]], ids: tuple[str, ...], text: str | None, kind: str, gold: set[str],
            lures: dict[str, list[str]], columns: int, limit: int | None) -> Found:  # fmt: skip
    content = text if text is not None else " / ".join(str(m.get("content", "")) for m in known)
    first = known[0] if known else {}
    return Found(
        ids=ids,
        text=_cut(visible(content), limit) or "(text not kept)",
        who=one_line(first.get("sender_name") or first.get("sender", ""), 40),
        when=str(first.get("timestamp", ""))[:16].replace("T", " "),
        gold=any(i in gold for i in ids),
        lures=tuple(dict.fromkeys(k for i in ids if i not in gold for k in lures.get(i, []))),
        kind=kind,
        ranks=[None] * columns,
        shown=[False] * columns,
    )


def _cut(text: str, limit: int | None) -> str:
    return text if limit is None or len(text) <= limit else text[: limit - 1].rstrip() + "…"
