from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtrial.systems.models.analyze import date_words, has_han, terms
from memtrial.systems.models.tokens import count_tokens


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Caroline's running shoes don't fit", ["carolin", "run", "shoe", "fit"]),
        ("paid $1,200.50 in May", ["paid", "1200.50", "may"]),
        ("order XK-2024/07", ["order", "xk", "2024", "07", "xk-2024-07"]),
        ("ＩＰＨＯＮＥ手机", ["iphon", "手机"]),
        ("！？… 🙂 ---", []),
    ],
)
def test_terms_by_hand(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


@pytest.mark.parametrize("query", ["植物园", "郁金香", "看郁金"])
def test_chinese_is_cut_alike_on_both_sides(query: str) -> None:
    assert set(terms(query)) & set(terms("周末去植物园看郁金香"))


@given(st.text())
def test_a_term_never_holds_blanks_or_lone_punctuation(text: str) -> None:
    for term in terms(text):
        assert not term.split()[1:]
        assert any(c.isalnum() or has_han(c) for c in term)


def test_dates_are_spelled_as_people_name_them() -> None:
    when = datetime(2023, 5, 7, tzinfo=UTC)
    assert date_words(when, chinese=False) == "7 May 2023 Sunday 2023-05-07"
    assert date_words(when, chinese=True) == "2023年5月7日 周日 2023-05-07"


def test_special_token_strings_count_as_plain_text() -> None:
    assert count_tokens("<|endoftext|>") > 4
    assert count_tokens("\ud800") == count_tokens("?")
    assert count_tokens("hello world") == 2
