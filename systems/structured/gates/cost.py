"""The cost gate: a look-up that costs too much becomes smaller, or is left out."""

from __future__ import annotations

from typing import NamedTuple

from memtrial.systems.structured.gates.params import CostParams


class Allowed(NamedTuple):
    """What may be looked up: ``max_items`` None is no limit, 0 nothing."""

    max_items: int | None
    reason: str


def allow(params: CostParams, tokens: int, load: float) -> Allowed:
    """Weigh a look-up.

    Args:
        params: settings.
        tokens: that it is expected to add to the prompt.
        load: of the model, in [0, 1].
    """
    why = ""
    if tokens > params.budget_tokens:
        why = f"{tokens} tokens expected, {params.budget_tokens} allowed"
    elif load > params.max_load:
        why = f"load {load:.2f} above {params.max_load:.2f}"
    if not why:
        return Allowed(None, f"{tokens} tokens expected, load {load:.2f}")
    return Allowed(params.newest if params.over == "newest" else 0, why)
