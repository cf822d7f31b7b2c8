from __future__ import annotations

import pytest

from memtrial.metrics.definitions import DEFINITIONS, define, family, rank


def test_k_and_parts_are_filled_in() -> None:
    assert define("recall@10").title == "recall@10"
    assert "first 10 distinct" in define("recall@10").sentence
    assert define("ndcg@5").title == "nDCG@5"
    assert define("outcome_rate:wrong_memory").title == "outcome: wrong memory"
    assert family("session_recall@5") == "session_recall@K"
    with pytest.raises(KeyError):
        define("f1")


def test_values_are_shown_with_their_unit() -> None:
    assert define("accuracy").show(0.1234) == "12.3%"
    assert define("latency_p95_ms").show(1234.5) == "1,234.50 ms"
    assert define("mrr").show(0.5) == "0.500"
    assert define("accuracy").show(None) == "n/a"


def test_sort_order_is_that_of_the_definitions() -> None:
    names = ["recall@10", "mrr", "recall@5", "accuracy", "stage_p50_ms:read"]
    assert sorted(names, key=rank) == ["accuracy", "recall@5", "recall@10", "mrr", "stage_p50_ms:read"]
    assert all(d.sentence.endswith(".") for d in DEFINITIONS.values())
