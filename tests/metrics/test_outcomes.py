from __future__ import annotations

from datetime import UTC, datetime, timedelta

from memtrial.datasets.schema import Lure, Message, Question
from memtrial.metrics.outcomes import flatten, make_record
from memtrial.metrics.records import Item, Result

START = datetime(2024, 5, 1, 9, tzinfo=UTC)


def message(name: str, minute: int, *, tenant: str = "a", session: str = "s1") -> Message:
    return Message(
        id=name,
        conversation_id="c1",
        session_id=session,
        tenant_id=tenant,
        sender="ann",
        recipient="bob",
        timestamp=START + timedelta(minutes=minute),
        content=f"message {name}",
    )


LOG = {
    m.id: m for m in (message("m1", 1), message("m2", 2), message("m3", 3, session="s2"), message("x1", 4, tenant="b"))
}


def question(**changes: object) -> Question:
    fields: dict[str, object] = {
        "id": "q1",
        "conversation_id": "c1",
        "tenant_id": "a",
        "asker": "ann",
        "asked_at": START + timedelta(days=1),
        "text": "What is the fee?",
        "category": "single_fact",
        "answerable": True,
        "needs_memory": True,
        "answer_type": "money",
        "answers": ("€62",),
        "evidence": ("m3", "m1"),
        "cluster_id": "c1",
        "lures": (Lure("stale", ("m2",), ("€55",)), Lure("other_tenant", ("x1",), ("€70",))),
        "language": "en",
    }
    return Question(**(fields | changes))  # type: ignore[arg-type]


def result(text: str = "€62", **changes: object) -> Result:
    fields: dict[str, object] = {
        "key": "k",
        "unit": "u",
        "dataset": "d",
        "corpus_id": "c",
        "question_id": "q1",
        "text": text,
    }
    return Result(**(fields | changes))  # type: ignore[arg-type]


def test_wide_items_are_flattened_in_time_order_and_duplicates_keep_their_first_place() -> None:
    items = [Item(ids=["m3", "m1"], tokens=40), Item(ids=["m1"], tokens=9), Item(ids=["m2", "m1", "gone"], tokens=5)]
    ids, tokens = flatten(items, LOG)
    assert ids == ["m1", "m3", "m2", "gone"]
    assert tokens == [40, 0, 5, 0]


def test_unknown_ids_keep_their_rank_with_an_empty_session() -> None:
    record = make_record(
        "bm25", question(), result(retrieved=[Item(ids=["gone"], tokens=3), Item(ids=["m3"], tokens=7)]), LOG
    )
    assert record.ranking == ["gone", "m3"]
    assert record.ranking_sessions == ["", "c1/s2"]
    assert record.ranking_tokens == [3, 7]


def test_evidence_sessions_come_from_the_log_unless_the_set_labels_them() -> None:
    assert make_record("t", question(), result(), LOG).labels.evidence_sessions == ["c1/s2", "c1/s1"]
    labelled = make_record("t", question(evidence_sessions=("s9",)), result(), LOG)
    assert labelled.labels.evidence_sessions == ["c1/s9"]


def test_exposure_citation_and_leaks_are_recorded_beside_any_outcome() -> None:
    shown = [Item(ids=["m2"]), Item(ids=["x1"]), Item(ids=["m1"])]
    record = make_record("t", question(), result("", abstained=True, context=shown, citations=["m2"]), LOG)
    judgement = record.judgement
    assert judgement.outcome == "needless_abstention"
    assert judgement.lures_exposed == ["other_tenant", "stale"]
    assert judgement.lure_cited
    assert judgement.leaks == 1


def test_a_lure_message_that_is_also_evidence_exposes_nothing() -> None:
    mixed = question(lures=(Lure("stale", ("m1",), ("€55",)),))
    judgement = make_record("t", mixed, result(context=[Item(ids=["m1"])], citations=["m1"]), LOG).judgement
    assert judgement.lures_exposed == []
    assert not judgement.lure_cited


def test_an_error_is_an_error_whatever_was_said() -> None:
    assert make_record("t", question(), result("€62", error="timeout"), LOG).judgement.outcome == "error"
    assert (
        make_record("t", question(answerable=False), result("", abstained=True, error="raised"), LOG).judgement.outcome
        == "error"
    )


def test_items_of_another_tenant_without_ids_are_leaks_too() -> None:
    leaked = result(retrieved=[Item(ids=[], tenant_id="b", text="a summary"), Item(ids=["m1"], tenant_id="a")])
    assert make_record("t", question(), leaked, LOG).judgement.leaks == 1
