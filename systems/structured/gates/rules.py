"""The semantic gate by rules: points for signs of memory, minus points for signs that a question answers itself."""

from __future__ import annotations

from collections.abc import Mapping

from memtrial.systems.structured.gates.signals import Signals

POINTS: Mapping[str, float] = {
    "known": 3.0,
    "code": 3.0,
    "product": 2.5,
    "name": 0.5,
    "past_time": 1.5,
    "possessive": 1.0,
    "event": 1.5,
    "record_noun": 1.5,
    "offer": 1.0,
    "who_said": 1.0,
    "refers_back": 0.5,
    "generic_owned": 0.0,
    "computes": -4.0,
    "figures": -0.5,
    "quoted": -0.5,
    "calculation": -1.0,
    "language_task": -4.0,
    "general": -3.0,
    "definition": -2.0,
    "writing": -3.0,
    "live": -3.0,
    "small_talk": -3.0,
}
"""Reasoned, not fitted: what names a thing on record weighs most, what carries its own figures least.

A possessive alone opens this gate, "my advice" too, as it does in the seed; telling the two apart is the context gate's work.
"""


def points(signals: Signals) -> float:
    """Return the sum of the points of all signals; 0 where none fires."""
    return sum(POINTS[name] for name in signals.fired)


def told(signals: Signals) -> str:
    """Name the signals for the trace, those that weigh most first."""
    ranked = sorted(signals.fired, key=lambda name: (-abs(POINTS[name]), name))
    return ", ".join(name for name in ranked if POINTS[name]) or "no sign"
