"""The section about cost: tokens and money by role and phase, or what the same contexts would cost with a named model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any

from pydantic import ValidationError

from memtrial.experiments.desk import INGEST_USAGE
from memtrial.metrics.cost import called_a_model, own_usage
from memtrial.metrics.handed_out import hands_out
from memtrial.metrics.records import Record, Usage
from memtrial.reports.sections import DASH, Grid, Section, filled
from memtrial.reports.view import DatasetView, View
from memtrial.systems.models.llm.ledger import Ledger, Totals
from memtrial.systems.models.llm.prices import Price, PriceTable, load_prices, show_usd
from memtrial.systems.models.llm.projection import DelayModel, Projection, count_prompt, project
from memtrial.systems.models.llm.store import CALLS, CallStore
from memtrial.systems.models.prompts import load_prompt
from memtrial.systems.models.tokens import TOKENIZER, count_tokens

PROJECTED_WITH = ("gpt-4.1-mini", "gpt-4o-mini", "claude-sonnet-4-5")
REPLY_TOKENS = 60
DELAY = DelayModel(time_to_first_token_s=0.6, tokens_per_second=80)
"""An assumption, the same for every model and every length of prompt. Nobody measured it here."""

_EVALUATION = "evaluation"


def cost_section(view: View) -> Section:
    """Return the section; a run without a model gets projections alone, labelled as such."""
    table = load_prices()
    section = Section()
    ledger = _ledger(view, table)
    section.grids += _by_system(view)
    if ledger.total().calls:
        section.grids.append(_by_role(ledger))
        section.notes.append(
            f"Money is tokens times {table.describe()}; prices that the configuration states come first. A model without a "
            "price has unknown cost, and a sum with an unknown part is a lower bound"
        )
    for dataset in view.datasets:
        if not dataset.is_variant and (grid := _projected(view, dataset, table)) is not None:
            section.grids.append(grid)
    return section


def _ledger(view: View, table: PriceTable) -> Ledger:
    """Count the run's record of calls: each is there once, whoever else was served from it."""
    ledger = Ledger()
    if (view.run.folder / CALLS).is_file():
        stated = dict(_stated_prices(view.run.config))
        store = CallStore(view.run.folder / CALLS)
        ledger.add_stored(store.calls(), lambda model: stated.get(model) or table.find(model))
        store.close()
    return ledger


def _stated_prices(config: Any) -> list[tuple[str, Price]]:
    """Find every mapping of a configuration that names a model together with its price."""
    found: list[tuple[str, Price]] = []
    if isinstance(config, Mapping):
        model, price = config.get("model"), config.get("price")
        if isinstance(model, str) and isinstance(price, Mapping):
            with suppress(ValidationError):
                found.append((model, Price.model_validate(dict(price))))
        for value in config.values():
            found += _stated_prices(value)
    return found


def _by_role(ledger: Ledger) -> Grid:
    rows = [[f"{role}, {phase}", *_cells(sums)] for (role, phase), sums in ledger.totals("role", "phase").items()]
    rows.append(["all", *_cells(ledger.total())])
    notes = ["A call that several asked for is counted once, for the first of them: this is what was paid, ever"]
    if ledger.total(phase=_EVALUATION).calls:
        notes.append("Evaluation (judges, ragas) is charged to no system")
    return Grid(
        "The record of calls by role and phase",
        ("role, phase", *_HEAD),
        filled(rows),
        tuple(n.rstrip(".") for n in notes),
    )


def _by_system(view: View) -> list[Grid]:
    """What each system used, answers served from the record in full: alone, it would have paid for them."""
    sums: dict[tuple[str, str, str, str], Usage] = {}
    for trial, usage in _usages(view):
        key = (trial, usage.role, usage.phase, usage.model)
        sums[key] = _add(sums[key], usage) if key in sums else usage
    order = view.trial_order
    rows = [
        [trial, role, phase, model, f"{u.calls:,}", _share(u.replayed, u.calls), f"{u.failed:,}", f"{u.prompt:,}",
         f"{u.cached:,}", f"{u.completion:,}", "yes, in part" if u.estimated else "no", show_usd(u.usd)]
        for (trial, role, phase, model), u in sorted(sums.items(), key=lambda item: (order.get(item[0][0], 0), item[0]))
    ]  # fmt: skip
    if not rows:
        return []
    head = ("system", "role", "phase", "model", "calls", "replayed", "without a good reply", "prompt", "of it cached",
            "completion", "counted here", "cost")  # fmt: skip
    note = "Calls served from the record count at what they cost when they were asked; judging is charged to no system"
    return [Grid("Tokens and money by system, role and phase", head, filled(rows), (note,))]


def _usages(view: View) -> Iterator[tuple[str, Usage]]:
    for record in view.run.records:
        for usage in own_usage(record):
            yield record.trial, usage
    for info in view.run.trials:
        for row in info.facts.get(INGEST_USAGE) or ():
            with suppress(ValidationError):
                yield info.trial, Usage.model_validate(row)


def _add(a: Usage, b: Usage) -> Usage:
    """Add up; an unknown cost makes the sum unknown."""
    counts = ("prompt", "cached", "completion", "reasoning", "calls", "replayed", "without_usage", "failed")
    summed: dict[str, Any] = {name: getattr(a, name) + getattr(b, name) for name in counts}
    summed["estimated"] = a.estimated or b.estimated
    summed["usd"] = None if a.usd is None or b.usd is None else a.usd + b.usd
    return a.model_copy(update=summed)


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.0%}" if whole else DASH


_HEAD = ("calls", "without a good reply", "prompt", "of it cached", "completion", "counted here", "cost")


def _cells(sums: Totals) -> list[str]:
    share = sums.estimated_share
    cost = show_usd(sums.usd)
    if sums.usd is None and sums.usd_known:
        cost = f"at least {show_usd(sums.usd_known)}; {sums.unpriced:,} calls unknown"
    counts = (sums.calls, sums.failed, sums.prompt, sums.cached, sums.completion)
    return [*(f"{n:,}" for n in counts), DASH if not share else f"{share:.0%}", cost]


def _projected(view: View, dataset: DatasetView, table: PriceTable) -> Grid | None:
    rows = []
    for info in dataset.trials:
        records = [r for r in view.records.get((dataset.label, info.trial), []) if r.result.error is None]
        if not records or hands_out(info) or called_a_model(records):
            continue
        contexts = [r.result.context_tokens + _frame(r) for r in records]
        made = [project(contexts, REPLY_TOKENS, model, table.find(model), DELAY) for model in PROJECTED_WITH]
        first = made[0]
        cells = [info.trial, DASH if first.prompt_tokens is None else f"{first.prompt_tokens:,.0f}"]
        rows.append([*cells, *(_money(p) for p in made), DASH if first.seconds is None else f"{first.seconds:.2f} s"])
    if not rows:
        return None
    head = (
        "system",
        "prompt tokens a question",
        *(f"{model}, 1,000 questions" for model in PROJECTED_WITH),
        "a reply takes",
    )
    how = (
        "Projected, not measured: no model was asked. One reading call a question, its prompt the context that was shown, "
        f"the question and memtrial's reading instructions, counted with {TOKENIZER}; a reply of {REPLY_TOKENS} tokens is assumed"
    )
    delay = (
        f"Delay model, an assumption for every model and length of prompt alike: {DELAY.time_to_first_token_s:g} s to the first token, then "
        f"{DELAY.tokens_per_second:g} tokens a second; the time to retrieve comes on top"
    )
    notes = (how, f"Prices: {table.describe()}", delay)
    return Grid(f"Projected: what these contexts would cost with a model, {dataset.label}", head, filled(rows), notes)


def _money(projection: Projection) -> str:
    return show_usd(projection.usd_per_1k)


def _frame(record: Record) -> int:
    """Count what surrounds the context: instructions, examples, question."""
    return _instructions(record.labels.language[:2]) + count_tokens(record.labels.text)


@lru_cache(maxsize=4)
def _instructions(language: str) -> int:
    empty: Sequence[Any] = ()
    return count_prompt(load_prompt("read", language).render(messages=empty, question=""))
