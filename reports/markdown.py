"""The report as Markdown: the same verdicts and tables, figures beside it as files. All text is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from memtrial.reports.browser import grouped_records
from memtrial.reports.content import Content, Part
from memtrial.reports.escape import markdown as esc
from memtrial.reports.figures.canvas import Drawn
from memtrial.reports.method import method
from memtrial.reports.pairs import PairTable
from memtrial.reports.sections import Grid, Section
from memtrial.reports.tables import DASH, Cell, MetricTable
from memtrial.reports.view import BAR_ORDER, OUTCOME_LABEL
from memtrial.reports.warned import in_short
from memtrial.reports.words import plural

_EXAMPLES = 12
_PAIRS = ("accuracy", "wrong_memory_rate", "recall@10")


def render_markdown(content: Content) -> str:
    """Return the report as one Markdown document that refers to ``figures/``."""
    blocks = [f"# {esc(content.title, 200)}", *(f"> **{b.head}** {esc(b.text)}" for b in content.banners)]
    blocks += ["## What came out", _short(content), *(b for part in content.parts for b in _verdict(part))]
    for part in content.parts:
        blocks += _part(content, part)
    named = (
        ("When to choose which", content.choose),
        ("Gates", content.gates),
        ("Routing", content.routing),
        ("Judges", content.judges),
        ("ragas", content.ragas),
        ("Cost", content.cost),
        ("Warnings", in_short(content.warned)),
    )
    for title, section in named:
        blocks += _section(title, section)
    blocks += _method(content)
    return "\n\n".join(b for b in blocks if b) + "\n"


def table(head: Sequence[str], rows: Iterable[Sequence[str]], left: int = 1) -> str:
    """Return a Markdown table; cells must be escaped already. The first ``left`` columns stand to the left."""
    rules = ["---" if i < left else "---:" for i in range(len(head))]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (head, rules, *rows))


def _short(content: Content) -> str:
    needs = list(dict.fromkeys(t.need for part in content.parts for t in part.told))
    heads = [{t.need: t.head for t in part.told} for part in content.parts]
    head = ["need", *(f"{esc(p.dataset.label)} ({p.dataset.kind})" for p in content.parts)]
    return table(head, [[need, *(esc(h.get(need, DASH)) for h in heads)] for need in needs], left=len(head))


def _verdict(part: Part) -> list[str]:
    d = part.dataset
    lines = []
    for t in part.told:
        lines.append(f"- **{t.need}**: {esc(t.head)}. {esc(t.text)}")
        lines += [f"  - Beside it, {esc(t.beside)}."] if t.beside else []
        lines += [f"  - {esc(caveat)}" for caveat in t.caveats]
    size = f"{plural(d.planned, 'question')} in {plural(d.clusters, 'cluster')}"
    return [f"### {esc(d.label)}", f"{d.kind}, {size}", "\n".join(lines), _table(part.side), *_references(part)]


def _references(part: Part) -> list[str]:
    words = [
        f"{line.name.replace('_', ' ')} would reach an accuracy of {line.accuracy:.1%}" for line in part.references
    ]
    return [f"For reference, without looking at the log: {'; '.join(words)}."] if words else []


def _part(content: Content, part: Part) -> list[str]:
    d = part.dataset
    blocks = [
        f"## {esc(d.label)}",
        "### Outcomes",
        _figure(part.outcomes),
        _outcomes(content, part),
        "### Metrics",
        _table(part.main),
    ]
    blocks += ["### Where answers are lost", *([_figure(part.losses)] if part.losses else []), *_grid(part.loss_table)]
    if part.recall:
        blocks += ["### Retrieval", _figure(part.recall)]
    blocks += ["### Latency and tokens", *([_figure(part.speed)] if part.speed else [])]
    blocks += [_table(t) for title, t in part.groups if title in ("Latency", "Tokens and cost", "Vectors")]
    blocks += ["### Caches", *_grid(part.caches)] if part.caches else []
    blocks += ["### By kind of lure and category", *(_figure(h) for h in part.heatmaps)] if part.heatmaps else []
    for s in (*part.kinds, *part.slices):
        blocks += [f"### {s.title}, %", _table(s.table)]
    for axis in part.axes:
        blocks += [f"### What {esc(axis.path)} changes", "\n".join(f"- {esc(f.text)}." for f in axis.findings)]
        blocks += [_figure(axis.figure)] if axis.figure else []
    blocks += ["### Pair by pair", *(b for t in part.pairs if t.metric in _PAIRS for b in _pairs(t))]
    return [*blocks, *_examples(content, part)]


def _outcomes(content: Content, part: Part) -> str:
    counts = {t.trial: content.view.outcomes(part.dataset.label, t) for t in part.dataset.trials}
    late = [("not_run", "not run yet")] if any(c["not_run"] for c in counts.values()) else []
    order = [*BAR_ORDER, *late]
    rows = [[esc(trial), *(str(c[o]) for o, _ in order)] for trial, c in counts.items()]
    return table(["system", *(label for _, label in order)], rows)


def _pairs(pairs: PairTable) -> list[str]:
    unit = f", {pairs.unit}" if pairs.unit else ""
    head = ["first", "second", f"difference{unit}", "95 % interval", "p (Holm)", "detectable", "the first is"]
    rows = [
        [esc(r.a), esc(r.b), r.difference or DASH, r.interval or DASH, esc(r.p) or DASH, r.detectable or DASH, r.words]
        for r in pairs.rows
    ]
    return [f"**{pairs.title}**: {pairs.decided} of {len(pairs.rows)} pairs decided", table(head, rows, left=2)]


def _examples(content: Content, part: Part) -> list[str]:
    """Name the first questions in which a wrong memory was used; the page and ``memtrial show`` have everything."""
    rows: list[list[str]] = []
    for (_, question), records in grouped_records(content.view, part.dataset).items():
        used = [r for r in records if r.judgement.outcome == "wrong_memory"]
        if used and len(rows) < _EXAMPLES:
            first = used[0]
            gold = " / ".join(first.labels.answers) if first.labels.answerable else "to abstain"
            rows.append(
                [
                    esc(question, 40),
                    esc(first.labels.text, 120),
                    esc(gold, 60),
                    esc(first.trial),
                    esc(first.result.text, 80),
                ]
            )
    if not rows:
        return []
    note = f"Questions with {OUTCOME_LABEL['wrong_memory']}, the first of them; `memtrial show DIR QUESTION_ID` shows any question."
    return ["### Questions", note, table(["question", "text", "gold", "system", "its answer"], rows, left=5)]


def _method(content: Content) -> list[str]:
    found = method(content.view)
    blocks = ["## Method", "Every figure is computed from `records.parquet`; `metrics.json` holds each as a row."]
    for sheet in (*found.data, *found.systems):
        blocks += [f"### {esc(sheet.title)}", _facts(sheet.facts)]
    return [
        *blocks,
        "### Run and environment",
        _facts(found.run),
        "### What each number means",
        _facts(found.definitions),
    ]


def _section(title: str, section: Section) -> list[str]:
    if not section:
        return []
    blocks = [f"## {title}", esc(section.lead)]
    for grid in section.grids:
        drawn = [_figure(grid.figure)] if grid.figure else []
        blocks += [f"### {esc(grid.title)}", *drawn, *_grid(grid)]
    return [*blocks, "\n".join(f"- {esc(note)}." for note in section.notes)]


def _grid(grid: Grid) -> list[str]:
    rows = [[esc(cell) for cell in row] for row in grid.rows]
    notes = "\n".join(f"- {esc(note)}." for note in grid.notes)
    return [table([esc(h) for h in grid.head], rows), notes]


def _facts(facts: Iterable[tuple[str, str]]) -> str:
    return "\n".join(f"- {esc(key)}: {esc(value, 400)}" for key, value in facts)


def _figure(drawn: Drawn) -> str:
    return f"![{esc(drawn.title)}](figures/{drawn.name}.svg)"


def _table(found: MetricTable) -> str:
    if not found.columns:
        return ""
    rows = [[esc(label), *(_cell(c) for c in cells)] for label, cells in found.rows]
    text = table(["system", *(esc(c.heading) for c in found.columns)], rows)
    return "\n\n".join([text, "\n".join(f"- {esc(note)}." for note in found.notes)]).strip()


def _cell(cell: Cell) -> str:
    return f"{cell.text} ({esc(cell.interval)})" if cell.interval else cell.text
