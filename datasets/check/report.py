"""What a check found, and how it reads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from memtrial.datasets.schema import Note

Severity = Literal["error", "warning", "info"]
_SHOWN_PER_KIND = 10
_SHOWN_COUNTS = 20


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing about one place (an id of a message, question or conversation)."""

    severity: Severity
    kind: str
    where: str
    detail: str


@dataclass(frozen=True, slots=True)
class CheckReport:
    """All findings, what the loader mended, and counts.

    Attributes:
        dataset: name of the data set.
        findings: errors first, then warnings, then hints.
        notes: what the loader mended or left out.
        totals: corpora, conversations, tenants, messages, questions and so on.
        counts: numbers of questions by category, language, answer type, lure kind; of messages by source.
    """

    dataset: str
    findings: tuple[Finding, ...]
    notes: tuple[Note, ...]
    totals: Mapping[str, int]
    counts: Mapping[str, Mapping[str, int]]

    @property
    def ok(self) -> bool:
        """True where nothing is an error."""
        return not self.of("error")

    def of(self, severity: Severity) -> tuple[Finding, ...]:
        """Return the findings of one severity."""
        return tuple(f for f in self.findings if f.severity == severity)


def render_check(report: CheckReport) -> str:
    """Return the report as plain text: totals, counts, findings by kind (the first ten of each), the loader's notes."""
    lines = [f"{report.dataset}: " + ", ".join(f"{n:,} {what}" for what, n in report.totals.items())]
    for what, counts in report.counts.items():
        if counts:
            shown = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
            rest = f", and {len(shown) - _SHOWN_COUNTS} more" if len(shown) > _SHOWN_COUNTS else ""
            lines.append(
                f"  {what}: " + ", ".join(f"{name or '(none)'} {n:,}" for name, n in shown[:_SHOWN_COUNTS]) + rest
            )
    by_kind = Counter((f.severity, f.kind) for f in report.findings)
    for (severity, kind), n in by_kind.items():
        lines.append(f"{severity}: {kind} ({n:,})")
        same = [f for f in report.findings if (f.severity, f.kind) == (severity, kind)]
        lines += [f"  {f.where}: {f.detail}" for f in same[:_SHOWN_PER_KIND]]
        if n > _SHOWN_PER_KIND:
            lines.append(f"  ... and {n - _SHOWN_PER_KIND:,} more")
    if report.notes:
        lines.append(f"mended or left out while loading ({len(report.notes):,}):")
        lines += _note_lines(report.notes)
    errors, warnings = len(report.of("error")), len(report.of("warning"))
    lines.append(f"{errors:,} errors, {warnings:,} warnings, {len(report.of('info')):,} hints")
    return "\n".join(lines)


def _note_lines(notes: tuple[Note, ...]) -> list[str]:
    lines: list[str] = []
    seen: Counter[str] = Counter(note.kind for note in notes)
    shown: Counter[str] = Counter()
    for note in notes:
        shown[note.kind] += 1
        if shown[note.kind] <= _SHOWN_PER_KIND:
            lines.append(f"  {note.kind}: {note.where}: {note.detail}")
        elif shown[note.kind] == seen[note.kind]:
            lines.append(f"  {note.kind}: ... and {seen[note.kind] - _SHOWN_PER_KIND:,} more")
    return lines
