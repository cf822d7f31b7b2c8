from __future__ import annotations

from functools import cache
from typing import Literal

import pytest

from memtrial.datasets.schema import Dataset
from memtrial.datasets.supportdesk import generate


@cache
def _generated(split: Literal["train", "test"]) -> Dataset:
    return generate(3_000, 7, "both", split)


@pytest.fixture(params=["train", "test"])
def desk(request: pytest.FixtureRequest) -> Dataset:
    """A bilingual desk of 3,000 messages of either split."""
    return _generated(request.param)
