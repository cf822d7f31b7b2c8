"""No word of the validator's reaches a user."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import pytest
from pydantic import AfterValidator, BaseModel, Field, TypeAdapter, ValidationError

from memtrial.datasets.wording import must


class Inner(BaseModel):
    x: int = 1


def _odd(value: int) -> int:
    if value % 2 == 0:
        raise ValueError("must be odd")
    return value


@pytest.mark.parametrize(
    ("kind", "value", "said"),
    [
        (int, "x", "must be a whole number"),
        (int, 1.5, "must be a whole number"),
        (int, None, "must be a whole number"),
        (float, "soon", "must be a number"),
        (Annotated[float, Field(allow_inf_nan=False)], float("nan"), "must be a finite number"),
        (bool, "perhaps", "must be true or false"),
        (str, 5, "must be text"),
        (list[int], 5, "must be a list"),
        (dict[str, int], 5, "must be a map"),
        (Inner, 5, "must be a map of settings"),
        (Annotated[int, Field(ge=100)], 3, "must be at least 100"),
        (Annotated[float, Field(gt=0)], 0, "must be more than 0"),
        (Annotated[float, Field(le=0.5)], 1, "must be at most 0.5"),
        (Annotated[float, Field(lt=2)], 2, "must be less than 2"),
        (Literal["a", "b"], "c", "must be 'a' or 'b'"),
        (Annotated[str, Field(min_length=1)], "", "must be text of at least 1 character"),
        (Annotated[str, Field(max_length=2)], "abc", "must be text of at most 2 characters"),
        (Annotated[list[int], Field(min_length=2)], [1], "must be a list of at least 2 entries"),
        (Annotated[dict[str, int], Field(min_length=1)], {}, "must be a map of at least 1 entry"),
        (Annotated[int, AfterValidator(_odd)], 2, "must be odd"),
        (complex, "x", "must be a valid python complex"),  # what has no words of ours is at least not called an input
    ],
)
def test_what_a_value_must_be(kind: Any, value: Any, said: str) -> None:
    with pytest.raises(ValidationError) as caught:
        TypeAdapter(kind).validate_python(value)
    found = must(caught.value.errors()[0])
    assert found.startswith(said)
    assert "input" not in found.lower()
