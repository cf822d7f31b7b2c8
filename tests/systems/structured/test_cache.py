"""The result cache: what may and what may never be found in it."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtrial.datasets.schema import Turn
from memtrial.systems.base import Query, Trace
from memtrial.systems.structured.cache import CacheKey, CacheParams, ResultCache
from tests.systems.structured.judged import NOW

Q = Query("q1", "t1", "ann", NOW, "Where is my order?")


def key(query: Query = Q, version: int = 1, settings: str = "a") -> CacheKey:
    return CacheKey.of(query, version=version, settings=settings)


def filled(**params: Any) -> ResultCache[str]:
    cache: ResultCache[str] = ResultCache(CacheParams(**params))
    cache.put(key(), NOW, "on its way")
    return cache


def test_a_question_asked_again_is_found_and_counted() -> None:
    cache, trace = filled(), Trace()
    again = replace(Q, id="q9", text=" Where is  my order? ")
    assert cache.get(key(again), NOW + timedelta(seconds=60), trace) == "on its way"
    assert cache.get(key(again), NOW, trace) == "on its way"
    assert trace.cache_hits == {"results": 2}


@pytest.mark.parametrize(
    "other",
    [
        key(replace(Q, tenant_id="t2")),
        key(replace(Q, asker="bob")),
        key(replace(Q, text="Where is my parcel?")),
        key(replace(Q, text="where is my order?")),  # a capital makes a name
        key(replace(Q, text="Where is my order?\nA. here\nB. there")),
        key(replace(Q, history=(Turn("ann", "Hello"),))),
        key(replace(Q, options=("here", "there"))),
        key(replace(Q, language="zh")),
        key(replace(Q, asked_at=NOW + timedelta(days=1))),
        key(version=2),
        key(settings="b"),
    ],
)
def test_whatever_may_change_the_result_makes_another_key(other: CacheKey) -> None:
    trace = Trace()
    assert filled().get(other, NOW, trace) is None
    assert trace.cache_hits == {}


def test_a_result_lives_on_the_clock_of_the_dialogue() -> None:
    cache = filled()
    assert cache.get(key(), NOW + timedelta(seconds=300), Trace()) == "on its way"
    # a hit does not prolong its life
    assert cache.get(key(), NOW + timedelta(seconds=301), Trace()) is None
    assert len(cache) == 0
    # nor is it known before it was found
    assert filled().get(key(), NOW - timedelta(seconds=1), Trace()) is None


def test_the_one_longest_unused_gives_way() -> None:
    cache = filled(size=2)
    second, third = key(replace(Q, text="Second?")), key(replace(Q, text="Third?"))
    cache.put(second, NOW, "2")
    assert cache.get(key(), NOW, Trace()) == "on its way"
    cache.put(third, NOW, "3")
    assert [cache.get(k, NOW, Trace()) for k in (key(), second, third)] == ["on its way", None, "3"]


def test_off_keeps_nothing() -> None:
    cache = filled(enabled=False)
    assert len(cache) == 0
    assert cache.get(key(), NOW, Trace()) is None


field = st.sampled_from(["a", "b"])


@given(st.lists(st.tuples(field, field, field, st.integers(0, 2), st.integers(0, 400)), max_size=30), st.integers(1, 5))
def test_a_hit_is_only_ever_ones_own(asks: list[tuple[str, str, str, int, int]], size: int) -> None:
    cache: ResultCache[tuple[str, str, str, int]] = ResultCache(CacheParams(size=size))
    for tenant, asker, text, version, at in asks:
        now = NOW + timedelta(seconds=at)
        own = CacheKey.of(Query("q", tenant, asker, now, text), version=version)
        found = cache.get(own, now, Trace())
        assert found in (None, (tenant, asker, text, version))
        cache.put(own, now, (tenant, asker, text, version))
        assert len(cache) <= size
