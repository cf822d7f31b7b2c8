"""Loader ``locomo``: LoCoMo's original file (Maharana et al., ACL 2024, arXiv:2402.17753).

Everything odd in the file is survived and noted. Annotators' search text (``query``) and the summaries are never kept;
a picture's caption is kept as ``extra["caption"]``, marked as derived text. Session dates carry no zone and are taken
as UTC; the turns of a session stand a few seconds apart. Questions are asked a day after the last message.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from pydantic import Field, field_validator

from memtrial.datasets.errors import UserError
from memtrial.datasets.loaders.answer_types import infer_answer_type, split_items
from memtrial.datasets.loaders.fields import Row, as_text
from memtrial.datasets.loaders.files import existing, read_document
from memtrial.datasets.loaders.locomo_audit import apply_audit
from memtrial.datasets.loaders.notes import NoteBook
from memtrial.datasets.loaders.spec import DatasetSpec, LoaderEntry
from memtrial.datasets.schema import Conversation, Corpus, Dataset, Lure, Message, Participant, Question

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
_ADVERSARIAL = 5
_TURN_STEP = timedelta(seconds=5)
_SESSION = re.compile(r"session_(\d+)")
_SESSION_DATE = re.compile(r"(session_\d+)_date_time")
_TIME_FORMAT = "%I:%M %p on %d %B, %Y"
# Also the mistyped forms found in the file: "D:11:26", "D30:05", several ids in one string.
_DIA_ID = re.compile(r"D:?(\d+):(\d+)")
_BETWEEN_IDS = re.compile(r"[\s;,]*")
_LICENCE = "CC BY-NC 4.0"


class LocomoSpec(DatasetSpec):
    """Options of ``locomo``."""

    name: Literal["locomo"]
    path: str = Field(description="LoCoMo's JSON file, or a folder with it")
    pooled: bool = Field(
        default=False, description="true puts all conversations into one memory, so that they can be confused"
    )
    audit: str | None = Field(
        default=None, description="an audit of gold answers (errors.json of locomo-audit); marks questions contested"
    )
    categories: list[Literal[1, 2, 3, 4, 5]] = Field(
        default=[1, 2, 3, 4, 5],
        min_length=1,
        description="keep the questions of these categories (1 multi-hop, 2 temporal, 3 open-domain, 4 single-hop, 5 adversarial)",
    )
    captions: bool = Field(default=True, description="keep picture captions as derived text beside what was said")

    @field_validator("categories")
    @classmethod
    def _as_a_set(cls, value: list[int]) -> list[int]:
        return sorted(set(value))


def load(spec: LocomoSpec) -> Dataset:
    """Load the conversations with their questions.

    Raises:
        UserError: no LoCoMo file at the path, a conversation twice, a session date that cannot be parsed.
    """
    notes = NoteBook()
    samples: dict[str, Row] = {}
    for row in _samples(existing(spec.path, "data set 'locomo', option 'path'"), notes):
        ident = row.ident("sample_id")
        if ident in samples:
            raise UserError(f"{row.where}: conversation {ident!r} is there twice, first in {samples[ident].where}")
        samples[ident] = row
    corpora = [_SampleReader(row, ident, spec, notes).read() for ident, row in samples.items()]
    corpora = _chosen(corpora, spec.categories, notes)
    notes.add("captions", "locomo", "kept as derived text" if spec.captions else "left out (captions: false)")
    notes.add("naive_time", "locomo", "session dates have no zone and are taken as UTC; turns are set 5 s apart")
    notes.add("asked_at", "locomo", "questions carry no time and are asked one day after the last message")
    if spec.pooled:
        corpora = [_pool(corpora)]
    if spec.audit is not None:
        corpora = apply_audit(corpora, existing(spec.audit, "data set 'locomo', option 'audit'"), notes)
    return Dataset(
        name="locomo",
        corpora=tuple(corpora),
        notes=notes.notes(),
        licence=_LICENCE,
        description="LoCoMo: long dialogues of two people over months, questions with evidence at turn level",
    )


def _samples(path: Path, notes: NoteBook) -> list[Row]:
    if path.is_file():
        found = _rows_of(read_document(path, notes), path)
    else:
        found = []
        for file in sorted(path.glob("*.json")):
            rows = _rows_of(read_document(file, notes), file)
            if not rows:
                notes.add("left_out", file.name, "not in LoCoMo's format")
            found += rows
    if not found:
        raise UserError(
            f"{path}: no LoCoMo conversation found; a JSON list of objects with sample_id, conversation and qa is expected"
        )
    return found


def _rows_of(value: Any, path: Path) -> list[Row]:
    if not isinstance(value, list) or not all(
        isinstance(v, dict) and {"conversation", "qa"} <= v.keys() for v in value
    ):
        return []
    return [Row.of(sample, f"{path}, [{i}]") for i, sample in enumerate(value)]


class _SampleReader:
    """Reads one conversation."""

    def __init__(self, row: Row, ident: str, spec: LocomoSpec, notes: NoteBook) -> None:
        self.row, self.ident, self.notes = row, ident, notes
        self.captions = spec.captions
        self.tenant = "locomo" if spec.pooled else ident
        self.talk = Row.of(row.data.get("conversation"), f"{row.where}.conversation")

    def read(self) -> Corpus:
        messages = tuple(m for session in self._sessions() for m in self._turns(session))
        if not messages:
            raise UserError(f"{self.talk.where}: no session with turns; keys such as session_1 are expected")
        speakers = tuple(dict.fromkeys(m.sender for m in messages))
        conversation = Conversation(
            id=self.ident,
            tenant_id=self.tenant,
            messages=messages,
            language="en",
            title=" and ".join(speakers),
            participants=tuple(Participant(id=s, name=s) for s in speakers),
        )
        known = {m.id for m in messages}
        asked_at = messages[-1].timestamp + timedelta(days=1)
        questions = tuple(self._question(i, qa, known, asked_at) for i, qa in enumerate(self.row.objects("qa")))
        self._note_repeats(questions)
        derived = sorted({"event_summary", "observation", "session_summary"} & self.row.data.keys())
        if derived:
            self.notes.count(
                "left_out", "locomo", f"conversations whose {', '.join(derived)} (not chat text) are left out"
            )
        return Corpus(id=self.ident, conversations=(conversation,), questions=questions)

    def _sessions(self) -> list[str]:
        names = [key for key in self.talk.data if _SESSION.fullmatch(key)]
        for key in self.talk.data:
            found = _SESSION_DATE.fullmatch(key)
            if found and found[1] not in self.talk.data:
                self.notes.count("date_without_session", self.ident, "session dates without a session")
        return sorted(names, key=lambda name: int(name.removeprefix("session_")))

    def _turns(self, session: str) -> list[Message]:
        turns = self.talk.objects(session)
        if not turns:
            return []
        start = self._start(session)
        # A session that begins just before midnight keeps its date: the steps shrink to fit.
        midnight = start.replace(hour=0, minute=0) + timedelta(days=1)
        step = min(_TURN_STEP, (midnight - start) / len(turns))
        return [self._message(turn, session, start + i * step) for i, turn in enumerate(turns)]

    def _start(self, session: str) -> datetime:
        key = f"{session}_date_time"
        try:
            return datetime.strptime(self.talk.text(key), _TIME_FORMAT).replace(tzinfo=UTC)
        except ValueError:
            self.talk.fail(key, "a date such as '1:56 pm on 8 May, 2023'")

    def _message(self, turn: Row, session: str, at: datetime) -> Message:
        dia_id, sender = turn.ident("dia_id"), turn.ident("speaker")
        speakers = [self.talk.text(key, "") for key in ("speaker_a", "speaker_b")]
        extra: dict[str, Any] = {"dia_id": dia_id}
        for field, text in (("query", "turns whose annotators' search text (query) was left out"),
                            ("img_url", "turns with a picture, whose address was left out")):  # fmt: skip
            if turn.data.get(field):
                self.notes.count("left_out", "locomo", text)
        if turn.data.get("blip_caption"):
            without = "" if turn.data.get("img_url") else " and no img_url"
            self.notes.count("derived_text", "locomo", f"turns with a caption{without}")
            if self.captions:
                extra |= {"caption": turn.text("blip_caption"), "caption_source": "derived"}
        return Message(
            id=f"{self.ident}:{dia_id}",
            conversation_id=self.ident,
            session_id=f"{self.ident}:{session}",
            tenant_id=self.tenant,
            sender=sender,
            recipient=next((s for s in speakers if s and s != sender), ""),
            timestamp=at,
            content=turn.text("text"),
            extra=MappingProxyType(extra),
        )

    def _question(self, index: int, qa: Row, known: set[str], asked_at: datetime) -> Question:
        category = qa.data.get("category")
        if not isinstance(category, int) or category not in CATEGORIES:
            qa.fail("category", "a number from 1 to 5")
        where = f"{self.ident} qa {index}"
        evidence = self._evidence(qa, where, known)
        adversarial = category == _ADVERSARIAL
        gold = self._gold(qa, where, adversarial)
        kind = infer_answer_type((gold,) if gold else (), temporal=category == 2, enumerations=True)
        return Question(
            id=f"{self.ident}:qa{index}",
            conversation_id=self.ident,
            tenant_id=self.tenant,
            asker="",
            asked_at=asked_at,
            text=qa.text("question"),
            category=CATEGORIES[category],
            answerable=not adversarial,
            needs_memory=True,
            answer_type=kind,
            answers=() if adversarial else split_items(gold) if kind == "list" else (gold,),
            evidence=() if adversarial else evidence,
            cluster_id=self.ident,
            lures=(Lure("other_person", evidence, (gold,) if gold else (), "asked about the wrong speaker"),)
            if adversarial
            else (),
            language="en",
            official_evidence=evidence,
        )

    def _gold(self, qa: Row, where: str, adversarial: bool) -> str:
        """Return the gold answer, or for an adversarial question the answer that falls for it."""
        if adversarial and "answer" in qa.data:
            self.notes.add(
                "adversarial_with_answer", where, f"has an answer too ({qa.data['answer']!r}); abstaining is right"
            )
        elif adversarial:
            self.notes.count(
                "adversarial", "locomo", "adversarial questions without answer; their adversarial_answer is the lure"
            )
        key = "adversarial_answer" if adversarial else "answer"
        value = qa.data.get(key)
        if isinstance(value, int):
            self.notes.add("number_answer", where, f"{key} {value} read as text")
        gold = as_text(value)
        if gold is None:
            qa.fail(key, "a text or a number")
        return gold.strip()

    def _evidence(self, qa: Row, where: str, known: set[str]) -> tuple[str, ...]:
        found: list[str] = []
        raw_ids = qa.values("evidence")
        for raw in raw_ids:
            ids = [f"D{int(d)}:{int(turn)}" for d, turn in _DIA_ID.findall(raw)]
            if not ids or _BETWEEN_IDS.fullmatch(_DIA_ID.sub("", raw)) is None:
                self.notes.add("evidence_unreadable", where, f"{raw!r} is not a turn id and was dropped")
            if ids and ids != [raw]:
                self.notes.add("evidence_repaired", where, f"{raw!r} read as {' '.join(ids)}")
            found += ids
        if not raw_ids:
            self.notes.add("evidence_empty", where, "no evidence is labelled")
        for dia_id in dict.fromkeys(found):
            if f"{self.ident}:{dia_id}" not in known:
                self.notes.add("evidence_dangling", where, f"turn {dia_id} does not exist; reference dropped")
            if found.count(dia_id) > 1:
                self.notes.add("evidence_repeated", where, f"{dia_id} is named {found.count(dia_id)} times, kept once")
        return tuple(m for m in dict.fromkeys(f"{self.ident}:{dia_id}" for dia_id in found) if m in known)

    def _note_repeats(self, questions: tuple[Question, ...]) -> None:
        first: dict[str, str] = {}
        for question in questions:
            if question.text in first:
                self.notes.add("question_repeated", question.id, f"same text as {first[question.text]}; both kept")
            first.setdefault(question.text, question.id)


def _chosen(corpora: list[Corpus], categories: list[Any], notes: NoteBook) -> list[Corpus]:
    """Leave out questions of other categories; ids keep the place in the file, and every message stays."""
    if len(categories) == len(CATEGORIES):
        return corpora
    names = {CATEGORIES[category] for category in categories}
    kept = [replace(c, questions=tuple(q for q in c.questions if q.category in names)) for c in corpora]
    gone = sum(len(c.questions) for c in corpora) - sum(len(c.questions) for c in kept)
    others = ", ".join(name for name in CATEGORIES.values() if name not in names)
    notes.add("left_out", "locomo", f"{gone} questions of the categories {others} (option categories)")
    return kept


def _pool(corpora: list[Corpus]) -> Corpus:
    conversations = tuple(c for corpus in corpora for c in corpus.conversations)
    asked_at = max(c.messages[-1].timestamp for c in conversations) + timedelta(days=1)
    questions = tuple(replace(q, asked_at=asked_at) for corpus in corpora for q in corpus.questions)
    return Corpus(id="locomo", conversations=conversations, questions=questions)


ENTRY = LoaderEntry(
    spec=LocomoSpec,
    load=load,
    summary="LoCoMo: long dialogues over months, 5 question categories, evidence at turn and session level",
    licence=_LICENCE,
)
