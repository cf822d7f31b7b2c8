"""Marks LoCoMo questions whose gold label an audit doubts (github dial481/locomo-audit, errors.json)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from memtrial.datasets.errors import UserError
from memtrial.datasets.loaders.fields import Row
from memtrial.datasets.loaders.files import read_document
from memtrial.datasets.loaders.notes import NoteBook
from memtrial.datasets.schema import Corpus

# This one doubts the evidence alone; the answer stands.
_EVIDENCE_ONLY = "WRONG_CITATION"


def apply_audit(corpora: Sequence[Corpus], path: Path, notes: NoteBook) -> list[Corpus]:
    """Return the corpora with ``contested`` set: ``answer: <type>: <reasoning>``, or ``evidence: ...`` for citations.

    Rows are matched by ``sample_id`` and ``qa_index`` where they carry them, else by question text; the text must agree.

    Raises:
        UserError: the file is not an audit.
    """
    value = read_document(path, notes)
    if not isinstance(value, list):
        raise UserError(f"{path}: an audit is a JSON list of objects with question and error_type")
    by_id = {q.id: q.text for corpus in corpora for q in corpus.questions}
    by_text: dict[str, list[str]] = {}
    for ident, text in by_id.items():
        by_text.setdefault(text, []).append(ident)
    doubts: dict[str, str] = {}
    for i, item in enumerate(value):
        row = Row.of(item, f"{path}, [{i}]")
        text, kind = row.text("question"), row.text("error_type")
        stated = f"{row.data.get('sample_id')}:qa{row.data.get('qa_index')}"
        targets = [stated] if by_id.get(stated) == text else by_text.get(text, [])
        if len(targets) != 1:
            notes.count("audit_unmatched", path.name, "rows of the audit that match no question, or more than one")
            continue
        side = "evidence" if kind == _EVIDENCE_ONLY else "answer"
        doubts[targets[0]] = f"{side}: {kind}: {row.text('reasoning', '')}"
    notes.add("contested", path.name, f"{len(doubts)} questions marked by the audit")
    return [
        replace(c, questions=tuple(replace(q, contested=doubts.get(q.id, q.contested)) for q in c.questions))
        for c in corpora
    ]
