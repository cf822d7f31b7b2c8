"""Topics of sessions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from memtrial.datasets.schema import Message
from memtrial.systems.baselines.log import Log
from memtrial.systems.raw_log.plan import LogIndex
from memtrial.systems.raw_log.tags.topics import Topics, grouped

Say = Callable[..., Message]
_TALK = (
    "We camp by the lake with the red tent",
    "The tent leaks and the camp fire is wet",
    "My invoice has the wrong amount of tax",
    "Please send the invoice with the tax number",
)


def talk(say: Say, rounds: int = 3) -> list[Message]:
    """Sessions about two matters, two messages each."""
    found = []
    for n in range(rounds):
        for matter in (0, 1):
            for place in (0, 1):
                text = _TALK[2 * matter + place]
                number = len(found) + 1
                found.append(replace(say(number, text), session_id=f"s{n}.{matter}"))
    return found


def made(messages: list[Message], size: int, sessions: int = 3) -> tuple[Log, Topics]:
    log = Log()
    index = LogIndex(log)
    topics = Topics(log, index, sessions, seed=0)
    for first in range(0, len(messages), size):
        new = log.add(messages[first : first + size])
        index.add(new)
        topics.add(new)
    return log, topics


def test_sessions_of_one_matter_are_one_group_and_a_question_finds_it(say: Say) -> None:
    for size in (1, 4, 100):  # however the log comes in
        log, topics = made(talk(say), size)
        tents = {topics.of(p) for p in range(len(log)) if "tent" in log.messages[p].content}
        bills = {topics.of(p) for p in range(len(log)) if "invoice" in log.messages[p].content}
        assert len(tents) == len(bills) == 1 and tents != bills
        assert topics.near("t1", "tent leaks", 1) == tents
        assert topics.near("t1", "the tax", 1) == bills


def test_unknown_words_and_tenants_mean_no_topic(say: Say) -> None:
    _, topics = made(talk(say), 100)
    assert topics.near("t1", "zeppelin", 3) == frozenset()
    assert topics.near("t2", "tent", 3) == frozenset()


def test_tenants_have_topics_of_their_own(say: Say) -> None:
    mine = talk(say)
    theirs = [replace(m, id=f"x{m.id}", tenant_id="t2", content="zebra stripes") for m in mine[:2]]
    _, topics = made([*mine, *theirs], 100)
    assert topics.near("t1", "zebra", 3) == frozenset()
    assert len(topics.near("t2", "zebra", 3)) == 1


@given(st.integers(1, 30), st.integers(1, 12), st.integers(0, 5))
def test_centres_are_unit_vectors_and_no_more_than_asked_for(n: int, count: int, seed: int) -> None:
    vectors = np.random.default_rng(seed).normal(size=(n, 8))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    centres = grouped(vectors, count, seed)
    assert 1 <= len(centres) <= min(n, count)
    assert np.allclose(np.linalg.norm(centres, axis=1), 1)
    assert np.array_equal(centres, grouped(vectors, count, seed))


def test_what_cannot_be_told_apart_is_one_group() -> None:
    same = np.tile(np.eye(8)[0], (5, 1))
    assert len(grouped(same, 3, 0)) == 1
    assert len(grouped(np.zeros((4, 8)), 3, 0)) >= 1
