from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from memtrial.datasets.errors import UserError
from memtrial.experiments.models import model_parts
from memtrial.systems.base import Context, Trace
from memtrial.systems.models.llm.outcome import ModelCallError
from memtrial.systems.structured.vectors import MemoryVectors, VectorPartParams
from tests.systems.llm.scripted import ScriptedServer, Seen, Step, error

pytest.importorskip("openai")


def by_letters(size: int = 4) -> Any:
    """An endpoint whose vectors count the first letters of the alphabet."""

    def reply(seen: Seen) -> Step:
        texts = seen.body["input"]
        rows = [
            {"index": i, "embedding": [float(t.count("abcd"[n % 4])) for n in range(size)]} for i, t in enumerate(texts)
        ]
        return Step(body={"data": rows, "usage": {"prompt_tokens": len(texts), "total_tokens": len(texts)}})

    return reply


def params(server: ScriptedServer, **given: Any) -> VectorPartParams:
    embedder = {"kind": "model", "model": "letters", "base_url": server.url, "max_retries": 0}
    return VectorPartParams.model_validate({"embedder": embedder, **given})


def opened(tmp_path: Path, server: ScriptedServer, **given: Any) -> MemoryVectors:
    return MemoryVectors(params(server, **given), tmp_path / "v", Context(tmp_path))


def test_vectors_of_an_endpoint_are_kept_and_a_restart_asks_for_none_again(tmp_path: Path) -> None:
    async def go(server: ScriptedServer) -> None:
        held = opened(tmp_path, server)
        assert await held.search("anything", "t1", 3, Trace()) == []
        trace = Trace()
        await held.add(["a", "b"], ["t1", "t1"], ["aaa", "bbb ddd"], trace)
        held.commit()
        assert [s.stage for s in trace.spans] == ["embed_model", "embed"]
        found = await held.search("b and d", "t1", 2, Trace())
        assert next(id for id, _ in found) == "b"
        await held.aclose()
        asked = len(server.requests)
        again = opened(tmp_path, server)
        assert again.ids == ["a", "b"]
        assert len(server.requests) == asked
        assert await again.search("b and d", "t1", 2, Trace()) == found
        await again.aclose()

    with ScriptedServer(by_letters()) as server:
        asyncio.run(go(server))


def test_an_endpoint_that_fails_raises_and_keeps_nothing(tmp_path: Path) -> None:
    async def go(server: ScriptedServer) -> None:
        held = opened(tmp_path, server)
        with pytest.raises(ModelCallError):
            await held.add(["a"], ["t1"], ["aaa"], Trace())
        assert held.ids == []
        await held.aclose()

    with ScriptedServer([error(400, "this model embeds nothing")]) as server:
        asyncio.run(go(server))


def test_an_endpoint_that_changes_its_size_is_one_sentence(tmp_path: Path) -> None:
    sizes = iter((4, 8))

    async def go(server: ScriptedServer) -> None:
        held = opened(tmp_path, server, pca={"dims": 2})
        await held.add(["a"], ["t1"], ["aaa"], Trace())
        with pytest.raises(UserError, match="8 dimensions after such of 4"):
            await held.search("b", "t1", 1, Trace())
        await held.aclose()

    with ScriptedServer(lambda seen: by_letters(next(sizes))(seen)) as server:
        asyncio.run(go(server))


def test_the_run_sees_that_the_embedder_is_a_model_and_in_which_role() -> None:
    part = VectorPartParams.model_validate({"embedder": {"kind": "model", "model": "m"}})
    assert list(model_parts({"vectors": part.model_dump(mode="json")})) == [(("vectors", "embedder"), "embed")]
    assert list(model_parts({"vectors": VectorPartParams().model_dump(mode="json")})) == []
