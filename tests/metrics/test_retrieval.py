from __future__ import annotations

import math
import os
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtrial.metrics.retrieval import align, all_recall, hit, ndcg, precision, recall, reciprocal_rank

KS = (1, 5, 10, 20, 50)
IDS = st.lists(st.sampled_from([f"m{i}" for i in range(30)]), max_size=40)
GOLDS = st.sets(st.sampled_from([f"m{i}" for i in range(30)]), min_size=1, max_size=6)


def random_rankings(n: int = 1000, seed: int = 7) -> tuple[list[list[str]], list[list[str]]]:
    rng = random.Random(seed)
    rankings, golds = [], []
    for _ in range(n):
        pool = [f"m{i}" for i in range(rng.choice([20, 60, 200]))]
        rankings.append(rng.sample(pool, rng.randint(1, min(len(pool), 60))))
        golds.append(rng.sample(pool, rng.randint(1, 8)))
    return rankings, golds


def test_golden_by_hand() -> None:
    aligned = align([["a", "x", "b", "y"], ["x", "y"], ["z"]], [["a", "b", "c"], ["q"], []], 5)
    assert recall(aligned, 1)[0] == 1 / 3
    assert recall(aligned, 3)[0] == 2 / 3
    assert precision(aligned, 5)[0] == 2 / 5
    assert hit(aligned, 1).tolist()[:2] == [1.0, 0.0]
    assert all_recall(aligned, 5)[0] == 0.0
    assert ndcg(aligned, 3)[0] == pytest.approx((1 + 1 / 2) / (1 + 1 / math.log2(3) + 1 / 2), abs=1e-15)
    assert reciprocal_rank(align([["x", "y", "a"]], [["a", "b"]], 1)).tolist() == [1 / 3]
    assert recall(aligned, 5)[1] == 0.0


def test_empty_gold_has_no_value_in_any_metric(fault: Callable[[str], dict[str, Any]]) -> None:
    case = fault("rm-03")["input"]
    aligned = align([case["retrieved"]], [case["gold"]], 5)
    for metric in (recall, all_recall, hit, precision, ndcg):
        assert math.isnan(metric(aligned, 5)[0])
    assert math.isnan(reciprocal_rank(aligned)[0])


def test_duplicates_count_once_at_their_first_place(fault: Callable[[str], dict[str, Any]]) -> None:
    case = fault("rm-01")
    given_, checks = case["input"], case["expected"]["checks"]
    aligned = align([given_["retrieved"]], [given_["gold"]], given_["k"])
    assert recall(aligned, 3)[0] == checks["recall"]
    assert ndcg(aligned, 3)[0] == pytest.approx(checks["ndcg"], abs=5e-5)
    assert align([["x", "x", "a"]], [["a", "a"]], 3).gains.tolist() == [[0.0, 1.0, 0.0]]


def test_equal_to_ranx_on_a_thousand_rankings(monkeypatch: pytest.MonkeyPatch) -> None:
    # Compiling takes ranx minutes on a fresh machine; its plain Python is quick enough here.
    monkeypatch.setitem(os.environ, "NUMBA_DISABLE_JIT", "1")
    ranx = pytest.importorskip("ranx")
    rankings, golds = random_rankings()
    aligned = align(rankings, golds, max(KS))
    names = [f"q{i:04}" for i in range(len(golds))]
    qrels = ranx.Qrels({q: dict.fromkeys(gold, 1) for q, gold in zip(names, golds, strict=True)})
    run = ranx.Run(
        {q: {m: 1000.0 - i for i, m in enumerate(ranked)} for q, ranked in zip(names, rankings, strict=True)}
    )
    ours = {f"{n}@{k}": f(aligned, k) for k in KS for n, f in _RANX.items()} | {"mrr": reciprocal_rank(aligned)}
    theirs = ranx.evaluate(qrels, run, list(ours), return_mean=False)
    for metric, values in ours.items():
        np.testing.assert_allclose(values, theirs[metric], rtol=0, atol=1e-9, err_msg=metric)


_RANX = {"recall": recall, "precision": precision, "ndcg": ndcg, "hit_rate": hit}


def test_equal_to_ragas_on_a_thousand_rankings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(os.environ, "RAGAS_DO_NOT_TRACK", "true")
    ragas = pytest.importorskip("ragas.metrics", reason="ragas is an extra")
    sample = pytest.importorskip("ragas.dataset_schema").SingleTurnSample
    rankings, golds = random_rankings()
    # ragas divides by what was returned, so its precision is ours at k = length of the ranking.
    aligned = align(rankings, golds, 60)
    both = [(recall(aligned, len(ranked))[i], precision(aligned, len(ranked))[i]) for i, ranked in enumerate(rankings)]
    metrics = ragas.IDBasedContextRecall(), ragas.IDBasedContextPrecision()
    theirs = [
        tuple(
            metric.single_turn_score(sample(retrieved_context_ids=ranked, reference_context_ids=gold))
            for metric in metrics
        )
        for ranked, gold in zip(rankings, golds, strict=True)
    ]
    np.testing.assert_allclose(both, theirs, rtol=0, atol=1e-9)


@given(IDS, GOLDS)
def test_bounds_and_monotonicity(ranking: list[str], gold: set[str]) -> None:
    aligned = align([ranking], [gold], 40)
    values = {f.__name__: [f(aligned, k)[0] for k in range(1, 41)] for f in (recall, all_recall, hit, precision, ndcg)}
    for name, by_k in values.items():
        assert all(0.0 <= v <= 1.0 + 1e-12 for v in by_k), name
    for name in ("recall", "all_recall", "hit"):
        assert values[name] == sorted(values[name]), name
    assert all(a <= r <= h for a, r, h in zip(values["all_recall"], values["recall"], values["hit"], strict=True))
    assert recall(aligned, 40)[0] == len(gold & set(ranking)) / len(gold)


@given(IDS, GOLDS, st.randoms(use_true_random=False))
def test_only_order_and_membership_matter(ranking: list[str], gold: set[str], rng: random.Random) -> None:
    distinct = list(dict.fromkeys(ranking))
    stutter = [m for m in distinct for _ in range(rng.randint(1, 3))]
    shuffled = list(gold)
    rng.shuffle(shuffled)
    one, other = align([distinct], [list(gold)], 40), align([stutter], [shuffled + shuffled], 40)
    assert one.gains.tolist() == other.gains.tolist()
    assert one.first.tolist() == other.first.tolist()


def test_k_beyond_the_aligned_depth_is_refused() -> None:
    with pytest.raises(ValueError, match="k=6"):
        recall(align([["a"]], [["a"]], 5), 6)
    with pytest.raises(ValueError, match="k=0"):
        ndcg(align([["a"]], [["a"]], 5), 0)
