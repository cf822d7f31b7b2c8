from __future__ import annotations

from functools import cache

import pytest

from memtrial.datasets.errors import UserError
from memtrial.datasets.schema import Dataset
from memtrial.datasets.supportdesk import generate


@cache
def _generated(split: str) -> Dataset:
    return generate(3_000, 7, "both", split)  # type: ignore[arg-type]


@pytest.fixture(params=["train", "test"])
def desk(request: pytest.FixtureRequest) -> Dataset:
    """A bilingual desk of 3,000 messages of either split."""
    try:
        return _generated(request.param)
    except UserError as error:
        if "does not exist yet" not in str(error):
            raise
        pytest.skip(str(error))
