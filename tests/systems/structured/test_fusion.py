"""Channels joined with weights that follow the question."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtrial.systems.base import Query, Trace
from memtrial.systems.structured.fusion import (
    CHANNELS,
    FusionParams,
    Weights,
    channel_weights,
    context_scores,
    exact_attributes,
    fuse,
)
from tests.systems.structured.judged import NOW

ALL = FusionParams()


def asked(text: str) -> Query:
    return Query("q", "t1", "ann", NOW, text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("How many orders did I place last month?", {"metadata": 0.8}),
        ("上个月我下过几个单", {"metadata": 0.8}),
        ("那个蓝色的移动电源", {"vector": 0.5}),
        ("Who is the manager of the customer whose order slipped?", {"graph": 0.8}),
        ("延误订单的客户的经理是谁", {"graph": 0.8}),
        ("How heavy is the lamp?", {}),
    ],
)
def test_what_a_question_says_for_a_channel(text: str, said: dict[str, float]) -> None:
    assert context_scores(asked(text)) == said


def test_the_formula_by_hand() -> None:
    # base × (1 + context × 0.3)
    weights = channel_weights(asked("x"), FusionParams(), {"metadata": 0.8, "vector": 0.5})
    assert weights.by_channel == pytest.approx(
        {"keyword": 0.3, "vector": 0.45 * 1.15, "metadata": 0.15 * 1.24, "graph": 0.1}
    )
    assert weights.reason == "metadata ×1.24 (context 0.8), vector ×1.15 (context 0.5)"
    assert channel_weights(asked("x"), FusionParams(gain=0.0), {"metadata": 0.8}).by_channel["metadata"] == 0.15


@pytest.mark.parametrize(
    ("text", "exact"),
    [
        ("黑色 iPhone 15 Pro 256G USB-C", ["黑色", "iphone 15 pro", "256g", "usb-c"]),
        ("A black iPhone 15 Pro with 256 GB", ["black", "iphone 15 pro", "256 gb"]),
        ("Where is my parcel?", []),
        ("Is order AB-12345 of 5 March paid?", ["ab-12345", "5 march"]),
    ],
)
def test_exact_attributes(text: str, exact: list[str]) -> None:
    assert exact_attributes(asked(text)) == exact


def test_three_exact_attributes_let_words_count_most() -> None:
    text = "A black iPhone 15 Pro with 256 GB"
    weights = channel_weights(asked(text), ALL)
    assert weights.by_channel == pytest.approx({"keyword": 0.7, "vector": 0.2, "metadata": 0.06, "graph": 0.04})
    assert weights.reason.startswith("3 exact attributes (black, iphone 15 pro, 256 gb)")
    for off in ({"exact_attributes": 0}, {"exact_attributes": 4}, {"dynamic": False}):
        assert channel_weights(asked(text), FusionParams.model_validate(off)).by_channel["keyword"] == 0.3


def test_fusion_joins_and_tells() -> None:
    found = {"keyword": [("a", 9.0), ("b", 3.0)], "vector": [("b", 0.9), ("c", 0.5)]}
    trace = Trace()
    fused = fuse(found, channel_weights(asked("x"), ALL), ALL, trace)  # type: ignore[arg-type]
    assert [f.id for f in fused] == ["b", "a", "c"]
    assert [f.channels for f in fused] == [("keyword", "vector"), ("keyword",), ("vector",)]
    assert trace.facts["fusion"]["found"] == {"keyword": 2, "vector": 2}
    assert trace.facts["fusion"]["weights"]["keyword"] == 0.3


def test_reciprocal_ranks_by_hand() -> None:
    params = FusionParams(method="rrf")
    found = {"keyword": [("a", 9.0), ("b", 3.0)], "vector": [("b", 0.9)]}
    fused = fuse(found, channel_weights(asked("x"), params), params)  # type: ignore[arg-type]
    assert [(f.id, f.score) for f in fused] == [
        ("b", pytest.approx(0.3 / 62 + 0.45 / 61)),
        ("a", pytest.approx(0.3 / 61)),
    ]


@pytest.mark.parametrize("channel", ["keyword", "metadata", "graph"])
def test_a_channel_that_finds_one_thing_or_several_alike_still_tells(channel: str) -> None:
    for alone in ([("b", 1.0)], [("b", 1.0), ("d", 1.0)]):
        found = {channel: alone, "vector": [("a", 0.500), ("b", 0.499), ("c", 0.1), ("d", 0.09)]}
        assert fuse(found, channel_weights(asked("x"), ALL), ALL)[0].id == "b"  # type: ignore[arg-type]


def test_a_channel_of_no_weight_is_left_out() -> None:
    weights = Weights({"keyword": 0.0, "vector": 1.0, "metadata": 1.0, "graph": 1.0})
    assert [f.id for f in fuse({"keyword": [("a", 1.0)], "vector": [("b", 1.0)]}, weights, ALL)] == ["b"]
    assert fuse({}, weights, ALL) == []


ranking = st.dictionaries(st.sampled_from("abcdef"), st.floats(0, 100), max_size=6).map(
    lambda found: sorted(found.items(), key=lambda pair: -pair[1])
)


@given(st.dictionaries(st.sampled_from(CHANNELS), ranking), st.sampled_from(["rrf", "zscore"]))
def test_every_candidate_comes_out_once_best_first(found: dict[str, list[tuple[str, float]]], method: str) -> None:
    params = FusionParams.model_validate({"method": method})
    fused = fuse(found, channel_weights(asked("x"), params), params)  # type: ignore[arg-type]
    assert sorted(f.id for f in fused) == sorted({id for pairs in found.values() for id, _ in pairs})
    assert [f.score for f in fused] == sorted((f.score for f in fused), reverse=True)
    assert all(f.score >= 0 for f in fused)


@given(st.text(max_size=200))
def test_any_text_has_weights(text: str) -> None:
    assert all(weight >= 0 for weight in channel_weights(asked(text), ALL).by_channel.values())
