"""What a run must say about itself so that its figures can be judged and repeated."""

from __future__ import annotations

import os
import platform
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from importlib import metadata
from typing import Any

from memtrial.experiments.desk import INGEST_USAGE, add_usage
from memtrial.experiments.journal import JournalState, Measure
from memtrial.experiments.plan import DataPlan, Plan, Unit
from memtrial.metrics.records import SCHEMA_VERSION, Record, TrialInfo
from memtrial.systems.models.tokens import TOKENIZER

_NAMED_NOTES = 200


def trial_infos(plan: Plan, measures: Mapping[tuple[str, int, str], Measure]) -> list[TrialInfo]:
    """Return the plan's trials with what was measured: sums over corpora, means over repeats, the largest memory."""
    return [_measured(unit, measures) for unit in plan.units]


def build_manifest(
    plan: Plan, state: JournalState, trials: Sequence[TrialInfo], records: Sequence[Record], journal_bytes: int
) -> dict[str, Any]:
    """Return the manifest of a run whose records are written.

    Args:
        plan: what was planned.
        state: what the journal holds of it.
        trials: from :func:`trial_infos`.
        records: finished questions.
        journal_bytes: size of the journal at this moment; tells later whether the records are up to date.
    """
    outcomes = Counter(r.judgement.outcome for r in records)
    return {
        **header(plan),
        "status": "complete" if len(records) == plan.planned else "incomplete",
        "trials": [info.model_dump() for info in trials],
        "counts": {
            "planned": plan.planned,
            "finished": len(records),
            "errors": outcomes["error"],
            "outcomes": dict(sorted(outcomes.items())),
        },
        "journal": {
            "bytes": journal_bytes,
            "duplicate_lines": state.duplicates,
            "corrupt_lines": state.corrupt[:100],
            "corrupt": len(state.corrupt),
            "of_other_versions": state.foreign,
            "torn_tail": state.torn,
        },
        "timing": {
            "wall_s": round(state.wall_s, 3),
            "segments": state.segments,
            "written_at": datetime.now(UTC).isoformat(timespec="seconds"),
        },
    }


def header(plan: Plan) -> dict[str, Any]:
    """Return the part of the manifest that is known before the first question."""
    language_model, profile = _profile(plan)
    return {
        "memtrial": metadata.version("memtrial"),
        "schema_version": SCHEMA_VERSION,
        "status": "running",
        "name": plan.config.name,
        "config": plan.config.resolved(),
        "limit": plan.config.limit,
        "concurrency": plan.config.concurrency,
        "language_model": language_model,
        "profile": profile,
        "tokenizer": TOKENIZER,
        "seeds": plan.config.seeds,
        "data": {label: _data_sheet(part) for label, part in plan.data.items()},
        "trials": [unit.info.model_dump() for unit in plan.units],
        "environment": environment(),
    }


def _profile(plan: Plan) -> tuple[str, str]:
    roles: dict[str, dict[str, None]] = {}
    for unit in plan.units:
        for role, settings in unit.models.items():
            roles.setdefault(f"{settings.model} at {settings.public_url}", {})[role] = None
    if not roles:
        return (
            "no language model",
            "keyless: planning, reading and judging are done by rules and statistics; no language model was called",
        )
    named = "; ".join(f"{model} ({', '.join(found)})" for model, found in roles.items())
    keyless = [unit.info.trial for unit in plan.units if not unit.models]
    rest = f"; by rules and statistics alone: {', '.join(dict.fromkeys(keyless))}" if keyless else ""
    return named, f"with language models: {named}{rest}; judging is done by rules"


def environment() -> dict[str, Any]:
    """Return interpreter, platform, processors, memory and the versions of memtrial's dependencies."""
    return {
        "python": sys.version.split()[0],
        "platform": platform.platform(),
        "machine": platform.machine(),
        "processor": _processor(),
        "cpu_count": os.cpu_count(),
        "cpus_usable": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "memory_mb": _memory_mb(),
        "packages": dict(_versions()),
    }


@cache
def _versions() -> Mapping[str, str]:
    """Versions of memtrial's dependencies; none changes while a process lives, and all their metadata is slow to read."""
    found = {}
    for name in sorted({_project(r) for r in metadata.requires("memtrial") or [] if "extra ==" not in r}):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def _measured(unit: Unit, measures: Mapping[tuple[str, int, str], Measure]) -> TrialInfo:
    info = unit.info
    rows = [
        found
        for repeat in range(info.repeats)
        for part in unit.data.corpora
        if (found := measures.get((info.unit, repeat, part.corpus.id))) is not None
    ]
    whole = len(rows) == info.repeats * len(unit.data.corpora) and not any(row.failed for row in rows)
    warnings = list(dict.fromkeys(w for row in rows for w in row.warnings))
    warnings += dict.fromkeys(f"failed on a corpus: {row.detail}" for row in rows if row.failed)
    if not unit.data.dataset.clock_usable:
        warnings.append(
            "the whole log was handed over before the first question: this set's question times are not usable"
        )
    facts = {**info.facts, **{key: value for row in rows for key, value in row.facts.items()}}
    if INGEST_USAGE in facts:
        facts[INGEST_USAGE] = []
        for row in rows:
            add_usage(facts[INGEST_USAGE], row.facts.get(INGEST_USAGE, ()))
    peaks = [row.peak_rss_mb for row in rows if row.peak_rss_mb is not None]
    others = [row.other_work_cores for row in rows if row.other_work_cores is not None]
    update = {
        # A sum over a part of the corpora would flatter a system that failed on the rest.
        "ingest_s": _mean_sum([row.ingest_s for row in rows], info.repeats) if whole else None,
        "ingest_replayed_s": _mean_sum([row.replayed_s for row in rows], info.repeats) if whole else None,
        "index_mb": _mean_sum([row.index_mb for row in rows], info.repeats) if whole else None,
        "messages_ingested": sum(row.messages for row in rows),
        "write_ms": [value for row in rows for value in row.write_ms],
        "peak_rss_mb": max(peaks) if peaks else None,
        "other_work_cores": max(others) if others else None,
        "warnings": warnings,
        "facts": facts,
    }
    return info.model_copy(update=update)


def _mean_sum(values: Sequence[float | None], repeats: int) -> float:
    return sum(value or 0.0 for value in values) / repeats


def _data_sheet(part: DataPlan) -> dict[str, Any]:
    notes = part.dataset.notes
    return {
        "spec": part.variant.spec,
        "base": part.variant.base,
        "axes": part.variant.axes,
        "name": part.dataset.name,
        "fingerprint": part.fingerprint,
        "licence": part.dataset.licence,
        "description": part.dataset.description,
        "clock_usable": part.dataset.clock_usable,
        "corpora": len(part.dataset.corpora),
        "messages": sum(len(c.messages) for corpus in part.dataset.corpora for c in corpus.conversations),
        "questions": sum(len(corpus.questions) for corpus in part.dataset.corpora),
        "planned_questions": part.planned,
        "corpora_asked": len(part.corpora),
        "label_faults": list(part.faults[:_NAMED_NOTES]),
        "label_faults_found": len(part.faults),
        "notes_by_kind": dict(sorted(Counter(note.kind for note in notes).items())),
        "notes": [{"kind": n.kind, "where": n.where, "detail": n.detail} for n in notes[:_NAMED_NOTES]],
    }


def _project(requirement: str) -> str:
    for index, char in enumerate(requirement):
        if not (char.isalnum() or char in "._-"):
            return requirement[:index]
    return requirement


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as lines:
            for line in lines:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor()


def _memory_mb() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 1_000_000
    except (ValueError, OSError, AttributeError):
        return None
