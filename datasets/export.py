"""Writing a data set in the project's own JSON format, so that the ``json`` loader reads back the same thing."""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

from memtrial.datasets.errors import UserError
from memtrial.datasets.loaders.json_log import MANIFEST
from memtrial.datasets.schema import Conversation, Corpus, Dataset, Message, Question

_UNSAFE = re.compile(r"[^\w.-]+")
_NAME_LENGTH = 60


def export_dataset(dataset: Dataset, folder: str | Path) -> Path:
    """Write a folder: ``dataset.json`` (head, notes, order of files) and one file for each corpus.

    Everything is written beside the target first and moved there in one step, so that a folder of this name is always
    whole. ``load_dataset({"name": "json", "path": folder})`` gives a data set with the same fingerprint.

    Raises:
        UserError: the folder exists and is not empty, or cannot be written.
    """
    target = Path(folder).expanduser()
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise UserError(f"{target}: exists and is not an empty folder; name a new one")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        staging = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    except OSError as error:
        raise UserError(f"{target}: cannot be written ({error.strerror or error})") from None
    try:
        _write_all(dataset, staging)
        staging.chmod(0o755)
        os.replace(staging, target)
    except OSError as error:
        raise UserError(f"{target}: cannot be written ({error.strerror or error})") from None
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    return target


def _write_all(dataset: Dataset, folder: Path) -> None:
    names = []
    for number, corpus in enumerate(dataset.corpora, start=1):
        names.append(f"{number:04d}-{_UNSAFE.sub('_', corpus.id)[:_NAME_LENGTH]}.json")
        _write(folder / names[-1], _corpus(corpus))
    head = {
        "name": dataset.name,
        "description": dataset.description,
        "licence": dataset.licence,
        "clock_usable": dataset.clock_usable,
        "files": names,
        "notes": [asdict(note) for note in dataset.notes],
    }
    _write(folder / MANIFEST, head)


def _write(path: Path, value: dict[str, Any]) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        json.dump(value, file, ensure_ascii=False, indent=1, default=_plain)
        file.write("\n")
        file.flush()
        os.fsync(file.fileno())


def _corpus(corpus: Corpus) -> dict[str, Any]:
    return {
        "corpus": corpus.id,
        "conversations": [_conversation(c) for c in corpus.conversations],
        "questions": [_question(q) for q in corpus.questions],
    }


def _conversation(conversation: Conversation) -> dict[str, Any]:
    return {
        "id": conversation.id,
        "tenant_id": conversation.tenant_id,
        "language": conversation.language,
        "title": conversation.title,
        "participants": [asdict(p) for p in conversation.participants],
        "messages": [_message(m) for m in conversation.messages],
    }


def _message(message: Message) -> dict[str, Any]:
    return {
        "message_id": message.id,
        "conversation_id": message.conversation_id,
        "session_id": message.session_id,
        "tenant_id": message.tenant_id,
        "timestamp": message.timestamp,
        "sender": message.sender,
        "receiver": message.recipient,
        "content": message.content,
        "source": message.source,
        "reply_to": message.reply_to,
        "extra": dict(message.extra),
    }


def _question(question: Question) -> dict[str, Any]:
    return asdict(question)


def _plain(value: object) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, (set, frozenset)):
        return sorted(value, key=str)
    return str(value)
