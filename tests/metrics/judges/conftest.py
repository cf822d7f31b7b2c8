from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from memtrial.datasets.schema import Lure, Question
from memtrial.systems.models.llm.messages import ChatMessage
from memtrial.systems.models.llm.outcome import Reply, Usage

MakeQuestion = Callable[..., Question]


@pytest.fixture
def question() -> MakeQuestion:
    def make(ident: str = "q1", **fields: Any) -> Question:
        defaults: dict[str, Any] = {
            "conversation_id": "c1",
            "tenant_id": "c1",
            "asker": "ann",
            "asked_at": datetime(2024, 5, 1, tzinfo=UTC),
            "text": "How many bikes are in the shed?",
            "category": "single-hop",
            "answerable": True,
            "needs_memory": True,
            "answer_type": "number",
            "answers": ("four",),
            "evidence": (),
            "cluster_id": "c1",
            "language": "en",
        }
        return Question(id=ident, **(defaults | fields))

    return make


@pytest.fixture
def lured(question: MakeQuestion) -> Question:
    return question(lures=(Lure("stale", (), ("nine",)), Lure("other_entity", ("m1",), ())))


@dataclass
class ScriptedClient:
    """Stands in for the client: gives the next scripted reply and keeps what it was asked."""

    script: list[Any]
    model: str = "scripted"
    temperature: float = 0.0
    asked: list[dict[str, Any]] = field(default_factory=list)

    @property
    def settings(self) -> Any:
        return SimpleNamespace(model=self.model, temperature=self.temperature, seed=7)

    async def complete(self, role: str, messages: Sequence[ChatMessage], **options: Any) -> Reply:
        self.asked.append({"role": role, "messages": list(messages), **options})
        reply = self.script.pop(0)
        if callable(reply):
            reply = reply(messages)
        return reply if isinstance(reply, Reply) else Reply("ok", str(reply), usage=Usage(prompt=10, completion=2))


@pytest.fixture
def client() -> Callable[..., ScriptedClient]:
    return lambda *script, **options: ScriptedClient(list(script), **options)


@pytest.fixture
def audit_file(tmp_path: Path) -> Callable[..., Path]:
    """Writes a file in locomo-audit's format: rows are (user, index, question, answer, judgements)."""

    def write(rows: Sequence[tuple[int, int, str, Any, Sequence[Any]]], name: str = "run.json") -> Path:
        results: dict[str, list[dict[str, Any]]] = {}
        for user, index, text, answer, verdicts in rows:
            results.setdefault(f"locomo_exp_user_{user}", []).append(
                {
                    "question_id": f"locomo_{user}_qa{index}",
                    "question": text,
                    "golden_answer": "secret gold",
                    "generated_answer": answer,
                    "llm_judgments": {f"judgment_{i}": v for i, v in enumerate(verdicts, 1)},
                    "category": "4",
                }
            )
        path = tmp_path / name
        path.write_text(json.dumps({"detailed_results": results}), encoding="utf-8")
        return path

    return write
