from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memtrial.systems.stores.records import MemoryRecords
from memtrial.systems.stores.records_schema import microseconds, moment, restored, short, stored
from memtrial.systems.structured.node import Edge, Entity, Extraction, Fact, memory_key, node_id

Open = Callable[..., MemoryRecords]
Claim = Callable[..., Fact]
START = datetime(2024, 3, 1, 9, 0, tzinfo=UTC)


def write(records: MemoryRecords, *facts: Fact) -> list[str]:
    ids = [id for fact in facts for id in fact.message_ids]
    return [node.id for node in records.write(Extraction(facts=list(facts)), ids)]


def test_a_fact_comes_back_as_it_was_written(open_records: Open) -> None:
    fact = Fact(
        text="Ann Lee 的订单 KD-2219 在 2024-05-03 送达",
        tenant_id="t'1%",
        message_ids=("m1", "m2"),
        recorded_at=datetime(2024, 5, 1, 9, 0, 0, 123456, tzinfo=UTC),
        fact_type="event",
        subject="order:kd-2219",
        attribute="delivery_date",
        owner="person:ann lee",
        value="2024-05-03",
        value_kind="date",
        state="uncertain",
        entities=("order:kd-2219", "person:ann lee"),
        source="crm",
        speaker="ben",
        conversation_id="c1",
        event_time=datetime(2024, 5, 3, 18, 0, tzinfo=timezone(timedelta(hours=8))),
        adds=True,
    )
    records = open_records()
    (node,) = records.write(Extraction(facts=[fact]), ["m1", "m2"])
    assert (node.id, node.memory_id, node.version, node.parent_id) == (node_id(fact), memory_key(fact), 1, None)
    assert records.nodes("t'1%", [node.id, "nothing"]) == {node.id: node}
    assert node.fact == fact
    records.close()
    again = open_records()
    assert again.nodes(None, [node.id]) == {node.id: node}
    assert again.tenants() == ["t'1%"]


def test_what_no_engine_can_hold_is_held(open_records: Open) -> None:
    odd = "half \ud83d a pair, NUL \x00, substitute \x1a0041, %s, 苹果"
    fact = Fact(odd, odd, (odd,), START, subject=odd, attribute=odd, entities=(odd, "plain"), value=odd)
    edge = Edge(odd, odd, "about", odd, (odd,), START)
    entity = Entity(odd, "topic", odd, odd, (odd,))
    records = open_records()
    (node,) = records.write(Extraction([fact], [entity], [edge]), [odd])
    assert records.nodes(odd, [node.id])[node.id].fact == fact
    assert (records.entities(odd), records.edges(odd)) == ([entity], [edge])
    assert records.by_entity(odd, [odd], 5) == records.by_message(odd, [odd]) == [node.id]
    assert records.known([odd, "other"]) == {odd}


def test_keys_too_long_for_an_index_stay_apart(open_records: Open) -> None:
    keys = [f"topic:{'很长' * 4000}{end}" for end in "ab"]
    records = open_records()
    ids = write(records, *(Fact(key[-1], "t1", (key,), START, entities=(key,)) for key in keys))
    records.write(Extraction(entities=[Entity(key, "topic", key, "t1") for key in keys]))
    assert [records.by_entity("t1", [key], 5) for key in keys] == [[id] for id in ids]
    assert [entity.key for entity in records.entities("t1")] == keys
    assert records.known([keys[0], keys[1][:-1]]) == {keys[0]}


@given(st.text(st.characters(codec=None)))
def test_stored_text_is_storable_and_comes_back(text: str) -> None:
    kept = stored(text)
    assert restored(kept) == text
    assert "\x00" not in kept
    kept.encode("utf-8")
    assert len(short(text).encode("utf-8")) <= 512


@given(st.datetimes(timezones=st.timezones()))
def test_a_time_is_kept_to_the_microsecond(time: datetime) -> None:
    assert moment(microseconds(time)) == time.astimezone(UTC)


def test_a_time_without_a_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="no time zone"):
        microseconds(datetime(2024, 1, 1))


def test_versions_form_a_chain_and_the_last_one_holds(open_records: Open, claim: Claim) -> None:
    records = open_records()
    facts = [claim(1, "no"), claim(2, "yes"), claim(3, "no")]
    ids = write(records, facts[0]) + write(records, *facts[1:])
    memory = memory_key(facts[0])
    history = records.history("t1", memory)
    assert [(node.id, node.version, node.parent_id) for node in history] == [
        (ids[0], 1, None),
        (ids[1], 2, ids[0]),
        (ids[2], 3, ids[1]),
    ]
    assert records.newest("t1", [memory, "other"]) == {memory: [history[2]]}
    assert records.as_of("t1", [memory], facts[1].recorded_at) == {memory: [history[1]]}
    assert records.as_of("t1", [memory], facts[1].recorded_at - timedelta(microseconds=1)) == {memory: [history[0]]}
    assert records.as_of("t1", [memory], START) == {}


def test_another_owner_subject_or_tenant_is_another_memory(open_records: Open, claim: Claim) -> None:
    records = open_records()
    facts = [
        claim(1, "no"),
        claim(2, "yes", owner="person:ann"),
        claim(3, "yes", subject="product:nova 10x"),
        claim(4, "yes", tenant_id="t2"),
    ]
    write(records, *facts)
    for fact in facts:
        (held,) = records.newest(fact.tenant_id, [memory_key(fact)])[memory_key(fact)]
        assert (held.fact, held.version) == (fact, 1)
    assert records.newest("t2", [memory_key(facts[0])]) == {}


@pytest.mark.parametrize("order", list(permutations(range(4)))[1::5])
def test_a_late_fact_slots_into_the_history_and_no_id_changes(
    open_records: Open, claim: Claim, order: tuple[int, ...]
) -> None:
    facts = [claim(number, f"{number}") for number in range(4)]
    records = open_records()
    for number in order:
        write(records, facts[number])
    history = records.history("t1", memory_key(facts[0]))
    assert [node.fact for node in history] == facts
    assert [node.version for node in history] == [1, 2, 3, 4]
    assert [node.parent_id for node in history] == [None, *(node_id(fact) for fact in facts[:3])]
    assert records.newest("t1", [memory_key(facts[0])]) == {memory_key(facts[0]): [history[3]]}


def test_facts_of_one_moment_stay_in_the_order_in_which_they_came(open_records: Open, claim: Claim) -> None:
    facts = [claim(number, f"{number}", recorded_at=START) for number in (3, 1, 2)]
    records = open_records()
    write(records, *facts[:2])
    write(records, facts[2])
    write(records, early := claim(0, "0", recorded_at=START - timedelta(days=1)))
    assert [node.fact for node in records.history("t1", memory_key(facts[0]))] == [early, *facts]


def test_ingesting_again_changes_nothing(open_records: Open, claim: Claim) -> None:
    extraction = Extraction(
        [claim(1, "no"), claim(2, "yes"), claim(1, "no")],
        [
            Entity("person:ann", "person", "Ann", "t1", ("ann",)),
            Entity("person:ann", "person", "ann", "t1", ("a. lee",)),
        ],
        [Edge("t1", "person:ann", "owns", "product:nova 10", ("m1",), START)] * 2,
    )
    records = open_records()
    assert len(records.write(extraction, ["m1", "m2"])) == 2

    def everything() -> list[object]:
        memory = memory_key(extraction.facts[0])
        return [records.history("t1", memory), records.entities(), records.edges(), records.pending(9), records.count()]

    before = everything()
    assert before[1] == [Entity("person:ann", "person", "Ann", "t1", ("a. lee", "ann"))]
    assert len(records.edges()) == 1
    assert records.write(extraction, ["m1", "m2"]) == []  # all messages are known
    assert records.write(extraction) == []  # none is named
    assert records.write(extraction, ["m2", "m3"]) == []  # one is new, and brings nothing
    assert everything() == before
    assert records.known(["m1", "m3", "m4"]) == {"m1", "m3"}
    # Messages that are all known are not read another way: a model may word the same fact differently a second time.
    assert records.write(Extraction([claim(1, "no", text="worded differently")]), ["m1"]) == []
    # What was found out elsewhere names no messages as ingested, and is written although its source is known.
    assert len(records.write(Extraction([claim(1, "no", text="worded differently")]))) == 1


def test_an_entity_met_again_only_gains_aliases(open_records: Open) -> None:
    records = open_records()
    records.write(Extraction(entities=[Entity("person:ann", "person", "Ann Lee", "t1", ("ann",))]))
    records.write(Extraction(entities=[Entity("person:ben", "person", "Ben", "t1")]))
    records.write(Extraction(entities=[Entity("person:ann", "person", "ANN", "t1", ("c-7",))]))
    records.write(Extraction(entities=[Entity("person:ann", "person", "Ann of t2", "t2")]))
    assert records.entities("t1") == [
        Entity("person:ann", "person", "Ann Lee", "t1", ("ann", "c-7")),
        Entity("person:ben", "person", "Ben", "t1"),
    ]
    assert len(records.entities()) == 3


def test_one_name_in_three_episodes_read_twice_is_one_entity(open_records: Open) -> None:
    said = ["QRZ approved the budget", "QRZ moved to Ghent", "QRZ approved the budget"]
    records = open_records()
    for _ in range(2):
        for number, text in enumerate(said):
            qrz = Entity("organisation:qrz", "organisation", "QRZ", "t1")
            fact = Fact(text, "t1", (f"m{number}",), START, entities=(qrz.key,))
            records.write(Extraction([fact], [qrz]), [f"m{number}"])
    assert (len(records.entities()), records.count()) == (1, 3)


def test_a_fact_that_only_mentions_a_person_retires_nothing(open_records: Open) -> None:
    job = Fact(
        "Lena works at Orbit Ltd", "t1", ("m1",), START, subject="person:lena", attribute="employer", value="Orbit"
    )
    wiki = Fact("Lena administers the Orbit wiki", "t1", ("m2",), START + timedelta(days=1), subject="person:lena")
    records = open_records()
    write(records, job, wiki)
    held = records.newest("t1", [memory_key(job), memory_key(wiki)])
    assert [node.fact for nodes in held.values() for node in nodes] == [job, wiki]


def test_entities_lead_to_nodes_the_latest_first(open_records: Open, claim: Claim) -> None:
    records = open_records()
    facts = [
        claim(1, entities=("a", "b"), subject="", attribute=""),
        claim(3, entities=("a",), subject="", attribute=""),
        claim(2, entities=("b",), subject="c", attribute="", owner="d"),
        claim(4, entities=("a", "b"), subject="", attribute="", tenant_id="t2"),
    ]
    one, three, two, other = write(records, *facts)
    assert records.by_entity("t1", ["a", "b", "a"], 9) == [three, two, one]
    assert records.by_entity("t1", ["a", "b"], 2) == [three, two]
    assert records.by_entity("t1", ["a", "b"], 9, every=True) == [one]
    assert records.by_entity("t1", ["c"], 9) == records.by_entity("t1", ["d"], 9) == [two]
    assert records.by_entity("t1", ["a", "b"], 9, until=facts[2].recorded_at) == [two, one]
    assert records.by_entity("t1", [], 9) == []
    assert records.by_entity("t2", ["a"], 9) == [other]
    assert records.by_message("t1", ["m3", "m1", "m4"]) == [one, three]


def test_no_read_crosses_tenants(open_records: Open, claim: Claim) -> None:
    records = open_records()
    mine, theirs = claim(1, "no"), claim(1, "no", tenant_id="t2")
    edges = [Edge(tenant, "a", "owns", "b", ("m1",), START) for tenant in ("t1", "t2")]
    (own, other) = records.write(Extraction([mine, theirs], edges=edges), ["m1"])
    assert own.id != other.id
    assert list(records.nodes("t1", [own.id, other.id])) == [own.id]
    assert list(records.nodes(None, [other.id, own.id])) == [other.id, own.id]
    assert records.history("t1", other.memory_id) == []
    assert records.as_of("t1", [other.memory_id], START + timedelta(days=99)) == {}
    assert records.edges("t1") == edges[:1]
    assert (records.count("t1"), records.count(), records.count("t3")) == (1, 2, 0)
    assert records.present([own.id, other.id, "x"]) == {own.id, other.id}


def test_the_outbox_keeps_order_until_it_is_told_that_all_is_done(open_records: Open, claim: Claim) -> None:
    records = open_records()
    ids = write(records, *(claim(number, attribute="", tenant_id=f"t{number % 2}") for number in range(6)))
    waiting = records.pending(4)
    assert [entry.node_id for entry in waiting] == ids[:4]
    assert [entry.node_id for entry in records.pending(9, after=waiting[-1].seq)] == ids[4:]
    records.done([entry.seq for entry in waiting])
    records.close()
    records = open_records()
    assert [entry.node_id for entry in records.pending(9)] == ids[4:]
    records.requeue("t1", [ids[3], ids[1], ids[5], "unknown"])  # one of them waits already
    assert [entry.node_id for entry in records.pending(9)] == [ids[1], ids[3], ids[4], ids[5]]
    assert records.waiting() == 4


def test_ids_are_listed_in_portions_by_tenant(open_records: Open, claim: Claim) -> None:
    records = open_records()
    ids = write(records, *(claim(number, attribute="", tenant_id=f"t{number % 2}") for number in range(11)))
    listed = list(records.ids(size=2))
    assert sorted(id for _, some in listed for id in some) == sorted(ids)
    assert max(len(some) for _, some in listed) == 2
    assert all(set(records.nodes(tenant, some)) == set(some) for tenant, some in listed)


def test_more_ids_than_a_statement_takes_at_once(open_records: Open, claim: Claim) -> None:
    records = open_records()
    facts = [claim(number, attribute="", recorded_at=START + timedelta(seconds=number)) for number in range(1_201)]
    ids = write(records, *facts)
    assert list(records.nodes("t1", ids)) == ids
    assert records.known([f"m{n}" for n in range(1_300)]) == {f"m{n}" for n in range(1_201)}
    assert len(records.newest("t1", [memory_key(fact) for fact in facts])) == 1_201


def test_two_folders_never_meet_on_one_server(open_records: Open, claim: Claim) -> None:
    first, second = open_records("one"), open_records("two")
    write(first, claim(1, "no"))
    assert (first.count(), second.count()) == (1, 0)
    first.drop()
    assert write(open_records("one"), claim(1, "no")) != []  # nothing of the dropped store is found again


def test_two_writers_of_one_store_take_turns(open_records: Open, claim: Claim) -> None:
    first, second = open_records(), open_records()
    for number in range(6):
        write((first, second)[number % 2], claim(number, f"{number}"))
    history = first.history("t1", memory_key(claim(0)))
    assert [node.version for node in history] == [1, 2, 3, 4, 5, 6]
    assert len({entry.seq for entry in second.pending(9)}) == 6


def test_a_failure_in_the_middle_keeps_nothing_of_the_call(open_records: Open, claim: Claim) -> None:
    records = open_records()
    write(records, claim(1, "no"))
    broken = replace(claim(3, "no"), recorded_at=datetime(2024, 1, 1))
    with pytest.raises(ValueError, match="time zone"):
        write(records, claim(2, "yes"), broken)
    edge = Edge("t1", "a", "owns", "b", ("m9",), datetime(2024, 1, 1))
    with pytest.raises(ValueError, match="time zone"):
        records.write(Extraction([claim(2, "yes")], [Entity("a", "topic", "a", "t9")], [edge]), ["m2"])
    assert (records.count(), records.known(["m2", "m3"]), records.waiting()) == (1, set(), 1)
    assert (records.tenants(), records.entities()) == (["t1"], [])
    assert len(write(records, claim(2, "yes"))) == 1


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_portions_and_their_order_do_not_change_the_history(tmp_path: Path, data: st.DataObject) -> None:
    """Any split of distinct moments into writes, in any order, ends in one and the same store."""
    numbers = data.draw(st.permutations(range(8)))
    cuts = sorted(data.draw(st.sets(st.integers(1, 7))))
    facts = [
        Fact(f"{n}", "t1", (f"m{n}",), START + timedelta(days=n), subject="s", attribute=f"a{n % 2}", value=f"{n}")
        for n in range(8)
    ]
    records = MemoryRecords(tmp_path / "r")
    try:
        for start, end in zip([0, *cuts], [*cuts, 8], strict=True):
            write(records, *(facts[n] for n in numbers[start:end]))
        for odd in (0, 1):
            history = records.history("t1", memory_key(facts[odd]))
            assert [node.fact for node in history] == facts[odd::2]
            assert [node.version for node in history] == [1, 2, 3, 4]
            assert [node.parent_id for node in history] == [None, *(node.id for node in history[:-1])]
    finally:
        records.drop()
