"""What a run's manifest says about the models it asked: which, by which prompts, how much of it, at which prices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from memtrial.experiments.desk import INGEST_USAGE, add_usage
from memtrial.experiments.models import models_identity
from memtrial.experiments.plan import Plan
from memtrial.experiments.store import MANIFEST
from memtrial.metrics.records import Record, TrialInfo


def model_statement(
    plan: Plan,
    records: Sequence[Record],
    trials: Sequence[TrialInfo],
    spending: Mapping[str, Any] | None,
    folder: Path,
) -> dict[str, Any]:
    """Return the section ``models`` of the manifest.

    Args:
        plan: what was planned.
        records: finished questions.
        trials: with what taking in the logs has used.
        spending: of this run; None where the run is only settled, and then it stays as it was.
        folder: of the run.
    """
    usage: dict[str, list[dict[str, Any]]] = {}
    for trial in trials:
        add_usage(usage.setdefault(trial.trial, []), trial.facts.get(INGEST_USAGE, ()))
    for record in records:
        add_usage(usage.setdefault(record.trial, []), (row.model_dump() for row in record.result.trace.usage))
    rows = [row for found in usage.values() for row in found]
    calls, replayed = sum(row["calls"] for row in rows), sum(row["replayed"] for row in rows)
    prompts = {ident for record in records for ident in _prompts(record.result.trace.facts)}
    prompts |= {ident for trial in trials for ident in _prompts(trial.facts)}
    before = _before(folder) if spending is None else {}
    return {
        "roles": {unit.info.trial: models_identity(unit.models) for unit in plan.units if unit.models},
        "prompts": sorted(prompts),
        "calls": calls,
        "replayed": replayed,
        "replayed_share": replayed / calls if calls else None,
        "latency": _latency(calls, replayed, records),
        "usage": {trial: found for trial, found in usage.items() if found},
        **(spending if spending is not None else before),
    }


def _latency(calls: int, replayed: int, records: Sequence[Record]) -> str:
    at_once = max((int(r.result.trace.facts.get("concurrency", 1)) for r in records), default=1)
    if at_once > 1:
        return f"not measured where up to {at_once} questions were asked at a time"
    if not replayed:
        return "measured in this run"
    part = "all" if replayed == calls else f"{replayed:,} of {calls:,}"
    return f"{part} calls were served from the record; their time is the one recorded when they were asked"


def _prompts(facts: Mapping[str, Any]) -> list[str]:
    found = facts.get("prompts")
    return [str(ident) for ident in found.values()] if isinstance(found, Mapping) else []


_KEPT = ("replay", "budget_usd", "spent_usd", "calls_of_unknown_cost", "prices")


def _before(folder: Path) -> dict[str, Any]:
    import orjson

    try:
        told = orjson.loads((folder / MANIFEST).read_bytes())["models"]
        return {name: told[name] for name in _KEPT if name in told}
    except (OSError, ValueError, KeyError, TypeError):
        return {}
