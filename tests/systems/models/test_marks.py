"""Marks as models write them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from memtrial.systems.models.llm.structured import read_object
from memtrial.systems.models.prompts.marks import read_mark
from memtrial.systems.models.prompts.shapes import RerankReply


@pytest.mark.parametrize(
    ("said", "mark"),
    [
        (8, 8.0), (7.5, 7.5), (0, 0.0), ("8", 8.0), (" 8.0 ", 8.0), ("8/10", 8.0), ("4 / 5", 8.0), ("8 out of 10", 8.0), ("80/100", 8.0),
        ("80%", 8.0), ("eight", 8.0), ("Eight.", 8.0), ("high", 8.0), ("LOW", 2.0), ("none", 0.0), ("very high", 9.5), ("**9**", 9.0),
        ("8分", 8.0), ("八分", 8.0), ("八", 8.0), ("十分", 10.0), ("满分", 10.0), ("高", 8.0), ("中等", 5.0), ("８", 8.0), ("10分制的8分", 8.0),
        ("8 points", 8.0),
        (11, None), (-1, None), (85, None), ("85", None), ("12/10", None), ("5/0", None), (True, None), (None, None), ("", None),
        (float("nan"), None), (float("inf"), None), (10**400, None), ("relevant because 8 people came", None), ([8], None), ({"score": 8}, None),
        ("9" * 60, None),
    ],
)  # fmt: skip
def test_marks(said: Any, mark: float | None) -> None:
    assert read_mark(said) == mark


def read(text: str) -> RerankReply:
    reply = read_object(text, RerankReply)
    assert isinstance(reply, RerankReply)
    return reply


ROWS = '{"id": "c1", "score": 8, "key_sentence": "x", "same_as": null}, {"id": "c2", "score": "low"}'


@pytest.mark.parametrize(
    "text",
    [
        f'{{"items": [{ROWS}]}}',
        f"[{ROWS}]",
        f'Here are my scores:\n```json\n{{"items": [{ROWS}]}}\n```\nLet me know!',
        f'{{"results": [{ROWS}]}}',
        '{"c1": 8, "c2": "low"}',
        '{"scores": {"c1": {"score": 8, "same_as": "null"}, "c2": {"relevance": 2}}}',
        '{"items": [{"message_id": "c1", "rating": "8/10"}, {"index": "c2", "score": 2, "same_as": []}]}',
    ],
)
def test_replies_of_many_forms_say_the_same(text: str) -> None:
    reply = read(text)
    assert [(row.id, row.score, row.same_as) for row in reply.items] == [("c1", 8.0, None), ("c2", 2.0, None)]
    assert reply.unread == ()


def test_one_line_that_cannot_be_read_does_not_cost_the_others() -> None:
    reply = read(
        '{"items": [{"id": "c1", "score": 8}, {"id": "c2"}, {"score": 3}, "c3: 9", {"id": "c4", "score": 85}, {"id": 5, "score": 1}]}'
    )
    assert [(row.id, row.score) for row in reply.items] == [("c1", 8.0), ("5", 1.0)]
    assert len(reply.unread) == 4


@pytest.mark.parametrize("told", [{}, {"items": "none"}, {"answer": "140 euros"}, "x", 3])
def test_what_holds_no_marks_is_no_reply(told: Any) -> None:
    with pytest.raises(ValidationError):
        RerankReply.model_validate(told)


JSONISH = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["items", "id", "score", "same_as", "key_sentence", "c1"]), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(JSONISH)
def test_any_json_is_read_or_refused_and_every_mark_is_from_0_to_10(told: Any) -> None:
    try:
        reply = RerankReply.model_validate(json.loads(json.dumps(told)))
    except ValidationError:
        return
    assert all(0.0 <= row.score <= 10.0 for row in reply.items)
