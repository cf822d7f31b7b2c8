"""Why a system answered as it did: the decisions of its trace, a line each."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from memtrial.metrics.records import TraceSummary
from memtrial.reports.escape import one_line

_CHARS = 180
_MOST = 10
#: Facts in the order in which they are told; those that only a machine reads are left out.
_TOLD = ("policy", "slot", "route", "fell_back", "plan", "fusion", "filtered", "authority", "arbiter", "trust", "graph",
         "history", "rerank", "thin", "open", "agent_end", "established")  # fmt: skip


def decisions(trace: TraceSummary) -> list[str]:
    """Return gate decisions, the facts a system recorded, cache hits and warnings; each line short, at most ten.

    What stands in a trace comes from a system and from the log: it is text, and no line holds a line break.
    """
    lines = [f"{gate} {'open' if is_open else 'shut'}{': ' + why if why else ''}" for gate, is_open, why in trace.gates]
    lines += [f"{name.replace('_', ' ')}: {_short(trace.facts[name])}" for name in _TOLD if trace.facts.get(name)]
    if trace.cache_hits:
        lines.append("from cache: " + ", ".join(f"{name} {count}" for name, count in sorted(trace.cache_hits.items())))
    lines += [f"warning: {warning}" for warning in trace.warnings]
    return [one_line(line, _CHARS) for line in lines[:_MOST]]


def _short(value: Any) -> str:
    """Write a fact: a mapping as name value, a list as its first entries."""
    if isinstance(value, Mapping):
        return ", ".join(
            f"{key} {_plain(inner)}" for key, inner in list(value.items())[:6] if inner not in (None, "", [])
        )
    if isinstance(value, (list, tuple)):
        return "; ".join(_plain(entry) for entry in value[:3])
    return _plain(value)


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
