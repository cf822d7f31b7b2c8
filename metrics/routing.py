"""How well a router chooses between two systems that were asked the same questions, and what became of write-back.

A hybrid tells in ``trace.facts`` of each answer:

- ``route``: ``{to, rule, reason}``, the part that it asked first (``none`` where its gates let nothing through);
- ``answered_by`` and ``fell_back``: the part whose answer it gave, and whether the first one had abstained;
- ``established``: what the answer is written back as, and ``derived``: ``{shown, used}``, written-back memories that the
  reader was shown and whether the answer is what one of them says.

Where the two parts ran as systems of their own in the same run, an oracle router is known: it takes the better of the two
answers to every question.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memtrial.metrics.estimates import Estimate, ratio_of
from memtrial.metrics.panel import Panel
from memtrial.metrics.quality import RIGHT
from memtrial.metrics.records import Record

Floats = NDArray[np.float64]

PARTS = ("structured", "raw_log")
FALLBACK, TO_STRUCTURED = "fallback_rate", "routed_to_structured"
ORACLE, FIRST, FINAL = "oracle_router_accuracy", "router_accuracy", "router_accuracy_after_fallback"
WRITTEN, WRITTEN_WRONG = "write_back_rate", "write_back_wrong_rate"
DERIVED_SHOWN, DERIVED_USED, DERIVED_WRONG = "derived_shown_rate", "derived_used_rate", "derived_wrong_rate"

_WRONG = frozenset({"wrong_memory", "wrong_other", "hallucination"})


@dataclass(frozen=True, slots=True)
class Decided:
    """What one answer tells of its way; ``to`` and ``by`` are "" where an error left them unknown."""

    to: str
    by: str
    fell_back: bool
    rule: str = ""


def decided(record: Record) -> Decided:
    """Read the way of one answer from its record."""
    facts = record.result.trace.facts
    route = _mapping(facts.get("route"))
    return Decided(
        str(route.get("to", "")),
        str(facts.get("answered_by", "")),
        facts.get("fell_back") is True,
        str(route.get("rule", "")),
    )


def routes(records: Sequence[Record]) -> bool:
    """Whether a system chose between parts at all."""
    return any("route" in record.result.trace.facts for record in records)


def parts_of(panel: Panel, panels: Sequence[Panel]) -> dict[str, Panel]:
    """Return the trials on the same data that are a hybrid's parts by themselves; {} where one of the two did not run.

    A trial with the very parameters of the part comes first, then one of the part's system that nothing was varied in.
    """
    found: dict[str, Panel] = {}
    for name in PARTS:
        own = panel.info.params.get(name)
        there = [p for p in panels if p.info.target == name and p.info.dataset == panel.info.dataset and p.n]
        same = [p for p in there if p.info.params == own]
        plain = [p for p in there if not p.info.axes]
        chosen = [*same, *plain, *there]
        if chosen:
            found[name] = chosen[0]
    return found if len(found) == len(PARTS) else {}


def routing_estimates(panel: Panel, panels: Sequence[Panel]) -> Iterator[Estimate]:
    """Yield how a hybrid's questions went, and what write-back did; nothing for any other system.

    Args:
        panel: of the trial.
        panels: of all trials of the run.
    """
    if not routes(panel.records):
        return
    ways = [decided(record) for record in panel.records]
    known = panel.mean([bool(way.to) for way in ways])
    yield ratio_of(TO_STRUCTURED, panel.mean([way.to == "structured" for way in ways]), known, sliced=True)
    yield ratio_of(FALLBACK, panel.mean([way.fell_back for way in ways]), known, sliced=True)
    yield from _against_oracle(panel, ways, parts_of(panel, panels))
    yield from _written(panel)


def _against_oracle(panel: Panel, ways: Sequence[Decided], parts: Mapping[str, Panel]) -> Iterator[Estimate]:
    reason = "" if parts else "both parts have to run as systems of their own beside it"
    ones = np.ones(panel.n)
    if not parts:
        for metric in (ORACLE, FIRST, FINAL):
            yield ratio_of(metric, ones, ones, judged=True, reason=reason)
        return
    structured, raw_log = (right_on(parts[name], panel) for name in PARTS)
    both = ~np.isnan(structured) & ~np.isnan(raw_log)
    best = np.fmax(structured, raw_log)
    yield ratio_of(ORACLE, np.nan_to_num(best), both.astype(float), judged=True)
    differ = both & (structured != raw_log)
    better = np.where(structured > raw_log, "structured", "raw_log")[panel.question] if panel.n else np.array([])
    same = "" if differ.any() else "the two parts are right and wrong on the same questions"
    for metric, went in ((FIRST, [way.to for way in ways]), (FINAL, [way.by for way in ways])):
        hit = panel.mean([place == str(name) for place, name in zip(went, better, strict=True)])
        yield ratio_of(metric, hit * differ, differ.astype(float), judged=True, reason=same)


def right_on(part: Panel, panel: Panel) -> Floats:
    """Return how often (over repeats) one trial is right on another's questions: shape (n,), NaN where it was not asked."""
    right = part.mean([record.judgement.outcome in RIGHT for record in part.records])
    by_key = dict(zip(part.keys, right.tolist(), strict=True))
    return np.array([by_key.get(key, np.nan) for key in panel.keys])


def _written(panel: Panel) -> Iterator[Estimate]:
    """Of answers, those written back; of those, the wrong ones; and what later answers made of them."""
    told = [record.result.trace.facts for record in panel.records]
    if not any("established" in facts or "derived" in facts or "not_established" in facts for facts in told):
        return
    wrong = np.array([record.judgement.outcome in _WRONG for record in panel.records])
    kept = [_mapping(facts.get("established")) for facts in told]
    written = np.array([bool(one) for one in kept])
    poison = np.array([bool(one.get("planted")) for one in kept]) | wrong
    derived = [_mapping(facts.get("derived")) for facts in told]
    shown = np.array([bool(one.get("shown")) for one in derived])
    used = np.array([one.get("used") is True for one in derived])
    ones = np.ones(panel.n)
    yield ratio_of(WRITTEN, panel.mean(written), ones)
    none = "" if written.any() else "nothing was written back"
    yield ratio_of(WRITTEN_WRONG, panel.mean(written & poison), panel.mean(written), judged=True, reason=none)
    yield ratio_of(DERIVED_SHOWN, panel.mean(shown), ones)
    yield ratio_of(DERIVED_USED, panel.mean(used), ones)
    unused = "" if used.any() else "no answer was taken from what was written back"
    yield ratio_of(DERIVED_WRONG, panel.mean(used & wrong), panel.mean(used), judged=True, reason=unused)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
