"""Every answer that is not right falls to one stage, the first that lost it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtrial.metrics.records import OUTCOMES, Item, Judgement, Labels, Record, Result, TraceSummary, TrialInfo
from memtrial.metrics.waterfall import STAGES, Waterfall, stage_of, waterfall


def answer(
    outcome: Any = "wrong_other",
    *,
    evidence: tuple[str, ...] = ("e1",),
    ranked: tuple[str, ...] = (),
    shown: tuple[str, ...] = (),
    answerable: bool = True,
    contested: str = "",
    lures_used: tuple[str, ...] = (),
    gates: tuple[tuple[str, bool, str], ...] = (),
    **facts: Any,
) -> Record:
    result = Result(
        key="k",
        unit="u",
        dataset="d",
        corpus_id="c",
        question_id="q",
        retrieved=[Item(ids=[i]) for i in ranked],
        context=[Item(ids=list(shown))] if shown else [],
        trace=TraceSummary(gates=list(gates), facts=facts),
        error="timeout" if outcome == "error" else None,
    )
    labels = Labels(text="?", answerable=answerable, evidence=list(evidence), contested=contested)
    return Record(trial="t", result=result, labels=labels, judgement=Judgement(outcome=outcome, lures_used=list(lures_used)))  # fmt: skip


def info(target: str = "bm25", **facts: Any) -> TrialInfo:
    return TrialInfo(trial="t", unit="u", system="s", target=target, dataset="d", facts=facts)


CLOSED = (("lookup", False, "small talk"),)


@pytest.mark.parametrize(
    ("record", "stage"),
    [
        (answer("correct"), "right"),
        (answer("correct_abstention", answerable=False, evidence=()), "right"),
        (answer("error"), "error"),
        (answer("hallucination", answerable=False, evidence=()), "unanswerable"),
        (answer("wrong_memory", answerable=False, evidence=(), lures_used=("other_person",)), "unanswerable"),
        (answer(gates=CLOSED), "gate"),
        (answer(gates=(("a", True, ""), ("b", True, ""))), "unfound"),
        (answer(evidence=()), "unlabelled"),
        (answer(evidence=(), contested="answer: wrong"), "doubt"),
        (answer(), "unfound"),
        (answer(ranked=("x", "y")), "unfound"),
        (answer(ranked=("e1",)), "cut"),
        (answer(candidates=["x", "e1"]), "cut"),
        (answer(unindexed=["e1"]), "unindexed"),
        (answer(candidates=["x"], overwritten=["e1"]), "stale"),
        # Of two messages needed one is shown: the other decides.
        (answer(evidence=("e1", "e2"), shown=("e1",), ranked=("e1",)), "unfound"),
        (answer(evidence=("e1", "e2"), shown=("e1",), ranked=("e1", "e2")), "cut"),
        # Two are lost at different stages: the first of those stages counts.
        (answer(evidence=("e1", "e2"), ranked=("e1",)), "unfound"),
        (answer(evidence=("e1", "e2"), ranked=("e1",), unindexed=["e2"]), "unindexed"),
        (answer("needless_abstention", shown=("e1",)), "unread"),
        (answer("incomplete", shown=("e1", "x")), "unread"),
        (answer("wrong_memory", shown=("e1",), lures_used=("stale",)), "stale"),
        (answer("wrong_memory", shown=("e1",), lures_used=("retracted",)), "stale"),
        (answer("wrong_memory", shown=("e1",), lures_used=("other_entity",)), "unread"),
        # A stale version is no reason where the right one never came that far.
        (answer("wrong_memory", ranked=("x",), lures_used=("stale",)), "unfound"),
        (answer(shown=("e1",), contested="answer: wrong"), "doubt"),
        (answer(shown=("e1",), contested="evidence: wrong"), "unread"),
        (answer(shown=("e1",), published={"run": "r", "verdicts": ["correct"]}), "doubt"),
        (answer(shown=("e1",), published={"run": "r", "verdicts": ["wrong"]}), "unread"),
        # What is no list of ids comes from anybody's system and says nothing.
        (answer(ranked=("e1",), unindexed="e1", candidates={"e1": 1}), "cut"),
        (answer(unindexed=[1, None]), "unfound"),
    ],
)  # fmt: skip
def test_the_first_stage_that_lost_it(record: Record, stage: str) -> None:
    assert stage_of(record) == stage


def test_counts_sum_to_the_answers_and_notes_say_what_is_joined() -> None:
    records = [answer("correct", ranked=("e1",)), answer(ranked=("x",)), answer(ranked=("e1",)), answer("error")]
    found = waterfall(info(), records)
    assert {s: n for s, n in found.counts.items() if n} == {"right": 1, "unfound": 1, "cut": 1, "error": 1}
    assert len(found.notes) == 3 and "never indexed and not among the candidates are one stage" in found.notes
    told = [answer(ranked=("x",), candidates=["x"], overwritten=[]), answer(candidates=["e1"], overwritten=[])]
    assert waterfall(info(unindexed=["e9"]), told).notes == ()


def test_what_no_memory_of_a_system_holds_is_said_once_for_all_answers() -> None:
    found = waterfall(info(unindexed=["e1"]), [answer(ranked=("x",)), answer(evidence=("e2",), ranked=("x",))])
    assert (found.counts["unindexed"], found.counts["unfound"]) == (1, 1)


@pytest.mark.parametrize("target", ["no_memory", "published"])
def test_without_message_ids_nothing_between_gate_and_reader_is_told(target: str) -> None:
    credited = answer(published={"run": "r", "verdicts": ["correct"]})
    ranked = ("x",) if target == "published" else ()
    records = [answer(), answer("correct", ranked=ranked), answer(gates=CLOSED), credited]
    found = waterfall(info(target), records)
    assert not found.traceable and found.untraced == 1
    assert {s: n for s, n in found.counts.items() if n} == {"right": 1, "gate": 1, "doubt": 1}
    assert len(found.notes) == 1 and "between gate and reader cannot be told" in found.notes[0]


def test_a_trial_without_answers() -> None:
    assert waterfall(info(), []) == Waterfall(dict.fromkeys(STAGES, 0), (), False, 0)


ids = st.sets(st.sampled_from(["e1", "e2", "x", "y"]))


@given(st.sampled_from(OUTCOMES), ids, ids, ids, ids, st.booleans())
def test_every_answer_falls_to_exactly_one_stage(
    outcome: str, evidence: set[str], ranked: set[str], shown: set[str], lost: set[str], open_: bool
) -> None:
    record = answer(
        outcome,
        evidence=tuple(evidence),
        ranked=tuple(ranked),
        shown=tuple(shown),
        gates=(("g", open_, ""),),
        unindexed=sorted(lost),
    )
    stage = stage_of(record)
    assert stage in STAGES
    assert (stage == "right") is (outcome in ("correct", "correct_abstention"))
    if stage == "unread":
        assert evidence <= shown
    found = waterfall(info(), [record])
    assert sum(found.counts.values()) + found.untraced == 1
