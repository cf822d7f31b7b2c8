"""Shares that are no metric of their own, computed where a section needs them, each with its interval."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from memtrial.metrics.estimates import Figure, figures, ratio_of
from memtrial.metrics.panel import Panel
from memtrial.reports.sections import DASH, percent

Floats = NDArray[np.float64]


def share_of(panel: Panel, part: Floats, whole: Floats, resamples: int) -> Figure | None:
    """Return a sum over a sum with its interval over clusters, drawn as those of all metrics are.

    Args:
        panel: of one trial.
        part: shape (m,), by record; at most ``whole``.
        whole: shape (m,), by record.
        resamples: of the bootstrap.

    Returns:
        None where nothing counts.
    """
    estimate = ratio_of("share", panel.mean(part), panel.mean(whole))
    return figures([estimate], panel.cluster, [np.ones(panel.n)], resamples=resamples, seed=0)[0]


def show_share(found: Figure | None, *, plain: bool = False) -> str:
    """Write it in percent, or ``plain`` as a number with three decimals; never without its interval."""
    if found is None:
        return DASH
    low, high = found.interval
    if plain:
        return f"{found.value:.3f} ({low:.3f}–{high:.3f})"
    return f"{percent(found.value)} ({percent(low)}–{percent(high)})"
