from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter

import pytest

from memtrial.datasets.errors import UserError
from memtrial.datasets.schema import Dataset
from memtrial.datasets.supportdesk import generate, generate_world, question_count

GOLDEN = {
    ("train", "zh"): "b1dbd7d098b5214c1dee322cc882258e4bd04a23ebc95eed993251499e520d1d",
    ("train", "en"): "e7c2d57f21876d7e3d26c629d6b3163b1af806595987f9658754838687553f41",
    ("test", "zh"): "4f212a620ae5db1e9dc7f11029ad46bd697c85667718e4147620d5ba93726928",
    ("test", "en"): "ac5d82af2bd263a8ed652915d7a9e61b4b9d957eb5add9c6230e3ad9feed550c",
}
"""By split and language, for 1,000 messages and seed 1. A change of a phrasing or of the generator changes them; nothing else may."""


@pytest.mark.parametrize(("split", "language"), sorted(GOLDEN))
def test_same_seed_same_bytes(split: str, language: str) -> None:
    assert generate(1_000, 1, language, split).fingerprint() == GOLDEN[split, language]  # type: ignore[arg-type]


def test_bytes_do_not_depend_on_the_hash_seed() -> None:
    code = "from memtrial.datasets.supportdesk import generate; print(generate(1000, 3, 'both', 'train').fingerprint())"
    prints = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": hash_seed, "TZ": zone, "LC_ALL": "C"},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for hash_seed, zone in (("0", "UTC"), ("12345", "Asia/Shanghai"))
    }
    assert len(prints) == 1


def test_another_seed_is_another_world() -> None:
    assert generate(1_000, 1, "en", "train").fingerprint() != generate(1_000, 2, "en", "train").fingerprint()


@pytest.mark.parametrize(("messages", "language"), [(1_000, "both"), (1_001, "both"), (2_347, "en"), (12_000, "zh")])
def test_sizes_are_exact(messages: int, language: str) -> None:
    data = generate(messages, 5, language, "train")  # type: ignore[arg-type]
    assert sum(len(c.messages) for corpus in data.corpora for c in corpus.conversations) == messages
    assert sum(len(corpus.questions) for corpus in data.corpora) == question_count(messages)
    for corpus in data.corpora:
        assert len(corpus.tenants) >= (8 if language == "both" else 12)
        assert {question.cluster_id for question in corpus.questions} == set(corpus.tenants)


def test_question_counts_grow_slowly_to_a_cap() -> None:
    assert [question_count(n) for n in (1_000, 3_000, 100_000, 1_000_000)] == [173, 242, 1_028, 2_000]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"messages": 999}, "messages is 999"),
        ({"messages": 1_000_001}, "allowed are 1000 to 1000000"),
        ({"language": "cn"}, "language is 'cn', allowed are zh, en, both"),
        ({"split": "tets"}, "did you mean 'test'"),
    ],
)
def test_wrong_options_are_named(options: dict[str, object], says: str) -> None:
    with pytest.raises(UserError) as caught:
        generate(**{"messages": 1_000, "seed": 1, "split": "train", **options})  # type: ignore[arg-type]
    assert says in str(caught.value)


def test_conversations_and_sessions(desk: Dataset) -> None:
    for corpus in desk.corpora:
        for conversation in corpus.conversations:
            times = [message.timestamp for message in conversation.messages]
            assert times == sorted(times)
            assert {message.tenant_id for message in conversation.messages} == {conversation.tenant_id}
            sessions = [message.session_id for message in conversation.messages]
            # A session is one stretch: it never comes back after another one has begun.
            assert len([s for i, s in enumerate(sessions) if i == 0 or sessions[i - 1] != s]) == len(set(sessions))
        sources = Counter(message.source for message in corpus.messages())
        assert set(sources) == {"crm", "erp", "wiki", "chat_log", "email", "forum"}


def test_replies_point_to_earlier_messages_of_their_conversation(desk: Dataset) -> None:
    seen = 0
    for corpus in desk.corpora:
        for conversation in corpus.conversations:
            earlier: set[str] = set()
            for message in conversation.messages:
                if message.reply_to:
                    assert message.reply_to in earlier
                    seen += 1
                earlier.add(message.id)
    assert seen > 100


def test_a_customers_contacts_do_not_overlap() -> None:
    # An elliptic correction would otherwise land in somebody else's subject.
    for part in generate_world(3_000, 9, "en", "train"):
        for conversation in part.conversations:
            days: dict[str, set[object]] = {}
            for message in conversation.messages:
                if message.source == "chat_log":
                    days.setdefault(message.session_id, set()).add(message.timestamp.date())
            assert all(len(dates) == 1 for dates in days.values())


def test_world_facts_name_their_messages() -> None:
    for part in generate_world(1_000, 4, "both", "train"):
        contents = {m.id: m for conversation in part.conversations for m in conversation.messages}
        facts = [(log, fact) for log in part.logs for topic in log.topics.values() for fact in topic.facts]
        assert len(facts) > 150
        for log, fact in facts:
            assert all(contents[log.ids[ref]].tenant_id == log.tenant.id for ref in fact.refs)


def test_names_are_confusable_within_and_across_tenants() -> None:
    (part,) = generate_world(2_000, 4, "zh", "train")
    first, second = part.logs[0].tenant, part.logs[1].tenant
    assert {p.name for p in first.customers} & {p.name for p in second.customers}
    assert set(first.products) & set(second.products)
    for person in first.customers:
        twin = first.customers[person.twin]
        assert twin.name != person.name
        assert twin.name[0] == person.name[0]
