"""What the reader is shown of the memories that are left: XML with trust and status, cut by trust, in an order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from pydantic import Field

from memtrial.systems.base import Evidence, Trace
from memtrial.systems.baselines.parts import Part
from memtrial.systems.models.tokens import count_tokens, longest_beginning


class InjectionParams(Part):
    """How memories are shown.

    Attributes:
        details: with what was said behind each typed fact, not its statement alone.
        xml: with trust and status, as ``<memory score="0.95" …>``; without, a reader cannot tell the good from the bad.
        cuts: cut each memory by its trust.
        base: tokens of a memory of trust ``pivot``; of one without a trust as well.
        slope: tokens more for each unit of trust above ``pivot``.
        pivot: trust at which ``base`` applies.
        least: tokens below which no memory is cut.
        budget: tokens of all memories together, tags included.
        order: ``best_first``, or ``best_first_and_last``: attention is weakest in the middle of a long context.
    """

    details: bool = True
    xml: bool = True
    cuts: bool = True
    base: int = Field(default=200, ge=1)
    slope: float = Field(default=300.0, ge=0)
    pivot: float = Field(default=0.7, ge=0, le=1)
    least: int = Field(default=40, ge=1)
    budget: int = Field(default=4000, ge=1)
    order: Literal["best_first", "best_first_and_last"] = "best_first_and_last"


def inject(ranked: Sequence[Evidence], params: InjectionParams, trace: Trace) -> tuple[Evidence, ...]:
    """Cut and order memories for the reader.

    Args:
        ranked: best first, with trust and status.
        params: settings.
        trace: is warned of whatever was cut or left out.

    Returns:
        Memories in the order shown; their renderings hold at most ``params.budget`` tokens together.
    """
    shown: list[Evidence] = []
    left, cut, dropped = params.budget, 0, 0
    for item in ranked:
        visible = item if params.xml else replace(item, trust=None, status="")
        most = max_tokens(visible.trust, params) if params.cuts else params.budget
        short = _beginning(visible, most, params.budget)
        if short is not None and _cost(short) > left:
            # A shorter memory behind may still fit; a stump of fewer tokens than the least would help nobody.
            short = _beginning(visible, most, left)
            if short is not None and count_tokens(short.text) < params.least:
                short = None
        if short is None:
            dropped += 1
            continue
        cut += short.text != item.text
        left -= _cost(short)
        shown.append(short)
    if cut:
        trace.warn(
            f"{cut} of {len(ranked)} memories cut (injection: {params.base} tokens at a trust of {params.pivot:g})"
        )
    if dropped:
        trace.warn(f"{dropped} of {len(ranked)} memories left out: injection.budget is {params.budget} tokens")
    if params.order == "best_first_and_last":
        shown = shown[0::2] + shown[1::2][::-1]
    return tuple(shown)


def max_tokens(trust: float | None, params: InjectionParams) -> int:
    """Return how many tokens a memory of some trust may have: base + (trust - pivot) × slope, the seed design's formula.

    Args:
        trust: in [0, 1]; None counts as the pivot.
        params: the formula's numbers; never less than ``params.least``.
    """
    trust = params.pivot if trust is None else trust
    return max(params.least, round(params.base + (trust - params.pivot) * params.slope))


def _beginning(item: Evidence, most: int, budget: int) -> Evidence | None:
    """Return a memory, or its longest beginning, of at most ``most`` tokens that fits a budget with its tags; or None."""

    def fits(text: str) -> bool:
        return count_tokens(text) <= most and _cost(replace(item, text=text)) <= budget

    if fits(item.text):
        return item
    text = longest_beginning(item.text, fits, 16 * min(most, budget))
    return None if text is None else replace(item, text=text)


def _cost(item: Evidence) -> int:
    return count_tokens(item.render()) + 1  # the line break
