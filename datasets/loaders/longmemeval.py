"""Loader ``longmemeval``: LongMemEval's official schema (Wu et al., ICLR 2025, arXiv:2410.10813).

Each question has a haystack of its own, hence a corpus of its own. ``_abs`` in a question's id means that it cannot be
answered. For ``knowledge-update`` the newest answer session is the evidence and the earlier ones are a stale lure.
Dates carry no zone and are taken as UTC; the turns of a session stand a second apart.

Official ids tell the label (``answer_...`` sessions, ``..._abs`` questions), so systems see others: a haystack is named
by a hash of its question's id, a session by its place in time.
"""

from __future__ import annotations

import hashlib
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal, NoReturn

from pydantic import Field

from memtrial.datasets.errors import UserError
from memtrial.datasets.loaders.answer_types import infer_answer_type
from memtrial.datasets.loaders.fields import Row, show
from memtrial.datasets.loaders.files import existing, read_document
from memtrial.datasets.loaders.notes import NoteBook
from memtrial.datasets.loaders.spec import DatasetSpec, LoaderEntry
from memtrial.datasets.schema import Conversation, Corpus, Dataset, Lure, Message, Question

_LICENCE = "MIT"
_DATE = re.compile(r"(\d{4})/(\d{2})/(\d{2})(?: \(\w{3}\))?(?: (\d{2}):(\d{2}))?")
_DATE_ALLOWED = "a date such as '2023/05/30 (Tue) 23:40'"
_UNANSWERABLE = "_abs"
_UPDATE = "knowledge-update"
_PARALLEL = ("haystack_session_ids", "haystack_dates", "haystack_sessions")


class LongmemevalSpec(DatasetSpec):
    """Options of ``longmemeval``."""

    name: Literal["longmemeval"]
    path: str = Field(description="one of its JSON files (oracle, S or M), or a folder of such files")


def load(spec: LongmemevalSpec) -> Dataset:
    """Load every question with its haystack.

    Raises:
        UserError: no such file, a question twice, arrays that do not run parallel, a date that cannot be parsed.
    """
    notes = NoteBook()
    corpora: list[Corpus] = []
    places: dict[str, str] = {}
    for row in _rows(existing(spec.path, "data set 'longmemeval', option 'path'"), notes):
        ident = row.ident("question_id")
        if ident in places:
            raise UserError(
                f"{row.where}: question id {ident!r} is used twice, first in {places[ident]}; ids must be unique"
            )
        places[ident] = row.where
        corpora.append(_HaystackReader(row, ident, notes).read())
    late = sum(_evidence_is_late(corpus) for corpus in corpora)
    if late:
        notes.add(
            "clock",
            "longmemeval",
            f"{late} questions are dated before their own evidence; the whole log is handed over first",
        )
    notes.add("naive_time", "longmemeval", "dates have no zone and are taken as UTC; turns are set 1 s apart")
    return Dataset(
        name="longmemeval",
        corpora=tuple(corpora),
        notes=notes.notes(),
        clock_usable=not late,
        licence=_LICENCE,
        description="LongMemEval: questions of a user over dated chat sessions with an assistant",
    )


def _rows(path: Path, notes: NoteBook) -> list[Row]:
    files = [path] if path.is_file() else sorted(path.glob("*.json"))
    rows = []
    for file in files:
        value: Any = read_document(file, notes)
        if not isinstance(value, list):
            raise UserError(f"{file}: a JSON list of objects with question_id and haystack_sessions is expected")
        rows += [Row.of(item, f"{file}, [{i}]") for i, item in enumerate(value)]
    if not rows:
        raise UserError(
            f"{path}: no question found; a JSON list of objects with question_id and haystack_sessions is expected"
        )
    return rows


def _evidence_is_late(corpus: Corpus) -> bool:
    times = {m.id: m.timestamp for c in corpus.conversations for m in c.messages}
    return any(times[ident] > q.asked_at for q in corpus.questions for ident in q.evidence)


class _HaystackReader:
    """Reads one question with its sessions."""

    def __init__(self, row: Row, question_id: str, notes: NoteBook) -> None:
        self.row, self.notes = row, notes
        self.question_id = question_id
        self.haystack = f"haystack-{hashlib.sha256(self.question_id.encode()).hexdigest()[:12]}"
        # By official session id: the id given instead, and the turns marked has_answer.
        self.sessions: dict[str, str] = {}
        self.marked: dict[str, list[str]] = {}

    def read(self) -> Corpus:
        messages = [m for session, at, turns in self._sessions() for m in self._turns(session, at, turns)]
        messages.sort(key=lambda m: m.timestamp)
        if not messages:
            self.notes.count("haystack_empty", "longmemeval", "questions without any session")
        conversation = Conversation(self.haystack, self.haystack, tuple(messages), language="en")
        return Corpus(self.haystack, (conversation,), (self._question(),))

    def _sessions(self) -> list[tuple[str, datetime, Any]]:
        ids, dates, sessions = (self._list(key) for key in _PARALLEL)
        if not len(ids) == len(dates) == len(sessions):
            raise UserError(
                f"{self.row.where}: {', '.join(_PARALLEL)} have {len(ids)}, {len(dates)} and {len(sessions)} entries; "
                "they run parallel and must be of one length"
            )
        times = [self._date("haystack_dates", date) for date in dates]
        if times != sorted(times):
            self.notes.count("unsorted", "longmemeval", "haystacks that were not in time order and were sorted")
        named = [(str(ident), at, turns) for ident, at, turns in zip(ids, times, sessions, strict=True)]
        return sorted(named, key=lambda session: session[1])

    def _list(self, key: str) -> list[Any]:
        value = self.row.data.get(key)
        if not isinstance(value, list):
            self.row.fail(key, "a list")
        return value

    def _turns(self, session: str, at: datetime, turns: Any) -> list[Message]:
        if session in self.marked:
            self.notes.count("session_repeated", "longmemeval", "sessions that stand twice in a haystack; kept once")
            return []
        marked = self.marked[session] = []
        name = self.sessions[session] = f"s{len(self.sessions) + 1}"
        if not isinstance(turns, list):
            raise UserError(f"{self.row.where}, haystack_sessions: found {show(turns)}; a list of turns is expected")
        messages = []
        for i, turn in enumerate(turns):
            row = Row.of(turn, f"{self.row.where}, session {session!r}, turn {i}")
            role = row.choice("role", ("user", "assistant"))
            ident = f"{self.haystack}:{name}:{i}"
            if row.flag("has_answer", False):
                marked.append(ident)
            messages.append(
                Message(
                    id=ident,
                    conversation_id=self.haystack,
                    session_id=name,
                    tenant_id=self.haystack,
                    sender=role,
                    recipient="assistant" if role == "user" else "user",
                    timestamp=at + timedelta(seconds=i),
                    content=row.text("content"),
                )
            )
        return messages

    def _question(self) -> Question:
        answerable = not self.question_id.endswith(_UNANSWERABLE)
        category = self.row.text("question_type")
        answers = self.row.values("answer")
        if isinstance(self.row.data.get("answer"), int):
            self.notes.count("number_answer", "longmemeval", "answers that are numbers, read as text")
        gold = self._gold_sessions()
        # In time order: for an update, what came before the newest no longer holds.
        stale = gold[:-1] if category == _UPDATE and answerable else []
        evidence = tuple(m for session in gold if session not in stale for m in self.marked[session])
        stale_ids = tuple(m for session in stale for m in self.marked[session])
        return Question(
            id=self.question_id,
            conversation_id=self.haystack,
            tenant_id=self.haystack,
            asker="user",
            asked_at=self._date("question_date", self.row.data.get("question_date"), end_of_day=True),
            text=self.row.text("question"),
            category=category,
            answerable=answerable,
            needs_memory=True,
            answer_type=infer_answer_type(answers if answerable else ()),
            answers=answers if answerable else (),
            evidence=evidence if answerable else (),
            cluster_id=self.question_id,
            language="en",
            lures=(Lure("stale", stale_ids, (), "an earlier session with the value before the update"),)
            if stale_ids
            else (),
            official_evidence=tuple(m for session in gold for m in self.marked[session]),
            evidence_sessions=tuple(self.sessions[s] for s in gold if s not in stale)
            if answerable and not evidence
            else (),
        )

    def _gold_sessions(self) -> list[str]:
        named = set(self.row.idents("answer_session_ids"))
        missing = sorted(named - self.marked.keys())
        if missing:
            self.notes.add(
                "evidence_dangling",
                self.question_id,
                f"answer sessions {', '.join(missing)} are not in the haystack; dropped",
            )
        return [session for session in self.marked if session in named]

    def _date(self, key: str, value: Any, *, end_of_day: bool = False) -> datetime:
        found = _DATE.fullmatch(value) if isinstance(value, str) else None
        if found is None:
            self._bad_date(key, value)
        hour, minute = (found[4], found[5]) if found[4] else ("23", "59") if end_of_day else ("0", "0")
        try:
            return datetime(int(found[1]), int(found[2]), int(found[3]), int(hour), int(minute), tzinfo=UTC)
        except ValueError:
            self._bad_date(key, value)

    def _bad_date(self, key: str, value: Any) -> NoReturn:
        raise UserError(f"{self.row.where}: field {key!r} holds {show(value)}; {_DATE_ALLOWED} is expected")


ENTRY = LoaderEntry(
    spec=LongmemevalSpec,
    load=load,
    summary="LongMemEval: a haystack of dated sessions per question, in its official schema",
    licence=_LICENCE,
)
