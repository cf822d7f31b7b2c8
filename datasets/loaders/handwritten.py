"""Loader ``handwritten``: the logs and questions written by hand for this project; eight of them ship with it."""

from __future__ import annotations

import importlib.resources
import re
from dataclasses import replace
from pathlib import Path
from typing import Literal

from pydantic import Field

from memtrial.datasets.errors import UserError
from memtrial.datasets.loaders.files import existing
from memtrial.datasets.loaders.json_log import read_log
from memtrial.datasets.loaders.spec import DatasetSpec, LoaderEntry
from memtrial.datasets.schema import Corpus, Dataset, Note

_NUMBERED = re.compile(r"(?P<series>.*?)(?P<number>\d+)$")
_LICENCE = "Apache-2.0 (written for this project)"


class HandwrittenSpec(DatasetSpec):
    """Options of ``handwritten``."""

    name: Literal["handwritten"]
    path: str | None = Field(default=None, description="a file or folder of such logs; without it, the shipped ones")
    language: Literal["zh", "en", "both"] = Field(default="both", description="zh, en or both")


def shipped_folder() -> Path:
    """Return the folder of the logs inside the installed package."""
    return Path(str(importlib.resources.files("memtrial.datasets").joinpath("handwritten")))


def load(spec: HandwrittenSpec) -> Dataset:
    """Load the logs, each pair (01/02, 03/04, ...) as one corpus of two tenants.

    Raises:
        UserError: the path holds no log, or none in the language asked for.
    """
    folder = existing(spec.path, "data set 'handwritten', option 'path'") if spec.path else shipped_folder()
    files = [folder] if folder.is_file() else sorted(folder.glob("*.json"))
    if not files:
        raise UserError(f"{folder}: no *.json file in this folder; logs such as en01.json are expected")
    logs = [read_log(file) for file in files]
    pairs: dict[str, list[Corpus]] = {}
    found: dict[str, Path] = {}
    for file, log in zip(files, logs, strict=True):
        for corpus in log.corpora:
            for conversation in corpus.conversations:
                if conversation.id in found:
                    raise UserError(f"{file}: conversation {conversation.id!r} is already in {found[conversation.id]}")
                found[conversation.id] = file
            if spec.language in ("both", *(c.language for c in corpus.conversations)):
                pairs.setdefault(_pair_of(corpus.conversations[0].id), []).append(corpus)
    if not pairs:
        raise UserError(f"{folder}: no log in language {spec.language!r}; languages are zh and en")
    notes: list[Note] = [note for log in logs for note in log.notes]
    corpora = tuple(_without_strangers(_joined(members), notes) for members in pairs.values())
    return Dataset(
        name="handwritten",
        corpora=corpora,
        notes=tuple(notes),
        licence=_LICENCE,
        description="chat logs of 8-14 months with hand-labelled questions and lures of every kind; pairs of tenants",
    )


def _pair_of(conversation: str) -> str:
    """Name the pair: consecutive odd and even numbers of one series belong together."""
    found = _NUMBERED.fullmatch(conversation)
    return f"{found['series']}#{(int(found['number']) + 1) // 2}" if found else conversation


def _joined(members: list[Corpus]) -> Corpus:
    conversations = tuple(c for corpus in members for c in corpus.conversations)
    questions = tuple(q for corpus in members for q in corpus.questions)
    return Corpus(id="+".join(c.id for c in conversations), conversations=conversations, questions=questions)


def _without_strangers(corpus: Corpus, notes: list[Note]) -> Corpus:
    """Drop lure references into a neighbour that was not loaded: exposure to it cannot happen."""
    here = {m.id for c in corpus.conversations for m in c.messages}
    questions = []
    for question in corpus.questions:
        lures = []
        for lure in question.lures:
            kept = tuple(ident for ident in lure.message_ids if ident in here)
            if len(kept) < len(lure.message_ids) and lure.kind == "other_tenant":
                notes.append(
                    Note("lure_outside", question.id, "lure messages of a neighbour that is not loaded were dropped")
                )
                lure = replace(lure, message_ids=kept)
            lures.append(lure)
        questions.append(replace(question, lures=tuple(lures)))
    return replace(corpus, questions=tuple(questions))


ENTRY = LoaderEntry(
    spec=HandwrittenSpec,
    load=load,
    summary="144 hand-labelled questions over 8 chat logs in Chinese and English; ships with memtrial",
    licence=_LICENCE,
)
