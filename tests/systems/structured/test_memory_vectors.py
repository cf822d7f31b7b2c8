from __future__ import annotations

import asyncio
import functools
import random
from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memtrial.datasets.errors import UserError
from memtrial.systems.base import Context, Trace
from memtrial.systems.structured.vectors import MemoryVectors, VectorPartParams, note_recall

WORDS = ["kettle", "parcel", "refund", "march", "filter", "invoice", "garden", "水壶", "退款", "三月"]


def awaited(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    @functools.wraps(test)
    def run(**given: Any) -> None:
        asyncio.run(test(**given))

    return run


def texts(count: int, seed: int = 0) -> list[str]:
    draw = random.Random(seed)
    return [" ".join(draw.choices(WORDS, k=5)) + f" item{n}" for n in range(count)]


def part(**given: Any) -> VectorPartParams:
    return VectorPartParams.model_validate({"embedder": "tfidf_svd", "dims": 16, **given})


def opened(tmp_path: Path, params: VectorPartParams, *, cache: bool = False, name: str = "v") -> MemoryVectors:
    return MemoryVectors(params, tmp_path / name, Context(tmp_path, cache_dir=tmp_path / "cache" if cache else None))


async def fill(held: MemoryVectors, said: list[str], portion: int, trace: Trace | None = None) -> None:
    for start in range(0, len(said), portion):
        places = range(start, min(len(said), start + portion))
        tenants = ["t1" if n % 2 else "t2" for n in places]
        await held.add([f"m{n}" for n in places], tenants, [said[n] for n in places], trace or Trace())
        held.commit()


async def found(held: MemoryVectors, text: str, tenant: str = "t1", k: int = 5) -> list[tuple[str, float]]:
    return await held.search(text, tenant, k, Trace())


@pytest.mark.parametrize("pca", [None, 8, 0.25])
@awaited
async def test_portions_and_restarts_change_nothing(tmp_path: Path, pca: float | None) -> None:
    said, params = texts(60), part(pca={"dims": pca})
    one, many = opened(tmp_path, params), opened(tmp_path, params, name="w")
    await fill(one, said, 60)
    await fill(many, said, 7)
    asked = await found(one, said[9])
    assert asked[0] == ("m9", pytest.approx(1.0, abs=1e-5))
    assert await found(many, said[9]) == asked
    assert all(int(id[1:]) % 2 for id, _ in asked)
    await one.aclose()
    again = opened(tmp_path, params)
    assert again.ids == [f"m{n}" for n in range(60)]
    assert await found(again, said[9]) == asked
    trace = Trace()
    await again.add(["m9"], ["t1"], ["something else"], trace)  # there already
    assert trace.spans == []
    assert await found(again, said[9]) == asked


@awaited
async def test_facts_say_what_was_searched_and_how(tmp_path: Path) -> None:
    held = opened(tmp_path, part(pca={"dims": 0.5}, hnsw={"build_from": 20}, measure_ann=True))
    trace = Trace()
    assert await held.search("kettle", "t1", 5, trace) == []
    assert trace.facts == {"vectors": 0, "vectors_indexed": 0, "search": "exact"}
    await fill(held, texts(100), 100)
    trace = Trace()
    await held.search("kettle refund", "t1", 10, trace)
    facts = dict(trace.facts)
    assert 0.3 < facts.pop("explained_variance") < 1.0
    assert facts == {
        "vectors": 100,
        "vectors_indexed": 100,
        "search": "hnsw",
        "dims": 8,
        "ef": 128,
        "ann_recall@10": 1.0,
        "ann_searches": 1,
    }
    assert trace.instrument_ms > 0


@pytest.mark.parametrize("dims", [16, 300, 0.99])
@awaited
async def test_a_reduction_that_cuts_nothing_says_so(tmp_path: Path, dims: float) -> None:
    held = opened(tmp_path, part(pca={"dims": dims}))
    await fill(held, texts(40), 40)
    trace = Trace()
    await held.search("kettle refund", "t1", 10, trace)
    told = f"pca.dims is {dims}, but the embedder's vectors have 16 dimensions: nothing was cut from them"
    assert trace.warnings == [told]
    assert (trace.facts["dims"], trace.facts["explained_variance"]) == (16, 1.0)
    await held.aclose()
    cut = opened(tmp_path, part(pca={"dims": 15}), name="cut")
    await fill(cut, texts(40), 40)
    trace = Trace()
    await cut.search("kettle refund", "t1", 10, trace)
    assert trace.warnings == [] and trace.facts["dims"] == 15


@awaited
async def test_a_narrow_graph_finds_less_than_the_exact_search_and_the_trace_says_how_much(tmp_path: Path) -> None:
    draw = np.random.default_rng(0)
    said = [" ".join(f"w{n}" for n in draw.integers(0, 400, 12)) for _ in range(1_500)]
    recall: dict[str, float] = {}
    for name, hnsw in {"narrow": {"m": 2, "ef_construct": 4, "ef": 1}, "wide": {"m": 32, "ef": 400}}.items():
        params = part(dims=64, hnsw={"build_from": 1, **hnsw}, measure_ann=True)
        held = opened(tmp_path, params, cache=True, name=name)
        await held.add([f"m{n}" for n in range(1_500)], ["t1"] * 1_500, said, Trace())
        held.commit()
        measured = []
        for question in said[:40]:
            trace = Trace()
            await held.search(question, "t1", 10, trace)
            measured.append(trace.facts["ann_recall@10"])
        recall[name] = float(np.mean(measured))
    assert recall["wide"] > 0.99
    assert recall["narrow"] < 0.8


def test_several_searches_of_one_question_average_their_recall() -> None:
    trace = Trace()
    exact = [("a", 0.9), ("b", 0.8), ("c", 0.7), ("d", 0.7)]
    note_recall([("a", 0.9), ("e", 0.7), ("x", 0.1), ("y", 0.1)], exact, trace)  # e ties with the last
    assert trace.facts["ann_recall@10"] == 0.5
    note_recall(exact, exact, trace)
    note_recall([], [], trace)
    assert (trace.facts["ann_recall@10"], trace.facts["ann_searches"]) == (0.75, 2)


@awaited
async def test_a_second_folder_takes_the_fit_from_the_cache_and_counts_its_time(tmp_path: Path) -> None:
    said = texts(50)
    first, second = opened(tmp_path, part(), cache=True), opened(tmp_path, part(), cache=True, name="w")
    cold, warm = Trace(), Trace()
    await fill(first, said, 50, cold)
    await fill(second, said, 50, warm)
    assert (cold.replayed_ms, cold.cache_hits) == (0.0, {})
    assert warm.cache_hits == {"fits": 1}
    assert warm.replayed_ms > 0
    assert await found(first, said[3]) == await found(second, said[3])


@awaited
async def test_discarded_memories_are_gone_and_do_not_speak_through_the_fit(tmp_path: Path) -> None:
    said = texts(30)
    held, short = opened(tmp_path, part()), opened(tmp_path, part(), name="w")
    await fill(held, said, 30)
    await fill(short, said[:10], 10)
    held.discard([f"m{n}" for n in range(10, 30)] + ["never there"])
    held.commit()
    assert "m10" not in held
    assert len(held) == 10
    assert await found(held, said[9]) == await found(short, said[9])


@pytest.mark.parametrize("moment", ["before_commit", "while_rebuilding", "store_ahead", "fit_lost"])
@awaited
async def test_a_crash_ends_in_the_last_commit_without_embedding_anything_again(tmp_path: Path, moment: str) -> None:
    said, params = texts(40), part(pca={"dims": 8})
    held = opened(tmp_path, params)
    await fill(held, said[:30], 30)
    wanted = await found(held, said[9])
    if moment == "before_commit":
        await held.add(["m30"], ["t1"], [said[30]], Trace())
    elif moment == "while_rebuilding":
        held._log.unsettle()
        assert held._store is not None
        held._store.clear()
    elif moment == "store_ahead":
        assert held._store is not None
        held._store.add(["stray"], ["t1"], np.ones((1, 8), dtype=np.float32))
        held._store.commit()
    else:
        (tmp_path / "v" / "fit.npz").write_bytes(b"PK cut short")
    await held.aclose()
    again = opened(tmp_path, params)
    assert again.ids == [f"m{n}" for n in range(30)]
    assert await found(again, said[9]) == wanted


@awaited
async def test_another_embedders_dimensions_are_one_sentence_and_lose_nothing(tmp_path: Path) -> None:
    held = opened(tmp_path, part())
    await fill(held, texts(10), 10)
    wanted = await found(held, texts(10)[3])
    await held.aclose()
    with pytest.raises(UserError, match=r"made for vectors of 16 dimensions.*have 384"):
        opened(tmp_path, part(embedder="e5"))
    again = opened(tmp_path, part())
    assert await found(again, texts(10)[3]) == wanted
    with pytest.raises(UserError, match="already open"):
        opened(tmp_path, part())


@awaited
async def test_other_settings_empty_the_folder_and_ids_say_so(tmp_path: Path) -> None:
    held = opened(tmp_path, part())
    await fill(held, texts(10), 10)
    await held.aclose()
    other = MemoryVectors(part(), tmp_path / "v", Context(tmp_path, seed=7))
    assert other.ids == []
    await other.aclose()
    (tmp_path / "v" / "memories.sqlite").write_bytes(b"this is no database, and long enough to be seen as none" * 9)
    with pytest.raises(UserError, match=r"log of vectors .*memories\.sqlite cannot be used"):
        opened(tmp_path, part())


@pytest.mark.parametrize(
    ("given", "others"),
    [
        ({"tenancy": "separate"}, False),
        ({"tenancy": "shared"}, False),
        ({"tenancy": "shared", "tenant_filter": False}, True),
        ({"tenancy": "separate", "tenant_filter": False}, True),
    ],
)
@awaited
async def test_tenants_are_apart_unless_the_filter_is_left_out(
    tmp_path: Path, given: Mapping[str, Any], others: bool
) -> None:
    held = opened(tmp_path, part(**given))
    said = texts(20)
    await fill(held, said, 20)
    ids = {id for id, _ in await found(held, said[8], "t1", 20)}
    assert ids >= {f"m{n}" for n in range(1, 20, 2)}
    assert ("m8" in ids) is others
    assert await found(held, said[8], "nobody") == [] or others


@pytest.mark.parametrize("pca", [None, 0.5])
@awaited
async def test_e5_needs_no_shared_word(tmp_path: Path, pca: float | None) -> None:
    params = part(embedder="e5", pca={"dims": pca})
    held = opened(tmp_path, params)
    said = ["The kettle arrives in March.", "Our dog likes long walks.", "The invoice was paid."]
    await held.add(["a", "b", "c"], ["t1"] * 3, said, Trace())
    held.commit()
    assert (await found(held, "水壶什么时候到？"))[0][0] == "a"
    await held.aclose()
    again = opened(tmp_path, params)
    assert (await found(again, "水壶什么时候到？"))[0][0] == "a"


@pytest.mark.parametrize("wrong", [0, 1, 1.0, 1.5, -2, "half"])
def test_what_pca_keeps_is_a_number_of_components_or_a_share(wrong: object) -> None:
    with pytest.raises(ValueError, match="dims"):
        part(pca={"dims": wrong})
