from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtrial.systems.models.analyze import places, terms
from memtrial.systems.stores.textindex import All, Has, TextQuery, Without
from memtrial.systems.stores.textindex_marks import highlights, marks


@pytest.mark.parametrize(
    ("text", "asked", "marked"),
    [
        ("The tents were red; no TENT was blue.", "tent", ["tents", "TENT"]),
        ("周末去植物园看郁金香", "植物园", ["植物园"]),
        ("周末去植物园看郁金香。", "郁金香", ["郁金香"]),
        ("Ｒｅｄ ｔｅｎｔｓ", "tent", ["ｔｅｎｔｓ"]),
        ("it costs 1,250.50 dollars", "1250.50", ["1,250.50"]),
        ("order RX-77/b came", "77", ["77"]),
        ("order RX-77/b came", "RX-77/b", ["RX-77/b"]),
        ("the ﬁle", "file", ["ﬁle"]),
        ("user:* OR _exists_:secret", "secret", ["secret"]),
        ("the and of", "the", []),
        ("", "red", []),
    ],
)
def test_marks_stand_where_the_words_do(text: str, asked: str, marked: list[str]) -> None:
    assert [text[start:end] for start, end in marks(terms(asked), text)] == marked


def test_what_speaks_against_a_text_is_not_marked() -> None:
    query = TextQuery(None, terms=(("red", 1.0), ("blue", 0.0)), tree=All((Has("tent"), Without(Has("old")))))
    text = "an old tent, red and blue"
    assert [text[start:end] for start, end in highlights(query, text)] == ["tent", "red"]


@given(st.text(alphabet="ab1 -./'_,#’苹果植物园的ﬁß１Ａ①İ\ud800\n", max_size=30))
def test_places_are_apart_and_of_the_text_and_name_its_terms(text: str) -> None:
    for term, start, end in places(text):
        assert 0 <= start < end <= len(text)
        assert term in terms(text[start:end]) or term in terms(text)
    spans = marks(terms(text), text)
    assert all(a < b for a, b in spans)
    assert all(first[1] <= second[0] for first, second in pairwise(spans))


@given(st.text(alphabet="ab1 -.'_#苹果植物园的\n", max_size=30))
def test_plain_text_has_a_place_for_each_of_its_terms(text: str) -> None:
    assert sorted(term for term, _, _ in places(text)) == sorted(terms(text))
