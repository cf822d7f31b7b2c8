from __future__ import annotations

import json
from contextlib import suppress
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from memtrial.systems.models.llm.structured import (
    CutShortError,
    UnusableError,
    extract,
    read_object,
    response_format,
    strict_schema,
    with_instruction,
)


class Part(BaseModel):
    name: str = "x"
    default: int | None = None


class Whole(BaseModel):
    kind: Literal["a", "b"]
    parts: list[Part] = Field(default_factory=list)


class Free(BaseModel):
    values: dict[str, int]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1}', {"a": 1}),
        ('  \n{"a": 1}\n', {"a": 1}),
        ('```json\n{"a": "```"}\n```', {"a": "```"}),
        ('Here {you} are: {"a": {"b": [1, {"c": 2}]}} ok?', {"a": {"b": [1, {"c": 2}]}}),
        ('{"a": 1} and again {"a": 1}', {"a": 1}),
        ('draft {"a": 1}. Final answer: {"a": 2}', {"a": 2}),
        ('草稿 {"a": 1} 最终答案:{"a": 2}', {"a": 2}),
        ('[1, 2]', [1, 2]),
        ('so [1, 2] it is', [1, 2]),
        ('{"quote": "{\\"a\\": 1}"}', {"quote": '{"a": 1}'}),
        ('{"emoji": "\\ud83d\\ude00"}', {"emoji": "😀"}),
    ],
)  # fmt: skip
def test_found(text: str, value: Any) -> None:
    assert extract(text) == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no",
        "null",
        "42",
        '"a"',
        '{"a": 1} {"a": 2}',
        'final: {"a": 1} or {"a": 2}',
        '{"a": 1} this is not the final one {"a": 2}',
        '草稿 {"a": 1} 这不是最终的 {"a": 2}',
        '{"a": 1, "a": 2}',
        '{"x": {"a": 1, "a": 1}}',
        "{'a': 1}",
        '{"a": 1,}',
        '{"a": Infinity}',
        '{"a": ' + "9" * 5000 + "}",
        "[" * 50_000,
        '{"a":' * 50_000,
    ],
)
def test_unusable(text: str) -> None:
    with pytest.raises(UnusableError):
        extract(text)


@pytest.mark.parametrize(
    "text",
    [
        '{"verdicts":[{"statement":"a","verdict":1},{"statement":"b","ver',
        '{"ok": true',
        '{"ok": tru',
        '{"ok": 12',
        '{"a": {"ok": true}, ',
        '{"ok"',
        'Sure: ```json\n{"a": [{"ok": true}, {"ok": "no',
    ],
)
def test_a_cut_object_is_never_used_in_part(text: str) -> None:
    """Shared case jd-05: whole objects inside of the cut one do not count either."""
    with pytest.raises(CutShortError):
        extract(text)


@pytest.mark.parametrize(
    "text", ["{" * 200_000, '{"a' * 100_000, '{ "a": ' * 20_000 + "x", "[{" * 100_000, '{"a": 1}' * 20_000]
)
def test_hostile_texts_take_no_time(text: str) -> None:
    with suppress(UnusableError):  # in quadratic time this would take minutes
        extract(text)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**15), 10**15) | st.text(),
    lambda x: st.lists(x) | st.dictionaries(st.text(), x),
    max_leaves=8,
)
prose = st.text(st.characters(exclude_characters='{}[]"', exclude_categories=["Cs"]))


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.text(), json_values), prose, prose)
def test_an_object_in_prose_is_found(value: dict[str, Any], before: str, after: str) -> None:
    assert extract(f"{before} {json.dumps(value)} {after}") == value
    assert extract(f"{before} {json.dumps(value, ensure_ascii=False)} {after}") == value


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.text(min_size=1), json_values, min_size=1), st.data())
def test_any_cut_is_noticed(value: dict[str, Any], data: st.DataObject) -> None:
    text = json.dumps(value)
    with pytest.raises(UnusableError):
        extract(text[: data.draw(st.integers(1, len(text) - 1))])


@settings(max_examples=60, deadline=None)
@given(st.text())
def test_nothing_raises_anything_else(text: str) -> None:
    try:
        extract(text)
    except UnusableError as error:
        str(error).encode("utf-8")


def test_faults_are_told_without_quoting_the_reply() -> None:
    with pytest.raises(UnusableError) as caught:
        read_object('{"kind": "zebra", "parts": [{"name": 7}]}', Whole)
    assert str(caught.value) == "kind: Input should be 'a' or 'b'; parts.0.name: Input should be a valid string"


def test_the_form_that_strict_servers_want() -> None:
    shape, strict = strict_schema(Whole.model_json_schema())
    assert strict
    part = shape["$defs"]["Part"]
    assert part["required"] == ["name", "default"]
    assert part["additionalProperties"] is False
    assert "default" not in part["properties"]["name"]
    assert shape["required"] == ["kind", "parts"]


def test_free_keys_cannot_be_strict() -> None:
    told = response_format(Free, "json_schema")
    assert told is not None
    assert told["json_schema"]["strict"] is False


def test_the_shape_is_told_in_words_where_the_format_is_not() -> None:
    asked = with_instruction(
        [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "?"}], Whole, "text"
    )
    assert [message["role"] for message in asked] == ["system", "user"]
    assert asked[0]["content"].startswith("Be brief.\n\nReply with one JSON object")
    assert response_format(Whole, "text") is None
    assert response_format(Whole, "json_object") == {"type": "json_object"}
