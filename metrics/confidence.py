"""Whether stated confidence means anything: Brier score, calibration error, accuracy at coverage."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from memtrial.metrics.estimates import Estimate, ratio_of
from memtrial.metrics.panel import Panel
from memtrial.metrics.quality import ABSTAINED, RIGHT

Floats = NDArray[np.float64]

BINS = 10
COVERAGES = (50, 80)


def confidence_estimates(panel: Panel) -> Iterator[Estimate]:
    """Yield estimates over answered questions with a confidence (clipped to [0, 1]); nothing where none states one."""
    states = [
        r.result.confidence is not None and r.result.error is None and r.judgement.outcome not in ABSTAINED
        for r in panel.records
    ]
    if not any(states):
        return
    stated = panel.mean(states)
    counted = (stated > 0).astype(float)
    share = np.where(stated > 0, stated, 1.0)
    confidence = np.array([r.result.confidence or 0.0 for r in panel.records]).clip(0.0, 1.0) * states
    right = np.array([float(r.judgement.outcome in RIGHT) for r in panel.records]) * states
    yield ratio_of("brier", panel.mean((confidence - right) ** 2) / share, counted, sliced=False, judged=True)
    mean_confidence, mean_right = panel.mean(confidence) / share, panel.mean(right) / share
    yield _calibration_error(mean_confidence, mean_right, counted)
    threshold = np.sort(mean_confidence[counted > 0])[::-1]
    for coverage in COVERAGES:
        kept = max(1, round(len(threshold) * coverage / 100))
        covered = counted * (mean_confidence >= threshold[kept - 1])
        yield ratio_of(f"accuracy_at_coverage@{coverage}", mean_right, covered, sliced=False, judged=True)


def _calibration_error(confidence: Floats, right: Floats, counted: Floats) -> Estimate:
    """Expected calibration error over equal-mass bins; equal confidences share a bin (by their mean rank)."""
    used = np.flatnonzero(counted)
    ordered = np.sort(confidence[used])
    mid = (np.searchsorted(ordered, confidence[used], "left") + np.searchsorted(ordered, confidence[used], "right")) / 2
    bins = np.minimum((mid / len(used) * BINS).astype(int), BINS - 1)
    columns = np.zeros((len(counted), BINS + 1))
    columns[used, bins] = (confidence - right)[used]
    columns[:, BINS] = counted
    return Estimate("ece", columns, combine=_mean_gap, weights=BINS, sliced=False, judged=True)


def _mean_gap(sums: Floats) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.abs(sums[..., :BINS]).sum(axis=-1) / sums[..., BINS])
