"""A run in plain text: the first lines after it ends, an overview, one question with everything about it."""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from memtrial.datasets.errors import UserError, did_you_mean
from memtrial.metrics.compare import COMPARED, compare
from memtrial.metrics.records import Record
from memtrial.metrics.verdicts import NEEDS, reference_lines, verdicts
from memtrial.reports.banners import banners
from memtrial.reports.browser import Found, Given, QuestionView, grouped_records, question_view
from memtrial.reports.escape import one_line, visible
from memtrial.reports.groups import MAIN, SIDE_BY_SIDE
from memtrial.reports.tables import MetricTable, metric_table
from memtrial.reports.verdict import Told, tell
from memtrial.reports.view import BAR_ORDER, DatasetView, View
from memtrial.reports.words import plural

if TYPE_CHECKING:
    from memtrial.experiments.store import Run

_LINES = 12
_WIDTH = 110
_FIRST_METRICS = ("accuracy", "wrong_memory_rate", "recall@10", "wrong_memory_exposure")
#: Abstaining alone brings wrong memory to 0, so this figure never stands without the others.
_WITH_ABSTENTION = next(need.title for need in NEEDS if need.metric == "wrong_memory_rate")
_FIRST_NEEDS = tuple(need.title for need in NEEDS if need.metric in _FIRST_METRICS)


def first_lines(run: Run) -> str:
    """Return the verdict in at most 12 lines: warnings first, then what came out for which need on each data set."""
    view = View(run)
    warnings = [f"! {b.head} {one_line(b.text, 160)}" for b in banners(view) if b.level != "info"]
    notes = [b.head for b in banners(view) if b.level == "info"]
    told = _told(view, _FIRST_METRICS)
    lines = [*warnings[:3], *([" ".join(notes)] if notes else [])]
    room = _LINES - len(lines)
    datasets = [d for d in view.datasets if not d.is_variant]
    each = max(1, room // max(1, len(datasets)) - 1)
    for dataset in datasets:
        size = f"{plural(dataset.planned, 'question')}, {plural(dataset.clusters, 'cluster')}"
        lines.append(f"{one_line(dataset.label, 40)} ({dataset.kind}, {size})")
        lines += [_verdict(t) for t in told.get(dataset.label, []) if t.need in _FIRST_NEEDS][:each]
    return "\n".join(lines[:_LINES])


def _verdict(told: Told) -> str:
    beside = f" Beside it, {told.beside}." if told.beside and told.need == _WITH_ABSTENTION else ""
    head = {"tied": "tied", "undecided": "not decidable"}.get(told.kind, told.head)
    return f"  {told.need}: {one_line(f'{head}. {told.text}{beside}', 300)}"


def render_overview(run: Run) -> str:
    """Return warnings, outcomes and the main figures of every data set, each with its interval."""
    view = View(run)
    lines = [f"{one_line(run.config.get('name') or 'run', 100)}", ""]
    for banner in banners(view):
        lines += textwrap.wrap(
            f"{'!' if banner.level != 'info' else '-'} {banner.head} {one_line(banner.text)}",
            _WIDTH,
            subsequent_indent="  ",
        )
    told = _told(view, COMPARED)
    for dataset in view.datasets:
        size = f"{plural(dataset.planned, 'question')}, {plural(dataset.clusters, 'independent cluster')}"
        lines += ["", f"{one_line(dataset.label, 60)} ({dataset.kind}, {size})", ""]
        lines += [f"  {t.need}: {one_line(t.head)}" for t in told.get(dataset.label, [])]
        lines += ["", *_indent(_outcomes(view, dataset))]
        for metrics in (SIDE_BY_SIDE, [m for m in MAIN if m not in SIDE_BY_SIDE]):
            lines += ["", *_indent(_metrics(metric_table(view, dataset, metrics)))]
    lines += ["", "memtrial show DIR QUESTION_ID shows one question with what was retrieved, shown and answered."]
    return "\n".join(lines)


def render_question(run: Run, question_id: str) -> str:
    """Return everything about one question: labels, every system's answer, what it retrieved and what the reader saw.

    Args:
        run: a finished run.
        question_id: as the report shows it; a question that stands in several data sets or corpora is shown for each.

    Raises:
        UserError: if no record has that question, with the near miss.
    """
    view = View(run)
    shown = []
    known: dict[str, None] = {}
    for dataset in view.datasets:
        for (_, question), records in grouped_records(view, dataset).items():
            known[question] = None
            if question == question_id:
                shown.append(
                    _question(question_view(view, dataset, dataset.place, records, cut=False), dataset, records)
                )
    if not shown:
        examples = ", ".join(list(known)[:3])
        raise UserError(
            f"{run.folder} holds no question {question_id!r}; it holds {plural(len(known), 'question')}, such as {examples}"
            f"{did_you_mean(question_id, known)}"
        )
    return "\n\n".join(shown)


def _told(view: View, metrics: Sequence[str]) -> dict[str, list[Told]]:
    run = view.run
    comparisons = compare(run.records, run.trials, metrics=metrics, resamples=view.resamples)
    told: dict[str, list[Told]] = {}
    for verdict in verdicts(run.metrics, comparisons, run.trials, reference_lines(run.records)):
        told.setdefault(verdict.dataset, []).append(tell(verdict))
    return told


def _question(q: QuestionView, dataset: DatasetView, records: Sequence[Record]) -> str:
    labels = q.labels
    need = "" if labels.needs_memory else " · needs no memory"
    lines = [
        f"{one_line(q.id)} · {one_line(dataset.label)} · {one_line(q.category)} · corpus {one_line(q.corpus)}",
        f"asked by {one_line(labels.asker) or 'unknown'} at {one_line(labels.asked_at)} · answer type {labels.answer_type}{need}",
        "",
        *(f"  {one_line(speaker)}: {one_line(text)}" for speaker, text in labels.history),
        *_wrapped(f"  {one_line(labels.asker) or 'question'}: ", labels.text),
        *(f"  option: {one_line(option)}" for option in labels.options),
        "",
        f"gold: {one_line(' | '.join(labels.answers)) or '-'}" if labels.answerable else "gold: to abstain",
        *(
            f"lure ({lure.kind}): {one_line(' | '.join(lure.values)) or '-'} in {', '.join(map(one_line, lure.message_ids))}"
            for lure in labels.lures
        ),
        *([f"contested: {one_line(labels.contested)}"] if labels.contested else []),
        "",
        *(line for given in q.answers for line in _answer(given)),
        "what was retrieved (rank by system; [n] was shown to the reader, [*] shown without a rank in the first ten)",
        "",
        *_memories(q),
    ]
    return "\n".join(lines)


def _answer(given: Given) -> list[str]:
    head = f"{one_line(given.trial)}: {given.label}{f' · {given.latency}' if given.latency else ''}"
    why = [line for told in given.why for line in _wrapped("      ", told)]
    remarks = [f"    {remark}" for remark in given.remarks]
    return [head, *_wrapped("    ", given.text), *remarks, *(["    why:", *why] if why else []), ""]


def _memories(q: QuestionView) -> list[str]:
    names = [one_line(g.trial, 24) for g in q.answers]
    lines = []
    for found in q.found:
        mark = "GOLD " if found.gold else f"LURE {','.join(found.lures)} " if found.lures else ""
        meta = " · ".join(x for x in (", ".join(map(one_line, found.ids)), found.when, found.who) if x)
        ranks = [f"{name} {_rank(found, i)}" for i, name in enumerate(names) if found.ranks[i] or found.shown[i]]
        none = "found in memories made of it, not as it was written" if found.inside else "found by none"
        lines += [f"  {mark}{meta}", *_wrapped("    ", found.text), f"    {', '.join(ranks) or none}"]
    return lines


def _rank(found: Found, index: int) -> str:
    rank = found.ranks[index]
    return f"[{rank or '*'}]" if found.shown[index] else str(rank)


def _outcomes(view: View, dataset: DatasetView) -> list[str]:
    counts = [view.outcomes(dataset.label, t) for t in dataset.trials]
    kept = [(o, label) for o, label in [*BAR_ORDER, ("not_run", "not run yet")] if any(c[o] for c in counts)]
    rows = [[one_line(t.trial, 40), *(str(c[o]) for o, _ in kept)] for t, c in zip(dataset.trials, counts, strict=True)]
    return align([["outcomes", *(label for _, label in kept)], *rows])


def _metrics(table: MetricTable) -> list[str]:
    rows = [
        [one_line(label, 40), *(f"{c.text} ({c.interval})" if c.interval else c.text for c in cells)]
        for label, cells in table.rows
    ]
    lines = align([["system", *(column.heading.replace("\u00a0", " ") for column in table.columns)], *rows])
    return lines if table.columns else []


def align(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return rows as aligned columns, the first to the left; wide characters take two places."""
    widths = [max(_width(row[i]) for row in rows) for i in range(len(rows[0]))]
    return [
        "  ".join(
            _pad(cell, width, left=i == 0) for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def _pad(text: str, width: int, *, left: bool) -> str:
    space = " " * (width - _width(text))
    return text + space if left else space + text


def _width(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 0 if unicodedata.combining(c) else 1 for c in text)


def _wrapped(indent: str, text: str) -> list[str]:
    blank = " " * min(len(indent), 8)
    lines: list[str] = []
    for number, paragraph in enumerate(visible(text).split("\n")):
        first = indent if number == 0 else blank
        lines += textwrap.wrap(paragraph, _WIDTH, initial_indent=first, subsequent_indent=blank) or [first.rstrip()]
    return lines


def _indent(lines: Iterable[str]) -> list[str]:
    return [f"  {line}" if line else "" for line in lines]
