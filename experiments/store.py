"""The files of a finished run: written whole or not at all, read back without the data or the systems."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import yaml
from pydantic import TypeAdapter, ValidationError

from memtrial.datasets.errors import UserError
from memtrial.datasets.schema import Message
from memtrial.experiments.table import from_batches, schema_of, to_batches
from memtrial.experiments.wire import dumps
from memtrial.metrics.records import SCHEMA_VERSION, MetricRow, Record, TrialInfo

CONFIG, MANIFEST, JOURNAL = "config.yaml", "manifest.json", "journal.jsonl"
RECORDS, METRICS, MESSAGES = "records.parquet", "metrics.json", "messages.parquet"
CALLS, BUDGET = "calls.jsonl", "budget.txt"

# What may differ between a resumed run and an undisturbed one, by the last part of its path in records.parquet,
# manifest.json (trials) and metrics.json (metric names). Everything else is identical.
MEASURED_FIELDS = frozenset(
    {
        # times
        "latency_ms", "spans", "model_ms", "replayed_ms", "ingest_s", "ingest_replayed_s", "write_ms",
        # sizes that depend on what a process did before and on background threads of storage engines
        "peak_rss_mb", "index_mb",
        # what else ran on the machine
        "other_work_cores",
        # a resumed run finds in the artifact cache what its first part put there
        "cache_hits",
        # and in the record of calls to models what its first part asked
        "replayed",
        # how many questions were under way at a time
        "concurrency",
        # stamps and bookkeeping of the manifest
        "timing", "journal", "environment", "models",
    }
)  # fmt: skip
MEASURED_METRICS = ("latency_", "stage_", "write_", "ingest_s", "index_mb", "peak_rss_mb", "other_work_cores")

SHOWN_ITEMS = 20
_MESSAGE_FIELDS = (
    "dataset", "corpus_id", "id", "conversation_id", "session_id", "tenant_id", "sender", "sender_name", "recipient",
    "timestamp", "content", "source",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Run:
    """Everything a report needs.

    ``messages`` holds the messages that records refer to, by id, as plain mappings with the columns of
    messages.parquet. Where ids repeat between corpora, :meth:`message` finds the right one.
    """

    folder: Path
    config: dict[str, Any]
    manifest: dict[str, Any]
    trials: list[TrialInfo]
    records: list[Record]
    metrics: list[MetricRow]
    messages: dict[str, dict[str, Any]]
    exact: dict[tuple[str, str, str], dict[str, Any]]

    def message(self, record: Record, message_id: str) -> dict[str, Any] | None:
        """Return a message of the record's own corpus, or None if it was not kept."""
        return self.exact.get((record.result.dataset, record.result.corpus_id, message_id))

    @property
    def complete(self) -> bool:
        """Whether every planned question finished."""
        return bool(self.manifest.get("status") == "complete")


def read_run(folder: str | Path) -> Run:
    """Read a run from its records; a run that was interrupted is settled from its journal first.

    Raises:
        UserError: if the folder is no run, a file is missing or corrupt, or the run is going on right now.
    """
    folder = Path(folder)
    if not (folder / CONFIG).is_file() or not (folder / MANIFEST).is_file():
        raise UserError(f"{folder} holds no run ({CONFIG} or {MANIFEST} is missing); memtrial run CONFIG makes one")
    if not is_settled(folder):
        from memtrial.experiments.runner import finish

        finish(folder)
    config = _read(folder / CONFIG, lambda p: yaml.safe_load(p.read_text(encoding="utf-8")))
    manifest = _read(folder / MANIFEST, lambda p: orjson.loads(p.read_bytes()))
    if manifest.get("schema_version") != SCHEMA_VERSION:
        raise UserError(
            f"{folder / MANIFEST} has schema version {manifest.get('schema_version')}, but this memtrial reads {SCHEMA_VERSION}"
        )
    rows = _read(folder / MESSAGES, lambda p: pq.read_table(p).to_pylist())
    messages: dict[str, dict[str, Any]] = {}
    for row in rows:
        messages.setdefault(row["id"], row)
    return Run(
        folder=folder,
        config=config,
        manifest=manifest,
        trials=_read(folder / MANIFEST, lambda _: TypeAdapter(list[TrialInfo]).validate_python(manifest["trials"])),
        records=_read(folder / RECORDS, read_records),
        metrics=_read(folder / METRICS, lambda p: TypeAdapter(list[MetricRow]).validate_json(p.read_bytes())),
        messages=messages,
        exact={(row["dataset"], row["corpus_id"], row["id"]): row for row in rows},
    )


def is_settled(folder: Path) -> bool:
    """Whether records, metrics and manifest speak of the whole journal as it is now."""
    if not all((folder / name).is_file() for name in (RECORDS, METRICS, MESSAGES)):
        return False
    try:
        manifest = orjson.loads((folder / MANIFEST).read_bytes())
        size = (folder / JOURNAL).stat().st_size if (folder / JOURNAL).exists() else manifest["journal"]["bytes"]
        return bool(manifest["status"] in ("complete", "incomplete") and manifest["journal"]["bytes"] == size)
    except (OSError, orjson.JSONDecodeError, KeyError, TypeError) as error:
        raise UserError(f"{folder / MANIFEST} is corrupt; run the same command again to write it anew") from error


def read_records(path: Path) -> list[Record]:
    """Read records.parquet."""
    with pq.ParquetFile(path) as file:
        return list(from_batches(file.iter_batches(), Record))


def write_records(path: Path, records: Iterable[Record]) -> None:
    """Write one row per record, with nested columns."""

    def write(temporary: Path) -> None:
        with pq.ParquetWriter(temporary, schema_of(Record), compression="zstd") as writer:
            for batch in to_batches(records, Record):
                writer.write_batch(batch)

    atomically(path, write)


def write_messages(
    path: Path, records: Sequence[Record], logs: Mapping[tuple[str, str], Mapping[str, Message]]
) -> None:
    """Write the messages that records refer to: evidence, lures, citations, what was shown, and the top of each ranking."""
    wanted: dict[tuple[str, str], dict[str, None]] = {}
    for record in records:
        ids = wanted.setdefault((record.result.dataset, record.result.corpus_id), {})
        for group in _referred(record):
            ids.update(dict.fromkeys(group))
    rows = []
    for (dataset, corpus_id), ids in wanted.items():
        log = logs[dataset, corpus_id]
        rows += [_message_row(dataset, corpus_id, log[ident]) for ident in ids if ident in log]
    rows.sort(key=lambda row: (row["dataset"], row["corpus_id"], row["timestamp"], row["id"]))
    schema = pa.schema([pa.field(name, pa.string()) for name in _MESSAGE_FIELDS])
    atomically(
        path, lambda temporary: pq.write_table(pa.Table.from_pylist(rows, schema), temporary, compression="zstd")
    )


def write_json(path: Path, value: Any) -> None:
    """Write strict JSON: NaN and infinity become null."""
    data = orjson.dumps(orjson.loads(dumps(value)), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    atomically(path, lambda temporary: temporary.write_bytes(data))


def write_config(path: Path, config: Mapping[str, Any]) -> None:
    """Write the resolved configuration; it can be run again as it is."""
    text = yaml.safe_dump(dict(config), sort_keys=False, allow_unicode=True, width=120)
    atomically(path, lambda temporary: temporary.write_text(text, encoding="utf-8"))


def atomically(path: Path, write: Callable[[Path], Any]) -> None:
    """Write to a temporary file beside ``path`` and rename it into place.

    Raises:
        UserError: if the disk is full or the folder cannot be written.
    """
    temporary = path.with_name(f".{path.name}.tmp")
    try:
        write(temporary)
        os.replace(temporary, path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise UserError(f"cannot write {path}: {error.strerror or error}") from error


def _read(path: Path, parse: Callable[[Path], Any]) -> Any:
    try:
        return parse(path)
    except FileNotFoundError as error:
        raise UserError(f"{path} is missing; run the same command again to write it anew") from error
    except (OSError, ValueError, KeyError, TypeError, yaml.YAMLError, ValidationError, pa.ArrowException) as error:
        first = str(error).splitlines()[0] if str(error) else type(error).__name__
        cure = (
            "nobody knows what the run is of" if path.name == CONFIG else "run the same command again to write it anew"
        )
        raise UserError(f"{path} is corrupt ({first[:120]}); {cure}") from error


def _referred(record: Record) -> Iterable[Sequence[str]]:
    yield record.ranking[:SHOWN_ITEMS]
    yield record.result.citations
    yield record.labels.evidence
    yield record.labels.official_evidence
    for item in record.result.context:
        yield item.ids
    for lure in record.labels.lures:
        yield lure.message_ids


def _message_row(dataset: str, corpus_id: str, m: Message) -> dict[str, Any]:
    row = {
        "dataset": dataset, "corpus_id": corpus_id, "id": m.id, "conversation_id": m.conversation_id,
        "session_id": m.session_id, "tenant_id": m.tenant_id, "sender": m.sender, "sender_name": m.sender_name,
        "recipient": m.recipient, "timestamp": m.timestamp.isoformat(), "content": m.content, "source": m.source,
    }  # fmt: skip
    return {key: value.encode("utf-8", "replace").decode() for key, value in row.items()}
