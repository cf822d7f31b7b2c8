"""Numbers, units and reasons in words: how a metric's values are written and why one is missing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from memtrial.metrics.definitions import Definition, define

#: Written beside a value that has no interval because nothing was sampled.
_UNSAMPLED = {
    "tenant_leaks": "count",
    "questions_without_evidence": "count",
    "vectors": "count",
    "vectors_indexed": "count",
    "explained_variance": "measured once",
    "ingest_s": "measured once",
    "index_mb": "measured once",
    "peak_rss_mb": "measured once",
    "other_work_cores": "measured once",
}
_STATUS = {
    "few_clusters": "fewer than 8 independent clusters",
    "few_samples": "too few samples to be firm",
    "saturated": "K reaches the size of the searched log",
    "short_ranking": "most rankings hold fewer than K messages",
    "degraded": "the answer path was degraded",
    "adapter_suspect": "the adapter may be at fault",
}
_SMALL = {"ms", "s", "MB", "USD"}
_INCOMPLETE = re.compile(r"incomplete:(\d+)")


@dataclass(frozen=True, slots=True)
class Column:
    """One metric over one slice of one data set, as a heading."""

    metric: str
    dataset: str
    slice: str = "all"

    @property
    def title(self) -> str:
        """Return the metric's title, or the slice's value where the column is a slice."""
        return describe(self.metric).title if self.slice == "all" else self.slice.partition("=")[2].replace("_", " ")

    @property
    def heading(self) -> str:
        """Return the title with the unit, kept on the line of the last word."""
        return heading(self.metric) if self.slice == "all" else self.title


def describe(metric: str) -> Definition:
    """Return the definition of a metric; one that this version does not know is shown under its bare name."""
    try:
        return define(metric)
    except KeyError:
        return Definition(metric.replace("_", " "), "", None, "", ".3g")


def heading(metric: str) -> str:
    """Return a column head: title and unit."""
    found = describe(metric)
    # As a word: the unit of "ingest" is s, which its letters hold.
    said = re.search(rf"(?<!\w){re.escape(found.unit)}(?!\w)", found.title)
    return f"{found.title},\u00a0{found.unit}" if found.unit and not said else found.title


def number(value: float, metric: str) -> str:
    """Write a value without its unit."""
    found = describe(metric)
    text = format(value, found.format).rstrip("%")
    # A time of 3 microseconds is not 0.00 ms.
    return f"{value:.2g}" if value > 0 and found.unit in _SMALL and _is_zero(text) else text


def span(low: float, high: float, metric: str) -> str:
    """Write an interval without its unit."""
    return f"{number(low, metric)}–{number(high, metric)}"


def with_unit(text: str, metric: str) -> str:
    """Add the unit to a number or an interval, as prose needs it."""
    unit = describe(metric).unit
    return f"{text}%" if unit == "%" else f"{text} {unit}".rstrip()


def unsampled(metric: str) -> str:
    """Say why a value of this metric has no interval."""
    return _UNSAMPLED.get(metric, "no interval")


def reason(status: str) -> str:
    """Turn a row's status into words; an empty string for ``ok``."""
    parts = []
    for part in status.split(";"):
        code = part.strip()
        if code in {"", "ok"}:
            continue
        missing = _INCOMPLETE.fullmatch(code)
        if missing:
            parts.append(f"{missing.group(1)} planned answers are missing and count as errors")
            continue
        if code.startswith("unscored:"):
            parts.append(f"{code.removeprefix('unscored:')} answers have no verdict and are left out")
            continue
        code = code.removeprefix("unmeasurable:")
        parts.append(_STATUS.get(code, code.replace("_", " ")))
    return "; ".join(parts)


def signed(value: float, metric: str) -> str:
    """Write a difference with its sign; shares in points of a hundred."""
    text = number(abs(value), metric)
    return text if _is_zero(text) else f"{'−' if value < 0 else '+'}{text}"


def _is_zero(text: str) -> bool:
    return not text.strip("0.,")


def difference_unit(metric: str) -> str:
    """Return the unit of a difference: percentage points where the metric is a share."""
    unit = describe(metric).unit
    return "points" if unit == "%" else unit


def plural(count: int, one: str, many: str = "") -> str:
    """Write a count with its noun."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def listing(names: Sequence[str], limit: int = 8) -> str:
    """Join names as prose does, the rest as a number."""
    shown = [*names[:limit], f"{len(names) - limit} more"] if len(names) > limit else list(names)
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
