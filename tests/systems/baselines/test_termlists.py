"""Terms of texts as numbers."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memtrial.systems.baselines.termlists import TermLists


@given(st.lists(st.lists(st.sampled_from("abcdef"), max_size=5)))
def test_what_goes_in_comes_out(texts: list[list[str]]) -> None:
    lists = TermLists()
    for text in texts:
        lists.append(text)
    assert [lists.words(n) for n in range(len(lists))] == texts
    assert {t: lists.texts_with(n) for t, n in lists.number.items()} == {
        t: sum(t in text for text in texts) for text in texts for t in text
    }
    assert [lists.length(n) for n in range(len(lists))] == [len(text) for text in texts]


def test_a_term_has_one_number() -> None:
    lists = TermLists()
    lists.append(["lamp", "tent", "lamp"])
    lists.append([])
    lists.append(["boat", "tent"])
    assert [list(lists[n]) for n in range(3)] == [[0, 1, 0], [], [2, 1]]
    assert (lists.number, lists.word(2)) == ({"lamp": 0, "tent": 1, "boat": 2}, "boat")
