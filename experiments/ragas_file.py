"""The shape of ragas.json, and how it is read back beside the answers that it speaks of."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from memtrial.experiments.rejudge import answers_hash
from memtrial.metrics.ragas.scores import Summary
from memtrial.metrics.ragas.scoring import Row
from memtrial.metrics.records import Record

RAGAS = "ragas.json"
SCHEMA_VERSION = 2


class RagasFile(BaseModel):
    """What ``memtrial ragas`` writes.

    Attributes:
        answers: hash of the run's answers when they were scored.
        ragas: version of the library.
        model: identity of the model that was asked.
        embeddings: model of the vectors, or the name of the embedder inside memtrial.
        strictness: questions that answer relevancy made from an answer.
        questions: how many were scored (``scored``), of how many (``in_run``), and whether the run was complete.
        rules: what is scored without asking, by reason.
        usage: tokens and money by trial; charged to no system.
        summaries: by trial, data set and metric.
        rows: by answer.
    """

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, protected_namespaces=())

    schema_version: int = SCHEMA_VERSION
    answers: str
    ragas: str | None = None
    model: dict[str, Any]
    embeddings: str
    strictness: int
    questions: dict[str, Any]
    rules: dict[str, str]
    usage: dict[str, Any] = Field(default_factory=dict)
    summaries: list[Summary]
    rows: list[Row]


def read_ragas(folder: Path, records: Sequence[Record]) -> tuple[RagasFile | None, list[str]]:
    """Read ragas.json of a run.

    Args:
        folder: of the run.
        records: of the run as it stands now.

    Returns:
        The file, or None where there is none or it cannot be used, and sentences on why not.
    """
    path = folder / RAGAS
    if not path.exists():
        return None, []
    again = "memtrial ragas DIR --model NAME --replay only writes it anew from the record"
    try:
        found = RagasFile.model_validate(orjson.loads(path.read_bytes()))
    except (OSError, orjson.JSONDecodeError, ValidationError):
        return None, [f"{RAGAS} cannot be read by this version and is not shown; {again}"]
    if found.schema_version != SCHEMA_VERSION or found.answers != answers_hash(records):
        return None, [f"{RAGAS} speaks of other answers than this run holds now and is not shown; {again}"]
    return found, []
