from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memtrial.datasets.registry import load_dataset
from memtrial.datasets.schema import Message, Question
from memtrial.metrics.matching import audit
from memtrial.metrics.matching.text import normalise
from memtrial.metrics.matching.values import extract
from memtrial.metrics.records import OUTCOMES

DATA = load_dataset({"name": "handwritten"})
PAIRS: list[tuple[Question, dict[str, Message]]] = [
    (question, {m.id: m for c in corpus.conversations for m in c.messages}) for corpus, question in DATA.questions()
]
FRAGMENTS = [
    "12", "３", "8元", "€", "$", "-", "~", "to", "from", "until", "not", "no", "now", "但", "不是", "改成", "半", "点", "月", "日", "周", "三", "百",
    "万", "一", "half", "past", "six", "May", "2024-02-30", "99:99", "13:61", "1/0", "0/0", "3月99日", "A-1118", "(", ")", ",", "。", "?", "\n",
    "\u200b", "\ud800", "İ", "ß", "½", "①", "十百", "零", "and", "a", "hundred", "point", "一点", "百分之", "分之", "the Sunday before 1 January 0001",
    "9" * 400, "1,000,000", "1.5.2.3", "..", "%", "0.5", "in 5 days", "下下周日", "昨天", "February 31",
]  # fmt: skip
texts = st.one_of(
    st.text(max_size=80),
    st.lists(st.sampled_from(FRAGMENTS), max_size=12).flatmap(
        lambda f: st.sampled_from(["", " "]).map(lambda s: s.join(f))
    ),
)


@settings(max_examples=400, deadline=None)
@given(texts, st.integers(min_value=0, max_value=10**6))
def test_any_text_gets_one_outcome_and_never_raises(text: str, pick: int) -> None:
    question, log = PAIRS[pick % len(PAIRS)]
    judgement = audit.put(question, text, log)
    assert judgement.outcome in OUTCOMES
    assert judgement.outcome != "error"
    assert audit.put(question, text, log) == judgement


@settings(max_examples=300, deadline=None)
@given(texts)
def test_values_lie_apart_and_inside_the_text(text: str) -> None:
    low = normalise(text).low
    end = 0
    for value in extract(low):
        assert end <= value.start < value.end <= len(low)
        end = value.end


def wide(text: str) -> str:
    return "".join(chr(ord(c) + 0xFEE0) if "0" <= c <= "9" else c for c in text)


def forms() -> Iterator[Any]:
    for question, log in PAIRS:
        for lure in question.lures:
            for value in lure.values:
                yield pytest.param(question, log, value, "lure", id=f"{question.id}-lure-{value}")
        if question.answer_type == "list":
            yield pytest.param(question, log, ", ".join(question.answers), "gold", id=f"{question.id}-gold-all")
        else:
            for form in question.answers:
                yield pytest.param(question, log, form, "gold", id=f"{question.id}-gold-{form}")


@pytest.mark.parametrize(("question", "log", "form", "side"), forms())
def test_golds_are_correct_and_lures_never_in_any_spelling_of_width_and_blanks(
    question: Question, log: dict[str, Message], form: str, side: str
) -> None:
    expected = "correct" if side == "gold" else "wrong_memory"
    for text in (
        form,
        f"  {form}\n",
        wide(form),
        form.upper(),
        f"{form}.",
        f"“{form}”",
        unicodedata.normalize("NFKD", form),
    ):
        assert audit.put(question, text, log).outcome == expected


def test_gold_and_lure_stated_together_are_told_apart() -> None:
    trials = list(audit.contrasts(DATA))
    for probe in ("gold holds, not the lure", "lure holds, not the gold", "both, not which"):
        ours = [t.right for t in trials if t.probe == probe]
        assert len(ours) > 500
        assert sum(ours) / len(ours) > 0.99


def test_the_flag_decides_over_any_text() -> None:
    for question, log in PAIRS:
        judgement = audit.put(question, (question.answers or ("x",))[0], log, abstained=True)
        assert judgement.outcome == ("needless_abstention" if question.answerable else "correct_abstention")


def test_wrong_answers_are_hardly_ever_correct() -> None:
    strangers = list(audit.strangers(DATA))
    assert len(strangers) > 1000
    assert sum(not t.right for t in strangers) / len(strangers) < 0.003
    assert all(t.right for t in audit.shifted(DATA))


def test_a_strong_readers_answers_are_judged_right(shared_dir: Path) -> None:
    trials = audit.run(shared_dir / "data" / "handwritten", lambda line: None)
    for probe, floor in (
        ("annotator", 0.97),
        ("annotator, no flag", 0.97),
        ("lure bare", 0.99),
        ("lure in a sentence", 0.99),
    ):
        ours = [t.right for t in trials if t.probe == probe]
        assert ours
        assert sum(ours) / len(ours) >= floor
