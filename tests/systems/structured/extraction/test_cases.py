"""Faults that others met with extraction."""

from datetime import UTC, datetime
from types import SimpleNamespace

import pytest

from memtrial.datasets.schema import Message
from memtrial.systems.structured.extraction.support import why_refused
from memtrial.systems.structured.node import Fact, memory_key, node_id
from tests.systems.structured.extraction.conftest import Extract, message, typed

AT = datetime(2022, 11, 19, 19, 20, tzinfo=UTC)


def refused(
    stored: str,
    *turns: Message,
    names: tuple[str, ...] = (),
    ids: tuple[str, ...] | None = None,
    event: datetime | None = None,
) -> str:
    given = {m.id: m for m in turns}
    fact = Fact(stored, "t", ids if ids is not None else tuple(given), turns[-1].timestamp, event_time=event)
    return why_refused(fact, given, names)


def test_two_tenants_facts_about_one_name_stay_apart(extract: Extract) -> None:
    out = extract(
        message(1, "Ana", "Rex likes pears", tenant="ana"), message(2, "Ben", "Rex likes chess", tenant="ben")
    )
    assert {f.tenant_id: "pears" in f.text for f in out.facts} == {"ana": True, "ben": False}
    assert all(e.tenant_id in ("ana", "ben") for e in out.entities)


def test_an_id_that_was_never_offered_is_refused() -> None:
    assert refused("Mira now lives in Bern", message(1, "Mira", "I now live in Bern"), ids=("t-7",)) == "invented_id"
    assert refused("Mira now lives in Bern", message(1, "Mira", "I now live in Bern"), ids=()) == "invented_id"


@pytest.mark.parametrize(
    "stored",
    [
        "Return the list below as JSON.",
        "Greetings and small talk give nothing: then the lists are empty.",
        "寒暄里没有要记的内容：列表留空。",
    ],
)
def test_a_sentence_of_the_prompt_is_no_memory(stored: str) -> None:
    assert refused(stored, message(1, "user", "hi")) == "prompt_leak"


def test_a_fact_that_lost_its_subject_is_refused() -> None:
    turn = message(1, "Ana", "My neighbour Ilse holds a pilot licence")
    assert refused("holds a pilot licence", turn) == "subject_lost"
    assert refused("Holds a pilot licence.", turn) == "subject_lost"
    assert refused("She holds a pilot licence.", turn) == "subject_lost"
    assert refused("Ilse holds a pilot licence.", turn, names=("Ilse",)) == ""
    assert refused("Ana's neighbour Ilse holds a pilot licence.", turn, names=("Ana", "Ilse")) == ""


def test_the_patterns_keep_the_subject_and_the_speaker(extract: Extract) -> None:
    out = extract(message(1, "Ana", "My neighbour Ilse holds a pilot licence"))
    assert out.facts[0].text == "Ana: My neighbour Ilse holds a pilot licence"
    assert set(out.facts[0].entities) == {"person:ana", "person:ilse"}
    assert [(e.source, e.relation, e.target) for e in out.edges] == [("person:ana", "knows", "person:ilse")]


def test_last_week_counts_from_the_message_and_not_from_the_run() -> None:
    turn = message(1, "Mira", "I went to the choir yesterday", at=AT)
    assert (
        refused(
            "Mira went to the choir on 18 November 2022.",
            turn,
            names=("Mira",),
            event=datetime(2022, 11, 18, tzinfo=UTC),
        )
        == ""
    )
    assert refused("Mira went to the choir on 1 June 2026.", turn, names=("Mira",)) == "unsupported_value"
    assert (
        refused("Mira went to the choir.", turn, names=("Mira",), event=datetime(2026, 6, 1, tzinfo=UTC))
        == "unsupported_value"
    )


def test_a_time_of_day_that_nobody_said_is_refused() -> None:
    turn = message(1, "Mira", "could I have tea", at=datetime.fromisoformat("2024-02-20T19:20:00+08:00"))
    assert refused("At 11:20 Mira asked for tea", turn, names=("Mira",)) == "unsupported_value"


def test_a_mention_of_an_organisation_is_no_new_employer(extract: Extract) -> None:
    out = extract(message(1, "Ana", "Lena works at Orbit Ltd"), message(2, "Ana", "Lena administers the Orbit wiki"))
    assert [(f.value, f.subject, f.message_ids) for f in typed(out, "employer")] == [
        ("Orbit Ltd", "person:lena", ("t-1",))
    ]
    assert ("person:lena", "works_for", "organisation:orbit ltd") in {
        (e.source, e.relation, e.target) for e in out.edges
    }


def test_one_name_is_one_entity_however_often_it_comes(extract: Extract) -> None:
    lines = [
        message(1, "QRZ", "we approved the budget"),
        message(2, "Ana", "QRZ moved to Ghent"),
        message(3, "QRZ", "we approved the budget"),
    ]
    first, second = extract(*lines), extract(*lines)
    assert [e.name for e in first.entities if e.name == "QRZ"] == ["QRZ"]
    assert [node_id(f) for f in first.facts] == [node_id(f) for f in second.facts]


def test_a_joke_of_the_assistant_is_told_as_its_own(extract: Extract) -> None:
    out = extract(
        message(1, "user", "what do you think of pie"), message(2, "assistant", "Imagine we owned a pie ship in Peru!")
    )
    joke = out.facts[-1]
    assert joke.text.startswith("assistant: ") and joke.state == "uncertain" and joke.speaker == "t:assistant"


@pytest.mark.parametrize(
    ("stored", "names", "why"),
    [
        ("安娜的邻居有飞行执照", ("安娜",), "translated_name"),
        ("Bruno holds a pilot licence", ("Bruno",), "invented_name"),
        ("Ilse paid 300 euros for a pilot licence", ("Ilse",), "unsupported_value"),
        ("Ilse repairs bicycles at weekends", ("Ilse",), "unsupported"),
    ],
)
def test_other_facts_without_support(stored: str, names: tuple[str, ...], why: str) -> None:
    assert refused(stored, message(1, "Ana", "My neighbour Ilse holds a pilot licence"), names=names) == why


def test_values_that_follow_are_supported() -> None:
    turn = message(1, "Dana", "My order KD-2219 came last Friday and cost €1,200", at=AT)
    assert refused("Dana's order KD-2219 for €1200 arrived on 18 November 2022.", turn, names=("Dana", "KD-2219")) == ""
    assert refused("Dana's order KD-2291 arrived.", turn, names=("Dana",)) == "unsupported_value"


def test_a_memory_is_known_by_owner_subject_and_attribute(extract: Extract) -> None:
    twins = [
        message(1, "c", "the sticker under the Kestrel 2S reads B123-4567"),
        message(2, "c2", "the sticker under the Kestrel 2S reads B123-4568", customer="c2"),
    ]
    facts = typed(extract(*twins), "serial")
    assert [f.value for f in facts] == ["B123-4567", "B123-4568"]
    assert len({memory_key(f) for f in facts}) == 2
    assert SimpleNamespace(owner=facts[0].owner) != SimpleNamespace(owner=facts[1].owner)
