"""Questions with their labels in the project's own JSON terms (METRICS: "Labels a question carries")."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from datetime import datetime, timedelta
from typing import Any

from memtrial.datasets.errors import UserError
from memtrial.datasets.loaders.answer_types import infer_answer_type
from memtrial.datasets.loaders.fields import Row, renamed
from memtrial.datasets.loaders.notes import NoteBook
from memtrial.datasets.schema import ANSWER_TYPES, LURE_KINDS, Conversation, Lure, Question, ScorePoint, Turn

_ALIASES = {"question_id": "id", "question": "text", "answer": "answers", "question_date": "asked_at"}
_TURN_ALIASES = {"sender": "speaker", "role": "speaker", "content": "text"}
_KNOWN = frozenset(field.name for field in fields(Question)) | {"note"}  # note: an annotator's remark, not kept
_KNOWN_LURE = frozenset(field.name for field in fields(Lure))


class QuestionReader:
    """Reads questions over known conversations; remembers where each id was found."""

    def __init__(self, conversations: Sequence[Conversation], notes: NoteBook) -> None:
        """Questions refer to ``conversations``; what is mended goes to ``notes``."""
        self.notes = notes
        self.places: dict[str, str] = {}
        self._conversations = {c.id: c for c in conversations}
        self._home = {m.id: c for c in conversations for m in c.messages}

    def read(self, value: Any, where: str, file: str) -> Question:
        """Read one question.

        Raises:
            UserError: a field is wrong, missing or misspelt, or the id was used before (both places are named).
        """
        row = Row.of(value, where)
        row = Row(renamed(row.data, _ALIASES), where)
        row.check_known(_KNOWN, "question", self.notes, file)
        ident = row.ident("id")
        if ident in self.places:
            raise UserError(
                f"{where}: question id {ident!r} is used twice, first in {self.places[ident]}; ids must be unique"
            )
        self.places[ident] = where
        named = row.idents("evidence")
        evidence = tuple(dict.fromkeys(named))
        if len(evidence) < len(named):
            self.notes.count("evidence_repeated", file, "questions that name an evidence id twice; kept once")
        home = self._find_home(row, evidence)
        answers = row.values("answers")
        answerable = row.flag("answerable", bool(answers))
        category = row.text("category", "uncategorised")
        answer_type = (
            infer_answer_type(answers)
            if row.data.get("answer_type") is None
            else row.choice("answer_type", ANSWER_TYPES)
        )
        return Question(
            id=ident,
            conversation_id=home.id,
            tenant_id=row.ident("tenant_id", home.tenant_id),
            asker=row.ident("asker", ""),
            asked_at=self._asked_at(row, category, home, file),
            text=row.text("text"),
            category=category,
            answerable=answerable,
            needs_memory=row.flag("needs_memory", True),
            answer_type=answer_type,
            answers=answers,
            evidence=evidence,
            cluster_id=row.ident("cluster_id", home.id),
            lures=tuple(_lure(lure) for lure in row.objects("lures")),
            history=tuple(_turn(turn) for turn in row.objects("history")),
            language=row.text("language", home.language),
            options=row.values("options"),
            score_points=tuple(_score_point(point) for point in row.objects("score_points")),
            official_evidence=row.idents("official_evidence"),
            evidence_sessions=row.idents("evidence_sessions"),
            contested=row.text("contested", ""),
        )

    def _find_home(self, row: Row, evidence: Sequence[str]) -> Conversation:
        stated = row.ident("conversation_id", "")
        homes = {self._home[ident].id for ident in evidence if ident in self._home}
        if not stated and len(self._conversations) == 1:
            stated = next(iter(self._conversations))
        elif not stated and len(homes) == 1:
            stated = homes.pop()
        if stated not in self._conversations:
            row.fail("conversation_id", f"a conversation of the log ({_some(self._conversations)})")
        return self._conversations[stated]

    def _asked_at(self, row: Row, category: str, home: Conversation, file: str) -> datetime:
        if row.data.get("asked_at") is not None:
            return row.time("asked_at", self.notes, file)[0]
        if "temporal" in category.lower() or not home.messages:
            row.fail("asked_at", "the time at which it is asked (an anchor for relative times)")
        self.notes.count(
            "asked_at_missing", file, "questions without asked_at, taken as a minute after their conversation ends"
        )
        return home.messages[-1].timestamp + timedelta(minutes=1)


def _lure(row: Row) -> Lure:
    unknown = sorted(set(row.data) - _KNOWN_LURE)
    if unknown:
        raise UserError(
            f"{row.where}: unknown field {unknown[0]!r} of a lure; allowed: {', '.join(sorted(_KNOWN_LURE))}"
        )
    return Lure(
        kind=row.choice("kind", LURE_KINDS),
        message_ids=row.idents("message_ids"),
        values=row.values("values"),
        why=row.text("why", ""),
    )


def _turn(row: Row) -> Turn:
    row = Row(renamed(row.data, _TURN_ALIASES), row.where)
    return Turn(speaker=row.text("speaker"), text=row.text("text"))


def _score_point(row: Row) -> ScorePoint:
    score = row.data.get("score")
    if isinstance(score, bool) or not isinstance(score, (int, float)):
        row.fail("score", "a number")
    return ScorePoint(description=row.text("description"), score=float(score))


def _some(known: Mapping[str, Any]) -> str:
    names = list(known)
    return ", ".join(map(repr, names[:5])) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
