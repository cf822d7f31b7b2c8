from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from memtrial.datasets.export import export_dataset
from memtrial.datasets.schema import Conversation, Corpus, Dataset, Lure, Message, Question
from memtrial.experiments.config import Config, load_config

TOYS = Path(__file__).with_name("toys.py")
START = datetime(2024, 3, 1, 9, tzinfo=UTC)


def make_dataset(corpora: int = 2, questions: int = 6, *, clock_usable: bool = True) -> Dataset:
    """Corpora with two tenants each; question i stands right after message 2i+1 of its tenant."""
    return Dataset("toy", tuple(_corpus(c, questions) for c in range(corpora)), clock_usable=clock_usable)


def _corpus(number: int, count: int) -> Corpus:
    conversations, asked = [], []
    for side in (0, 1):
        tenant, talk = f"t{number}{side}", f"c{number}{side}"
        messages = tuple(
            Message(
                id=f"{talk}-m{i}",
                conversation_id=talk,
                session_id=f"{talk}-s{i // 4}",
                tenant_id=tenant,
                sender="ana",
                recipient="bob",
                timestamp=START + timedelta(minutes=10 * i + side),
                content=f"the code of day {i} is {1000 * number + 100 * side + i}",
            )
            for i in range(2 * count)
        )
        conversations.append(Conversation(talk, tenant, messages, language="en"))
        asked += [
            Question(
                id=f"{talk}-q{i}",
                conversation_id=talk,
                tenant_id=tenant,
                asker="ana",
                asked_at=START + timedelta(minutes=10 * (2 * i + 1) + 5),
                text=f"what is the newest code? word{i}",
                category="code",
                answerable=True,
                needs_memory=True,
                answer_type="number",
                answers=(str(1000 * number + 100 * side + 2 * i + 1),),
                evidence=(f"{talk}-m{2 * i + 1}",),
                cluster_id=talk,
                lures=(Lure("stale", (f"{talk}-m{2 * i}",), (str(1000 * number + 100 * side + 2 * i),)),),
                language="en",
            )
            for i in range(side, count, 2)
        ]
    return Corpus(f"corpus{number}", tuple(conversations), tuple(asked))


@pytest.fixture
def toy_data(tmp_path: Path) -> Path:
    return export_dataset(make_dataset(), tmp_path / "toy-data")


Configure = Callable[..., Config]


@pytest.fixture
def configure(tmp_path: Path, toy_data: Path, monkeypatch: pytest.MonkeyPatch) -> Configure:
    """Make a configuration over the toy data: ``configure({"echo": {"use": ...}}, repeats=2)``; without a warm-up."""
    monkeypatch.setenv("MEMTRIAL_CACHE_DIR", str(tmp_path / "cache"))

    def make(systems: Any, sets: Sequence[str] = (), limit: int | None = None, **more: Any) -> Config:
        content = {
            "name": "toy",
            "data": {"toy": {"name": "json", "path": str(toy_data)}},
            "systems": systems,
            "metrics": {"resamples": 100},
            # A made-up question in Chinese loads a dictionary, in each worker anew.
            "warmup": 0,
            **more,
        }
        file = tmp_path / "toy.yaml"
        file.write_text(yaml.safe_dump(content, sort_keys=False))
        return load_config(file, sets, limit)

    return make


def toy(name: str, **params: Any) -> dict[str, Any]:
    return {"use": f"{TOYS}:{name}", **params}
