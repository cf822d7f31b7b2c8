"""Names, units and reasons in words: how a metric is called, how its numbers are written, why one is missing."""

from __future__ import annotations

import re
from dataclasses import dataclass

_REASONS = {
    "few_clusters": "fewer than 8 independent clusters",
    "few_samples": "too few samples",
    "saturated": "k reaches the size of the searched log",
    "degraded": "parts of the answer path failed",
    "adapter_suspect": "the adapter may be at fault",
}


@dataclass(frozen=True, slots=True)
class Column:
    """One metric over one slice of one data set, as a heading."""

    metric: str
    dataset: str
    slice: str = "all"
    heading: str = ""


@dataclass(frozen=True, slots=True)
class Described:
    """What a reader must know of a metric."""

    title: str
    definition: str
    better: str
    unit: str


def describe(metric: str) -> Described:
    """Return title, definition, direction (``higher``, ``lower`` or ````) and unit of a metric."""
    title = metric.replace("_", " ")
    unit = "ms" if metric.endswith("_ms") else "tokens" if metric.endswith("_tokens") else "share"
    return Described(title, "", "", unit)


def number(value: float, unit: str) -> str:
    """Write a number as its unit asks: shares with two decimals, the rest with three significant digits."""
    if unit == "share":
        return f"{value:.2f}"
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}" if abs(value) >= 0.001 or value == 0 else f"{value:.1e}"


def reason(status: str) -> str:
    """Turn a row's status into words; an empty string for ``ok``."""
    parts = []
    for part in status.split(";"):
        code = part.strip()
        if code in {"", "ok"}:
            continue
        code = re.sub(r"^unmeasurable:", "", code)
        parts.append(_REASONS.get(code, code.replace("_", " ")))
    return "; ".join(parts)
