"""The runner's side of asking models: what workers are told, what calls have used and cost, and when the run ends."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import orjson

from memtrial.datasets.errors import MissingExtraError
from memtrial.experiments.models import ModelOptions, shared_roles
from memtrial.experiments.plan import Plan, Unit
from memtrial.experiments.store import BUDGET, CALLS, MANIFEST
from memtrial.systems.models.llm.budget import Memo, require_prices
from memtrial.systems.models.llm.ledger import Ledger
from memtrial.systems.models.llm.prices import Price, load_prices, price_of
from memtrial.systems.models.llm.store import CallStore


class Spending:
    """What the run has asked of models so far, all segments of it."""

    def __init__(self, plan: Plan, folder: Path, options: ModelOptions) -> None:
        """Count what the folder's record holds.

        Raises:
            UserError: the price table or the record cannot be read.
        """
        self.options = options
        self._folder = folder
        self._models = plan.config.models
        self._table = load_prices(options.prices)
        self._prices = unit_prices(plan, options.prices)
        self._keys = sorted({settings.api_key_env for unit in plan.units for settings in unit.models.values()})
        self.ledger = Ledger()
        self._store, self._memo = folder / CALLS, folder / BUDGET
        calls = CallStore(self._store)
        self.ledger.add_stored(calls.calls(), lambda model: self._prices.get(model) or self._table.find(model))
        calls.close()
        self.spent_usd = _spent_before(folder)
        self.recall()

    def recall(self) -> None:
        """Count what a worker has left behind: what nobody knows the cost of counts at its worst, and is in no record.

        Raises:
            UserError: the note of what counts against the budget cannot be read.
        """
        known = self.ledger.total().usd_paid
        unknown = 0.0
        if self._memo.exists():
            memo = Memo(self._memo)
            memo.close()
            unknown = memo.unknown_usd
            self.spent_usd = max(self.spent_usd, memo.counted_usd)
        self.spent_usd = max(self.spent_usd, known + unknown)

    def told(self, unit: Unit, repeat: int) -> dict[str, Any]:
        """Return what a worker needs to ask for this trial; nothing for a system that uses no model."""
        if not unit.models:
            return {}
        limit = self.options.budget_usd
        memo = str(self._memo.resolve())
        budget = None if limit is None else {"limit_usd": limit, "spent_usd": self.spent_usd, "memo": memo}
        roles = {}
        for role, settings in shared_roles(unit.models, self._models).items():
            price = self._prices[settings.model]
            roles[role] = {
                **settings.model_dump(mode="json"),
                "price": None if price is None else price.model_dump(mode="json"),
            }
        return {
            "roles": roles,
            "keys": self._keys,
            "store": str(self._store.resolve()),
            "replay": self.options.replay,
            "budget": budget,
            "prices": None if self.options.prices is None else str(self.options.prices.resolve()),
            "trial": unit.info.trial,
            "repeat": repeat,
        }

    def take(self, told: Mapping[str, Any] | None) -> None:
        """Count what a worker reports."""
        if told is None:
            return
        self.ledger.add_rows(told["rows"])
        self.spent_usd = max(self.spent_usd, self.ledger.total().usd_paid, told["spent_usd"] or 0.0)

    def line(self) -> str:
        """Return the live counter."""
        return self.ledger.line(self.options.budget_usd)

    def statement(self) -> dict[str, Any]:
        """Return what the manifest says about money and the record."""
        total = self.ledger.total()
        return {
            "replay": self.options.replay,
            "budget_usd": self.options.budget_usd,
            "spent_usd": round(self.spent_usd, 12),
            "calls_of_unknown_cost": total.unpriced,
            "prices": {
                "table": self._table.describe(),
                "as_of": self._table.as_of.isoformat(),
                "usd_per_million_tokens": {
                    model: None if price is None else price.model_dump(mode="json")
                    for model, price in sorted(self._prices.items())
                },
            },
        }


def check_options(plan: Plan, options: ModelOptions) -> None:
    """Find out what would end the run at its first question, before there is a folder.

    Raises:
        UserError: a budget cannot be kept for want of a price, or the price table cannot be read.
        MissingExtraError: models are to be asked and the package for it is not installed.
    """
    prices = unit_prices(plan, options.prices)
    if options.budget_usd is not None and options.replay != "only":
        require_prices(options.budget_usd, prices)
    if options.replay != "only" and find_spec("openai") is None:
        raise MissingExtraError("asking a language model", "models")


def unit_prices(plan: Plan, table_file: Path | None = None) -> dict[str, Price | None]:
    """Return the price of every model that a plan's systems may ask, None where it is unknown."""
    table = load_prices(table_file)
    found: dict[str, Price | None] = {}
    for unit in plan.units:
        for settings in unit.models.values():
            price = price_of(settings.model, settings.price, table)
            found[settings.model] = found.get(settings.model) or price
    return found


def _spent_before(folder: Path) -> float:
    try:
        return float(orjson.loads((folder / MANIFEST).read_bytes())["models"]["spent_usd"])
    except (OSError, ValueError, KeyError, TypeError):
        return 0.0
