"""Loader ``lifebench``: one year of phone records of one person (LifeBench, arXiv:2603.03781), in Chinese or English.

One record is one message, since evidence names records (by ``phone_id``, compared as a string). Annotators' fields
(``summarized_info``, ``event_id``) are not kept. Records carry no zone and are taken as UTC.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from pydantic import Field

from memtrial.datasets.errors import UserError
from memtrial.datasets.loaders.answer_types import infer_answer_type
from memtrial.datasets.loaders.fields import Row, as_ident
from memtrial.datasets.loaders.files import existing, read_document
from memtrial.datasets.loaders.lifebench_render import RECORD_TYPES, Rendered, render, without_prompt
from memtrial.datasets.loaders.notes import NoteBook
from memtrial.datasets.loaders.spec import DatasetSpec, LoaderEntry
from memtrial.datasets.schema import Conversation, Corpus, Dataset, Message, Participant, Question, ScorePoint

_QA = "QA_clean.json"
_LICENCE = "Apache-2.0"
# Records with a date alone stand in the middle of their day.
_NOON = timedelta(hours=12)
_ASK_TIME = re.compile(r"(\d{4})-(\d{2})(?:-(\d{2}))?")
_UNANSWERABLE = "unanswerable"
_USUAL_SCORE = 10.0


class LifebenchSpec(DatasetSpec):
    """Options of ``lifebench``."""

    name: Literal["lifebench"]
    path: str = Field(description="the folder with zh/ and en/ (or data/ and data_en/), or with the people's folders")
    language: Literal["zh", "en"] = Field(default="zh", description="zh (the original) or en (its translation)")


def load(spec: LifebenchSpec) -> Dataset:
    """Load every person as a corpus.

    Raises:
        UserError: no person's folder, a malformed record, a time that cannot be parsed.
    """
    notes = NoteBook()
    people = _people(existing(spec.path, "data set 'lifebench', option 'path'"), spec.language)
    corpora = tuple(_PersonReader(folder, spec.language, notes).read() for folder in people)
    notes.add("naive_time", "lifebench", "records carry no zone; times are taken as UTC, bare dates as noon")
    notes.add("asked_at", "lifebench", "questions carry a month and are asked at its end")
    return Dataset(
        name="lifebench",
        corpora=corpora,
        notes=notes.notes(),
        licence=_LICENCE,
        description="LifeBench: a person's sms, agent chats, calls, notes, calendar, push messages and photos of a year",
    )


def _people(path: Path, language: str) -> list[Path]:
    roots = [path / name for name in ((language, "data") if language == "zh" else (language, "data_en"))]
    root = next((r for r in roots if r.is_dir()), path)
    found = [root] if _qa_file(root) else sorted(p for p in root.iterdir() if p.is_dir() and _qa_file(p))
    if not found:
        raise UserError(f"{root}: no folder of a person here; folders that hold {_QA} (or QA/{_QA}) are expected")
    return found


def _qa_file(folder: Path) -> Path | None:
    return next((f for f in (folder / _QA, folder / "QA" / _QA) if f.is_file()), None)


class _PersonReader:
    """Reads one person's records and questions."""

    def __init__(self, folder: Path, language: str, notes: NoteBook) -> None:
        self.folder, self.language, self.notes = folder, language, notes
        self.person = folder.name
        self.by_reference: dict[tuple[str, str], list[tuple[str, str]]] = {}
        self.times: dict[str, datetime] = {}

    def read(self) -> Corpus:
        messages = [m for kind in RECORD_TYPES for m in self._records(kind)]
        if not messages:
            raise UserError(f"{self.folder}: no records; files such as sms.json are expected")
        messages.sort(key=lambda m: m.timestamp)
        conversation = Conversation(
            id=self.person,
            tenant_id=self.person,
            messages=tuple(messages),
            language=self.language,
            title=self.person,
            participants=(Participant(id=self.person),),
        )
        qa_file = _qa_file(self.folder)
        rows = _objects(qa_file, self.notes) if qa_file else []
        return Corpus(self.person, (conversation,), tuple(self._question(i, row) for i, row in enumerate(rows)))

    def _records(self, kind: str) -> list[Message]:
        file = next(
            (f for f in (self.folder / "phone_data" / f"{kind}.json", self.folder / f"{kind}.json") if f.is_file()),
            None,
        )
        if file is None:
            self.notes.add("file_missing", f"{self.person}/{kind}.json", "no such records")
            return []
        messages, last = [], None
        for row in _objects(file, self.notes):
            message = self._record(kind, row)
            if message is None:
                continue
            if last is not None and message.timestamp < last:
                self.notes.count(
                    "unsorted", f"{self.person}/{kind}.json", "records earlier than the one before; sorted by time"
                )
            last = message.timestamp
            messages.append(message)
        return messages

    def _record(self, kind: str, row: Row) -> Message | None:
        phone_id = row.ident("phone_id")
        at = self._time(row)
        # What the annotators call the event, with the time: tells a record written twice from two with one id.
        identity = (str(row.data.get("event_id")), at.isoformat())
        known = self.by_reference.setdefault((kind, phone_id), [])
        if any(event == identity[0] and self.times[ident] == at for ident, event in known):
            self.notes.count(
                "record_repeated", f"{self.person}/{kind}.json", "records that stand in the file twice; kept once"
            )
            return None
        ident = f"{self.person}:{kind}:{phone_id}" + (f"~{len(known) + 1}" if known else "")
        if known:
            self.notes.add(
                "phone_id_repeated",
                f"{self.person}/{kind}.json",
                f"{phone_id} names different records; one is now {ident}",
            )
        known.append((ident, identity[0]))
        self.times[ident] = at
        data, prompts = without_prompt(row.data)
        if prompts:
            self.notes.count(
                "translation_prompt",
                f"{self.person}/{kind}.json",
                "fields held a translator's prompt around the text",
                prompts,
            )
        shown = render(kind, Row(data, row.where), self.person, self.language, self.notes)
        return self._message(kind, ident, at, shown)

    def _message(self, kind: str, ident: str, at: datetime, shown: Rendered) -> Message:
        return Message(
            id=ident,
            conversation_id=self.person,
            session_id=f"{self.person}:{at:%Y-%m-%d}",
            tenant_id=self.person,
            sender=shown.sender,
            recipient=shown.recipient,
            timestamp=at,
            content=shown.text,
            source=kind,
            extra=MappingProxyType(shown.extra),
        )

    def _time(self, row: Row) -> datetime:
        key = "datetime" if "datetime" in row.data else "date"
        text = row.text(key)
        try:
            at = datetime.fromisoformat(text).replace(tzinfo=UTC)
        except ValueError:
            row.fail(key, "a time such as 2025-01-31 09:30:00")
        return at + _NOON if len(text) == len("2025-01-31") else at

    def _question(self, index: int, row: Row) -> Question:
        where = f"{self.person} question {index}"
        category = row.text("question_type")
        answerable = category.strip().lower() != _UNANSWERABLE
        evidence = self._evidence(row, where)
        options = self._options(row)
        answer_type, answers = self._gold(row, options, where)
        return Question(
            id=f"{self.person}:q{index}",
            conversation_id=self.person,
            tenant_id=self.person,
            asker=self.person,
            asked_at=self._asked_at(row, evidence, where),
            text=row.text("question"),
            category=category,
            answerable=answerable,
            needs_memory=True,
            answer_type=answer_type,
            answers=answers if answerable else (),
            evidence=evidence,
            cluster_id=self.person,
            language=self.language,
            options=tuple(f"{letter}: {text}" for letter, text in options.items()),
            score_points=self._score_points(row),
        )

    def _options(self, row: Row) -> dict[str, str]:
        return {option.text("option").strip(): option.text("content").strip() for option in row.objects("options")}

    def _gold(self, row: Row, options: dict[str, str], where: str) -> tuple[str, tuple[str, ...]]:
        gold = row.values("answer")[0].strip() if row.values("answer") else ""
        if not options:
            return infer_answer_type((gold,)), (gold,)
        letters = [letter for letter in re.split(r"[\s,;，、/]+", gold) if letter]
        if not letters or any(letter not in options for letter in letters):
            row.fail("answer", f"a letter of its options ({', '.join(options)})")
        if len(letters) > 1:
            self.notes.add("several_choices", where, f"answer {gold!r}: all of them are right together")
            return "list", tuple(options[letter] for letter in letters)
        return "choice", (letters[0], f"{letters[0]}: {options[letters[0]]}", options[letters[0]])

    def _score_points(self, row: Row) -> tuple[ScorePoint, ...]:
        points = []
        for point in row.objects("score_points"):
            score = point.data.get("score")
            if isinstance(score, bool) or not isinstance(score, (int, float)):
                point.fail("score", "a number")
            points.append(ScorePoint(point.text("description"), float(score)))
        if points and sum(p.score for p in points) != _USUAL_SCORE:
            self.notes.count("score_points", self.person, "questions whose score points do not add up to 10")
        return tuple(points)

    def _evidence(self, row: Row, where: str) -> tuple[str, ...]:
        found: list[str] = []
        references = row.objects("evidence")
        events = set(row.idents("required_events_id"))
        for reference in references:
            phone_id = as_ident(reference.data.get("id"))
            if phone_id is None:
                phone_id = reference.ident("phone_id")
                self.notes.count(
                    "evidence_record", self.person, "evidence entries that are whole records; their phone_id is used"
                )
            kind = reference.text("type").strip()
            targets = self.by_reference.get((kind, phone_id), [])
            if not targets:
                self.notes.add("evidence_dangling", where, f"{kind} {phone_id} does not exist; reference dropped")
                continue
            if len(targets) > 1:
                named = [t for t in targets if t[1] in events] or targets
                self.notes.add(
                    "evidence_ambiguous",
                    where,
                    f"{kind} {phone_id} names {len(targets)} records; {named[0][0]} is taken",
                )
                targets = named
            found.append(targets[0][0])
        if len(set(found)) < len(found):
            self.notes.count(
                "evidence_repeated",
                self.person,
                "evidence references named twice in a question",
                len(found) - len(set(found)),
            )
        if not found and row.text("question_type").strip().lower() != _UNANSWERABLE:
            self.notes.add("evidence_empty", where, "an answerable question without evidence that exists")
        return tuple(dict.fromkeys(found))

    def _asked_at(self, row: Row, evidence: Sequence[str], where: str) -> datetime:
        stated = _ASK_TIME.fullmatch(row.text("ask_time"))
        try:
            year, month, day = (int(part or 0) for part in stated.groups()) if stated else (0, 0, 0)
            day = day or calendar.monthrange(year, month)[1]
            asked_at = datetime(year, month, day, 23, 59, 59, tzinfo=UTC)
        except ValueError:
            row.fail("ask_time", "a month such as 2025-01, or a day such as 2025-01-31")
        last = max((self.times[ident] for ident in evidence), default=asked_at)
        if last > asked_at:
            # Moving the question keeps its gold; a cut-off at the stated month would delete it.
            self.notes.add(
                "asked_at_moved",
                where,
                f"asked in {row.data['ask_time']} but its evidence is of {last:%Y-%m-%d}; asked then",
            )
            return last + timedelta(seconds=1)
        return asked_at


def _objects(file: Path, notes: NoteBook) -> list[Row]:
    value: Any = read_document(file, notes)
    if not isinstance(value, list):
        raise UserError(f"{file}: a JSON list of records is expected")
    return [Row.of(item, f"{file}, [{i}]") for i, item in enumerate(value)]


ENTRY = LoaderEntry(
    spec=LifebenchSpec,
    load=load,
    summary="LifeBench: a year of phone records per person, open and multiple-choice questions, Chinese and English",
    licence=_LICENCE,
)
