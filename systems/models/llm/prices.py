"""What a token costs: a dated table of list prices that users can replace. An unknown price is None, never 0."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import date
from importlib import resources
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from memtrial.datasets.errors import UserError, did_you_mean
from memtrial.systems.models.llm.outcome import Usage

PER = 1_000_000
UNKNOWN = "unknown"


class Price(BaseModel):
    """US dollars per million tokens.

    Attributes:
        prompt: prompt tokens that the provider did not serve from its prompt cache.
        cached: prompt tokens served from it; None where they cost as much as the rest.
        completion: completion tokens, reasoning included.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    prompt: float = Field(ge=0)
    cached: float | None = Field(default=None, ge=0)
    completion: float = Field(ge=0)


class PriceTable(BaseModel):
    """Prices by model name.

    Attributes:
        as_of: the day on which the prices were known to hold.
        source: where they come from and what they leave out.
        prices: by the name that a request carries.
        aliases: other names of a model, each written out; names are never guessed.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    as_of: date
    source: str
    prices: dict[str, Price]
    aliases: dict[str, str] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _aliases_lead_somewhere(self) -> PriceTable:
        for alias, name in self.aliases.items():
            if name not in self.prices:
                raise ValueError(
                    f"alias {alias!r} stands for {name!r}, which has no price{did_you_mean(name, self.prices)}"
                )
            if alias in self.prices:
                raise ValueError(f"{alias!r} is both an alias and a model with a price")
        return self

    def find(self, model: str) -> Price | None:
        """Return the price of a model by its exact name or a listed alias; None where the table does not know it."""
        return self.prices.get(self.aliases.get(model, model))

    def describe(self) -> str:
        """Return the line that stands beside every sum of money."""
        return f"list prices as of {self.as_of.isoformat()} ({self.source})"


def load_prices(path: Path | str | None = None) -> PriceTable:
    """Read a price table, or the built-in one.

    Args:
        path: a JSON file of the same shape as ``systems/models/llm/prices.json``.

    Raises:
        UserError: if the file cannot be read or is no price table; names the place and the value found.
    """
    if path is None:
        text = resources.files(__package__).joinpath("prices.json").read_text(encoding="utf-8")
        return PriceTable.model_validate(json.loads(text))
    try:
        return PriceTable.model_validate(json.loads(Path(path).read_text(encoding="utf-8")))
    except OSError as error:
        raise UserError(f"cannot read the price table {path}: {error.strerror or error}") from error
    except ValidationError as error:
        raise UserError(f"{path} is no price table: {_first(error)}") from error
    except ValueError as error:
        raise UserError(f"{path} is no price table: it is not valid JSON ({error})") from error


def price_of(model: str, override: Price | None = None, table: PriceTable | None = None) -> Price | None:
    """Return what the settings say a model costs, else what the table says, else None."""
    return override if override is not None else (table or load_prices()).find(model)


def cost_of(usage: Usage | None, price: Price | None) -> float | None:
    """Return US dollars, or None where the usage or the price is unknown.

    A price without a rate for cached tokens charges them like the rest of the prompt.
    """
    if usage is None or price is None:
        return None
    cached = min(usage.cached, usage.prompt)
    cached_rate = price.prompt if price.cached is None else price.cached
    return ((usage.prompt - cached) * price.prompt + cached * cached_rate + usage.completion * price.completion) / PER


def worst_cost(prompt_tokens: int, max_tokens: int, price: Price) -> float:
    """Return the most that a call can cost: the prompt at its dearer rate, and every token of the limit used."""
    return (prompt_tokens * max(price.prompt, price.cached or 0.0) + max_tokens * price.completion) / PER


def show_usd(usd: float | None) -> str:
    """Return money for display: ``unknown`` for None, cents for sums of a dollar or more, four digits below."""
    if usd is None:
        return UNKNOWN
    return f"${usd:,.2f}" if usd >= 1 or usd == 0 else f"${usd:.4f}" if usd >= 0.0001 else "under $0.0001"


def exact_usd(usd: float) -> str:
    """Return money with as many digits as it has, at least cents: for a sentence in which two sums are compared."""
    whole, _, part = f"{usd:,.12f}".rstrip("0").partition(".")
    return f"${whole}.{part:0<2}"


def by_cost(costs: Mapping[str, float | None]) -> list[str]:
    """Return names from cheap to dear; one whose cost is unknown has no place in the ranking."""
    known = {name: usd for name, usd in costs.items() if usd is not None}
    return sorted(known, key=lambda name: (known[name], name))


def _first(error: ValidationError) -> str:
    found = error.errors()[0]
    place = ".".join(map(str, found["loc"]))
    if found["type"] == "value_error":
        return str(found["ctx"]["error"])
    if found["type"] == "missing":
        return f"{place} is missing"
    if found["type"] == "extra_forbidden":
        return f"{place} is not known{did_you_mean(str(found['loc'][-1]), _FIELDS)}; allowed: {', '.join(_FIELDS)}"
    return f"{place or 'it'} is {_short(found['input'])}, but {found['msg'][:1].lower()}{found['msg'][1:]}"


def _short(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= 60 else f"{shown[:57]}..."


_FIELDS = (*PriceTable.model_fields, *Price.model_fields)
