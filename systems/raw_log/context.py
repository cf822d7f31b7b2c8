"""What the reader is shown of the hits: with their neighbours, each cut to a length, all within a budget."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from memtrial.systems.base import Evidence, Trace
from memtrial.systems.baselines.log import Log
from memtrial.systems.models.tokens import count_tokens, longest_beginning
from memtrial.systems.raw_log.params import ShownParams


def show(
    hits: Sequence[int], log: Log, evidence: Callable[[int], Evidence], params: ShownParams, trace: Trace
) -> tuple[Evidence, ...]:
    """Return the turns for the reader: hits best first, each with its neighbours beside it in time order.

    Everything is counted before it is shown; what was cut or left out is a warning.

    Args:
        hits: positions, best first.
        log: the log.
        evidence: wraps a position.
        params: settings.
        trace: is warned.
    """
    seen: set[int] = set()
    shown: list[Evidence] = []
    left, cut, dropped = params.max_tokens, 0, 0
    chosen = hits[: params.items]
    for hit in chosen:
        group = [p for p in log.around(hit, params.neighbours) if p not in seen]
        made: list[Evidence] = []
        for position in sorted(group, key=lambda p: (p != hit, p)):  # the hit itself first, where tokens run out
            item, shorter = _within(evidence(position), params.max_item_tokens)
            cost = count_tokens(item.render()) + 1
            if cost > left:
                dropped += 1
                continue
            left -= cost
            cut += shorter
            seen.add(position)
            made.append(item)
        shown += sorted(made, key=lambda item: (item.timestamp is None, item.timestamp))
    if cut:
        trace.warn(f"{cut} turns shortened to {params.max_item_tokens} tokens (shown.max_item_tokens)")
    if dropped:
        trace.warn(f"{dropped} turns left out: shown.max_tokens is {params.max_tokens}")
    return tuple(shown)


def _within(item: Evidence, most: int) -> tuple[Evidence, bool]:
    if len(item.text) <= most or count_tokens(item.text) <= most:  # no text has more tokens than characters
        return item, False
    text = longest_beginning(item.text, lambda start: count_tokens(start) <= most, 16 * most)
    return replace(item, text=text or item.text[:most]), True
