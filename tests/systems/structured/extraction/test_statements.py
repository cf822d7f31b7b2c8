from datetime import UTC, datetime

import pytest

from memtrial.datasets.schema import Message
from memtrial.systems.structured.extraction.noise import small_talk
from tests.systems.structured.extraction.conftest import Extract, message


def test_a_statement_stands_by_itself(extract: Extract) -> None:
    out = extract(message(1, "Mira", "I went to the choir yesterday", at=datetime(2022, 11, 19, 19, 20, tzinfo=UTC)))
    fact = out.facts[0]
    assert fact.text == "Mira: I went to the choir yesterday [yesterday = 2022-11-18]"
    assert fact.event_time == datetime(2022, 11, 18, tzinfo=UTC)
    assert (fact.fact_type, fact.state, fact.message_ids) == ("event", "active", ("t-1",))


def test_an_elliptic_statement_names_its_topic(extract: Extract) -> None:
    out = extract(
        ("erp", "SO AA-1002; Dana Roth (K20001); Kestrel 2S; total €99"),
        ("c", "the Kestrel 2S has a scratch"),
        ("c", "it is on the lid"),
    )
    assert "it is on the lid (about Kestrel 2S" in out.facts[-1].text


@pytest.mark.parametrize(
    "reply",
    [
        message(9, "c", "it is on the lid", session=2),
        message(9, "c", "it is on the lid", at=datetime(2024, 5, 8, 9, tzinfo=UTC)),
        message(9, "Mira", "it is on the lid"),
    ],
    ids=["another session", "two days later", "people who just talk"],
)
def test_what_was_named_in_another_talk_is_no_topic(extract: Extract, reply: Message) -> None:
    named = message(2, "c", "the Kestrel 2S has a scratch")
    out = extract(("erp", "SO AA-1002; Dana Roth (K20001); Kestrel 2S; total €99"), named, reply)
    assert "it is on the lid" in out.facts[-1].text and "Kestrel" not in out.facts[-1].text


def test_why_messages_are_skipped(extract: Extract) -> None:
    out = extract(
        ("c", "hi there!"), ("a", "no worries, take your time"), ("c", "   \u200b"), ("c", "what's your return period?"),
        ("crm", "Dana Roth: profile reviewed, no change"), ("c", "谢谢，辛苦了"), ("c", "we got a cat"),
    )  # fmt: skip
    assert out.skipped == {
        "t-1": "small_talk", "t-2": "small_talk", "t-3": "empty", "t-4": "question", "t-5": "system_noise", "t-6": "small_talk",
    }  # fmt: skip
    assert [f.message_ids for f in out.facts] == [("t-7",)]


def test_questions_are_kept_on_request(extract: Extract) -> None:
    assert not extract(("c", "what's your return period?"), keep_questions=True).skipped


def test_statements_can_be_off_or_beside_typed_facts(extract: Extract) -> None:
    line = ("c", "my Kestrel 2S leaks, this is not normal")
    assert not extract(line, statements="none", typed=False).facts
    both = extract(line, statements="all")
    assert {f.attribute for f in both.facts} == {"symptom", ""}
    assert {f.attribute for f in extract(line, typed=False).facts} == {""}


def test_a_long_message_is_cut_at_sentence_ends(extract: Extract) -> None:
    text = " ".join(f"On day {n} we walked for {n} hours." for n in range(1, 30))
    facts = extract(message(1, "Mira", text), max_chars=200).facts
    assert len(facts) > 3
    assert all(f.text.rstrip(" ]0123456789-=;").endswith(".") or "[" in f.text for f in facts)
    assert all(f"{n} hours" in " ".join(f.text for f in facts) for n in range(1, 30))


@pytest.mark.parametrize("text", ["ok thanks!", "好的，谢谢", "hmm", "您好，请讲", "haha", "noted"])
def test_small_talk(text: str) -> None:
    assert small_talk(text)


@pytest.mark.parametrize("text", ["we moved to Ghent", "我养了一只猫", "ok, 3", "thanks to Lena we won"])
def test_no_small_talk(text: str) -> None:
    assert not small_talk(text)
