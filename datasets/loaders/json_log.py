"""Loader ``json``: chat logs in the project's own JSON terms, or any bare list of messages.

A log is a JSON list of messages, JSON lines of messages, or ``{"conversation": {...}, "questions": [...]}`` (or
``"conversations": [...]``); a folder of such files is one log. Everything under one path lives in one memory, unless
files name a ``"corpus"``. A ``dataset.json`` written by ``export_dataset`` gives the order of files and the head.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from memtrial.datasets.errors import UserError
from memtrial.datasets.loaders.fields import Row
from memtrial.datasets.loaders.files import Part, existing, read_document, read_parts
from memtrial.datasets.loaders.messages import DEFAULT_TENANT, Log, read_head
from memtrial.datasets.loaders.notes import NoteBook
from memtrial.datasets.loaders.questions import QuestionReader
from memtrial.datasets.loaders.spec import DatasetSpec, LoaderEntry
from memtrial.datasets.schema import Conversation, Corpus, Dataset, Note, Question

MANIFEST = "dataset.json"
_SUFFIXES = (".json", ".jsonl", ".ndjson")
_DOCUMENT = frozenset({"corpus", "conversation", "conversations", "questions"})


class JsonSpec(DatasetSpec):
    """Options of ``json``."""

    name: Literal["json"]
    path: str = Field(description="the log: a JSON or JSONL file, or a folder of them")
    questions: str | None = Field(default=None, description="a second JSON or JSONL file with the questions")
    language: str = Field(default="", description="language of what names none, such as en or zh")


@dataclass(slots=True)
class _Source:
    """Everything read from the files, before questions can be resolved."""

    log: Log
    notes: NoteBook
    language: str
    corpus_of: dict[str, str] = field(default_factory=dict)
    questions: list[tuple[Any, str, str]] = field(default_factory=list)

    def read_file(self, path: Path, corpus: str) -> None:
        loose = Conversation(id=path.stem, tenant_id=DEFAULT_TENANT, messages=(), language=self.language)
        for part in read_parts(path, self.notes):
            if isinstance(part.value, list):
                for i, item in enumerate(part.value):
                    self._message(item, f"{part.where}, [{i}]", path, loose, corpus)
            elif isinstance(part.value, dict) and part.value.keys() & _DOCUMENT:
                self._document(part, path, corpus)
            else:
                self._message(part.value, part.where, path, loose, corpus)

    def _message(self, value: Any, where: str, path: Path, head: Conversation, corpus: str) -> None:
        conversation = self.log.add(value, where, path.name, head)
        self._place(conversation, corpus, where)

    def _document(self, part: Part, path: Path, corpus: str) -> None:
        row = Row.of(part.value, part.where)
        row.check_known(_DOCUMENT, "document", self.notes, path.name)
        corpus = row.ident("corpus", corpus)
        single = [Row.of(row.data["conversation"], f"{part.where}, conversation")] if "conversation" in row.data else []
        for talk in [*single, *row.objects("conversations")]:
            head = read_head(talk, self.language)
            self.log.open(head)
            self._place(head.id, corpus, talk.where)
            messages = talk.data.get("messages")
            if not isinstance(messages, list):
                talk.fail("messages", "a list of messages")
            for i, item in enumerate(messages):
                self._message(item, f"{talk.where}.messages[{i}]", path, head, corpus)
        questions = row.data.get("questions") or []
        if not isinstance(questions, list):
            row.fail("questions", "a list of questions")
        self.questions += [(q, f"{part.where}, questions[{i}]", path.name) for i, q in enumerate(questions)]

    def _place(self, conversation: str, corpus: str, where: str) -> None:
        placed = self.corpus_of.setdefault(conversation, corpus)
        if placed != corpus:
            raise UserError(
                f"{where}: conversation {conversation!r} is in corpus {corpus!r} but also in corpus {placed!r}"
            )

    def read_questions(self, path: Path) -> None:
        for part in read_parts(path, self.notes):
            rows = (
                part.value.get("questions")
                if isinstance(part.value, dict) and "questions" in part.value
                else part.value
            )
            if isinstance(rows, list):
                self.questions += [(q, f"{part.where}, [{i}]", path.name) for i, q in enumerate(rows)]
            else:
                self.questions.append((rows, part.where, path.name))

    def corpora(self) -> tuple[Corpus, ...]:
        conversations = self.log.conversations()
        reader = QuestionReader(conversations, self.notes)
        members: dict[str, tuple[list[Conversation], list[Question]]] = {}
        for conversation in conversations:
            members.setdefault(self.corpus_of[conversation.id], ([], []))[0].append(conversation)
        for value, where, file in self.questions:
            question = reader.read(value, where, file)
            members[self.corpus_of[question.conversation_id]][1].append(question)
        return tuple(Corpus(id=ident, conversations=tuple(c), questions=tuple(q)) for ident, (c, q) in members.items())


def load(spec: JsonSpec) -> Dataset:
    """Load a log with its questions.

    Raises:
        UserError: a file is missing or malformed, an id is used twice, a time cannot be parsed, there is no message.
    """
    path = existing(spec.path, "data set 'json', option 'path'")
    questions = existing(spec.questions, "data set 'json', option 'questions'") if spec.questions else None
    return read_log(path, questions=questions, language=spec.language)


def read_log(path: Path, *, questions: Path | None = None, language: str = "") -> Dataset:
    """Read a file or folder in the project's own terms into a Dataset named ``json`` (or as its manifest says)."""
    notes = NoteBook()
    head = _read_manifest(path, notes)
    source = _Source(Log(notes), notes, language)
    for file in _files(path, head, questions):
        source.read_file(file, corpus=path.stem)
    if not source.log.places:
        raise UserError(f"{path}: no message found; a JSON list or JSON lines of messages are expected")
    if questions is not None:
        source.read_questions(questions)
    corpora = source.corpora()
    return Dataset(
        name=head.text("name", "json") if head else "json",
        corpora=corpora,
        notes=(*_manifest_notes(head), *notes.notes()),
        clock_usable=head.flag("clock_usable", True) if head else True,
        licence=head.text("licence", "") if head else "",
        description=head.text("description", "") if head else "",
    )


def _read_manifest(path: Path, notes: NoteBook) -> Row | None:
    manifest = path / MANIFEST
    if not (path.is_dir() and manifest.is_file()):
        return None
    row = Row.of(read_document(manifest, notes), str(manifest))
    return row if "files" in row.data else None


def _manifest_notes(head: Row | None) -> tuple[Note, ...]:
    rows = head.objects("notes") if head else []
    return tuple(Note(row.text("kind"), row.text("where", ""), row.text("detail", "")) for row in rows)


def _files(path: Path, head: Row | None, questions: Path | None) -> list[Path]:
    if path.is_file():
        return [path]
    if head is not None:
        return [existing(path / name, f"{path / MANIFEST}, files") for name in head.values("files")]
    found = sorted(p for p in path.iterdir() if p.suffix.lower() in _SUFFIXES and p.is_file())
    if questions is not None:
        found = [p for p in found if p.resolve() != questions.resolve()]
    if not found:
        raise UserError(f"{path}: no file ending in {', '.join(_SUFFIXES)} in this folder")
    return found


ENTRY = LoaderEntry(
    spec=JsonSpec,
    load=load,
    summary="your own chat log: JSON or JSONL messages, questions with labels beside them or in a second file",
    licence="as the files say",
)
