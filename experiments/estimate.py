"""How much a plan will do, and roughly how long it takes, before anything is run."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

from memtrial.experiments.models import ModelOptions
from memtrial.experiments.plan import Plan, Unit

# (milliseconds a question, messages taken in a second), measured on two cores with logs of some thousand messages and the
# keyless reader. Rough on purpose: they tell minutes from hours.
_RATES: Mapping[str, tuple[float, float]] = {
    "no_memory": (2.0, 200_000.0),
    "recent": (5.0, 200_000.0),
    "full_context": (20.0, 200_000.0),
    "oracle": (4.0, 200_000.0),
    "bm25": (8.0, 600.0),
    "vector": (45.0, 25.0),
    "bm25_vector": (50.0, 25.0),
}
_UNKNOWN = (50.0, 100.0)
# Messages in a second whose embeddings come from the cache.
_CACHED = 500.0
_EMBEDDING = ("vector", "bm25_vector")
# Starting a worker and opening a system on a corpus.
_START_S, _CORPUS_S = 1.5, 0.05


@dataclass(frozen=True, slots=True)
class TrialEstimate:
    """One trial on one data set.

    Attributes:
        asks: questions times repeats.
        messages: messages handed over, all repeats.
        seconds: rough time.
        measured: whether the rate was measured for this system; a guess otherwise.
    """

    trial: str
    dataset: str
    system: str
    repeats: int
    asks: int
    messages: int
    seconds: float
    measured: bool


def estimate(plan: Plan) -> list[TrialEstimate]:
    """Estimate every trial of a plan.

    Embeddings are cached by content: a data set is embedded once, by the first trial that needs it, and nothing is known
    about what earlier runs have cached, so a repeated run is faster than this says.
    """
    embedded: set[tuple[str, str]] = set()
    return [_estimate(unit, embedded) for unit in plan.units]


def _estimate(unit: Unit, embedded: set[tuple[str, str]]) -> TrialEstimate:
    info, data = unit.info, unit.data
    ms, rate = _RATES.get(info.target, _UNKNOWN)
    asks, messages = data.planned * info.repeats, data.messages * info.repeats
    fresh = messages
    if info.target in _EMBEDDING:
        part = info.params.get("vector", info.params)
        key = (data.fingerprint, str(part.get("embedder")))
        fresh = 0 if key in embedded else data.messages
        embedded.add(key)
    seconds = (
        asks * ms / 1000
        + fresh / rate
        + (messages - fresh) / _CACHED
        + info.repeats * (_START_S + _CORPUS_S * len(data.corpora))
    )
    return TrialEstimate(
        info.trial, info.dataset, info.target, info.repeats, asks, messages, seconds, info.target in _RATES
    )


def render_estimate(plan: Plan, options: ModelOptions | None = None) -> str:
    """Return the table that ``--dry-run`` prints."""
    rows = estimate(plan)
    table = Table(title=None, box=None, pad_edge=False, header_style="")
    for column in ("trial", "data", "system"):
        table.add_column(column, overflow="fold")
    for column in ("repeats", "questions", "messages", "rough time"):
        table.add_column(column, justify="right", no_wrap=True)
    for row in rows:
        time = words(row.seconds) + ("" if row.measured else " (a guess)")
        table.add_row(row.trial, row.dataset, row.system, str(row.repeats), f"{row.asks:,}", f"{row.messages:,}", time)
    out = io.StringIO()
    Console(file=out, width=110, color_system=None, markup=False, highlight=False).print(table)
    return out.getvalue().rstrip() + "\n\n" + "\n".join(_footer(plan, rows, options))


def words(seconds: float) -> str:
    """Return a time with no more precision than it deserves."""
    if seconds < 10:
        return "a few s"
    if seconds < 90:
        return f"about {round(seconds, -1):.0f} s"
    if seconds < 5400:
        return f"about {seconds / 60:.0f} min"
    return f"about {seconds / 3600:.1f} h"


def _models(plan: Plan, options: ModelOptions | None) -> list[str]:
    if not any(unit.models for unit in plan.units):
        return ["language model: none; nothing here costs money"]
    from memtrial.experiments.priced_plan import price_lines  # a keyless run loads none of it

    return price_lines(plan, options)


def _footer(plan: Plan, rows: Sequence[TrialEstimate], options: ModelOptions | None) -> list[str]:
    trials = len({row.trial for row in rows})
    at_once = plan.config.concurrency
    way = f"{at_once} questions at a time" if at_once > 1 else "one question at a time, see --concurrency"
    asking = f"; the time of models comes on top, {way}" if any(unit.models for unit in plan.units) else ""
    total = (
        f"{trials} trials on {len(plan.data)} data sets: {sum(row.asks for row in rows):,} questions to ask; "
        f"rough time {words(sum(row.seconds for row in rows))} (measured on two cores; less where embeddings are cached{asking})"
    )
    lines = [
        total,
        *_models(plan, options),
    ]
    for label, part in plan.data.items():
        corpora = "corpus" if len(part.corpora) == 1 else "corpora, a memory each"
        lines.append(
            f"{label}: {part.planned:,} questions over {part.messages:,} messages in {len(part.corpora)} {corpora}"
        )
    return lines
