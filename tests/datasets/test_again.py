"""Every question twice, with nothing said between."""

from __future__ import annotations

from memtrial.datasets.again import asked_again
from memtrial.datasets.registry import load_dataset


def test_the_second_time_differs_in_id_and_category_alone() -> None:
    once = load_dataset({"name": "handwritten", "language": "en"})
    twice = load_dataset({"name": "handwritten", "language": "en", "again": True})
    assert twice.fingerprint() == asked_again(once).fingerprint()
    for before, after in zip(once.corpora, twice.corpora, strict=True):
        count = len(before.questions)
        assert after.conversations == before.conversations
        assert after.questions[:count] == before.questions
        for first, second in zip(before.questions, after.questions[count:], strict=True):
            assert second.id == f"{first.id}~again"
            assert second.category == f"{first.category}, again"
            assert (second.asked_at, second.answers, second.cluster_id) == (
                first.asked_at,
                first.answers,
                first.cluster_id,
            )
    assert len({q.id for _, q in twice.questions()}) == 2 * len(list(once.questions()))
    assert twice.notes[-1].kind == "again"


def test_after_a_cut_what_is_left_is_asked_twice() -> None:
    half = load_dataset({"name": "handwritten", "fraction": 0.5})
    both = load_dataset({"name": "handwritten", "fraction": 0.5, "again": True})
    assert len(list(both.questions())) == 2 * len(list(half.questions()))
