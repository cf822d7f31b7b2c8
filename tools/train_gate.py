"""Fit the classifier of the semantic gate and write its weights.

Data: the questions of supportdesk's train split, and the handwritten ones in ``tools/gate_questions``. Cross-validation holds
out whole phrasings, because the phrasings that come later are unseen; its probabilities also give the threshold.

    python tools/train_gate.py --seeds 101 102 103 104 105 106
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold

from memtrial.datasets.supportdesk import generate
from memtrial.datasets.supportdesk.phrasings.bank import load_bank
from memtrial.systems.base import Query
from memtrial.systems.models.embedders import E5
from memtrial.systems.structured import gates as package
from memtrial.systems.structured.gates.classifier import WEIGHTS, embedder_revision
from memtrial.systems.structured.gates.signals import NAMES, read_signals
from memtrial.systems.structured.node import Entity

HERE = Path(__file__).parent
MESSAGES = 1500
FOLDS = 10
STRENGTHS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
# a vector's elements are small beside a signal's 1; this puts both under one penalty
VECTOR_SCALE = 10.0
# a missed look-up costs the answer, a needless one tokens
MISS_COSTS = 2.0
_SLOT = re.compile(r"\\\{(\w+)\\\}")
_NAMING = frozenset({"product", "product2", "customer", "order", "plan", "brand"})
_WHEN = datetime(2024, 5, 6, 9, 0, tzinfo=UTC)

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Row:
    """One question: what it needs, which phrasing it has, which named things a memory would know."""

    text: str
    language: str
    needed: bool
    phrasing: str
    named: tuple[str, ...]
    source: str


def templates(language: str) -> list[tuple[str, re.Pattern[str]]]:
    """Return the train split's phrasings of questions, each with a pattern that finds its slots."""
    found = []
    for key, variants in load_bank("train", language).phrases.items():
        for text in variants if key.startswith(("q.", "n.")) else ():
            pattern = _SLOT.sub(lambda slot: f"(?P<{slot[1]}>.+?)", re.escape(text))
            found.append((text, re.compile(pattern)))
    return found


def desk_rows(seeds: Sequence[int]) -> Iterator[Row]:
    """Yield the questions of the train split that stand by themselves; follow-ups are the context gate's."""
    known = {language: templates(language) for language in ("en", "zh")}
    for seed in seeds:
        for _, question in generate(MESSAGES, seed, "both", "train").questions():
            if question.history:
                continue
            matches = ((text, p.fullmatch(question.text)) for text, p in known[question.language])
            text, match = next(((t, m) for t, m in matches if m), (question.text, None))
            slots = match.groupdict().items() if match else ()
            named = tuple(value for slot, value in slots if slot in _NAMING)
            yield Row(question.text, question.language, question.needs_memory, text, named, "supportdesk")


def own_rows() -> Iterator[Row]:
    """Yield the handwritten questions."""
    for language in ("en", "zh"):
        for line in (HERE / "gate_questions" / f"{language}.txt").read_text(encoding="utf-8").splitlines():
            if line.startswith(("+ ", "- ")):
                text = re.sub(r"[{}]", "", line[2:])
                yield Row(text, language, line[0] == "+", text, tuple(re.findall(r"\{(.+?)\}", line)), "handwritten")


def features(rows: Sequence[Row], *, known: bool) -> Floats:
    """Return vectors and signals side by side, shape (rows, dims + signals)."""
    embedder = E5(None)
    cache: dict[str, Any] = {}
    out = []
    for row in rows:
        if row.text not in cache:
            cache[row.text] = embedder.query(row.text)
        named = [Entity(f"product:{name}", "product", name, "t") for name in row.named] if known else []
        query = Query("q", "t", "a", _WHEN, row.text, language=row.language)
        out.append(np.concatenate([VECTOR_SCALE * cache[row.text], read_signals(query, named).vector()]))
    return np.array(out)


def weights_of(rows: Sequence[Row]) -> Floats:
    """Return a weight per row: every phrasing counts alike, the two sources count alike, and so do yes and no in each."""
    phrasing = Counter((row.source, row.phrasing) for row in rows)
    one = np.array([1.0 / phrasing[row.source, row.phrasing] for row in rows])
    for source in ("supportdesk", "handwritten"):
        for needed in (True, False):
            chosen = np.array([row.source == source and row.needed == needed for row in rows])
            one[chosen] *= 0.25 / one[chosen].sum()
    return one * len(rows)


def fit(x: Floats, y: Floats, weight: Floats, strength: float) -> LogisticRegression:
    """Fit one regression."""
    model = LogisticRegression(C=strength, max_iter=5000)
    model.fit(x, y, sample_weight=weight)
    return model


def held_out(x: Floats, y: Floats, weight: Floats, groups: Sequence[str], strength: float) -> Floats:
    """Return the probability of every row from a fit that has seen nothing of its phrasing."""
    out = np.zeros(len(y))
    for train, test in GroupKFold(FOLDS).split(x, y, groups):
        # each row stands there twice, with and without what the memory knows; both halves share a group
        out[test] = fit(x[train], y[train], weight[train], strength).predict_proba(x[test])[:, 1]
    return out


def best_threshold(p: Floats, y: Floats, weight: Floats) -> float:
    """Return the threshold of the lowest expected cost, in the middle of the plateau that has it."""
    grid = np.linspace(0.05, 0.95, 181)
    costs = np.array([(weight * (MISS_COSTS * ((p < t) & (y == 1)) + ((p >= t) & (y == 0)))).sum() for t in grid])
    best = grid[costs <= costs.min() + 1e-9]
    return float(best[len(best) // 2])


def figures(p: Floats, rows: Sequence[Row], weight: Floats, threshold: float) -> dict[str, Any]:
    """Return missed and needless shares by source and language."""
    out: dict[str, Any] = {}
    for source in ("supportdesk", "handwritten"):
        for language in ("en", "zh"):
            pick = np.array([r.source == source and r.language == language for r in rows])
            y = np.array([r.needed for r in rows])
            w_yes, w_no = weight * (pick & y), weight * (pick & ~y)
            missed = float((w_yes * (p < threshold)).sum() / w_yes.sum())
            needless = float((w_no * (p >= threshold)).sum() / w_no.sum())
            out[f"{source}_{language}"] = {
                "missed": round(missed, 4),
                "needless": round(needless, 4),
                "balanced_accuracy": round(1 - (missed + needless) / 2, 4),
            }
    return out


def main() -> None:
    """Fit and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[101, 102, 103, 104, 105, 106])
    args = parser.parse_args()
    once = sorted({*desk_rows(args.seeds), *own_rows()}, key=lambda row: (row.source, row.phrasing, row.text))
    x = np.concatenate([features(once, known=True), features(once, known=False)])
    rows = [*once, *once]
    y = np.array([float(row.needed) for row in rows])
    weight = weights_of(rows)
    groups = [row.phrasing for row in rows]
    tried = {}
    for strength in STRENGTHS:
        p = held_out(x, y, weight, groups, strength)
        loss = -np.average(np.log(np.clip(np.where(y == 1, p, 1 - p), 1e-6, 1)), weights=weight)
        tried[strength] = (loss, p)
        print(f"C {strength}: held-out log loss {loss:.4f}")
    strength = min(tried, key=lambda c: tried[c][0])
    p = tried[strength][1]
    threshold = best_threshold(p, y, weight)
    told = {
        "data": hashlib.sha256("\n".join(map(repr, once)).encode()).hexdigest()[:16],
        "seeds": args.seeds,
        "questions": len(once),
        "phrasings": len(set(groups)),
        "C": strength,
        "miss_costs": MISS_COSTS,
        "cross_validated_by_phrasing": figures(p, rows, weight, threshold),
    }
    model = fit(x, y, weight, strength)
    coefficients = model.coef_[0]
    dims = x.shape[1] - len(NAMES)
    document = {
        "embedder": embedder_revision(),
        "threshold": round(threshold, 4),
        "bias": round(float(model.intercept_[0]), 5),
        "signals": {name: round(float(c), 4) for name, c in zip(NAMES, coefficients[dims:], strict=True)},
        "vector": [round(float(c) * VECTOR_SCALE, 4) for c in coefficients[:dims]],
        "told": told,
    }
    target = Path(package.__file__).parent / WEIGHTS
    target.write_text(json.dumps(document, ensure_ascii=False) + "\n", encoding="utf-8")
    print(json.dumps({**told, "threshold": threshold, "signals": document["signals"]}, indent=1))


if __name__ == "__main__":
    main()
