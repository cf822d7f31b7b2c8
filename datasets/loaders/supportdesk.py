"""Loader ``supportdesk``: generated customer-service logs of any size."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from memtrial.datasets.loaders.spec import DatasetSpec, LoaderEntry
from memtrial.datasets.schema import Dataset


class SupportdeskSpec(DatasetSpec):
    """Options of ``supportdesk``."""

    name: Literal["supportdesk"]
    messages: int = Field(default=3000, ge=1000, le=1_000_000, description="messages to generate, 1,000 to 1,000,000")
    seed: int = Field(default=0, ge=0, description="a whole number from 0; same seed, same bytes")
    language: Literal["zh", "en", "both"] = Field(default="both", description="zh, en or both")
    split: Literal["test", "train"] = Field(default="test", description="test, or train for calibration")


def load(spec: SupportdeskSpec) -> Dataset:
    """Generate the log and its questions."""
    # Imported late: the generator with its phrasings is the heaviest part of the data layer.
    from memtrial.datasets.supportdesk import generate

    return generate(messages=spec.messages, seed=spec.seed, language=spec.language, split=spec.split)


ENTRY = LoaderEntry(
    spec=SupportdeskSpec,
    load=load,
    summary="generated bilingual customer-service logs with lures of every kind, 1,000 to 1,000,000 messages",
    licence="Apache-2.0 (generated)",
)
