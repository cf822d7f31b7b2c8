from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtrial.datasets.loaders.answer_types import infer_answer_type, split_items
from memtrial.datasets.schema import ANSWER_TYPES


@pytest.mark.parametrize(
    ("gold", "kind"),
    [
        ("7 May 2023", "date"), ("May 7th, 2023", "date"), ("2024-05-16", "date"), ("2024年5月16日", "date"), ("5月16日", "date"),
        ("May", "span"), ("yes", "boolean"), ("没有", "boolean"), ("$1,200", "money"), ("94.5万元", "money"), ("20 dollars", "money"),
        ("3 weeks", "duration"), ("two years and 3 months", "duration"), ("半年", "duration"), ("1,024", "number"), ("12%", "number"),
        ("2022", "number"), ("the red bicycle", "span"), ("红色自行车", "span"), ("", "free"),
        ("She said that she would rather stay at home and read a book", "free"),
    ],
)  # fmt: skip
def test_shapes(gold: str, kind: str) -> None:
    assert infer_answer_type((gold,)) == kind


def test_a_bare_year_is_a_date_only_where_a_time_is_asked_for() -> None:
    assert infer_answer_type(("2022",), temporal=True) == "date"


@pytest.mark.parametrize(
    ("gold", "items"),
    [
        ("Rome, Oslo and more, Lima", ("Rome", "Oslo and more", "Lima")),
        ("苹果、梨", ("苹果", "梨")),
        ("1,200 people", ("1,200 people",)),
        ("25 May, 2023", ("25 May, 2023",)),
        (
            "If she had known about it before, she would have come",
            ("If she had known about it before, she would have come",),
        ),
    ],
)
def test_only_enumerations_are_split(gold: str, items: tuple[str, ...]) -> None:
    assert split_items(gold) == items


@pytest.mark.parametrize("gold", ["Yes, since she reads", "Likely no, though she likes it", "不会，因为太远"])
def test_an_answer_with_its_reason_is_no_list(gold: str) -> None:
    assert infer_answer_type((gold,), enumerations=True) == "free"


@given(st.text())
def test_any_text_has_a_type(gold: str) -> None:
    assert infer_answer_type((gold,), enumerations=True) in ANSWER_TYPES
