"""Result files that others published on LoCoMo, read into one shape.

Three formats are told apart by their keys: locomo-audit (``detailed_results`` with several judgements an answer), Zep
(lists by user, one grade an answer or none) and Backboard (one conversation a file). The gold answers that stand in such
files are never kept: what is read here may reach a system.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from memtrial.datasets.errors import UserError
from memtrial.datasets.loaders.fields import Row, as_text, show
from memtrial.datasets.loaders.files import existing, read_document
from memtrial.datasets.loaders.notes import NoteBook

LOCOMO_CONVERSATIONS = (
    "conv-26", "conv-30", "conv-41", "conv-42", "conv-43", "conv-44", "conv-47", "conv-48", "conv-49", "conv-50",
)  # fmt: skip
"""Names of LoCoMo's conversations by their place in its file, which is how others number them."""

_USER = re.compile(r"\w*_user_(\d{1,6})")
_QUESTION_ID = re.compile(r"locomo_(\d{1,6})_qa(\d{1,6})")
_WORDS = {"correct": "correct", "right": "correct", "wrong": "wrong", "incorrect": "wrong"}
_EXPECTED = "a result file of locomo-audit (detailed_results), of Zep (lists by user) or of Backboard (conversation_id, responses)"


@dataclass(frozen=True, slots=True)
class PublishedAnswer:
    """One answer with the verdicts published on it.

    Attributes:
        conversation: LoCoMo's name of the conversation.
        index: place of the question in the conversation's list, from 0; None where the file does not say.
        question: its text.
        text: the answer; empty where the file has null.
        verdicts: ``correct``, ``wrong`` or ``unscored``, parallel to the run's ``judges``; empty where nobody judged.
        category: as the file names it.
    """

    conversation: str
    index: int | None
    question: str
    text: str
    verdicts: tuple[str, ...] = ()
    category: str = ""


@dataclass(frozen=True, slots=True)
class PublishedRun:
    """What one system answered, in file order.

    ``meta``: ``format``, ``files``, ``sha256`` (over names and bytes of the files) and ``null_answers``.
    """

    name: str
    answers: tuple[PublishedAnswer, ...]
    judges: tuple[str, ...] = ()
    meta: Mapping[str, Any] = field(default_factory=dict)


def read_published(path: str | Path) -> PublishedRun:
    """Read a result file, or a folder whose files together make one run.

    Raises:
        UserError: unreadable, of no known format, a verdict that is none, or files that hold more than one run.
    """
    found = existing(path, "published answers, option 'path'")
    files = [found] if found.is_file() else sorted(found.glob("*.json"))
    if not files:
        raise UserError(f"{found}: the folder holds no *.json file; {_EXPECTED} is expected")
    answers: list[PublishedAnswer] = []
    judges: dict[str, None] = {}
    formats: dict[str, None] = {}
    homes: dict[tuple[str, str], Path] = {}
    for file in files:
        format_name, rows, names = _read_file(file)
        formats[format_name] = None
        judges |= dict.fromkeys(names)
        for row in rows:
            home = homes.setdefault((row.conversation, row.question), file)
            if home != file:
                raise UserError(
                    f"{file}: question {show(row.question)} of {row.conversation} is answered in {home.name} too; "
                    "a folder must hold one run, so name a single file"
                )
        answers += rows
    _refuse_repeats(answers, found)
    meta = {
        "format": "+".join(formats),
        "files": [file.name for file in files],
        "sha256": fingerprint(found),
        "null_answers": sum(not a.text for a in answers),
    }
    return PublishedRun(found.stem if found.is_file() else found.resolve().name, tuple(answers), tuple(judges), meta)


def fingerprint(path: Path) -> str:
    """Return a SHA-256 over the names and bytes of a result file, or of the files of a folder.

    Raises:
        UserError: one of them cannot be read.
    """
    digest = hashlib.sha256()
    for file in [path] if path.is_file() else sorted(path.glob("*.json")):
        try:
            digest.update(file.name.encode() + b"\0" + hashlib.sha256(file.read_bytes()).digest())
        except OSError as error:
            raise UserError(f"{file}: cannot be read ({error.strerror or error})") from None
    return digest.hexdigest()


_Rows = tuple[list[PublishedAnswer], Iterable[str]]


def _read_file(file: Path) -> tuple[str, list[PublishedAnswer], Iterable[str]]:
    value = read_document(file, NoteBook())
    if not isinstance(value, dict):
        raise UserError(f"{file}: found {show(value)}; {_EXPECTED} is expected")
    row = Row.of(value, str(file))
    reader: Callable[[Row], _Rows]
    if "detailed_results" in value:
        name, reader = "locomo_audit", _audit
    elif {"conversation_id", "responses"} <= value.keys():
        name, reader = "backboard", _backboard
    elif value and all(_USER.fullmatch(key) for key in value):
        name, reader = "zep", _zep
    else:
        raise UserError(f"{file}: of no known format; {_EXPECTED} is expected")
    answers, judges = reader(row)
    if not answers:
        raise UserError(f"{file}: holds no answer; {_EXPECTED} is expected")
    return name, answers, judges


def _audit(row: Row) -> _Rows:
    results = Row.of(row.data["detailed_results"], f"{row.where}, detailed_results")
    rows = list(_by_user(results))
    judged = [Row.of(r.data.get("llm_judgments", {}), f"{r.where}, llm_judgments") for _, r in rows]
    judges = tuple(dict.fromkeys(name for one in judged for name in one.data))
    answers = []
    for (conversation, r), verdicts in zip(rows, judged, strict=True):
        answers.append(
            PublishedAnswer(
                conversation,
                _index(r, conversation),
                r.text("question"),
                _answer(r, "generated_answer"),
                tuple(_verdict(verdicts, name) for name in judges),
                as_text(r.data.get("category")) or "",
            )
        )
    return answers, judges


def _zep(row: Row) -> _Rows:
    rows = list(_by_user(row))
    judges = ("grade",) if any("grade" in r.data for _, r in rows) else ()
    return [
        PublishedAnswer(
            conversation,
            None,
            r.text("question"),
            _answer(r, "answer"),
            tuple(_verdict(r, name) for name in judges),
            as_text(r.data.get("category")) or "",
        )
        for conversation, r in rows
    ], judges


def _backboard(row: Row) -> _Rows:
    conversation = row.ident("conversation_id")
    judge = "evaluation"
    answers = []
    for r in row.objects("responses"):
        stated = r.ident("conversation_id", conversation)
        if stated != conversation:
            r.fail("conversation_id", f"{conversation!r} as in the head of the file")
        evaluation = Row.of(r.data.get(judge, {}), f"{r.where}, {judge}")
        answers.append(
            PublishedAnswer(
                conversation,
                None,
                r.text("question"),
                _answer(r, "ai_response"),
                (_verdict(evaluation, "is_correct"),),
                as_text(r.data.get("category")) or "",
            )
        )
    return answers, (judge,)


def _by_user(row: Row) -> Iterator[tuple[str, Row]]:
    for key in row.data:
        user = _USER.fullmatch(key)
        number = int(user[1]) if user else -1
        if not 0 <= number < len(LOCOMO_CONVERSATIONS):
            raise UserError(
                f"{row.where}: key {show(key)} names no conversation of LoCoMo; names ending in _user_0 to "
                f"_user_{len(LOCOMO_CONVERSATIONS) - 1} are expected"
            )
        for r in row.objects(key):
            yield LOCOMO_CONVERSATIONS[number], r


def _index(row: Row, conversation: str) -> int | None:
    stated = row.data.get("question_id")
    if stated is None:
        return None
    found = _QUESTION_ID.fullmatch(stated) if isinstance(stated, str) else None
    number = LOCOMO_CONVERSATIONS.index(conversation)
    if found is None or int(found[1]) != number:
        row.fail("question_id", f"locomo_{number}_qa and a number")
    return int(found[2])


def _answer(row: Row, key: str) -> str:
    value = row.data.get(key)
    if value is None and key in row.data:
        return ""
    text = as_text(value)
    if text is None:
        row.fail(key, "a text")
    return text


def _verdict(row: Row, key: str) -> str:
    """Only a boolean or a whole word counts; what a judge did not give is unscored, never wrong."""
    value = row.data.get(key)
    if value is None:
        return "unscored"
    if isinstance(value, bool):
        return "correct" if value else "wrong"
    word = _WORDS.get(value.strip().lower()) if isinstance(value, str) else None
    if word is None:
        row.fail(key, "true, false, null, CORRECT or WRONG")
    return word


def _refuse_repeats(answers: Iterable[PublishedAnswer], path: Path) -> None:
    seen: set[tuple[str, int]] = set()
    for answer in answers:
        if answer.index is None:
            continue
        key = (answer.conversation, answer.index)
        if key in seen:
            raise UserError(f"{path}: question {answer.index} of {answer.conversation} is answered twice")
        seen.add(key)
